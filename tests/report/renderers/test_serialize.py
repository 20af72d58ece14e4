"""The published JSON."""

from __future__ import annotations

import json
import types
import typing
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any

import jsonschema
import numpy as np
import pytest

from tracekit.analysis.aggregation import AggregationRow
from tracekit.analysis.breakdown import BreakdownSummary, Part, PartSummary, Unknown
from tracekit.analysis.code import Api, Busy, CallSite, LoadPhase, Place, Unit, sites
from tracekit.analysis.concurrency import InFlight
from tracekit.analysis.latency import Latency, LatencyTrend, Mode, Trend
from tracekit.analysis.latency import Level as CourseLevel
from tracekit.analysis.models import ModelSummary
from tracekit.analysis.statistics import Statistics
from tracekit.analysis.throughput import SteadyRate, Throughput
from tracekit.detectors import outcomes, pages
from tracekit.detectors.outcomes import OUTCOME_NAMES, Cost, Evidence, Metric, Severity
from tracekit.detectors.ranking import Related
from tracekit.recording.table import TableState
from tracekit.report import report
from tracekit.report.call_sites import CodeInfo
from tracekit.report.renderers.serialize import schema_text, to_dict, to_json
from tracekit.report.report import DRAWN, IF_ANY, CoverageInfo, Report
from tracekit.trace.events import Attribution, Kind, Lane, Level

SCHEMA: dict[str, Any] = json.loads(schema_text())

CLASSES: dict[str, type] = {
    "tool": report.ToolInfo,
    "recording": report.RecordingInfo,
    "table": report.TableInfo,
    "coverage": report.CoverageInfo,
    "metric": outcomes.Metric,
    "cost": outcomes.Cost,
    "evidence": outcomes.Evidence,
    "related": Related,
    "reference": pages.Reference,
    "finding": report.FindingInfo,
    "check": report.Check,
    "summary": report.Summary,
    "aggregation": AggregationRow,
    "model": ModelSummary,
    "statistics": Statistics,
    "latency": Latency,
    "steady_rate": SteadyRate,
    "throughput": Throughput,
    "in_flight": InFlight,
    "trend": Trend,
    "level": CourseLevel,
    "mode": Mode,
    "latency_trend": LatencyTrend,
    "part": PartSummary,
    "breakdown": BreakdownSummary,
    "code": CodeInfo,
    "call_site": CallSite,
    "place": Place,
    "busy": Busy,
    "model_file": report.ModelFileInfo,
    "model_file_check": report.ModelFileCheck,
    "model_fact": report.ModelFact,
    "performance_report": report.PerformanceReportInfo,
}
"""Dataclass behind each definition of the schema."""


def valid(report: Report) -> dict[str, Any]:
    """The report as JSON, validated."""
    document: dict[str, Any] = json.loads(to_json(report))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


@pytest.mark.parametrize("report", ["full", "clean", "not_judged", "failed", "hostile", "many"])
def test_every_report_obeys_the_schema(report: str, request: pytest.FixtureRequest) -> None:
    valid(request.getfixturevalue(report))


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema_version"]["const"] == report.SCHEMA_VERSION


def test_a_report_names_the_schema_that_describes_it(full: Report) -> None:
    assert valid(full)["$schema"] == SCHEMA["$id"] == "urn:tracekit:report:2"


def test_the_schema_defines_each_dataclass_and_nothing_else() -> None:
    # Measurements are written and read by `tracekit.compare`, which has no dataclass for their packed form.
    assert set(SCHEMA["$defs"]) == {*CLASSES, "measurements", "measured_parts", "packed"}


@pytest.mark.parametrize("name", ["", *CLASSES])
def test_schema_and_dataclass_agree_key_for_key(name: str) -> None:
    definition = SCHEMA["$defs"][name] if name else SCHEMA
    names = [field.name for field in fields(CLASSES[name] if name else Report) if field.metadata != DRAWN]
    names = names if name else ["$schema", *names]
    assert list(definition["properties"]) == names
    if not name:
        optional = ["model_files", "performance_reports"]
        assert [field.name for field in fields(Report) if field.metadata == IF_ANY] == optional
        names = names[: -len(optional)]
    assert definition["required"] == names
    assert definition["additionalProperties"] is False


@pytest.mark.parametrize("name", CLASSES)
def test_schema_and_dataclass_agree_on_what_may_be_null(name: str) -> None:
    classes = (AggregationRow, ModelSummary, Statistics, Cost, Evidence, Metric, Related, pages.Reference)
    parts = (Latency, SteadyRate, Throughput, InFlight, PartSummary, BreakdownSummary)
    course = (LatencyTrend, CourseLevel, Mode, Trend)
    known = {each.__name__: each for each in (*classes, *parts, *course, CallSite, CodeInfo)}
    written = {field.name for field in fields(CLASSES[name]) if field.metadata != DRAWN}
    for field, hint in typing.get_type_hints(CLASSES[name], localns=known).items():
        if field not in written:
            continue
        part = SCHEMA["$defs"][name]["properties"][field]
        kinds = part.get("type", [])
        nullable = "null" in kinds or None in part.get("enum", []) or {"type": "null"} in part.get("anyOf", [])
        expected = isinstance(hint, types.UnionType) and type(None) in typing.get_args(hint)
        assert nullable == expected, f"{name}.{field}"


@pytest.mark.parametrize(
    ("path", "words"),
    [
        (("check", "outcome"), OUTCOME_NAMES.values()),
        (("check", "severity"), [*Severity, None]),
        (("table", "state"), TableState),
        (("coverage", "state"), TableState),
        (("aggregation", "lane"), Lane),
        (("aggregation", "kind"), Kind),
        (("aggregation", "level"), Level),
        (("model", "level"), Level),
        (("part", "part"), Part),
        (("busy", "what"), [*LoadPhase, *Unit]),
        (("busy", "within"), [*LoadPhase, None]),
        (("call_site", "api"), set(Api) - {Api.UNLOAD}),
        (("call_site", "thread"), (sites.MAIN, sites.OTHER, sites.MIXED, sites.UNKNOWN)),
    ],
)
def test_the_words_of_the_schema_are_those_of_the_program(path: tuple[str, str], words: type[StrEnum]) -> None:
    assert set(SCHEMA["$defs"][path[0]]["properties"][path[1]]["enum"]) == set(words)


def test_the_reasons_of_unknown_parts_are_those_of_the_program() -> None:
    assert SCHEMA["$defs"]["part"]["properties"]["unknown"]["items"]["enum"] == list(Unknown)


def test_shares_are_named_by_attribution() -> None:
    shares = SCHEMA["$defs"]["coverage"]["properties"]["shares"]
    assert set(shares["propertyNames"]["enum"]) == set(Attribution)


@pytest.mark.parametrize(
    "change",
    [
        lambda document: document.update(extra=1),
        lambda document: document["checks"][0].pop("why"),
        lambda document: document["checks"][0].update(severity=None),
        lambda document: document["checks"][0].update(outcome="warning"),
        lambda document: document["checks"][-1].update(severity="low"),
        lambda document: document["models"][0]["load"].update(mean_ms=17.17),
        lambda document: document.update(schema_version=1),
    ],
)
def test_the_schema_refuses_what_is_not_published(full: Report, change: Any) -> None:
    document = valid(full)
    change(document)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(SCHEMA).validate(document)


def test_keys_stand_in_the_order_of_the_architecture(full: Report) -> None:
    order = ["$schema", "schema_version", "tool", "recording", "tables", "coverage", "models", "aggregation"]
    assert list(json.loads(to_json(full))) == [*order, "findings", "checks", "code", "summary", "measurements"]


def test_numbers_of_numpy_become_plain_and_infinite_ones_null(full: Report) -> None:
    metrics = tuple(
        Metric("a", value, "ratio", None, None)
        for value in (np.int64(3), np.float64(0.1) + np.float64(0.2), float("nan"), float("inf"))
    )
    report = replace(full, checks=(replace(full.checks[0], metrics=metrics), *full.checks[1:]))
    values = [metric["value"] for metric in valid(report)["checks"][0]["metrics"]]
    assert values == [3, 0.3, None, None]
    assert [type(value) for value in values] == [int, float, type(None), type(None)]


def test_text_is_kept_whole_and_cannot_act_on_a_terminal(hostile: Report) -> None:
    text = to_json(hostile)
    assert json.loads(text)["models"][0]["name"] == hostile.models[0].name
    assert all(character == "\n" or character.isprintable() for character in text)


def test_text_of_other_scripts_stays_readable(many: Report) -> None:
    assert "模型 0" in to_json(many)


def test_what_json_does_not_know_is_refused(full: Report) -> None:
    wrong = CoverageInfo("GPU", "rows", (), 1, "", "", {"exact": object()})
    with pytest.raises(TypeError, match="object"):
        to_dict(replace(full, coverage=(wrong,)))
