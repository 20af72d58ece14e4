"""Control by real recordings: a model and the compositor share a GPU, and nothing is known to be late because of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_trace
from tracekit.analysis.frames.late import Strength, late_frames
from tracekit.columns import all_known
from tracekit.recording import open_recording
from tracekit.trace.collect import collect
from tracekit.trace.events import Lane
from tracekit.trace.instruments.frames import FRAMES, Frames

GPU = "gpu-intervals"
RECORDINGS = ("quick_probe", "hello_coreml", "fp16_w8_60s_all")
INTERVAL_NS, DRAWN_NS, APART_NS = 16_666_667, 1_000_000, 4_000_000
pytestmark = pytest.mark.corpus


@pytest.fixture(scope="module", params=RECORDINGS)
def trace(request, corpus):
    return kept_trace(corpus / "bundles" / f"{request.param}.trace")


def pictures(trace, deadline_ns):
    """Frames of the screen from what the compositor draws: each was due `deadline_ns` after its commit, and came whole
    refreshes later where the GPU was done later than that."""
    rows = trace.hardware
    drawn = rows.where(rows.lane.is_any(Lane.GPU) & rows.process.is_any("WindowServer") & rows.waited_ns.known)
    commit = drawn.start_ns - drawn.waited_ns.values
    order = np.argsort(commit, kind="stable")
    first = np.flatnonzero(np.append(True, np.diff(commit[order]) > APART_NS))
    begin = np.minimum.reduceat(drawn.start_ns[order], first)
    end = np.maximum.reduceat((drawn.start_ns + drawn.duration_ns)[order], first)
    committed = np.maximum.reduceat(commit[order], first)
    due = commit[order][first] + deadline_ns
    intervals = np.maximum(-(-(end - due) // INTERVAL_NS), 0)
    return replace(
        Frames.blank(len(first)),
        start_ns=due,
        duration_ns=intervals * INTERVAL_NS,
        intervals=all_known(intervals),
        interval_ns=all_known(np.full(len(first), INTERVAL_NS)),
        render_ns=all_known(commit[order][first] - DRAWN_NS),
        render_end_ns=all_known(committed),
        gpu_ns=all_known(begin),
        gpu_end_ns=all_known(end),
    )


def test_nothing_is_proved(trace):
    assert not len(trace.frames)
    assert not late_frames(trace).strength.is_any(Strength.PROVED).any()


@pytest.mark.parametrize("deadline_ns", [3_000_000, 5_000_000, 8_000_000])
def test_real_waits_of_the_compositor_prove_nothing(trace, deadline_ns):
    frames = pictures(trace, deadline_ns)
    assert (frames.duration_ns == 0).sum() > 100
    found = late_frames(replace(trace, context=trace.context | {FRAMES: frames}))
    assert len(found)
    assert not found.strength.is_any(Strength.PROVED).any()


def test_work_on_the_gpu_waits_from_the_commit_of_its_command_buffer_on(corpus):
    """The reference counts 63,196 rows in the three recordings."""
    matched = 0
    for name in RECORDINGS:
        recording = open_recording(corpus / "bundles" / f"{name}.trace")
        buffers, rows = (collect(recording, [f"metal-{schema}"]) for schema in ("command-buffer-frame-assignment", GPU))
        commit_of = dict(zip(numbers(buffers, "cmdbuffer-id"), numbers(buffers, "commit-time"), strict=True))
        cells = (rows.starts.tolist(), numbers(rows, "start-latency"), numbers(rows, "cmdbuffer-id"))
        for start, latency, buffer in zip(*cells, strict=True):
            if buffer in commit_of:
                assert start - latency == commit_of[buffer]
                matched += 1
    assert matched == 63_196


def numbers(rows, mnemonic):
    return rows.table.column(mnemonic).values.tolist()
