"""The verdict of `tracekit check` as JUnit XML, as SARIF and as annotations of GitHub Actions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

from tracekit._version import __version__
from tracekit.characters import visible
from tracekit.comparison.gate import Gate
from tracekit.comparison.settings import NAMES, TIMES
from tracekit.comparison.verdict import Item, Verdict
from tracekit.errors import REPOSITORY, docs_page
from tracekit.recording.writing.xml import xml_text
from tracekit.units import format_count

_TAGS = {
    Verdict.FAILED: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "error",
    Verdict.NOT_COUNTED: "skipped",
}
_LEVELS = {Verdict.ERROR: "error", Verdict.FAILED: "error", Verdict.INCONCLUSIVE: "warning"}
"""Of SARIF and of annotations; other verdicts have none."""


def render_junit(gate: Gate, name: str) -> str:
    """JUnit XML as most dashboards read it, since there is no standard. A failure is a limit or a regression, an error
    what could not be judged, skipped what does not count.

    Test cases have no `time`: dashboards would add up latencies as if the tests had taken them.
    """
    tags = [_TAGS.get(item.verdict) for item in gate.items]
    suite = ET.Element("testsuite", name=_text(name), tests=str(len(gate.items)))
    for count, counted in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(count, str(tags.count(counted)))
    figures = {
        f"{model.model} {name}{'_ns' if name in TIMES else ''}": figure.value
        for model in gate.models
        for name, figure in model.figures.items()
    }
    properties = ET.SubElement(suite, "properties") if figures else suite
    for figure, value in figures.items():
        ET.SubElement(properties, "property", name=_text(figure), value=f"{value:.10g}")
    for item, tag in zip(gate.items, tags, strict=True):
        # Dashboards take test cases with one name for one.
        named = _text(f"{item.subject} {item.about or ''}".rstrip())
        case = ET.SubElement(suite, "testcase", classname=_text(item.model or "recording"), name=named)
        if tag is None:
            ET.SubElement(case, "system-out").text = _text(item.text)
        else:
            ET.SubElement(case, tag, message=_text(item.text))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _text(text: str) -> str:
    return xml_text(visible(text, multiline=True))


MAX_RESULTS = 5_000
"""GitHub keeps no more of a run, worst first."""
_RULES = {
    **{name: f"Limit {name} of [check.limits] is exceeded" for name in NAMES},
    "baseline": "A model is slower than in the baseline, or cannot be compared with it",
    "environment": "The environment differs from that of the baseline",
    "findings": "More findings than [check.findings] allows, or a finding that the baseline does not have",
    "history": "A figure of the newest builds became worse by more than is allowed",
    "suppression": "A suppression has expired",
    "config": "The config cannot be used",
    "input": "A recording cannot be checked",
    "tracekit": "The check came to no end",
}
_HELP = docs_page("ci.md")


def render_sarif(gate: Gate, file: str, line: Callable[[Item], int]) -> str:
    """SARIF 2.1.0 for code scanning: a result for each item that is not fine.

    GitHub refuses a file in which a result has no place in the source, and a trace has none. So each result stands at
    the line of the setting that it is about; `file` is the file of settings, relative to the repository.
    """
    items = [item for item in gate.items if item.verdict in _LEVELS or _is_suppression(item)][:MAX_RESULTS]
    rules = list(dict.fromkeys(item.subject for item in items))
    driver = {
        "name": "tracekit",
        "semanticVersion": __version__,
        "informationUri": REPOSITORY,
        "rules": [
            {
                "id": name,
                "name": f"{''.join(part.capitalize() for part in name.split('-'))}Check",
                "shortDescription": {"text": f"{_RULES[name]}."},
                "fullDescription": {"text": f"{_RULES[name]}."},
                "help": {"text": f"{_RULES[name]}. How limits, baselines and suppressions work: {_HELP}"},
                "helpUri": _HELP,
            }
            for name in rules
        ],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "utf16CodeUnits",
        "results": [_result(item, rules.index(item.subject), file, line(item)) for item in items],
    }
    document = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(document, ensure_ascii=True, indent=2) + "\n"


def _is_suppression(item: Item) -> bool:
    return item.subject == "suppression" and item.verdict is Verdict.NOT_COUNTED


def _result(item: Item, rule: int, file: str, line: int) -> dict[str, Any]:
    location: dict[str, Any] = {"physicalLocation": {"artifactLocation": {"uri": file}, "region": {"startLine": line}}}
    if item.model is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": visible(item.model), "kind": "module"}]
    # The same for the same complaint in the next run, whatever was measured then.
    setting = () if item.setting[:1] == ("suppress",) else item.setting
    key = repr((item.subject, item.model, item.about, setting))
    fingerprint = hashlib.sha256(key.encode("utf-8", "replace")).hexdigest()[:32]
    result: dict[str, Any] = {
        "ruleId": item.subject,
        "ruleIndex": rule,
        "level": _LEVELS.get(item.verdict, "note"),
        "message": {"text": visible(f"{item.title}: {item.text}.")},
        "locations": [location],
        "fingerprints": {"tracekit/v1": fingerprint},
        "partialFingerprints": {"tracekit/v1": fingerprint, "primaryLocationLineHash": fingerprint},
    }
    if _is_suppression(item):
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": visible(item.text)}]
    return result


ANNOTATIONS = 10
"""Most annotations of a level that GitHub takes from a step; a composite action is one step (actions/runner
`ExecutionContext.cs`)."""
_LONGEST = 2000
"""Characters of a message; the runner cuts at 4,096."""


def workflow_commands(gate: Gate, file: str | None, line: Callable[[Item], int]) -> str:
    """Annotations of GitHub Actions: at most `ANNOTATIONS` commands of a level, worst first, and how many more there
    are; a line each. `file` is the file of settings, relative to the repository; None where there is none."""
    lines = []
    for level in dict.fromkeys(_LEVELS.values()):
        items = [item for item in gate.items if _LEVELS.get(item.verdict) == level]
        first = items if len(items) <= ANNOTATIONS else items[: ANNOTATIONS - 1]
        for item in first:
            location = f"file={_property(file)},line={line(item)}," if file is not None and item.setting else ""
            lines.append(f"::{level} {location}title={_property(item.title)}::{_data(item.text)}")
        if len(items) > len(first):
            lines.append(f"::{level} title=tracekit::and {format_count(len(items) - len(first), 'more item')}")
    return "".join(f"{text}\n" for text in lines)


def _data(text: str) -> str:
    """Text of a message (actions/runner `ActionCommand.cs`)."""
    short = visible(text)[:_LONGEST]
    return short.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
