"""How fast hardware rows find their predictions, as ratios against what one would write without tracekit.

    python benchmarks/attribution.py [--rows N] [--predictions N]

Makes N Neural Engine, GPU and MPS rows of 20 models, the Neural Engine's of half of them with generic labels, and
predictions of which a tenth overlap another one. Times `tracekit.trace.attribution` on the finished rows (the rows of
all lanes, with answers, models and command buffers), and for the same rows only the question which predictions contain
them: with a pandas `IntervalIndex` per model, and with a loop that tries every prediction. Those two are timed on a
part of the rows and scaled up. All must give the same answers.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np
import pandas as pd

from tracekit.arrays import IntArray
from tracekit.columns import codes_of, constant
from tracekit.trace.attribution import attribute_hardware, graph_rows
from tracekit.trace.events import Attribution, Events, Kind, Lane, bare_events, lane_of

MODELS = [f"model{number}" for number in range(20)]
STEP = 100_000
"""Between the starts of two predictions, in ns."""


def event_rows(count: int, *, start_ns: IntArray, duration_ns: IntArray, **columns: object) -> Events:
    """So many rows; what is not given is null, and a text is that of all of them."""
    filled = {name: constant(str(each), count) if isinstance(each, str) else each for name, each in columns.items()}
    return replace(bare_events(start_ns, duration_ns), row=np.arange(count), **filled)


def make(rows: int, predictions: int) -> tuple[Events, Events, np.ndarray]:
    """Hardware rows, Core ML rows, and the command buffer of each hardware row."""
    draw = np.random.default_rng(1)
    call = np.arange(predictions)
    length = np.where(draw.random(predictions) < 0.1, STEP + STEP // 2, STEP - STEP // 10)
    events = event_rows(
        predictions,
        start_ns=call * STEP,
        duration_ns=length,
        lane=Lane.ACTIVITY,
        kind=Kind.PREDICTION,
        model=codes_of(call % len(MODELS), MODELS),
        attribution=Attribution.EXACT,
        table="coreml-os-signpost",
    )
    lanes = []
    for lane, kind, share in (
        (Lane.NEURAL_ENGINE, Kind.ANE_EXEC, 6),
        (Lane.GPU, Kind.GPU_EXEC, 3),
        (Lane.MPS, Kind.MPS_DISPATCH, 1),
    ):
        count = rows * share // 10
        cause = draw.integers(predictions, size=count)
        named = np.full(count, lane is Lane.GPU) | ((lane is Lane.NEURAL_ENGINE) & (cause % 2 == 1))
        told = Attribution.EXACT if lane is Lane.GPU else Attribution.LABEL
        lanes.append(
            event_rows(
                count,
                start_ns=cause * STEP + draw.integers(STEP, size=count),
                duration_ns=draw.integers(1, STEP // 5, size=count),
                lane=lane,
                kind=kind,
                model=codes_of(np.where(named, cause % len(MODELS), -1), MODELS),
                attribution=codes_of(named.astype(int), [Attribution.UNATTRIBUTED, told]),
                table=lane,
            )
        )
    hardware = lane_of(*lanes)
    buffer = np.where(hardware.lane.is_any(Lane.NEURAL_ENGINE), 0, hardware.row + 1)
    return hardware, events, buffer


def chosen(hardware: pd.DataFrame, count: int) -> pd.DataFrame:
    """Neural Engine rows spread over the recording, all of them or so many."""
    engine = hardware[(hardware["lane"] == Lane.NEURAL_ENGINE).to_numpy()]
    return engine.iloc[:: max(len(engine) // count, 1)]


def with_interval_index(rows: pd.DataFrame, events: pd.DataFrame) -> list[int]:
    """Index of the one prediction that contains each row, -1 where there is not one."""
    end = events["start_ns"] + events["duration_ns"]
    indices = {
        model: (own.index, pd.IntervalIndex.from_arrays(own["start_ns"], end[own.index], closed="both"))
        for model, own in (*events.groupby("model", observed=True), (None, events))
    }
    answer = []
    for start, duration, model in zip(rows["start_ns"], rows["duration_ns"], rows["model"], strict=True):
        labels, index = indices[model if isinstance(model, str) else None]
        inside = index.contains(start) & index.contains(start + duration)
        answer.append(int(labels[inside][0]) if inside.sum() == 1 else -1)
    return answer


def with_loop(rows: pd.DataFrame, events: pd.DataFrame) -> list[int]:
    """The same, trying every prediction."""
    calls = list(zip(events["start_ns"], events["start_ns"] + events["duration_ns"], events["model"], strict=True))
    answer = []
    for start, duration, model in zip(rows["start_ns"], rows["duration_ns"], rows["model"], strict=True):
        end, any_model = start + duration, not isinstance(model, str)
        found = [
            k
            for k, (low, high, name) in enumerate(calls)
            if low <= start and end <= high and (any_model or name == model)
        ]
        answer.append(found[0] if len(found) == 1 else -1)
    return answer


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--predictions", type=int, default=100_000)
    arguments = parser.parse_args()
    hardware, events, buffer = make(arguments.rows, arguments.predictions)
    seconds = []
    for _ in range(3):
        begin = time.perf_counter()
        answer = attribute_hardware(hardware, events, graph_rows(hardware, buffer))
        seconds.append(time.perf_counter() - begin)
    ours = min(seconds)
    linked = answer.prediction.known.mean()
    print(f"{len(hardware):,} hardware rows, {len(events):,} predictions, {linked:.0%} linked")
    print(f"{'by':28} {'s':>10} {'ratio':>10}")
    print(f"{'tracekit, whole attribution':28} {ours:10.2f} {1:10.2f}")
    for name, find, count in (
        ("pandas IntervalIndex", with_interval_index, 300),
        ("a loop over predictions", with_loop, 20),
    ):
        part = chosen(hardware.frame(), count)
        begin = time.perf_counter()
        found = find(part, events.frame())
        scaled = (time.perf_counter() - begin) * len(hardware) / len(part)
        assert found == answer.prediction.filled()[part.index].tolist(), f"{name} disagrees"
        print(f"{name + ', scaled':28} {scaled:10.0f} {scaled / ours:10.0f}")


if __name__ == "__main__":
    main()
