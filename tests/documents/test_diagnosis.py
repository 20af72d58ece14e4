"""The diagnostic tree is answered by what checks saw, never by what nobody looked at."""

from __future__ import annotations

import json

import pytest
from lxml import html

import tracekit
from support.analyses import kept_analysis
from support.forms import too_long
from tracekit.cli.dispatch import main
from tracekit.detectors.pages import Pattern
from tracekit.detectors.registry import DETECTORS
from tracekit.documents.advice import diagnosis_document
from tracekit.documents.diagnosis import TREE, Answer, BranchAnswer, Diagnosis, LeafAnswer, diagnose
from tracekit.render.forms import render

pytestmark = pytest.mark.usefixtures("kept_samples")


def answers(diagnosis):
    return {leaf.pattern: leaf for branch in diagnosis.branches for leaf in branch.leaves}


def test_every_pattern_but_the_recording_itself_is_asked_once():
    patterns = [leaf.pattern for branch in TREE for leaf in branch.leaves]
    assert sorted(patterns) == sorted(set(Pattern) - {Pattern.RECORDING})
    assert len(patterns) == len(set(patterns))


def test_a_finding_answers_its_question(samples):
    report = kept_analysis(samples / "style_transfer_reload.trace").report
    diagnosis = diagnose(report)
    answered = answers(diagnosis)
    slow = answered[Pattern.SLOW_FIRST_LOAD]
    assert slow.answer is Answer.SEEN
    assert "reload-before-predict" in slow.checks
    assert any("81 loads (80 reloads) for 81 predictions" in line for line in slow.evidence)
    # Its memory was not recorded.
    assert answered[Pattern.MEMORY_GROWS].answer is Answer.OPEN
    # A check counts once, in however many models.
    slow = {detector.id for detector in DETECTORS if detector.page.pattern is Pattern.SLOW_PREDICTIONS}
    passed, skipped = (
        {check.id for check in report.results if check.id in slow and check.outcome == outcome}
        for outcome in ("passed", "not_evaluated")
    )
    words = f": {len(passed)} checks passed, {len(skipped)} not evaluated."
    assert words in answered[Pattern.SLOW_PREDICTIONS].evidence[0]
    assert "2 more (-v)" in render(diagnosis_document(diagnosis), "text", width=100)
    assert "Mosaic: " in render(diagnosis_document(diagnosis, everything=True), "text", width=100)
    loading, speed, *_ = diagnosis.branches
    assert "5 models ran" in loading.facts[0]
    assert "6.3 s" in speed.facts[0]


def test_what_no_recording_shows_is_asked_for_and_not_answered(samples):
    answered = answers(diagnose(kept_analysis(samples / "style_transfer_fixed.trace").report))
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
        assert answered[pattern].answer is Answer.OPEN
        assert answered[pattern].evidence == ("Not visible in recordings.",)
        assert answered[pattern].ask
    assert not any(leaf.answer is Answer.SEEN for leaf in answered.values())


def test_what_no_check_was_run_for_is_not_called_absent(samples):
    analysis = tracekit.analyze(samples / "style_transfer_fixed.trace", only=["not-on-expected-unit"])
    answered = answers(diagnose(analysis))
    assert answered[Pattern.SLOW_FIRST_LOAD].answer is Answer.OPEN
    assert answered[Pattern.SLOW_FIRST_LOAD].evidence == ("No check for this was run.",)


def test_a_check_that_does_not_apply_says_why(samples):
    report = tracekit.analyze(samples / "sharpen_8bit.trace", only=["missed-deadline"])
    answer = answers(diagnose(report))[Pattern.SLOW_PREDICTIONS]
    assert answer.answer is Answer.OPEN
    assert set(answer.evidence) == {f"{check.model}: {check.summary}" for check in report.results}
    assert answer.checks == ("missed-deadline",)


def test_failed_requests_have_a_branch_where_requests_were_recorded(samples):
    *_, branch = diagnose(kept_analysis(samples / "meal_planner.trace").report).branches
    assert [(leaf.answer, leaf.checks) for leaf in branch.leaves] == [(Answer.SEEN, ("request-errors",))]
    of_core_ml = diagnose(kept_analysis(samples / "sharpen_8bit.trace").report)
    assert Pattern.FAILED_REQUESTS not in answers(of_core_ml)


def test_what_most_checks_could_not_look_for_is_not_called_absent(samples):
    answered = answers(diagnose(kept_analysis(samples / "meal_planner.trace").report))
    slow = answered[Pattern.SLOW_PREDICTIONS]
    assert slow.answer is Answer.OPEN
    of_core_ml = [
        detector
        for detector in DETECTORS
        if detector.page.pattern == Pattern.SLOW_PREDICTIONS and "Core ML" in detector.needs
    ]
    assert slow.evidence[0].endswith(f": 4 checks passed, 2 not evaluated, {len(of_core_ml)} Core ML checks not run.")
    assert "queued-requests" in slow.checks
    # What is loaded and not used says little where the memory itself was not recorded.
    grows = answers(diagnose(kept_analysis(samples / "sharpen_8bit.trace").report))[Pattern.MEMORY_GROWS]
    assert grows.answer is Answer.OPEN
    assert grows.evidence[1] == "Activity Monitor was not recorded. Record with --instrument 'Activity Monitor'."


def test_a_recording_that_cannot_be_judged_answers_nothing(samples):
    answered = answers(diagnose(kept_analysis(samples / "not_instrumented.trace").report))
    assert {leaf.answer for leaf in answered.values()} == {Answer.OPEN}
    assert any("get-task-allow" in line for line in answered[Pattern.SLOW_PREDICTIONS].evidence)


@pytest.mark.parametrize("width", [40, 100])
def test_the_text_fits_its_width_and_tells_a_long_reason_once(samples, width):
    diagnosis = diagnose(kept_analysis(samples / "not_instrumented.trace").report)
    text = render(diagnosis_document(diagnosis), "text", width=width)
    assert not too_long(text, width)
    assert " ".join(text.split()).count("the likely cause is a target without") == 1
    for branch in TREE[:-1]:
        assert branch.title.upper() in " ".join(text.split())


def test_a_finding_leads_to_its_page(samples):
    diagnosis = diagnose(kept_analysis(samples / "sharpen_8bit.trace").report)
    text = render(diagnosis_document(diagnosis), "text", width=100)
    assert "fix tracekit explain excess-data-copies" in " ".join(text.split())
    page = html.fromstring(render(diagnosis_document(diagnosis), "html", width=0))
    assert "tracekit explain excess-data-copies" in [code.text_content() for code in page.xpath("//dd/code")]


def test_each_page_has_a_command_of_its_own(capsys):
    slow = LeafAnswer("2b", Answer.SEEN, ("Slow.",), ("latency-jitter", "missed-deadline"), "")
    diagnosis = Diagnosis("run.trace", "2 findings.", (), (BranchAnswer("2 It is slow", (), (slow,)),))
    line = render(diagnosis_document(diagnosis), "text", width=100).splitlines()[-1]
    for page in line.split("fix")[1].strip().split(", "):
        assert main(page.split()[1:]) == 0
    assert capsys.readouterr().out.count("## On the timeline") == 2


def test_the_command_prints_text_or_json(samples, capsys):
    assert main(["explain", str(samples / "sharpen_8bit.trace")]) == 0
    assert "2b all predictions slow: seen" in capsys.readouterr().out
    assert main(["explain", str(samples / "sharpen_8bit.trace"), "--format", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [branch["title"][0] for branch in document["branches"]] == ["1", "2", "3", "4", "5"]
    assert main(["explain", "not-there.trace"]) == 2
    # Without any evaluated check the status is "inconclusive".
    assert main(["explain", str(samples / "not_instrumented.trace"), "-q"]) == 3


@pytest.fixture
def with_file(samples, built_models, tmp_path):
    """The answers to `sharpen_8bit` with a model that was built, and what limits them."""

    def diagnosed(name: str):
        (source,) = built_models.glob(f"{name}.ml*")
        diagnosis = diagnose(tracekit.analyze(samples / "sharpen_8bit.trace", model_files=[f"SharpenFilter={source}"]))
        return answers(diagnosis), diagnosis

    return diagnosed


def test_a_model_file_answers_versions_compression_and_conversion(with_file):
    answered, diagnosis = with_file("palettized_groups")
    # Specification 9 needs iOS 18, and the recording is of iOS 18.5.
    version = answered[Pattern.UNSUPPORTED_VERSION]
    assert version.answer is Answer.NOT_SEEN
    assert version.evidence == (
        "SharpenFilter (model file): specification 9 (iOS 18, macOS 15 or later) loads on the system of the recording.",
    )
    assert answered[Pattern.PALETTIZATION_ACCURACY].answer is Answer.OPEN
    assert answered[Pattern.PALETTIZATION_ACCURACY].evidence == (
        "SharpenFilter (model file): weights are palettized; only its outputs show what that costs.",
    )
    for pattern, word in ((Pattern.QUANTIZATION_ACCURACY, "quantized"), (Pattern.PRUNING_ACCURACY, "pruned")):
        assert answered[pattern].answer is Answer.NOT_SEEN
        assert answered[pattern].evidence == (f"SharpenFilter (model file): no weights are {word}.",)
    assert answered[Pattern.UNSUPPORTED_OPERATION].answer is Answer.NOT_SEEN
    assert answered[Pattern.NO_COMPUTE_PLAN].evidence == ("Not visible in recordings.",)
    assert "SharpenFilter (model file): Computes in Float16." in answered[Pattern.WRONG_OUTPUT].evidence
    # That the file is whole does not rule out other failures.
    assert answered[Pattern.OTHER_LOAD_FAILURE].answer is Answer.OPEN
    assert diagnosis.recording == ()
    assert any(
        fact.startswith("Model file palettized_groups.mlpackage: ML program") for fact in diagnosis.branches[0].facts
    )


def test_a_model_for_newer_systems_is_seen(with_file):
    version = with_file("target_iOS26")[0][Pattern.UNSUPPORTED_VERSION]
    assert version.answer is Answer.SEEN
    assert "specification 10 (iOS 26, macOS 26 or later) does not load" in version.evidence[0]


@pytest.mark.sweep
def test_custom_layers_are_operations_that_could_not_be_converted(with_file):
    answered, _ = with_file("custom_layer")
    assert answered[Pattern.UNSUPPORTED_OPERATION].answer is Answer.SEEN
    assert answered[Pattern.UNSUPPORTED_OPERATION].checks == ("custom-layers",)
    assert "AppOwnLayer" in answered[Pattern.UNSUPPORTED_OPERATION].evidence[0]
    assert answered[Pattern.OTHER_LOAD_FAILURE].answer is Answer.SEEN


@pytest.mark.sweep
def test_a_file_of_one_model_does_not_answer_for_the_others(samples, built_models):
    recording = samples / "style_transfer_fixed.trace"
    first, *others = sorted(model.name for model in tracekit.analyze(recording).models if model.level == "top")
    report = tracekit.analyze(recording, model_files=f"{first}={built_models / 'float16_interface.mlpackage'}")
    leaf = answers(diagnose(report))[Pattern.QUANTIZATION_ACCURACY]
    assert leaf.answer is Answer.OPEN
    assert leaf.evidence[0] == f"{first} (model file): no weights are quantized."
    assert leaf.evidence[1].startswith("No model file of ")
    assert others[0] in leaf.evidence[1]


def test_a_file_that_is_not_used_is_told(samples, built_models):
    report = tracekit.analyze(samples / "sharpen_8bit.trace", model_files=[built_models / "network.mlmodel"])
    diagnosis = diagnose(report)
    (sentence,) = diagnosis.recording
    assert sentence.startswith("Model file network.mlmodel: not used: no model has its name; ")
    assert answers(diagnosis)[Pattern.QUANTIZATION_ACCURACY].evidence == ("Not visible in recordings.",)


def test_no_part_is_answered_and_called_absent(samples):
    diagnosis = diagnose(kept_analysis(samples / "style_transfer_reload.trace").report)
    page = render(diagnosis_document(diagnosis, everything=True), "html", width=100)
    assert "<h2>2 It is slow</h2>" in page
    assert "<summary>2 It is slow: the rest is not in this recording</summary>" in page
