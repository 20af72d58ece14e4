"""The diagnostic tree is answered by what checks saw, never by what nobody looked at."""

from __future__ import annotations

import json

import pytest

import tracekit
from tracekit.cli.main import main
from tracekit.detectors.patterns import Pattern
from tracekit.report.diagnosis import TREE, Answer, BranchAnswer, Diagnosis, LeafAnswer, diagnose
from tracekit.report.renderers.text_diagnosis import render_diagnosis


def answers(diagnosis):
    return {leaf.pattern: leaf for branch in diagnosis.branches for leaf in branch.leaves}


def test_every_pattern_but_the_recording_itself_is_asked_once():
    asked = [leaf.pattern for branch in TREE for leaf in branch.leaves]
    assert sorted(asked) == sorted(set(Pattern) - {Pattern.RECORDING})
    assert len(asked) == len(set(asked))


def test_a_finding_answers_its_question(samples):
    diagnosis = diagnose(tracekit.analyze(samples / "style_transfer_reload.trace"))
    found = answers(diagnosis)
    slow = found[Pattern.SLOW_FIRST_LOAD]
    assert slow.answer is Answer.SEEN
    assert "reload-before-predict" in slow.checks
    assert any("81 loads for 81 predictions" in line for line in slow.evidence)
    assert found[Pattern.MEMORY_GROWS].answer is Answer.NOT_SEEN
    loading, speed, *_ = diagnosis.branches
    assert "5 models ran" in loading.facts[0]
    assert "6.3 s" in speed.facts[0]


def test_what_no_recording_shows_is_asked_for_and_not_answered(samples):
    found = answers(diagnose(tracekit.analyze(samples / "style_transfer_fixed.trace")))
    for pattern in (
        Pattern.UNSUPPORTED_VERSION,
        Pattern.NO_COMPUTE_PLAN,
        Pattern.OTHER_LOAD_FAILURE,
        Pattern.PALETTIZATION_ACCURACY,
        Pattern.QUANTIZATION_ACCURACY,
        Pattern.PRUNING_ACCURACY,
        Pattern.UNSUPPORTED_OPERATION,
        Pattern.WRONG_OUTPUT,
    ):
        assert found[pattern].answer is Answer.UNKNOWN
        assert found[pattern].evidence == ("Not visible in recordings.",)
        assert found[pattern].ask
    assert not any(leaf.answer is Answer.SEEN for leaf in found.values())


def test_what_no_check_was_run_for_is_not_called_absent(samples):
    found = answers(diagnose(tracekit.analyze(samples / "style_transfer_fixed.trace", only=["unexpected-device"])))
    assert found[Pattern.SLOW_FIRST_LOAD].answer is Answer.UNKNOWN
    assert found[Pattern.SLOW_FIRST_LOAD].evidence == ("No check for this was run.",)


def test_a_check_that_does_not_apply_says_why(samples):
    report = tracekit.analyze(samples / "sharpen_8bit.trace", only=["missed-deadline"])
    told = answers(diagnose(report))[Pattern.SLOW_PREDICTIONS]
    assert told.answer is Answer.UNKNOWN
    assert set(told.evidence) == {f"{check.model}: {check.summary}" for check in report.checks}
    assert told.checks == ("missed-deadline",)


def test_a_recording_that_cannot_be_judged_answers_nothing(samples):
    found = answers(diagnose(tracekit.analyze(samples / "not_instrumented.trace")))
    assert {leaf.answer for leaf in found.values()} == {Answer.UNKNOWN}
    assert any("get-task-allow" in line for line in found[Pattern.SLOW_PREDICTIONS].evidence)


@pytest.mark.parametrize("width", [40, 100])
def test_the_text_fits_its_width_and_tells_a_long_reason_once(samples, width):
    diagnosis = diagnose(tracekit.analyze(samples / "not_instrumented.trace"))
    text = render_diagnosis(diagnosis, width=width, color=False)
    assert max(map(len, text.splitlines())) <= width
    assert " ".join(text.split()).count("the likely cause is a target without") == 1
    for branch in TREE:
        assert branch.title.upper() in " ".join(text.split())


def test_a_finding_leads_to_its_page(samples):
    diagnosis = diagnose(tracekit.analyze(samples / "sharpen_8bit.trace"))
    assert "fix: tracekit explain excess-data-copies" in render_diagnosis(diagnosis, width=100, color=False)


def test_each_page_has_a_command_of_its_own(capsys):
    slow = LeafAnswer("2b", Answer.SEEN, ("Slow.",), ("latency-jitter", "missed-deadline"), "")
    diagnosis = Diagnosis("run.trace", "2 findings.", (), (BranchAnswer("2 It is slow", (), (slow,)),))
    line = render_diagnosis(diagnosis, width=100, color=False).splitlines()[-1]
    for page in line.partition("fix: ")[2].split(", "):
        assert main(page.split()[1:]) == 0
    assert capsys.readouterr().out.count("## On the timeline") == 2


def test_the_command_prints_text_or_json(samples, capsys):
    assert main(["diagnose", str(samples / "sharpen_8bit.trace")]) == 0
    assert "2b all predictions slow: seen" in capsys.readouterr().out
    assert main(["diagnose", str(samples / "sharpen_8bit.trace"), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [branch["title"][0] for branch in document["branches"]] == ["1", "2", "3", "4", "5"]
    assert main(["diagnose", "not-there.trace"]) == 2
