"""The gate fails where it must, and never passes in silence."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from support.synthetic_measurements import ran_on, recording, recordings
from tracekit.comparison.baseline import baseline_of, check_anchor, load_baseline, to_text
from tracekit.comparison.comparison import EACH_BY_ITSELF, OF_ANSWERS, ONE_RECORDING, compare
from tracekit.comparison.gate import Allowed, check
from tracekit.comparison.settings import CheckSettings, Floors, Limit, Suppression
from tracekit.comparison.verdict import Item, Verdict
from tracekit.errors import UsageError

TODAY = date(2026, 11, 22)


def limits(*entries):
    return CheckSettings(limits=tuple(Limit(*entry) for entry in entries))


def verdict(recordings, settings=None, baseline=None, **options):
    return check(recordings, settings or CheckSettings(), baseline, today=TODAY, **options)


def subjects(gate, wanted):
    return [(item.subject, item.model) for item in gate.items if item.verdict is wanted]


def shifted(recording, factor):
    model = recording.models[0]
    changed = replace(model, latencies_ns=(model.latencies_ns * factor).astype(np.int64))
    return replace(recording, models=(changed,), identity=f"{recording.identity} {factor}")


@pytest.mark.parametrize(("entries", "wanted"), [
    ([("Sharpen*", "p50", 13e6)], Verdict.PASSED),
    ([("Sharpen*", "p50", 12e6)], Verdict.FAILED),
    ([("*", "p95", 14e6)], Verdict.PASSED),
    ([("*", "p95", 13e6)], Verdict.FAILED),
    ([("*", "copies", 5)], Verdict.PASSED),
    ([("*", "copies", 4)], Verdict.FAILED),
    ([("*", "in-flight", 1)], Verdict.PASSED),
    ([("*", "in-flight", 0)], Verdict.FAILED),
    ([("*", "neural-engine", 0.9)], Verdict.PASSED),
    ([("*", "cold-load", 1e12)], Verdict.INCONCLUSIVE),  # Nothing was measured for it.
    ([], Verdict.ERROR),
])  # fmt: skip
def test_limits_are_held_against_what_was_recorded(measured, entries, wanted):
    assert verdict([measured("sharpen_8bit")], limits(*entries)).verdict is wanted


def test_an_empty_recording_is_an_error(measured):
    empty = replace(measured("sharpen_8bit"), models=())
    assert verdict([empty], limits(("*", "p50", 1e9))).verdict is Verdict.ERROR


def test_a_limit_that_applies_to_no_model_is_an_error(measured):
    gate = verdict([measured("sharpen_8bit")], limits(("Sharpn", "p50", 1e9), ("Sharpen*", "p50", 1e9)))
    assert gate.verdict is Verdict.ERROR
    assert "matches 'Sharpn'" in gate.items[0].text


def test_a_slower_build_fails(measured):
    recording = measured("sharpen_float16")
    gate = verdict([shifted(recording, 1.2)], baseline=baseline_of([recording]))
    assert subjects(gate, Verdict.FAILED) == [("baseline", "SharpenFilter")]
    assert gate.items[0].text.startswith("slower than allowed: ")
    assert (gate.items[0].value, gate.items[0].allowed) == (pytest.approx(0.2, abs=0.01), pytest.approx(0.1))


def test_what_is_slower_by_less_than_is_allowed_passes_and_says_by_how_much(measured):
    recording = measured("sharpen_float16")
    gate = verdict([shifted(recording, 1.05)], baseline=baseline_of([recording]))
    assert gate.verdict is Verdict.PASSED
    assert "+5" in next(item.text for item in gate.items if item.subject == "baseline")


def test_a_build_is_held_against_the_spread_of_the_baseline(measured):
    recording = measured("sharpen_float16")
    wide = baseline_of([shifted(recording, factor) for factor in (0.8, 0.9, 1.0, 1.1, 1.2)])
    assert verdict([shifted(recording, 1.21)], baseline=wide).verdict is Verdict.INCONCLUSIVE


def test_a_vanished_model_fails_unless_it_may_be_gone(measured):
    both = replace(
        measured("sharpen_8bit"),
        models=(*measured("sharpen_8bit").models, *measured("style_transfer_fixed").models[:1]),
    )
    baseline = baseline_of([both])
    gone = both.models[1].name
    assert subjects(verdict([measured("sharpen_8bit")], baseline=baseline), Verdict.FAILED) == [("baseline", gone)]
    allowed = verdict([measured("sharpen_8bit")], baseline=baseline, allowed=Allowed(missing=(gone,)))
    assert allowed.verdict is Verdict.PASSED


def test_no_model_in_common_is_an_error(measured):
    gate = verdict([measured("style_transfer_fixed")], baseline=baseline_of([measured("sharpen_8bit")]))
    assert gate.verdict is Verdict.ERROR
    assert "no model in common" in gate.items[0].text


def test_another_environment_is_an_error_unless_it_is_allowed(measured):
    recording = measured("sharpen_8bit")
    other = shifted(replace(recording, environment=replace(recording.environment, system="iOS 19")), 1.001)
    baseline = baseline_of([recording])
    gate = verdict([other], baseline=baseline)
    assert gate.verdict is Verdict.ERROR
    assert "iOS 19" in gate.items[0].text
    assert verdict([other], baseline=baseline, allowed=Allowed(environment_change=True)).verdict is Verdict.PASSED


def test_a_new_finding_fails_and_a_new_check_does_not(measured):
    before, after = measured("sharpen_float16"), measured("sharpen_8bit")
    after = replace(before, checks=after.checks, source="other")
    baseline = baseline_of([shifted(before, 1.001)])
    gate = verdict([after], baseline=baseline)
    assert {item.text.partition(":")[0] for item in gate.items if item.verdict is Verdict.FAILED} == {
        "excess-data-copies",
        "float-conversion",
    }
    older = replace(baseline, checks=frozenset(baseline.checks - {"excess-data-copies", "float-conversion"}))
    gate = verdict([after], baseline=older)
    assert gate.verdict is Verdict.PASSED
    assert sum("is new, as is its check" in item.text for item in gate.items) == 2


def test_findings_are_counted_by_check(measured):
    reloads = measured("style_transfer_reload")
    # One check found the same in five models.
    assert verdict([reloads], CheckSettings(findings={"critical": 1})).verdict is Verdict.PASSED
    assert verdict([reloads], CheckSettings(findings={"critical": 0})).verdict is Verdict.FAILED


def test_a_suppression_holds_until_it_expires(measured):
    reloads = measured("style_transfer_reload")
    entry = Suppression("reload-before-predict:*", "later", date(2026, 11, 22))
    settings = CheckSettings(findings={"critical": 0}, suppressions=(entry,))
    assert verdict([reloads], settings).verdict is Verdict.PASSED
    expired = replace(settings, suppressions=(replace(entry, expires=date(2026, 11, 21)),))
    gate = verdict([reloads], expired)
    assert ("suppression", None) in subjects(gate, Verdict.FAILED)
    assert ("findings", None) in subjects(gate, Verdict.FAILED)


def test_an_inconclusive_recording_never_passes(measured):
    gate = verdict([measured("not_instrumented")], CheckSettings(findings={"critical": 0}))
    assert gate.verdict in (Verdict.ERROR, Verdict.INCONCLUSIVE)


@pytest.mark.sweep
def test_of_many_models_one_that_seems_changed_by_chance_does_not_count(measured):
    recording = measured("sharpen_float16")
    model = recording.models[0]
    generator = np.random.default_rng(4)

    def side(changed):
        models = []
        for number in range(20):
            noise = generator.normal(0, 0.25, 60)
            values = (1e7 * np.exp(noise) * (changed if number == 0 else 1)).astype(np.int64)
            models.append(replace(model, name=f"M{number}", latencies_ns=values, warm=np.ones(60, dtype=bool)))
        return replace(recording, models=tuple(models))

    gate = verdict([side(1.0)], baseline=baseline_of([side(1.0)]))
    assert not subjects(gate, Verdict.FAILED)
    gate = verdict([side(2.0)], baseline=baseline_of([side(1.0)]))
    assert subjects(gate, Verdict.FAILED) == [("baseline", "M0")]


def test_a_floor_of_a_model_is_kept(measured):
    recording = measured("sharpen_float16")
    slower, baseline = shifted(recording, 1.15), baseline_of([recording])
    assert verdict([slower], baseline=baseline).verdict is Verdict.FAILED
    wide = Floors((("Sharpen*", {"allow": 0.20}),))
    assert verdict([slower], baseline=baseline, floors=wide).verdict is Verdict.PASSED


def test_a_check_that_failed_is_no_check_that_found_nothing(measured):
    recording = measured("sharpen_8bit")
    broken = replace(recording, checks=(*recording.checks[1:], replace(recording.checks[0], outcome="error")))
    gate = verdict([broken], CheckSettings(findings={"critical": 0}))
    assert gate.verdict is Verdict.ERROR
    assert recording.checks[0].id in gate.items[0].text


def test_a_finding_that_was_not_evaluated_before_is_said_and_does_not_count(measured):
    before, after = measured("sharpen_float16"), measured("sharpen_8bit")
    blind = [replace(one, outcome="not_evaluated") if one.id == "excess-data-copies" else one for one in before.checks]
    baseline = baseline_of([shifted(replace(before, checks=tuple(blind)), 1.001)])
    gate = verdict([replace(before, checks=after.checks)], baseline=baseline)
    (item,) = [item for item in gate.items if item.about == "excess-data-copies:SharpenFilter"]
    assert item.verdict is Verdict.NOT_COUNTED
    assert "not evaluated before" in item.text


def test_another_version_of_the_method_is_said(measured):
    recording = measured("sharpen_float16")
    old = replace(baseline_of([shifted(recording, 1.001)]), method=0)
    gate = verdict([recording], baseline=old)
    assert gate.verdict is Verdict.PASSED
    assert "version 0 of the method" in gate.items[0].text


@pytest.mark.parametrize(("name", "bound", "words"), [
    ("p50", 10e6, "95% interval 12.3 ms to 12.6 ms), allowed: at most 10.0 ms (24% above the limit)"),
    ("p50", 24.879e6, "allowed: at most 24.9 ms (50% below the limit)"),
    ("p50", 1e6, "95% interval 12.3 ms to 12.6 ms), allowed: at most 1.00 ms (12 times the limit)"),
    ("copies", 1, "5, allowed: at most 1"),
    ("copies", 5, "5, allowed: at most 5"),
    ("copies", 0, "5, allowed: at most 0"),
    ("neural-engine", 0.9, "100% of compute, in 140 of 140 predictions, allowed: at least 90%"),
])  # fmt: skip
def test_a_limit_is_said_with_its_basis_and_the_distance_to_it(measured, name, bound, words):
    (item,) = verdict([measured("sharpen_8bit")], limits(("*", name, bound))).items
    assert item.text.endswith(words)


def test_of_several_recordings_the_median_counts_and_the_range_is_said(measured):
    recording = measured("sharpen_8bit")
    gate = verdict([shifted(recording, factor) for factor in (0.9, 1.0, 1.5)], limits(("*", "p50", 13e6)))
    assert gate.verdict is Verdict.PASSED
    assert "12.4 ms (3 recordings, 11.2 ms to 18.7 ms)" in gate.items[0].text


def test_latencies_of_predictions_that_all_follow_a_load_are_said_to_be_that(measured):
    gate = verdict([measured("style_transfer_reload")], limits(("Mosaic", "p50", 20e6)))
    assert "(77 predictions, each after a load, 95% interval" in gate.items[0].text


def test_another_environment_is_said_first(measured):
    recording = measured("sharpen_8bit")
    other = replace(recording, environment=replace(recording.environment, device="Mac"), models=())
    problem = Item(Verdict.ERROR, "input", None, "x.trace: no such file")
    gate = verdict([other], limits(("*", "p50", 1)), baseline_of([recording]), problems=[problem])
    assert [item.subject for item in gate.items[:4]] == ["environment", "input", "input", "baseline"]


def test_the_note_about_many_models_is_not_said_where_they_are_corrected_for(measured):
    baseline = baseline_of([measured("style_transfer_fixed")])
    gate = verdict([measured("style_transfer_reload")], baseline=baseline)
    assert EACH_BY_ITSELF in compare(baseline.recordings, [measured("style_transfer_reload")]).notes
    assert not set(OF_ANSWERS) & set(gate.comparison.notes)
    assert ONE_RECORDING in gate.comparison.notes


def test_a_slower_tail_is_said_and_does_not_count(measured):
    model = measured("sharpen_8bit").models[0]
    values = np.full(400, 10_000_000)
    slow = np.where(np.arange(400) % 10 == 0, 20_000_000, values)
    sides = [
        replace(measured("sharpen_8bit"), models=(replace(model, latencies_ns=series, warm=np.ones(400, dtype=bool)),))
        for series in (values, slow)
    ]
    found = verdict(sides[1:], None, baseline_of(sides[:1]))
    assert found.verdict is Verdict.PASSED
    (item,) = [item for item in found.items if item.about == "p95"]
    assert item.verdict is Verdict.NOT_COUNTED
    assert "p95 regressed: 10.0 → 20.0 ms, +100%" in item.text


def test_a_recording_counts_once_without_a_baseline_too(measured):
    with pytest.raises(UsageError, match="given twice"):
        check([measured("sharpen_8bit")] * 2, CheckSettings(findings={"critical": 0}), None, today=TODAY)


def test_without_a_recording_nothing_passes():
    for settings in (CheckSettings(), limits(("*", "p50", 1e9)), CheckSettings(findings={"low": 9})):
        for allowed in (Allowed(), Allowed(True, ("*",), True)):
            assert verdict([], settings, allowed=allowed).verdict is Verdict.ERROR


def test_work_that_moved_to_another_unit_fails_at_equal_latency(measured):
    recording = measured("sharpen_float16")
    moved = replace(recording.models[0], where=ran_on(neural_engine=0.03, gpu=0.97))
    gate = verdict([replace(recording, models=(moved,), identity="other")], baseline=baseline_of([recording]))
    assert subjects(gate, Verdict.FAILED) == [("baseline", "SharpenFilter")]
    assert "moved from the Neural Engine to the GPU (97% of compute)" in gate.items[0].text


@pytest.mark.parametrize(("states", "wanted"), [
    ((None, "Serious"), Verdict.INCONCLUSIVE),
    (("Critical", None), Verdict.INCONCLUSIVE),
    (("Nominal", "Serious"), Verdict.ERROR),
    (("Serious", "Serious"), Verdict.PASSED),
    (("Nominal", None), Verdict.PASSED),
])  # fmt: skip
def test_a_hot_device_never_passes_where_the_other_side_was_not_or_may_not_have_been(measured, states, wanted):
    recording = measured("sharpen_float16")
    before, after = (replace(recording, environment=replace(recording.environment, thermal=one)) for one in states)
    baseline, after = baseline_of([before]), replace(after, identity="other")
    gate = verdict([after], baseline=baseline)
    assert gate.verdict is wanted
    if wanted is not Verdict.PASSED:
        assert (gate.items[0].subject, gate.items[0].about) == ("environment", "thermal state")
        said = [state or "not recorded" for state in states]
        assert gate.items[0].text.startswith(f"thermal state: {said[0]} in the baseline, now {said[1]}; ")
    allowed = verdict([after], baseline=baseline, allowed=Allowed(environment_change=True))
    assert allowed.verdict is Verdict.PASSED
    # Nor does it fail for what heat alone may have done.
    slower = verdict([shifted(after, 1.3)], baseline=baseline)
    assert slower.verdict is (Verdict.FAILED if wanted is Verdict.PASSED else wanted)
    latency = next(item for item in slower.items if item.model)
    assert ("one side ran hot" in latency.text) == (wanted is not Verdict.PASSED)


def test_a_recording_of_the_baseline_and_one_too_short_to_count_are_said():
    baseline = baseline_of(recordings((1.0, 1.01, 0.99)))
    again = verdict([recording(0, 1.0)], baseline=baseline)
    assert "a recording of the baseline is checked against it: run 0" in texts(again)
    short = verdict([*recordings((1.0, 1.01), first=10), recording(12, count=11)], baseline=baseline)
    assert short.verdict is Verdict.PASSED
    assert "recordings with fewer than 12 predictions do not count: 1 of the build" in texts(short)
    without = [*recordings((1.0, 1.01), first=10), recording(12, name="Other")]
    assert "recordings with fewer than 12 predictions do not count: 1 of the build" in texts(
        verdict(without, baseline=baseline)
    )


def texts(gate):
    return [item.text for item in gate.items]


def test_a_baseline_cannot_drift_with_what_is_added(tmp_path):
    """Each is 4% slower than the one before, so that none stands out beside the others."""
    file, baseline = tmp_path / "perf.json", baseline_of(recordings((1.0, 1.005, 0.995)))
    for step, scale in enumerate((1.04, 1.08)):
        runs = recordings((scale, scale + 0.005), first=10 * (step + 1))
        check_anchor(baseline, runs, Floors(), file)
        baseline = baseline_of(runs, baseline)
    with pytest.raises(UsageError, match=r"Net is 1[1-3]% slower than in the recordings that .* first saved with"):
        check_anchor(baseline, recordings((1.12, 1.125), first=50), Floors(), file)
    for step in range(10):
        baseline = baseline_of(recordings((1.0,), first=100 + step), baseline)
    assert (len(baseline.recordings), baseline.anchored) == (10, 3)
    kept = [one.models[0].latencies_ns.tolist() for one in baseline.recordings[:3]]
    assert kept == [one.models[0].latencies_ns.tolist() for one in recordings((1.0, 1.005, 0.995))]


@pytest.mark.parametrize("anchored", [None, -1, 0, 7, True, "three", 1.5])
def test_a_baseline_that_does_not_say_its_first_recordings_keeps_all_of_them(tmp_path, anchored):
    file = tmp_path / "perf.json"
    file.write_text(
        json.dumps(json.loads(to_text(baseline_of(recordings((1.0, 1.01, 0.99))))) | {"anchored": anchored})
    )
    assert load_baseline(file).anchored == 3


def blind(recording, lacks):
    """The recording, of which checks of call stacks were not evaluated."""
    checks = [
        replace(one, outcome="not_evaluated", severity=None, lacks=lacks) if one.id == "float-conversion" else one
        for one in recording.checks
    ]
    return replace(recording, checks=tuple(checks))


@pytest.mark.parametrize(("lacks", "wanted"), [
    ("Call Stacks were recorded but not exported", Verdict.INCONCLUSIVE),
    ("It is unknown whether Hangs were recorded", Verdict.INCONCLUSIVE),
    # No limit is about what was not recorded at all, nor about checks with too few predictions.
    ("Hangs were not recorded", Verdict.PASSED),
    ("", Verdict.PASSED),
])  # fmt: skip
def test_allowed_findings_do_not_pass_where_the_evidence_of_a_check_is_lost(measured, lacks, wanted):
    recording, settings = blind(measured("sharpen_float16"), lacks), CheckSettings(findings={"critical": 0})
    gate = verdict([recording], settings)
    assert gate.verdict is wanted
    assert (f"float-conversion not evaluated ({lacks})" in gate.items[0].text) == (wanted is Verdict.INCONCLUSIVE)
    suppressed = replace(settings, suppressions=(Suppression("float-conversion", "known", date(2027, 1, 1)),))
    assert verdict([recording], suppressed).verdict is Verdict.PASSED


@pytest.mark.parametrize(("lacks", "wanted"), [
    ("Hangs were not recorded", Verdict.INCONCLUSIVE),
    ("Call Stacks were recorded but not exported", Verdict.INCONCLUSIVE),
    ("", Verdict.PASSED),
])  # fmt: skip
def test_a_check_of_the_baseline_that_lacks_its_instrument_now_is_open(measured, lacks, wanted):
    before = measured("sharpen_float16")
    gate = verdict([shifted(blind(before, lacks), 1.001)], baseline=baseline_of([before]))
    assert gate.verdict is wanted
    if wanted is Verdict.INCONCLUSIVE:
        assert gate.items[0].text == f"evaluated in the baseline, not now: float-conversion not evaluated ({lacks})"


@pytest.mark.parametrize("name", ["device", "system"])
def test_a_device_that_is_not_shown_may_be_another_one(measured, name):
    before = measured("sharpen_float16")
    hidden = replace(before, environment=replace(before.environment, **{name: None}))
    gate = verdict([shifted(hidden, 1.001)], baseline=baseline_of([before]))
    assert gate.verdict is Verdict.INCONCLUSIVE
    assert "in the baseline, now not recorded: export the table of contents" in gate.items[0].text
    allowed = Allowed(environment_change=True)
    assert verdict([shifted(hidden, 1.001)], baseline=baseline_of([before]), allowed=allowed).verdict is Verdict.PASSED


def test_units_that_are_not_known_have_not_moved(measured):
    before = measured("sharpen_float16")
    for where in (None, ran_on(cpu=0.1, off_by=0.9)):
        model = replace(before.models[0], where=where)
        gate = verdict([shifted(replace(before, models=(model,)), 1.001)], baseline=baseline_of([before]))
        assert gate.verdict is Verdict.PASSED


def test_a_limit_of_loads_is_not_about_what_is_no_model(measured):
    recording = measured("sharpen_float16")
    operation = replace(recording.models[0], name="frame", counted="signposts")
    gate = verdict([replace(recording, models=(*recording.models, operation))], limits(("*", "loads", 1)))
    assert [item.model for item in gate.items] == ["SharpenFilter"]
