"""Series of a history: what belongs together, what begins anew, and what changed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.made_histories import SYSTEM, commit, latencies, recorded
from support.simulated_histories import NORMAL, steady, with_drift, with_step
from support.synthetic_measurements import model, of_models, ran_on
from tracekit.comparison.gate import gate_of, history_items
from tracekit.comparison.history import FIGURES, history_of, recorded_of
from tracekit.comparison.measurements import CheckResult, Inexact
from tracekit.comparison.settings import Floors
from tracekit.comparison.verdict import Verdict


def logs(count, seed=5):
    return steady(NORMAL, count, np.random.default_rng(seed))


def trend(series, figure="p50_ns"):
    return next(one for one in series.trends if one.figure == figure)


def test_a_step_is_named_by_its_builds_whatever_the_order_of_the_recordings():
    recordings = latencies(with_step(logs(40), 25, 0.31))
    (series,) = history_of(reversed(recordings)).series
    (shift,) = trend(series).changes
    assert [series.builds[at].commit for at in (shift.last_before, shift.first_after)] == [commit(24), commit(25)]
    assert shift.after / shift.before == pytest.approx(1.31, abs=0.02)
    assert trend(series).news() == ()


def test_recordings_of_one_commit_are_one_build_and_a_recording_counts_once():
    values = (8e6, 9e6, 16e6)
    same = [recorded(0, {"Sharpen": {"p50_ns": value}}, day=at) for at, value in enumerate(values)]
    history = history_of([*same, same[1]])
    (series,) = history.series
    assert [(build.recordings, build.commit) for build in series.builds] == [(3, commit(0))]
    assert trend(series).values == (9e6,)
    assert history.notes == ("1 recording is given twice and counted once",)


def test_devices_are_series_side_by_side():
    recordings = [*latencies(logs(10)), *latencies(logs(10, 6), device="iPad Air")]
    series = [(one.device, one.current, one.begins) for one in history_of(recordings).series]
    assert series == [("iPad Air", True, ""), ("iPhone 14 Pro", True, "")]
    # Without a commit, each recording is a build.
    recordings = [replace(one, commit=None) for one in latencies(logs(3))]
    assert len(history_of(recordings).series[0].builds) == 3


def test_another_system_begins_a_series_and_says_so():
    old = latencies(logs(10))
    new = [replace(one, system="iOS 18.6", identity=f"new {at}", time=f"2026-10-{at + 1:02}T00:00:00+00:00")
           for at, one in enumerate(old)]  # fmt: skip
    latest, ended = history_of([*old, *new]).series
    assert (latest.current, ended.current) == (True, False)
    assert latest.begins == f"system changed from {SYSTEM} to iOS 18.6"
    assert ended.begins == ""


def test_a_long_time_without_a_build_begins_a_series():
    recordings = [recorded(at, {"Net": {"p50_ns": 8e6}}, day=at + 60 * (at >= 10)) for at in range(20)]
    latest, _ = history_of(recordings).series
    assert latest.begins == "61 days without a build"
    # One a quarter is no gap where that is how often builds are recorded.
    assert len(history_of(recorded(at, {"Net": {"p50_ns": 8e6}}, day=90 * at) for at in range(9)).series) == 1


def test_what_was_not_recorded_is_not_zero():
    recordings = latencies(logs(10))
    recordings[4] = recorded(4, {"Sharpen": {"neural-engine": 1.0}})
    (series,) = history_of(recordings).series
    assert trend(series).values[4] is None
    assert trend(series, "neural-engine").values == (None,) * 4 + (1.0,) + (None,) * 5


def test_a_recording_keeps_its_numbers_and_no_name_of_a_file():
    latencies_ns = np.full(40, 12_000_000)
    net = replace(model("Net", latencies_ns), per_second=30.0, where=ran_on(neural_engine=0.75, gpu=0.25))
    found = CheckResult("cold-load", "Cold", "Net", "finding", "high", None)
    measured = replace(of_models(net, source="secret.trace"), started="2026-06-03T10:15:00.000+02:00")
    kept = recorded_of(replace(measured, checks=(found,)), 0.0, "abc")
    values = dict(zip(FIGURES, kept.models["Net"], strict=True))
    assert values == {
        "p50_ns": 12e6, "p95_ns": 12e6, "all_p50_ns": None, "all_p95_ns": None, "load_ns": None,
        "cold_load_ns": None, "predictions_per_second": 30.0, "neural-engine": 0.75, "gpu": 0.25, "cpu": 0.0,
        "compiled": None, "findings": 1,
    }  # fmt: skip
    assert (kept.time, kept.commit, kept.findings) == ("2026-06-03T08:15:00+00:00", "abc", {"Net": ("cold-load",)})
    assert "secret" not in repr(kept)


def test_few_predictions_and_inferred_latencies_are_not_followed():
    few = model("Few", np.full(5, 12_000_000))
    inferred = replace(model("Inferred", np.full(40, 12_000_000)), inexact=Inexact(1_000_000, 500_000))
    kept = recorded_of(of_models(few, inferred), 0.0)
    assert [kept.models[name][0] for name in ("Few", "Inferred")] == [None, None]


def test_latencies_that_each_follow_a_load_are_followed_apart():
    values = np.full(40, 12_000_000)
    cold = replace(model("Net", values), warm=np.arange(40) < 11)
    warm, every = (dict(zip(FIGURES, recorded_of(of_models(one), 0.0).models["Net"], strict=True))
                   for one in (model("Net", values), cold))  # fmt: skip
    names = ("p50_ns", "p95_ns", "all_p50_ns", "all_p95_ns")
    assert [warm[name] for name in names] == [12e6, 12e6, None, None]
    assert [every[name] for name in names] == [None, None, 12e6, 12e6]


def test_a_gate_says_that_the_newest_build_has_no_such_latency():
    newest = recorded(20, {"Sharpen": {"all_p50_ns": 30e6}})
    said = {one.text: one.verdict for one in items(latencies(logs(20)), [newest])}
    assert said == {"latency: not known of the newest build": Verdict.INCONCLUSIVE}


def items(recordings, newest, floors=None):
    return list(history_items(history_of(recordings, newest), newest, floors or Floors()))


def test_a_gate_fails_for_a_drift_of_which_each_build_passes():
    values = with_drift(logs(52), 40, 0.01)
    *earlier, newest = latencies(values)
    (item,) = items(earlier, [newest])
    assert item.verdict is Verdict.FAILED
    assert item.value == pytest.approx(0.12, abs=0.02)
    assert "allowed: at most 10%" in item.text
    assert "drift" in item.text
    allowed = Floors((("Sharpen", {"allow": 0.2}),))
    assert [one.verdict for one in items(earlier, [newest], allowed)] == [Verdict.PASSED]


def test_a_gate_passes_a_step_that_is_long_ago_or_for_the_better():
    for values in (with_step(logs(60), 30, 0.5), with_step(logs(60), 55, -0.3), logs(60)):
        *earlier, newest = latencies(values)
        (item,) = items(earlier, [newest])
        assert (item.verdict, item.text) == (Verdict.PASSED, "latency not worse over 60 builds")


def test_a_gate_fails_where_work_moves_away_from_the_neural_engine():
    recordings = [recorded(at, {"Net": {"neural-engine": 1.0 if at < 20 else 0.4}}) for at in range(24)]
    (item,) = items(recordings[:-1], recordings[-1:])
    assert item.verdict is Verdict.FAILED
    assert item.text.startswith("Neural Engine: change point at 0000013…0000014 (100% → 40%, ")


def test_the_checked_recordings_are_the_newest_build_whatever_their_date():
    *earlier, newest = latencies(with_step(logs(13), 10, 0.5))
    (item,) = items(earlier, [replace(newest, time="2020-01-01T00:00:00+00:00")])
    assert item.verdict is Verdict.FAILED


def test_too_few_builds_pass_nothing():
    *earlier, newest = latencies(logs(7))
    (item,) = items(earlier, [newest])
    assert item.verdict is Verdict.NOT_COUNTED
    other = [replace(one, system="iOS 18.4") for one in latencies(logs(40))]
    assert [one.verdict for one in items(other, [newest])] == [Verdict.NOT_COUNTED]


@pytest.mark.parametrize("hidden", ["device", "system"])
def test_a_build_of_an_unknown_device_is_not_the_next_of_a_history(hidden):
    newest = replace(recorded(20, {"Sharpen": {"p50_ns": 30e6}}), **{hidden: None})
    found = items(latencies(logs(20)), [newest])
    assert Verdict.INCONCLUSIVE in {one.verdict for one in found}
    assert any("export the table of contents" in one.text for one in found)


def test_a_model_that_the_newest_build_lacks_is_said_and_fails_nothing():
    both = {name: {"p50_ns": 8e6} for name in ("Sharpen", "Captioner")}
    earlier = [recorded(at, both) for at in range(9)]
    found = items(earlier, [recorded(9, {"Sharpen": {"p50_ns": 8e6}})])
    assert [(item.verdict, item.text) for item in found if item.model == "Captioner"] == [
        (Verdict.NOT_COUNTED, "in earlier builds, but not in the newest one; last in 0000008 (12 Aug)")
    ]
    assert gate_of(found).verdict is Verdict.PASSED
    # Nobody knows which models a build without any had, and another device has its own.
    for newest in (recorded(9, {}), recorded(9, {"Sharpen": {"p50_ns": 8e6}}, device="iPad Air"), recorded(9, both)):
        assert not [item for item in items(earlier, [newest]) if item.text.startswith("in earlier builds")]
    # What left long ago is no news.
    later = [recorded(at, {"Sharpen": {"p50_ns": 8e6}}) for at in range(9, 21)]
    assert not [item for item in items([*earlier, *later[:-1]], later[-1:]) if item.model == "Captioner"]
