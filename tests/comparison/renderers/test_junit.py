"""The verdict as JUnit XML."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from support.gates import GATE, hostile
from tracekit.comparison.renderers.junit import render_junit


def suite_of(gate):
    return ET.fromstring(render_junit(gate, "run"))  # noqa: S314 - our own text


def test_failures_errors_and_what_does_not_count_are_told_apart():
    suite = suite_of(GATE)
    counts = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["5", "2", "1", "1"]
    children = [child.tag for case in suite.iter("testcase") for child in case]
    assert children == ["failure", "failure", "error", "skipped", "system-out"]


def test_figures_are_properties_and_no_test_has_a_time():
    suite = suite_of(GATE)
    properties = {one.get("name"): one.get("value") for one in suite.iter("property")}
    assert properties == {"Net p50": "12000000", "Net copies": "2", "Net neural-engine": "0.75"}
    assert not [element for element in suite.iter() if "time" in element.attrib]


def test_any_name_is_held_and_keeps_its_line_breaks():
    text = 'a\x00\x1b]<&"\n\ud800'
    case = next(suite_of(hostile(text)).iter("testcase"))
    assert case.get("classname") == 'a\ufffd\ufffd]<&"\n\ufffd'
