"""What made frames late, against simulated worlds in which that is known by construction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suite.frame_worlds import WORLDS, score, trace_of
from tracekit.analysis.frames.late import Strength, late_frames, late_hangs
from tracekit.analysis.frames.paths import Path
from tracekit.columns import all_known, constant, no_numbers
from tracekit.testing import Draws
from tracekit.trace.instruments.tables import GpuPerformance, Thermal

FAST = {
    **dict.fromkeys(("background_on_gpu", "waits_on_main", "loads_on_main", "two_displays", "own_work_beside"), 102),
    "cores_taken": 102,
    "cores_of_others": 104,
}
"""Worlds, each with a seed of which some frames come late."""


@pytest.mark.parametrize("name", FAST)
def test_a_frame_is_the_models_where_it_comes_earlier_without_it(name):
    counts = score(WORLDS[name], FAST[name])
    assert counts["late"] >= 5
    assert counts["right"] == counts["late"]
    assert counts["false"] == counts["false proved"] == 0


@pytest.fixture(scope="module")
def waiting():
    """A trace in which the GPU of a model makes frames late, some of them proved."""
    trace = trace_of(WORLDS["two_displays"](Draws(101), model=True))
    assert late_frames(trace).strength.is_any(Strength.PROVED).sum() >= 5
    return trace


def changed(trace, **context):
    return replace(trace, context=trace.context | context)


def strengths(trace):
    found = late_frames(trace)
    return {*found.strength.held()}, int(found.counted.sum())


def test_each_ms_of_lateness_has_one_cause(waiting):
    found = late_frames(waiting)
    assert (found.saved_ns <= found.duration_ns).all()
    assert ((found.saved_ns > 0) == found.counted).all()
    assert {*found.path.held()} == {Path.GPU}


def test_apples_words_for_another_stage_leave_nothing_proved(waiting):
    frames = waiting.frames
    said = replace(frames, says=constant("Potentially expensive app update(s)", len(frames)))
    kinds, counted = strengths(changed(waiting, frames=said))
    assert kinds == {Strength.FITS}
    assert counted == late_frames(waiting).counted.sum()


def test_heat_and_a_slow_gpu_are_named_and_no_model(waiting):
    end = np.array([waiting.run.duration_ns])
    hot = replace(Thermal.blank(1), duration_ns=end, state=constant("Serious", 1))
    assert strengths(changed(waiting, thermal=hot)) == ({Strength.COINCIDES}, 0)
    first = late_frames(waiting).start_ns[0]
    slow = replace(
        GpuPerformance.blank(2),
        start_ns=np.array([0, first]),
        duration_ns=np.array([first, 1]),
        state=replace(constant("Maximum", 2), codes=np.array([0, 1]), values=("Maximum", "Minimum")),
    )
    found = late_frames(changed(waiting, gpu_performance=slow))
    assert found.strength.item(0) == Strength.COINCIDES
    assert found.counted[1:].any()


def test_a_model_is_not_to_blame_where_frames_are_late_as_often_without_it(waiting):
    frames, found = waiting.frames, late_frames(waiting)
    at_once = (frames.duration_ns == 0) & (frames.gpu_ns.values - frames.render_end_ns.values < 2_000_000)
    chosen = np.flatnonzero(at_once)
    chosen = chosen[np.arange(len(chosen)) % 8 > 0]
    lateness = frames.duration_ns.copy()
    lateness[chosen] = frames.interval_ns.values[chosen]
    late = replace(frames, duration_ns=lateness, intervals=all_known((lateness > 0).astype(np.int64)))
    again = late_frames(changed(waiting, frames=late))
    assert not again.strength.is_any(Strength.PROVED).any()
    assert again.counted.sum() < found.counted.sum() / 2


def test_without_stages_only_coincidence_is_left(waiting):
    frames, none = waiting.frames, no_numbers(len(waiting.frames))
    names = [f"{stage}{end}_ns" for stage in ("update", "render", "gpu") for end in ("", "_end")]
    bare = replace(frames, **dict.fromkeys(names, none))
    assert strengths(changed(waiting, frames=bare)) == (set(), 0)


def test_a_hang_is_the_models_where_its_calls_fill_it():
    trace = trace_of(WORLDS["waits_on_main"](Draws(107), model=True))
    hangs = late_hangs(trace)
    assert hangs is not None
    assert len(hangs)
    assert {*hangs.path.held()} == {Path.MAIN_WAITS}
    beside = late_hangs(trace_of(WORLDS["own_work_beside"](Draws(103), model=True)))
    assert beside is None or not {*beside.strength.held()} & {Strength.PROVED, Strength.FITS}
