"""How fast predictions are broken down into parts, as a ratio against a loop over predictions.

    python benchmarks/breakdown.py [--rows N] [--predictions N]

Makes N data, compute and hardware rows, each linked to one of the predictions. Times
`tracekit.analysis.breakdown` on the whole, and a loop that takes the rows of each prediction out of the
frames and walks over their edges; the loop on a part of the predictions and scaled up. Both must give the same Neural
Engine, GPU and unexplained time.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
from attribution import event_rows

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.latency import change_points, modes, trend
from tracekit.analysis.throughput import bursts
from tracekit.columns import all_known, codes_of
from tracekit.recording.contents import Contents, Run
from tracekit.recording.table import TableState
from tracekit.trace.calls.infer import recorded_calls
from tracekit.trace.events import Attribution, Device, Events, Kind, Lane, Level, lane_of, no_events
from tracekit.trace.models import models_of
from tracekit.trace.trace import Coverage, Trace

STEP = 10_000_000
"""Between the starts of two predictions, in ns."""

KINDS = (
    ("data", 5, Lane.DATA, Kind.INPUT_COPY, None),
    ("compute", 1, Lane.COMPUTE, Kind.ANE_REQUEST, Device.ANE),
    ("compute", 1, Lane.COMPUTE, Kind.GPU_REQUEST, Device.GPU),
    ("compute", 1, Lane.COMPUTE, Kind.CPU_COMPUTE, Device.CPU),
    ("hardware", 1, Lane.NEURAL_ENGINE, Kind.ANE_EXEC, Device.ANE),
    ("hardware", 1, Lane.GPU, Kind.GPU_EXEC, Device.GPU),
)
"""Frame, share of the rows in tenths, lane, kind, unit."""


def make(rows: int, predictions: int) -> Trace:
    """A trace of 20 models whose predictions do not overlap."""
    draw = np.random.default_rng(1)
    call = np.arange(predictions)
    activity = event_rows(
        predictions,
        start_ns=call * STEP,
        duration_ns=draw.integers(STEP // 2, STEP, size=predictions),
        lane=Lane.ACTIVITY,
        kind=Kind.PREDICTION,
        level=Level.TOP,
        model=codes_of(call % 20, [f"model{number}" for number in range(20)]),
        attribution=Attribution.EXACT,
    )
    parts: dict[str, list[Events]] = {"data": [], "compute": [], "hardware": []}
    for name, share, lane, kind, device in KINDS:
        count = rows * share // 10
        owner = draw.integers(predictions, size=count)
        parts[name].append(
            event_rows(
                count,
                start_ns=owner * STEP + draw.integers(STEP // 2, size=count),
                duration_ns=draw.integers(STEP // 5, size=count),
                lane=lane,
                kind=kind,
                **({} if device is None else {"device": device}),
                prediction=all_known(owner),
                attribution=Attribution.CONTAINED,
            )
        )
    recorded = tuple(Coverage(name, TableState.ROWS, (), 1, "") for name in ("Neural Engine", "GPU"))
    return Trace(
        contents=Contents("benchmark", "made", False, (Run(1),)),
        run=Run(1),
        activity=recorded_calls(activity),
        other=no_events(),
        models=models_of(no_events()),
        context={},
        coverage=recorded,
        **{name: lane_of(*lanes) for name, lanes in parts.items()},
    )


def with_loop(trace: Trace, places: range) -> list[tuple[int, int, int]]:
    """Neural Engine, GPU and unexplained time of some predictions."""
    rows = pd.concat([trace.data.frame(), trace.compute.frame(), trace.hardware.frame()])
    answers = []
    for place in places:
        call = trace.activity.frame().loc[place]
        start, end = call["start_ns"], call["start_ns"] + call["duration_ns"]
        own = rows[rows["prediction"] == place]
        times = [
            (max(low, start), min(low + length, end), lane)
            for low, length, lane in zip(own["start_ns"], own["duration_ns"], own["lane"], strict=True)
        ]
        edges = sorted({start, end, *(edge for low, high, _ in times if low < high for edge in (low, high))})
        spent = {"neural-engine": 0, "gpu": 0, "rest": 0, "none": 0}
        for low, high in pairwise(edges):
            lanes = {lane for a, b, lane in times if a <= low and high <= b}
            first = next((lane for lane in ("neural-engine", "gpu") if lane in lanes), "rest" if lanes else "none")
            spent[first] += high - low
        answers.append((spent["neural-engine"], spent["gpu"], spent["none"]))
    return answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--predictions", type=int, default=100_000)
    arguments = parser.parse_args()
    trace = make(arguments.rows, arguments.predictions)
    seconds = []
    for _ in range(3):
        # A breakdown is kept with its trace, so each time needs a trace of its own.
        copy = replace(trace)
        begin = time.perf_counter()
        found = breakdown(copy).rows
        seconds.append(time.perf_counter() - begin)
    ours = min(seconds)
    print(f"{arguments.rows:,} rows in {arguments.predictions:,} predictions")
    print(f"{'tracekit':28} {ours:10.2f} s")
    count = min(20, arguments.predictions)
    begin = time.perf_counter()
    expected = with_loop(trace, range(count))
    scaled = (time.perf_counter() - begin) * arguments.predictions / count
    parts = (found.neural_engine_ns, found.gpu_ns, found.unexplained_ns)
    assert [*zip(*(part.values[:count].tolist() for part in parts), strict=True)] == expected
    print(f"{'a loop, scaled':28} {scaled:10.0f} s, ratio {scaled / ours:.0f}")
    durations = trace.activity.duration_ns
    for name, work in (
        ("bursts", lambda: bursts(trace.activity)),
        ("modes", lambda: modes(durations)),
        ("trend", lambda: trend(durations)),
        ("change points", lambda: change_points(durations)),
    ):
        begin = time.perf_counter()
        work()
        print(f"{name:28} {time.perf_counter() - begin:10.2f} s")


if __name__ == "__main__":
    main()
