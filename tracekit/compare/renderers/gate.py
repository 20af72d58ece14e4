"""The verdict of `tracekit check` in the forms that people and CI systems read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from rich.text import Text

from tracekit.characters import visible
from tracekit.compare.gate import Verdict
from tracekit.report.renderers.concise_layout import Layout
from tracekit.report.renderers.markdown_text import escape, table
from tracekit.report.renderers.text_layout import NARROWEST, WIDEST, glued, printed
from tracekit.report.strings import map_strings
from tracekit.units import format_count

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.compare.gate import Gate, Item

STYLES = {
    Verdict.UNUSABLE: "bold red",
    Verdict.FAILED: "bold red",
    Verdict.NOT_ENOUGH_DATA: "yellow",
    Verdict.PASSED: "green",
}
CELLS = 17
ANNOTATIONS = 10
"""Most annotations of a level that GitHub shows for a step."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def summary(gate: Gate) -> str:
    """The verdict in one line."""
    counts = [(verdict, sum(item.verdict is verdict for item in gate.items)) for verdict in Verdict]
    words = ", ".join(f"{count} {verdict}" for verdict, count in counts if count)
    return f"{gate.verdict}: {words}" if words else str(gate.verdict)


def render_text(gate: Gate, *, width: int, color: bool) -> str:
    """What was checked, a line each, and the verdict last; a line break at the end."""
    layout = Layout(min(max(width, NARROWEST), WIDEST))
    safe = map_strings(gate, lambda _, text: visible(text))
    lines: list[Text] = []
    for item in safe.items:
        head = Text(f"{item.verdict:<{CELLS}}", STYLES[item.verdict])
        lines += layout.hanging(head.append_text(glued_text(_subject(item), item.text)), 4)
    last = layout.hanging(Text(summary(safe), style=f"bold {STYLES[safe.verdict].split()[-1]}"), 2)
    return printed([*lines, Text(), *last], layout.width, color)


def glued_text(subject: str, text: str) -> Text:
    """A subject and what is said of it."""
    return Text.assemble((f"{subject}: ", "bold not red not yellow not green"), (glued(text), "not bold default"))


def _subject(item: Item) -> str:
    return f"{item.model} {item.subject}" if item.model else item.subject


def render_markdown(gate: Gate) -> str:
    """The verdict on top, then what was checked, worst first."""
    safe = map_strings(gate, lambda _, text: visible(text))
    rows = ((str(item.verdict), escape(item.model or ""), item.subject, escape(item.text)) for item in safe.items)
    return f"**tracekit check: {escape(summary(safe))}**\n\n{table(('verdict', 'model', 'what', 'details'), rows, 4)}\n"


def render_junit(gate: Gate, name: str) -> str:
    """JUnit XML as most dashboards read it: a failure is a limit or a regression, an error what could not be judged."""
    suite = ET.Element("testsuite", name=_xml(name), tests=str(len(gate.items)))
    for key in ("failures", "errors"):
        suite.set(key, str(sum(_junit(item.verdict) == key for item in gate.items)))
    for item in gate.items:
        case = ET.SubElement(suite, "testcase", classname=_xml(item.model or "recording"), name=_xml(item.subject))
        kind = _junit(item.verdict)
        if kind == "passed":
            ET.SubElement(case, "system-out").text = _xml(item.text)
        else:
            ET.SubElement(case, kind.removesuffix("s"), message=_xml(item.text))
    ET.indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(suite, encoding="unicode") + "\n"


def _junit(verdict: Verdict) -> str:
    kinds = {Verdict.FAILED: "failures", Verdict.UNUSABLE: "errors", Verdict.NOT_ENOUGH_DATA: "errors"}
    return kinds.get(verdict, "passed")


def _xml(text: str) -> str:
    """Text without characters that XML 1.0 forbids."""
    return _NOT_XML.sub("\ufffd", text)


def workflow_commands(gate: Gate, file: str | None, line: Callable[[Item], int]) -> str:
    """Workflow commands of GitHub: at most `ANNOTATIONS` of a level, worst first, and how many more there are."""
    lines = []
    for level, verdicts in (("error", (Verdict.UNUSABLE, Verdict.FAILED)), ("warning", (Verdict.NOT_ENOUGH_DATA,))):
        items = [item for item in gate.items if item.verdict in verdicts]
        shown = items if len(items) <= ANNOTATIONS else items[: ANNOTATIONS - 1]
        for item in shown:
            location = (
                f"file={_property(file)},line={line(item)}," if file is not None and item.limit is not None else ""
            )
            lines.append(f"::{level} {location}title={_property(_subject(item))}::{_data(item.text)}")
        if len(items) > len(shown):
            lines.append(f"::{level} title=tracekit::and {format_count(len(items) - len(shown), 'more item')}")
    return "".join(f"{text}\n" for text in lines)


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
