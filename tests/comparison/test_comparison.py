"""Samples before and after the change that their ground truth describes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.synthetic_measurements import DEVICE, model, of_models, ran_on, recording, recordings
from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.comparison.comparison import compare, typical
from tracekit.comparison.findings import FindingStatus
from tracekit.comparison.latency import Answer, Reason
from tracekit.comparison.measurements import CheckResult, Parts
from tracekit.comparison.models import Basis, Presence
from tracekit.documents.comparison import comparison_document
from tracekit.errors import UsageError
from tracekit.render.forms import render


def text_of(comparison):
    return render(comparison_document(comparison), "text", width=100)


def test_reloads_are_fixed_and_predictions_unchanged(measured):
    comparison = compare([measured("style_transfer_reload")], [measured("style_transfer_fixed")])
    assert [(one.status, one.id, len(one.models)) for one in comparison.findings] == [
        (FindingStatus.FIXED, "reload-before-predict", 5)
    ]
    assert sum(model.loads.before for model in comparison.models) == 373
    assert sum(model.loads.after for model in comparison.models) == 5
    assert {model.latency.answer for model in comparison.models} == {Answer.UNCHANGED}
    # Each prediction before follows a load, so all of both sides are compared.
    assert {model.basis for model in comparison.models} == {Basis.ALL}
    # Fewer loads are the fix, not another environment.
    assert comparison.unfair == ()


def test_float16_interfaces_improve_predictions_by_a_third_of_their_time(measured):
    comparison = compare([measured("sharpen_8bit")], [measured("sharpen_float16")])
    (model,) = comparison.models
    assert model.latency.answer is Answer.IMPROVED
    assert model.latency.low < 0.70 < model.latency.high
    assert {one.status for one in comparison.findings} == {FindingStatus.FIXED}
    parts = {part.part: part for part in model.parts}
    # The conversions and copies that the ground truth takes out of each prediction.
    assert parts["data"].differs
    assert min(model.parts, key=lambda part: part.difference_ns).part == "data"
    assert (model.copies.before, model.copies.after) == (5, 2)


def test_parts_add_up_to_the_change_of_the_mean(measured):
    before, after = measured("sharpen_8bit"), measured("sharpen_float16")
    (model,) = compare([before], [after]).models
    means = [entry.models[0].warm_ns.mean() for entry in (before, after)]
    assert sum(part.difference_ns for part in model.parts) == pytest.approx(means[1] - means[0], abs=200)


def test_a_recording_against_itself_says_so(measured):
    comparison = compare([measured("captions_concurrent")], [measured("captions_concurrent")])
    assert not {model.latency.answer for model in comparison.models} & {Answer.IMPROVED, Answer.REGRESSED}
    assert not {one.status for one in comparison.findings} & {FindingStatus.NEW, FindingStatus.FIXED}
    assert "compared with itself" in comparison.notes[0]


def test_another_model_changes_nothing_for_the_others(measured):
    before, after = measured("sharpen_8bit"), measured("sharpen_float16")
    other = measured("style_transfer_fixed").models[0]
    alone = compare([before], [after]).models[0]
    beside = compare(
        [replace(before, models=(*before.models, other))], [replace(after, models=(other, *after.models))]
    ).models
    assert next(model for model in beside if model.name == alone.name) == alone


def test_a_renamed_model_is_compared(measured):
    before, after = measured("sharpen_8bit"), measured("sharpen_float16")
    renamed = replace(after, models=(replace(after.models[0], name="Sharpen2"),), checks=())
    apart = compare([before], [renamed])
    assert [model.presence for model in apart.models] == [Presence.ONLY_BEFORE, Presence.ONLY_AFTER]
    joined = compare([before], [renamed], renames={"SharpenFilter": "Sharpen2"})
    assert [(model.name_before, model.name) for model in joined.models] == [("SharpenFilter", "Sharpen2")]
    assert joined.models[0].latency.answer is Answer.IMPROVED


def test_a_rename_of_a_model_that_is_not_there_is_an_error(measured):
    with pytest.raises(UsageError, match="SharpenFiltr"):
        compare([measured("sharpen_8bit")], [measured("sharpen_float16")], renames={"SharpenFiltr": "SharpenFilter"})


@pytest.mark.parametrize("field", ["device", "system", "instruments", "template", "thermal", "input_type"])
def test_what_makes_a_comparison_unfair_is_told(measured, field):
    before = measured("sharpen_8bit")
    known = replace(before, environment=replace(before.environment, **{field: "one"}))
    other = replace(before, environment=replace(before.environment, **{field: "other"}))
    unknown = replace(before, environment=replace(before.environment, **{field: None}))
    (difference,) = compare([known], [other]).unfair
    assert (difference.before, difference.after) == ("one", "other")
    assert compare([known], [unknown]).unfair == ()


def test_what_could_be_unfair_and_was_not_recorded_is_told(measured):
    one = measured("sharpen_8bit")
    known = replace(one, environment=replace(one.environment, thermal="Nominal"))
    assert compare([known], [known]).not_recorded == ("low power mode",)
    assert compare([known], [one]).not_recorded == ("thermal state", "low power mode")


def test_parts_of_several_recordings_are_held_against_their_spread(measured):
    model = measured("sharpen_8bit").models[0]

    def recording(**times):
        """Mean times of parts in ms."""
        means_ns = tuple(times.get(group.name.replace(" ", "_"), 0) * 1e6 for group in GROUPS)
        parts = replace(model.warm_parts, means_ns=means_ns)
        scale = 1 + times["data"] / 1e4
        values = (model.latencies_ns * scale).astype(np.int64)
        changed = replace(model, warm_parts=parts, latencies_ns=values)
        return replace(measured("sharpen_8bit"), models=(changed,), identity=str(times))

    before = [recording(data=data, Neural_Engine=8, queued=queued) for data, queued in ((3, 1), (3.1, 4), (2.9, 2))]
    after = [recording(data=data, Neural_Engine=8, queued=queued) for data, queued in ((1, 2), (1.1, 1), (0.9, 5))]
    (compared,) = compare(before, after).models
    parts = {part.part: part for part in compared.parts}
    # -2 ms +- t(4) sqrt(2/3) 0.1 ms, t = 2.776.
    assert (parts["data"].low_ns, parts["data"].high_ns) == pytest.approx((-2.227e6, -1.773e6), rel=0.001)
    assert parts["data"].answer is Answer.IMPROVED
    assert parts["Neural Engine"].answer is Answer.UNCHANGED
    # The means of this part differ by 0.33 ms, and its recordings by up to 4 ms.
    assert parts["queued"].answer is Answer.INCONCLUSIVE
    assert not parts["queued"].differs


def test_a_table_that_one_side_misses_is_said_once_and_moves_no_time_to_other_parts():
    def side(seed, *means_ns, lacks):
        parts = Parts(
            tuple(means_ns[index] if index < len(means_ns) else 0.0 for index in range(len(GROUPS))),
            (0.0,) * len(GROUPS),
            tuple(bool(index or not lacks) for index in range(len(GROUPS))),
            20.0,
        )
        one = recording(seed)
        checks = tuple(
            CheckResult(check, check, "Net", "not_evaluated" if lacks else "passed", None, None, lacks)
            for check in ("gpu-one", "gpu-other")
        )
        return replace(one, models=(replace(one.models[0], warm_parts=parts),), checks=checks)

    whole, partial = side(1, 8e6, 1e6, lacks=""), side(2, 0.0, 9e6, lacks="GPU was recorded but not exported")
    compared = compare([whole], [partial])
    assert compared.models[0].parts == ()
    assert [note for note in compared.notes if "GPU" in note] == [
        "Only one side has GPU: what rests on that is not compared."
    ]
    assert compare([whole], [side(3, 8e6, 1e6, lacks="")]).models[0].parts
    # What neither has is compared with nothing, and is no difference.
    assert not any("GPU" in note for note in compare([partial], [replace(partial, identity="other")]).notes)


def test_the_typical_recording_is_the_one_in_the_middle(measured):
    model = measured("sharpen_8bit").models[0]
    other = measured("style_transfer_fixed").models[0]

    def recording(scale, *more):
        scaled = replace(model, latencies_ns=(model.latencies_ns * scale).astype(np.int64))
        return replace(measured("sharpen_8bit"), models=(scaled, *more))

    assert typical([recording(scale) for scale in (1.3, 0.9, 1.0, 0.7, 1.1)]) == 2
    # One that holds both models stands for the others more than one in the middle of the first.
    assert typical([recording(1.0), recording(1.2, other), recording(0.9)]) == 1
    assert typical([replace(measured("sharpen_8bit"), models=())]) == 0


def test_recordings_of_different_lengths_are_compared_up_to_the_shorter_one():
    values = np.full(600, 10_000_000) + np.arange(600) % 7
    values[:100] = values[:100] * 13 // 10
    sides = [[of_models(warm_after(values[:count]))] for count in (600, 80)]
    (found,) = compare(*sides).models
    assert (found.window, found.latency.predictions) == (80, ((79,), (79,)))
    assert found.latency.answer is Answer.UNCHANGED
    # Most predictions of the longer one are not compared, so their mean says nothing.
    assert found.parts == ()
    text = text_of(compare(*sides))
    assert "79 and 79 predictions (" in text
    assert "of the first 80 after each load" in text


def warm_after(values):
    """A model that was loaded once, before these predictions."""
    return replace(model("Net", values), warm=np.arange(len(values)) > 0)


def test_what_too_few_predictions_say_of_p95_takes_no_line_of_its_own():
    few, enough = ([of_models(warm_after(np.full(count, 10_000_000) + np.arange(count) % 7))] for count in (299, 400))
    text = text_of(compare(few, few))
    assert "    also  p95 10.0 → 10.0 ms\n" in text
    assert "p95 is compared from 300 values per side on." in text
    assert "    p95   unchanged within ±5%, 10.0 → 10.0 ms" in text_of(compare(enough, enough))


def test_the_time_of_a_single_load_is_said_once():
    sides = [
        [of_models(replace(model("Net", np.full(50, 10_000_000)), cached_loads_ns=np.array([time])))]
        for time in (10**8, 10**9)
    ]
    assert "also  p95 10.0 → 10.0 ms, load time 0.10 → 1.00 s\n" in text_of(compare(*sides))


def test_predictions_are_counted_for_each_recording_and_an_interval_says_how_far_it_holds():
    pair = text_of(compare(recordings((1.0,)), recordings((1.3,), first=5)))
    assert "95% interval of the change within these recordings\n" in pair
    before = [*recordings((1.0, 1.01), first=0), recording(2, count=80)]
    several = text_of(compare(before, recordings((1.3, 1.31, 1.32), first=5)))
    assert "95% interval of the change\n" in several
    assert "from  3 recordings of 80 predictions and 3 of 80, of the first 80 after each load" in several


def test_where_too_few_predictions_lie_equally_far_behind_a_load_no_change_is_believed():
    seldom = warm_after(np.full(200, 10_000_000) + np.arange(200) % 7)
    often = replace(model("Net", np.full(200, 12_000_000) + np.arange(200) % 7), warm=np.arange(200) % 5 > 0)
    (found,) = compare([of_models(seldom)], [of_models(often)]).models
    assert (found.window, found.latency.reason) == (None, Reason.UNEQUAL)


def test_loads_of_a_longer_recording_are_a_rate():
    short, long = (
        replace(model("Net", np.full(count, 10_000_000)), cached_loads_ns=np.full(loads, 20_000_000))
        for count, loads in ((100, 6), (300, 18))
    )
    text = text_of(compare([of_models(short)], [of_models(long)]))
    assert "loads" not in text.splitlines()[0]
    more = replace(long, cached_loads_ns=np.full(36, 20_000_000))
    assert "loads per 100 predictions 6 → 12" in text_of(compare([of_models(short)], [of_models(more)]))


@pytest.mark.parametrize(
    ("loads", "words"), [((1, 1), None), ((2, 1), "reloads per 100 predictions 0.2 → 0"), ((1, 5), "reloads per 100")]
)
def test_the_first_load_of_a_model_is_none_of_a_rate(loads, words):
    """600 predictions against 40."""
    sides = [
        [of_models(replace(model("Net", np.full(count, 10_000_000)), cached_loads_ns=np.full(of, 20_000_000)))]
        for count, of in zip((600, 40), loads, strict=True)
    ]
    text = text_of(compare(*sides))
    assert words in text.splitlines()[0] if words else "loads" not in text.splitlines()[0]
    assert "load time" not in text


def test_a_load_that_takes_much_of_the_time_in_core_ml_is_in_the_first_line():
    cold, cached = (
        of_models(replace(model("Net", np.full(50, 10_000_000)), cached_loads_ns=np.array([time])))
        for time in (3_000_000_000, 200_000_000)
    )
    first = text_of(compare([cold], [cached])).splitlines()[0]
    assert first.startswith("Core ML time 3.50 → 0.70 s (−80%): load time 3.00 → 0.20 s · ")


def test_work_that_moved_to_another_unit_is_in_the_first_line():
    net = model("Net", np.full(50, 10_000_000))
    comparison = compare([of_models(net)], [of_models(replace(net, where=ran_on(gpu=1.0)))])
    moved = "from the Neural Engine to the GPU (100% of compute)"
    assert text_of(comparison).startswith(f"Net moved {moved} · ")
    assert f"moved  {moved}" in text_of(comparison)
    assert "share of compute 100%" not in text_of(comparison)


@pytest.mark.parametrize(("states", "answer"), [
    (("Nominal", "Nominal"), Answer.REGRESSED),
    (("Nominal", None), Answer.REGRESSED),
    (("Nominal", "Fair"), Answer.REGRESSED),
    (("Serious", "Critical"), Answer.REGRESSED),
    (("Nominal", "Serious"), Answer.INCONCLUSIVE),
    (("Critical", "Fair"), Answer.INCONCLUSIVE),
    ((None, "Critical"), Answer.INCONCLUSIVE),
    (("Serious", None), Answer.INCONCLUSIVE),
])  # fmt: skip
def test_no_answer_about_a_time_is_believed_where_one_side_alone_is_known_to_be_hot(states, answer):
    """50 predictions a side, 30% slower after, and 60 cold loads."""
    sides = []
    for scale, state in zip((1.0, 1.3), states, strict=True):
        net = replace(recording(1, scale, count=50).models[0], cold_loads_ns=np.full(60, round(1e8 * scale)))
        sides.append([of_models(net, environment=replace(DEVICE, thermal=state))])
    comparison = compare(*sides)
    (found,) = comparison.compared
    assert (found.latency.answer, found.cold_load.answer) == (answer, answer)
    # The numbers are given all the same.
    assert found.latency.ratio == pytest.approx(1.3, abs=0.01)
    assert (found.latency.reason is Reason.HOT) == (answer is Answer.INCONCLUSIVE)
    text = text_of(comparison)
    assert ("one side ran hot" in text) == (answer is Answer.INCONCLUSIVE)
    if answer is Answer.INCONCLUSIVE:
        (difference,) = comparison.unfair
        assert (difference.before, difference.after) == tuple(state or "not recorded" for state in states)
        assert "certainty: one recording per side; not a fair comparison: thermal state; not recorded:" in text


def test_one_hot_recording_of_several_makes_its_side_hot():
    before, after = recordings((1.0, 1.01, 0.99)), recordings((1.3, 1.31, 1.29), first=5)
    assert compare(before, after).compared[0].latency.answer is Answer.REGRESSED
    after[1] = replace(after[1], environment=replace(DEVICE, thermal="Serious"))
    assert compare(before, after).compared[0].latency.reason is Reason.HOT


def test_a_recording_without_a_model_does_not_count_for_it():
    net, other = model("Net", np.full(50, 10_000_000)), model("Other", np.full(50, 10_000_000))
    found = compare([of_models(net)] * 3, [of_models(net), of_models(net), of_models(other)]).models[0]
    assert (found.name, found.left_out) == ("Net", (0, 1))


def test_recordings_of_two_apps_without_a_common_model_fix_nothing():
    one, other = (
        replace(of_models(model(name, np.full(50, 10_000_000)), environment=replace(DEVICE, target=app)), checks=checks)
        for name, app, checks in (
            ("Planner", "MealPlanner", (CheckResult("cold-load", "Cold", "Planner", "finding", "high", None),)),
            ("Chat", "LocalChat", ()),
        )
    )
    comparison = compare([one], [other])
    assert [(entry.what, entry.before, entry.after) for entry in comparison.unfair] == [
        ("target", "MealPlanner", "LocalChat")
    ]
    (change,) = comparison.findings
    assert (change.status, change.reason) == (FindingStatus.NOT_COMPARABLE, "only before: no model in common")
