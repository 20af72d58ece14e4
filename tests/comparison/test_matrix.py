"""Figures of many recordings side by side."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from support.performance_reports import article_2026, coremltools_json
from support.synthetic_measurements import model, of_models
from tracekit.analysis.quantities import fast_enough
from tracekit.comparison.matrix import (
    REPORTS_NOTE,
    Figures,
    Source,
    expanded_labels,
    labels_of,
    matrix,
    source_of_report,
    sources_of,
)
from tracekit.errors import UsageError
from tracekit.model_files.performance.read import report_of


def source(name="a", device="iPhone 15", system="iOS 18.0", units=("Neural Engine",), **figures):
    known = {"p50_ns": 10e6, "p95_ns": 12e6, "neural_engine_compute": 1.0, "predictions": 100, **figures}
    known["fps"] = fast_enough(known["p50_ns"])
    return Source(name, "recording", device, system, (Figures("Net", known, units),))


def row(table, figure):
    return next(row for row in table.rows if row.figure == figure)


def test_the_least_time_and_the_most_frames_are_best():
    table = matrix([source(p50_ns=20e6), source(p50_ns=10e6), source(p50_ns=None)], ["a", "b", "c"])
    assert row(table, "p50_ns").values == (20e6, 10e6, None)
    assert row(table, "p50_ns").best == (1,)
    # 1 s / 20 ms and 1 s / 10 ms.
    assert row(table, "fps").values == (50.0, 100.0, None)
    assert row(table, "fps").best == (1,)


def test_a_large_share_of_the_neural_engine_is_best_and_predictions_are_no_contest():
    table = matrix([source(neural_engine_compute=0.3), source(neural_engine_compute=0.9)], ["a", "b"])
    assert row(table, "neural_engine_compute").best == (1,)
    assert row(table, "predictions").best == ()
    # What nothing measured has no row.
    assert not any(row.figure == "load_ns" for row in table.rows)


@pytest.mark.parametrize(
    ("values", "best"), [((10e6, 10e6), ()), ((10e6, None), ()), ((10e6, 10.04e6, 20e6), (0, 1)), ((10e6, 10.04e6), ())]
)
def test_values_that_look_the_same_are_equally_good(values, best):
    table = matrix([source(p50_ns=value) for value in values], [str(number) for number in range(len(values))])
    assert row(table, "p50_ns").best == best


@pytest.mark.parametrize(("predictions", "best"), [((100, 105), (1,)), ((100, 300), ())])
def test_fewer_loads_are_best_only_for_as_much_work(predictions, best):
    sources = [source(loads=loads, predictions=count) for loads, count in zip((6, 2), predictions, strict=True)]
    assert row(matrix(sources, ["a", "b"]), "loads").best == best


@pytest.mark.parametrize(("counts", "best"), [((1, 1), ()), ((20, 20), (0,))])
def test_a_load_is_best_only_beyond_how_loads_vary(counts, best):
    """A tenth faster, each within 1%."""
    loads = [
        of_models(replace(model("Net", np.full(50, 10_000_000)), cached_loads_ns=np.linspace(time, time * 1.01, count)))
        for time, count in zip((90e6, 100e6), counts, strict=True)
    ]
    assert row(matrix(sources_of(loads), ["a", "b"]), "load_ns").best == best


def test_recordings_with_one_label_share_a_column():
    table = matrix([source(p50_ns=value) for value in (10e6, 30e6, 11e6, 99e6)], ["old", "old", "old", "new"])
    assert [column.label for column in table.columns] == ["old", "new"]
    assert row(table, "p50_ns").values == (11e6, 99e6)
    assert row(table, "predictions").values == (300, 100)
    assert len(table.columns[0].sources) == 3
    assert any("median of their values" in note for note in table.notes)


@pytest.mark.parametrize(
    ("sources", "labels"),
    [
        ([source("a"), source("b", device="iPhone 16")], ["iPhone 15", "iPhone 16"]),
        ([source("a"), source("b", system="iOS 26.0", units=("GPU",))], ["iOS 18.0 · Neural Engine", "iOS 26.0 · GPU"]),
        ([source("a"), source("b", device=None)], ["iPhone 15", "not recorded"]),
        # Two of three are alike, so the names tell them apart.
        ([source("a"), source("b"), source("c", device="iPhone 16")], ["a", "b", "c"]),
        ([source("run"), source("run")], ["run (1)", "run (2)"]),
    ],
)
def test_a_label_is_what_tells_a_recording_from_the_others(sources, labels):
    assert labels_of(sources, [None] * len(sources)) == labels


def test_a_label_may_take_facts_of_the_recording():
    sources = [source("a"), source("b", device=None, units=("GPU", "Neural Engine"))]
    assert labels_of(sources, ["{device}, {system}", "{name}: {device} {units}"]) == [
        "iPhone 15, iOS 18.0",
        "b: not recorded Neural Engine, GPU",
    ]


def test_labels_are_for_paths_and_hold_for_all_recordings_of_one():
    assert expanded_labels([], [1, 2]) == [None, None, None]
    assert expanded_labels(["all"], [1, 2]) == ["all", "all", "all"]
    assert expanded_labels(["one", "two"], [1, 2]) == ["one", "two", "two"]
    with pytest.raises(UsageError, match="--label is given 3 times for 2 paths"):
        expanded_labels(["a", "b", "c"], [1, 2])
    with pytest.raises(UsageError, match=r"unknown placeholder in --label '\{devcie\}'; did you mean '\{device\}'"):
        expanded_labels(["{devcie}"], [1, 2])


def test_figures_of_a_recording(measured):
    recordings = [measured("sharpen_8bit"), measured("sharpen_float16")]
    (before,), (after,) = (entry.models for entry in sources_of(recordings))
    # 30% less is the ground truth of the samples.
    assert after.quantities["p50_ns"] / before.quantities["p50_ns"] == pytest.approx(0.7, abs=0.01)
    assert before.quantities["p50_ns"] == np.median(recordings[0].models[0].warm_ns)
    assert before.units == ("Neural Engine",)


def test_latencies_of_a_model_are_of_warm_predictions_in_all_recordings_or_in_none(measured):
    recordings = [measured("style_transfer_reload"), measured("style_transfer_fixed")]
    table = matrix(sources_of(recordings), ["reload", "fixed"])
    # Each prediction before follows a load, so all of both are compared, and the rows say so.
    assert {one.figure for one in table.rows} >= {"all_p50_ns", "all_p95_ns"}
    assert not {one.figure for one in table.rows} & {"p50_ns", "p95_ns"}
    # A frame that needs a load takes longer than its prediction.
    rates = [one.values for one in table.rows if one.figure == "fps"]
    assert rates
    assert all(reload is None and fixed > 100 for reload, fixed in rates)
    assert any(note.startswith("fast enough for –:") for note in table.notes)
    assert next(one.values for one in table.rows if one.figure == "loads") == (81, 1)


def test_few_predictions_have_no_p95(measured):
    recording = measured("sharpen_8bit")
    model = recording.models[0]
    few = replace(model, latencies_ns=model.latencies_ns[:19], warm=model.warm[:19])
    (figures,) = sources_of([replace(recording, models=(few,))])[0].models
    assert figures.quantities["p95_ns"] is None
    assert figures.quantities["p50_ns"] is not None


def test_performance_reports_stand_beside_recordings():
    reports = [
        source_of_report(report_of(document, Path("r.json")))
        for document in (article_2026(), article_2026(cpu_only=True))
    ]
    recording = replace(source(), models=(replace(source().models[0], model="DepthAnythingV2SmallF16P6"),))
    table = matrix([*reports, recording], ["all", "cpu", "recording"])
    assert row(table, "p50_ns").values == pytest.approx((22.93e6, 54.49e6, 10e6))
    assert row(table, "fps").values == (43, 18, 100)
    assert row(table, "load_ns").values == (pytest.approx(45.20e6), pytest.approx(37.32e6), None)
    # The loads that were not cached are 4, 3 and 3 s.
    assert row(table, "cold_load_ns").values == (pytest.approx(3e9), pytest.approx(3e9), None)
    assert [column.units for column in table.columns] == ["Neural Engine, GPU, CPU", "CPU", "Neural Engine"]
    # What is planned is not what was observed.
    assert row(table, "neural_engine_compute").values == (None, None, 1.0)
    assert row(table, "planned_neural_engine").values == (740 / 764, 0, None)
    assert REPORTS_NOTE in table.notes
    assert REPORTS_NOTE not in matrix([recording], ["recording"]).notes


def test_a_plan_without_times_has_no_latency():
    plan = source_of_report(report_of(coremltools_json(), Path("plan.json")))
    table = matrix([plan], ["plan"])
    assert {one.figure for one in table.rows} == {"planned_neural_engine"}
    assert table.rows[0].values == (0.5,)
