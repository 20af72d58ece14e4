"""The verdict of `tracekit check` as JUnit XML, as most dashboards read it (there is no standard)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from tracekit.characters import visible
from tracekit.comparison.verdict import Verdict
from tracekit.recording.writing.xml import xml_text

if TYPE_CHECKING:
    from tracekit.comparison.gate import Gate

_TAGS = {
    Verdict.FAILED: "failure",
    Verdict.ERROR: "error",
    Verdict.INCONCLUSIVE: "error",
    Verdict.NOT_COUNTED: "skipped",
}
_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render_junit(gate: Gate, name: str) -> str:
    """A failure is a limit or a regression, an error what could not be judged, skipped what does not count.

    Test cases have no `time`: dashboards would add up latencies as if the tests had taken them.
    """
    tags = [_TAGS.get(item.verdict) for item in gate.items]
    suite = ET.Element("testsuite", name=_text(name), tests=str(len(gate.items)))
    for count, counted in _COUNTS.items():
        suite.set(count, str(tags.count(counted)))
    properties = ET.Element("properties")
    for model in gate.models:
        for figure_name, figure in model.figures.items():
            ET.SubElement(
                properties, "property", name=_text(f"{model.model} {figure_name}"), value=f"{figure.value:.10g}"
            )
    if len(properties):
        suite.append(properties)
    for item, tag in zip(gate.items, tags, strict=True):
        case = ET.SubElement(suite, "testcase", classname=_text(item.model or "recording"), name=_text(item.subject))
        if tag is None:
            ET.SubElement(case, "system-out").text = _text(item.text)
        else:
            ET.SubElement(case, tag, message=_text(item.text))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _text(text: str) -> str:
    """What XML can hold of what may be shown."""
    return xml_text(visible(text, multiline=True))
