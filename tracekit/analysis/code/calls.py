"""Calls of Core ML that samples show, where Core ML itself recorded none and where it did.

A call is a run of samples of one thread in one function of Core ML, called from one place of the app. It was there from
its first sample to its last at least, each end known to one sample. Two calls without a sample between them are one
here, and one that is shorter than a sample can be missing: there are at least so many.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from tracekit.trace.calls.patterns import (
    API,
    BINDING,
    CORE_ML,
    EXECUTING,
    LOAD_PHASES,
    NEURAL_ENGINE_COMPILER,
    UNIT_PATTERNS,
    Api,
    LoadPhase,
    callers,
    matches_function,
    outermost,
    stacks_with,
)
from tracekit.trace.frames import categorical, is_any, or_minus_one
from tracekit.trace.samples import TIMED, Samples
from tracekit.trace.trace import Trace, cached_by_trace

if TYPE_CHECKING:
    from tracekit.arrays import BoolArray, IndexArray, IntArray

TOLERANCE_NS: Final = 1_500_000
"""How far a prediction that the GPU shows may reach beyond its call. All 42 of seven public recordings fit."""


@cached_by_trace
def core_ml_stacks(trace: Trace) -> pd.DataFrame | None:
    """One row for each distinct stack, indexed by its number: `api` (category of `Api`, null where the stack is not in
    Core ML), `entry` (row of `Trace.stacks` of the function of Core ML), `caller` (row of the app's frame that called
    it; -1 where there is none). None where no samples were recorded. O(frames)."""
    sampled = trace.sampled
    if sampled is None:
        return None
    # Without samples there is nothing to tell images by.
    in_core_ml = is_any(sampled.stacks["image"], CORE_ML) if len(sampled.stacks) else np.zeros(0, np.bool_)
    entry = np.full(len(sampled.starts) - 1, -1)
    api = np.full(len(entry), -1)
    for code, pattern in enumerate(API.values()):
        entry_of_kind = (
            outermost(sampled, matches_function(sampled.stacks, pattern) & in_core_ml) if len(entry) else entry
        )
        farther = entry_of_kind > entry
        entry[farther], api[farther] = entry_of_kind[farther], code
    caller = callers(sampled, entry) if len(entry) else entry
    kind = pd.Categorical.from_codes(api, categories=pd.Index(list(API), dtype=object))
    return pd.DataFrame({"api": kind, "entry": entry, "caller": caller})


@cached_by_trace
def sampled_calls(trace: Trace) -> pd.DataFrame | None:
    """Calls of Core ML by thread, in order of their first sample; None where no samples were recorded.

    `api`, `function` (of Core ML), `first_ns`, `last_ns` (of the samples), `samples`, `cpu_ns` (what they stand for),
    `thread`, `tid`, `main_thread`, `process`, `pid`, `caller`, `image`, `file`, `line`, `frame` (of the app's frame),
    and one column of counts of samples for each `LoadPhase` and each `Unit`. O(n log n) in samples.
    """
    sampled, kinds = trace.sampled, core_ml_stacks(trace)
    if sampled is None or kinds is None:
        return None
    rows = _samples_with_stacks(sampled)
    stack = rows["stack"].to_numpy(np.int64)
    call = _numbers(rows, stack, sampled, kinds)
    inside = np.flatnonzero(call >= 0)
    return _described(trace, rows.iloc[inside], stack[inside], call[inside], kinds)


def surrounding_calls(calls: pd.DataFrame, starts: IntArray, ends: IntArray) -> IntArray:
    """Shape (n,): place of the prediction among `calls` that each span lies in, give or take `TOLERANCE_NS`; -1 where
    none does. For predictions that hardware shows. O(n log n)."""
    chosen = np.flatnonzero(is_any(calls["api"], Api.PREDICTION))
    if not len(chosen):
        return np.full(len(starts), -1)
    first, last = (calls[name].to_numpy()[chosen] for name in ("first_ns", "last_ns"))
    preceding = np.searchsorted(first - TOLERANCE_NS, starts, "right") - 1
    fits = (preceding >= 0) & (ends <= last[preceding] + TOLERANCE_NS)
    return np.where(fits, chosen[preceding], -1)


def _samples_with_stacks(sampled: Samples) -> pd.DataFrame:
    """Samples that caught a stack, thread by thread in order of time."""
    rows = sampled.samples[sampled.samples["stack"].notna().to_numpy()]
    if rows.empty:
        return rows
    thread = categorical(rows["thread"]).codes
    return rows.iloc[np.lexsort((rows["time_ns"].to_numpy(), thread))]


def _numbers(rows: pd.DataFrame, stack: IntArray, sampled: Samples, kinds: pd.DataFrame) -> IntArray:
    """Shape (samples,): number of the call of each sample; -1 outside of Core ML."""
    if rows.empty:
        return np.zeros(0, np.int64)
    key = _call_keys(sampled, kinds)[stack]
    thread = categorical(rows["thread"]).codes
    binds = stacks_with(sampled, matches_function(sampled.stacks, BINDING))[stack]
    executes = stacks_with(sampled, matches_function(sampled.stacks, EXECUTING))[stack]
    begins = np.append(True, (key[1:] != key[:-1]) | (thread[1:] != thread[:-1]))
    # What was done last in this run of samples, and whether it is being begun again.
    run = np.cumsum(begins)
    state = pd.Series(np.where(executes, 2.0, np.where(binds, 1.0, np.nan)))
    before = state.groupby(run).ffill().groupby(run).shift().to_numpy()
    begins |= binds & (before == 2)
    numbers = np.cumsum(begins)
    return np.where(key >= 0, numbers, -1)


def _call_keys(sampled: Samples, kinds: pd.DataFrame) -> IntArray:
    """Shape (stacks,): equal for stacks of one function of Core ML that was called from one place; -1 outside."""
    entry, caller = kinds["entry"].to_numpy(), kinds["caller"].to_numpy()
    function = categorical(sampled.stacks["function"]).codes[entry]
    image = categorical(sampled.stacks["image"]).codes[caller]
    offset = or_minus_one(sampled.stacks["offset"])[caller]
    keys = pd.DataFrame({"f": function, "i": np.where(caller < 0, -1, image), "o": np.where(caller < 0, -1, offset)})
    numbers = keys.groupby(["f", "i", "o"], sort=False).ngroup().to_numpy()
    return np.where(entry < 0, -1, numbers)


def _described(trace: Trace, rows: pd.DataFrame, stack: IntArray, call: IntArray, kinds: pd.DataFrame) -> pd.DataFrame:
    assert trace.stacks is not None  # noqa: S101 - calls were found in them
    stacks = trace.stacks
    _, first, number = np.unique(call, return_index=True, return_inverse=True)
    count = len(first)
    time = rows["time_ns"].to_numpy()
    weight = rows["weight_ns"].to_numpy(np.int64, na_value=0) if count else np.zeros(0, np.int64)
    last = np.append(first[1:], len(call))[:count] - 1
    chosen = stack[first]
    entry, caller = kinds["entry"].to_numpy()[chosen], kinds["caller"].to_numpy()[chosen]
    columns: dict[str, object] = {
        "api": categorical(kinds["api"])[chosen],
        "function": stacks["function"].array[entry] if count else pd.Categorical([]),
        "first_ns": time[first],
        "last_ns": time[last],
        "samples": np.bincount(number, minlength=count),
        "cpu_ns": np.bincount(number, weight, minlength=count).astype(np.int64),
    }
    if count:
        columns |= {name: rows[name].array[first] for name in ("thread", "tid", "main_thread", "process", "pid")}
        columns |= place_of(stacks, caller)
        for name, flags in busy_with(trace).items():
            columns[name] = np.bincount(number, flags[stack], minlength=count).astype(np.int64)
    frame = pd.DataFrame(columns)
    return frame.sort_values("first_ns", kind="stable", ignore_index=True)


def place_of(stacks: pd.DataFrame, rows: IndexArray) -> dict[str, object]:
    """Function, image, file and line of frames of the app, as columns, null for row -1; and `frame`, their row."""
    columns = {"caller": "function", "image": "image", "file": "file", "line": "line"}
    location: dict[str, object] = {
        name: stacks[source].array.take(rows, allow_fill=True) for name, source in columns.items()
    }
    return location | {"frame": rows}


def source_of(trace: Trace, times_ns: IntArray) -> dict[str, Any]:
    """Columns of evidence that say where samples at these times stand: `row` counts samples in order of time."""
    assert trace.samples is not None  # noqa: S101 - the samples are among them
    row = np.searchsorted(trace.samples["time_ns"].to_numpy(), times_ns)
    return {"model": None, "table": TIMED[0], "row": row}


@cached_by_trace
def enclosing_phases(trace: Trace) -> dict[str, str]:
    """The innermost phase that all stacks of a phase of a load lie in, by phase; nothing for one outside of others."""
    flags = busy_with(trace)
    seen = [str(phase) for phase in LoadPhase if phase in flags and flags[phase].any()]
    # Outer phases stand first in `LoadPhase`: of two that share all stacks, the earlier one encloses.
    outer = {
        phase: [
            other
            for other in seen
            if other != phase
            and not (flags[phase] & ~flags[other]).any()
            and ((flags[other] & ~flags[phase]).any() or seen.index(other) < seen.index(phase))
        ]
        for phase in seen
    }
    return {phase: max(phases, key=lambda each: len(outer[each])) for phase, phases in outer.items() if phases}


@cached_by_trace
def busy_with(trace: Trace) -> dict[str, BoolArray]:
    """For each phase of a load and each unit of a prediction: whether a stack is in it. Shape (stacks,) each; nothing
    where no samples were recorded. O(frames)."""
    sampled = trace.sampled
    if sampled is None or sampled.stacks.empty:
        return {}
    patterns = (*LOAD_PHASES.items(), *UNIT_PATTERNS.items())
    flags = {str(name): stacks_with(sampled, matches_function(sampled.stacks, pattern)) for name, pattern in patterns}
    flags[LoadPhase.NEURAL_ENGINE] |= stacks_with(sampled, is_any(sampled.stacks["image"], NEURAL_ENGINE_COMPILER))
    return flags
