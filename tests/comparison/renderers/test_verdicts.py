"""The verdict as JUnit XML, as SARIF (what GitHub asks of a file, beyond what its schema does) and as annotations."""

import inspect
import json
import re
import shutil
import subprocess
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest

from support.gates import GATE, hostile
from tracekit.comparison import gate
from tracekit.comparison.gate import gate_of
from tracekit.comparison.renderers import verdicts
from tracekit.comparison.renderers.verdicts import render_junit, render_sarif, workflow_commands
from tracekit.comparison.verdict import Item, Verdict


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
    assert properties == {"Net p50_ns": "12000000", "Net copies": "2", "Net neural-engine": "0.75"}
    assert not [element for element in suite.iter() if "time" in element.attrib]


def test_any_name_is_held_and_keeps_its_line_breaks():
    text = 'a\x00\x1b]<&"\n\ud800'
    case = next(suite_of(hostile(text)).iter("testcase"))
    assert case.get("classname") == 'a\ufffd\ufffd]<&"\n\ufffd'


MULTITOOL = shutil.which("sarif-multitool") or shutil.which("Sarif.Multitool")


def run_of(gate):
    (run,) = json.loads(render_sarif(gate, "app/tracekit.toml", lambda item: len(item.setting)))["runs"]
    return run


def test_every_result_has_a_file_of_the_repository_and_a_line():
    # Without, GitHub refuses the whole file (github/codeql-action#2459), and no validator says so.
    places = [result["locations"][0]["physicalLocation"] for result in run_of(GATE)["results"]]
    assert [place["artifactLocation"]["uri"] for place in places] == ["app/tracekit.toml"] * 4
    assert [place["region"]["startLine"] for place in places] == [3, 1, 3, 2]


def test_results_name_rule_model_level_and_text():
    run = run_of(GATE)
    rules = run["tool"]["driver"]["rules"]
    assert [result["level"] for result in run["results"]] == ["error", "error", "warning", "note"]
    for result, item in zip(run["results"], GATE.items, strict=False):
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == item.subject
        assert item.text in result["message"]["text"]
    assert run["results"][0]["locations"][0]["logicalLocations"] == [{"fullyQualifiedName": "Net", "kind": "module"}]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        assert rule["help"]["text"]
        assert rule["shortDescription"]["text"].endswith(".")


def test_every_subject_has_a_rule():
    subjects = re.findall(r'Item\(Verdict\.\w+, "(\w+)"', inspect.getsource(gate))
    assert "history" in subjects
    run_of(gate_of([Item(Verdict.FAILED, subject, None, "") for subject in subjects]))


def test_a_suppression_is_one_in_the_terms_of_sarif():
    results = run_of(GATE)["results"]
    assert results[3]["suppressions"][0]["justification"] == "shape-switching does not count (later)"
    assert not any("suppressions" in result for result in results[:3])


def test_a_fingerprint_stays_when_the_measurement_moves_and_differs_between_complaints():
    slower = replace(GATE, items=(replace(GATE.items[0], text="13.00 ms, allowed: at most 10.00 ms"), *GATE.items[1:]))
    before, after = (
        [result["partialFingerprints"]["primaryLocationLineHash"] for result in run_of(gate)["results"]]
        for gate in (GATE, slower)
    )
    assert before == after
    assert len(set(before)) == len(before)
    other = replace(GATE, items=(replace(GATE.items[1], about="shape-switching:Net"),))
    assert run_of(other)["results"][0]["partialFingerprints"]["primaryLocationLineHash"] not in before


def test_what_passed_is_no_result_nothing_is_a_valid_file_and_any_name_and_number_is_held(monkeypatch):
    assert run_of(gate_of(GATE.items[-1:]))["results"] == []
    assert run_of(gate_of([]))["tool"]["driver"]["rules"] == []
    assert run_of(hostile("a\x00\x1b\ud800\n"))["results"]
    monkeypatch.setattr(verdicts, "MAX_RESULTS", 3)
    assert len(run_of(replace(GATE, items=GATE.items[:1] * 4))["results"]) == 3


@pytest.mark.skipif(MULTITOOL is None, reason="sarif-multitool is not installed")
def test_the_validator_of_microsoft_has_nothing_to_say(tmp_path):
    file = tmp_path / "check.sarif"
    file.write_text(render_sarif(GATE, "tracekit.toml", lambda _: 1))
    command = [MULTITOOL, "validate", file, "--rule-kind", "Sarif;Ghas"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stdout
    assert not [line for line in result.stdout.splitlines() if ": error " in line or ": warning " in line], (
        result.stdout
    )


def test_annotations_stand_at_the_line_of_their_setting():
    lines = workflow_commands(GATE, "app/tracekit.toml", lambda item: len(item.setting)).splitlines()
    assert lines == [
        "::error file=app/tracekit.toml,line=3,title=Net p50::12.00 ms, allowed: at most 10.00 ms",
        "::error file=app/tracekit.toml,line=1,title=Net findings::cold-load:Net is new since the baseline",
        "::warning file=app/tracekit.toml,line=3,title=Net cold-load::no cold load was recorded",
    ]


def test_no_name_ends_a_workflow_command_or_makes_it_too_long():
    text = workflow_commands(hostile("a\r\n::error::b,c:d%"), None, lambda _: 1)
    assert text.count("\n") == 1
    assert "%25" in text
    # Without settings, it stands nowhere.
    assert "file=" not in text
    assert len(workflow_commands(hostile("x" * 100_000), None, lambda _: 1)) < 4_096 + 2_100


def test_at_most_ten_annotations_of_a_level_worst_first():
    many = replace(GATE, items=GATE.items[:1] * 30 + GATE.items[2:3] * 10)
    lines = workflow_commands(many, None, lambda _: 1).splitlines()
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == len(lines) - len(errors) == 10
    assert errors[-1].endswith("and 21 more items")
    assert not lines[-1].endswith("more items")
