"""`docs/report.md` explains every key of the JSON report."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tracekit.report.serialize import schema_text

PAGE = (Path(__file__).parents[2] / "docs/report.md").read_text("utf-8")
KEYS = PAGE.partition("\n### The report")[1] + PAGE.partition("\n### The report")[2].partition("\n## Privacy")[0]
SCHEMA: dict[str, Any] = json.loads(schema_text())

SECTIONS = {
    "": "The report",
    "table": "`tables[]`",
    "model_summary": "`models[]`",
    "coverage": "`coverage[]`",
    "statistics": "Statistics: `statistics`, `warm`, `prediction`, `load`, `gaps`",
    "aggregation_row": "`aggregation[]`",
    "finding": "`findings[]`",
    "rule": "`rules[]`",
    "result": "`results[]`",
    "part_summary": "`models[].breakdown`",
    **dict.fromkeys(("model_file", "model_file_result", "model_fact"), "`model_files[]`"),
    "performance_report": "`performance_reports[]`",
    "steady_rate": "`models[].throughput`",
    **dict.fromkeys(("tail", "blocker"), "`models[].tail`"),
    **dict.fromkeys(("trend", "level", "mode"), "`models[].latency_trend`"),
    **dict.fromkeys(("metric", "cost", "evidence", "related"), "`results[]`"),
    **dict.fromkeys(("call_site", "place", "busy"), "Call sites: `call_sites[]`"),
    **{name: f"`{name}`" for name in ("tool", "recording", "code", "summary", "measurements")},
    **{name: f"`models[].{name}`" for name in ("latency", "throughput", "in_flight", "latency_trend")},
    "reference": "`rules[]`",
    "each": "`results[].cost.each`",
    "breakdown_summary": "`models[].breakdown`",
    **dict.fromkeys(("call_phases", "phase"), "`models[].phases`"),
    **dict.fromkeys(("runtime_summary", "phase_summary"), "`runtimes[]`"),
    "request_summary": "`requests[]`",
    **dict.fromkeys(("operation", "operation_part"), "`operations[]`"),
}
"""Where the page explains each definition of the schema."""


def test_every_definition_has_its_section() -> None:
    # The packed forms are explained with what they hold.
    assert {*SECTIONS, "measured_parts", "packed"} == {"", *SCHEMA["$defs"]}


@pytest.mark.parametrize("name", SECTIONS)
def test_every_key_is_explained(name: str) -> None:
    body = KEYS.partition(f"\n### {SECTIONS[name]}\n")[2].partition("\n### ")[0]
    explained = set(re.findall(r"`([^`]+)`", body))
    keys = set((SCHEMA["$defs"][name] if name else SCHEMA)["properties"])
    assert keys <= explained


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("result", "outcome"),
        ("table", "state"),
        ("finding", "severity"),
        ("metric", "direction"),
        ("model_file", "match"),
        ("performance_report", "match"),
        ("call_site", "api"),
        ("call_site", "thread"),
        ("busy", "what"),
    ],
)
def test_every_word_of_these_keys_is_explained(name: str, key: str) -> None:
    words = {word for word in SCHEMA["$defs"][name]["properties"][key]["enum"] if word is not None}
    assert words <= set(re.findall(r"`([^`]+)`", KEYS))
