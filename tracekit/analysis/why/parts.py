"""What makes each prediction longer than a usual one of its model, in parts that add up exactly.

A usual prediction takes the median of the warm ones, waits for units left out; what it consists of is what those close
to that time have on average. Time of a prediction is then compared layer by layer: execution, copies, and the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.code.call_sites import call_sites
from tracekit.analysis.device_states import THERMAL_STATES, UNKNOWN, states_at
from tracekit.analysis.load_waits import hangs_of_target
from tracekit.analysis.loads import first_after_load
from tracekit.analysis.quantities import median
from tracekit.analysis.why.layers import UNITS, Layer, samples_of, time_spent
from tracekit.analysis.why.order import in_order
from tracekit.arrays import AnyArray, BoolArray, IntArray
from tracekit.intervals import Intervals
from tracekit.trace.events import Attribution, Kind
from tracekit.trace.frames import categorical, is_any, rows_where
from tracekit.trace.instruments.catalogue import GPU, NEURAL_ENGINE
from tracekit.trace.samples import SAMPLE_NS
from tracekit.trace.trace import Trace, cached_by_trace


class Cause(StrEnum):
    """What a part of the difference is due to."""

    QUEUED_OWN = "queued_own"
    """A compute unit worked for other predictions of its model."""
    QUEUED_MODELS = "queued_models"
    """For other models, or drawing, of the process."""
    QUEUED_PROCESSES = "queued_processes"
    WORK = "work"
    """Compute units worked longer for it, as for a larger input; or it is the first after its load."""
    CLOCK = "clock"
    """The same work, in a thermal state or a performance state of the GPU in which it takes longer."""
    UNIT = "unit"
    """It ran on another compute unit."""
    COPIES = "copies"
    """Copies and conversions of inputs and outputs."""
    SPECIALIZATION = "specialization"
    """Metal compiled pipelines, or the model was specialized."""
    BLOCKED = "blocked"
    """Its thread did not run."""
    NOT_VISIBLE = "not_visible"
    """Nothing that was recorded shows it."""


CAUSES = tuple(Cause)
"""Columns of `Differences.parts_ns`."""


LEAST = 3
"""Fewest predictions from which a usual one is worked out."""
NEAR = 0.1
"""Share of the predictions, around the median, that show what a usual one consists of."""
OTHER_WAY = 4
"""On another unit, preparation and the way back take no more than one part in so many of its work (heuristic)."""
SLOWER = 1.05
"""From this ratio of work in two states on, the state counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The predictions of one model against a usual one: shape (predictions,), in order of time."""

    model: str
    calls: pd.DataFrame
    """Columns `_KEPT` of their rows of `Trace.activity`."""
    warm: BoolArray
    """Those from which the usual one is worked out: all that took time where none is warm."""
    compared: int
    """From how many of these it is worked out: where that is enough, those whose rows are theirs alone."""
    is_cold: bool
    """Whether none is warm."""
    usual: int
    """Duration of a usual prediction in ns."""
    usual_ns: IntArray
    """Shape (layers,): what it consists of; adds up to `usual`."""
    parts_ns: IntArray
    """Shape (predictions, causes): adds up to the duration of each less `usual`. May be negative."""
    more_ns: IntArray
    """Shape (predictions, layers): what each spent beyond `usual_ns`; CPU time that is specialization counts there."""
    unclear_ns: IntArray
    """Of `Cause.QUEUED_OWN`, time that may be work of the prediction itself instead."""
    coincident_ns: IntArray
    """Of `Cause.SPECIALIZATION`, time that only coincides with it; 0 unless call stacks show the rest."""
    pipelines: IntArray
    """Metal pipelines that were compiled during each."""
    resolution_ns: int

    @property
    def durations(self) -> IntArray:
        """In ns."""
        return self.calls["duration_ns"].to_numpy()


_KEPT = ("start_ns", "duration_ns", "attribution", "resolution_ns", "table", "row")
"""What an answer says of the predictions themselves."""


@cached_by_trace
def differences(trace: Trace) -> dict[str, Differences]:
    """By base name of the models that the app called at least `LEAST` times. O(n log n) in the rows of the trace."""
    ordered = in_order(trace)
    frame = breakdown(ordered).frame
    calls = trace.activity.loc[frame.index] if len(frame) < len(trace.activity) else trace.activity
    spent, waits, ambiguous = time_spent(ordered, frame, calls)
    facts = _facts(ordered, calls)
    calls = calls[list(_KEPT)]
    codes = categorical(frame["model"]).codes
    found = {}
    for code in np.unique(codes[codes >= 0]):
        rows = np.flatnonzero(codes == code)
        name = str(frame["model"].cat.categories[code])
        at_rows = {fact: values[rows] for fact, values in facts.items()}
        # Rows of each column, so that what is taken lies column by column too.
        its_spent, its_waits = spent.T[:, rows].T, waits.T[:, rows].T
        of_model = _of_model(name, calls.iloc[rows], its_spent, its_waits, ambiguous[rows], at_rows)
        if of_model is not None:
            found[name] = of_model
    return found


def _facts(ordered: Trace, calls: pd.DataFrame) -> dict[str, AnyArray]:
    """What else is known of each prediction: whether it is `warm`, its place in `THERMAL_STATES` (`thermal`), a number
    for the performance state of the GPU (`gpu_state`), how many Metal `pipelines` were compiled, and ns in which the
    engine compiled a model (`specialized`), the main thread did not answer (`hung`), and samples show the thread
    running for it (`ran`); `sampled`: all units were recorded too, so that a thread without samples did not run."""
    windows, context = Intervals.from_rows(calls), ordered.context
    middle = windows.starts + windows.durations // 2
    gpu, compiled, hangs = context.get("gpu_performance"), context.get("metal_pipelines"), hangs_of_target(ordered)
    states = [] if gpu is None else sorted(map(str, gpu["state"].dropna().unique()))
    times = np.zeros(0, np.int64) if compiled is None else np.sort(compiled["start_ns"].to_numpy())
    specializing = rows_where(ordered.hardware, is_any(ordered.hardware["kind"], Kind.ANE_COMPILE))
    sites = call_sites(ordered) if ordered.samples is not None and len(ordered.samples) else None
    units = all(ordered.coverage_of(unit).recorded for unit in (NEURAL_ENGINE, GPU))

    def state(rows: pd.DataFrame | None, names: Sequence[str]) -> IntArray | int:
        return UNKNOWN if rows is None else states_at(rows, names, middle)

    facts = pd.DataFrame(
        {
            "warm": ~first_after_load(ordered.activity)[ordered.activity.index.get_indexer(calls.index)],
            "thermal": state(context.get("thermal"), THERMAL_STATES),
            "gpu_state": state(gpu, states),
            "pipelines": np.searchsorted(times, windows.ends) - np.searchsorted(times, windows.starts),
            "specialized": Intervals.from_rows(specializing).covered_within(windows),
            "hung": 0 if hangs is None else Intervals.from_rows(hangs).covered_within(windows),
            "ran": 0 if sites is None else samples_of(sites, calls, "samples") * SAMPLE_NS,
            "sampled": ~is_any(calls["attribution"], Attribution.INFERRED) & (sites is not None and units),
        }
    )
    return {str(name): column.to_numpy() for name, column in facts.items()}


def _of_model(
    name: str, calls: pd.DataFrame, spent: IntArray, waits: IntArray, ambiguous: IntArray, facts: Mapping[str, AnyArray]
) -> Differences | None:
    durations = calls["duration_ns"].to_numpy()
    own = durations - waits.sum(axis=1)
    warm = facts["warm"] & (durations > 0)
    is_first = ~facts["warm"] & warm.any()
    is_cold = not warm.any()
    warm = durations > 0 if is_cold else warm
    inferred = is_any(calls["attribution"], Attribution.INFERRED)
    clear = warm & (ambiguous == 0)
    compared = np.flatnonzero(clear if clear.sum() >= LEAST else warm)
    if len(compared) < LEAST:
        return None
    usual = int(median(own[compared]) or 0)
    by_distance = compared[np.argsort(np.abs(own[compared] - usual), kind="stable")]
    near = by_distance[: max(LEAST, round(NEAR * len(compared)))]
    mean = spent[near].mean(axis=0)
    usual_ns = np.floor(mean * (usual / max(mean.sum(), 1.0))).astype(np.int64)
    usual_ns[Layer.REST] += usual - usual_ns.sum()
    # A row that may be of several predictions is work of this one as far as it has less than usual.
    main = Layer(int(np.argmax(usual_ns[UNITS])))
    worked = np.clip(usual_ns[UNITS].sum() - spent[:, UNITS].sum(axis=1), 0, ambiguous)
    spent[:, main] += worked
    unclear = ambiguous - worked
    more = spent - usual_ns
    parts = np.zeros((len(calls), len(CAUSES)), np.int64, order="F")

    def at(cause: Cause) -> int:
        return CAUSES.index(cause)

    parts[:, :3] = waits
    parts[:, at(Cause.QUEUED_OWN)] += unclear
    work = more[:, UNITS].sum(axis=1)
    elsewhere = _elsewhere(spent[:, UNITS], usual_ns[UNITS])
    clock = np.where(elsewhere, 0, _clock(spent, usual_ns, near, facts))
    parts[:, at(Cause.UNIT)] = np.where(elsewhere, work, 0)
    parts[:, at(Cause.CLOCK)] = clock
    parts[:, at(Cause.WORK)] = np.where(elsewhere, 0, work - clock)
    parts[:, at(Cause.COPIES)] = more[:, Layer.DATA]
    parts[:, at(Cause.SPECIALIZATION)] = more[:, Layer.SPECIALIZING]
    rest = more[:, Layer.REST].copy()

    def take(cause: Cause, time: IntArray) -> None:
        taken = np.clip(time, 0, np.maximum(rest, 0))
        parts[:, at(cause)] += taken
        np.subtract(rest, taken, out=rest)

    compiled = facts["pipelines"]
    compiling = compiled > np.median(compiled[near])
    take(Cause.SPECIALIZATION, np.where(compiling, rest, 0))
    # Where only samples show the call, code for the GPU compiles while it runs.
    running = np.clip(parts[:, at(Cause.WORK)], 0, np.maximum(more[:, Layer.CPU], 0))
    moved = np.where(compiling & inferred, running, 0)
    parts[:, at(Cause.SPECIALIZATION)] += moved
    parts[:, at(Cause.WORK)] -= moved
    more[:, Layer.CPU] -= moved
    take(Cause.SPECIALIZATION, facts["specialized"])
    stacks = more[:, Layer.SPECIALIZING] * inferred
    coincident = np.where(stacks > 0, parts[:, at(Cause.SPECIALIZATION)] - stacks, 0)
    more[:, Layer.SPECIALIZING] += moved
    take(Cause.WORK, np.where(is_first, rest, 0))
    take(Cause.BLOCKED, facts["hung"])
    ran = facts["ran"] - int(np.median(facts["ran"][near]))
    take(Cause.WORK, np.where(facts["sampled"], ran, 0))
    take(Cause.BLOCKED, np.where(facts["sampled"] & (rest >= 2 * SAMPLE_NS), rest, 0))
    # The way to another unit, and back, is part of running there.
    take(Cause.UNIT, np.where(elsewhere, spent[:, UNITS].sum(axis=1) // OTHER_WAY, 0))
    parts[:, at(Cause.NOT_VISIBLE)] = rest
    known_ns = int(calls["resolution_ns"].max())
    return Differences(
        name, calls, warm, len(compared), is_cold, usual, usual_ns, parts, more, unclear, coincident, compiled, known_ns
    )


def _elsewhere(worked: IntArray, usual: IntArray) -> BoolArray:
    """Whether another unit did most of the work of each prediction than usual, and the usual one less than half."""
    main = int(np.argmax(usual))
    most = worked.argmax(axis=1)
    elsewhere: BoolArray = (most != main) & (2 * worked[:, main] < usual[main]) & (usual[main] > 0)
    return elsewhere


def _clock(spent: IntArray, usual: IntArray, near: IntArray, facts: Mapping[str, AnyArray]) -> IntArray:
    """How much longer than usual the same work takes in the thermal state of each prediction, or, of the GPU, in its
    performance state."""
    work, usual_work = spent[:, UNITS].sum(axis=1), int(usual[UNITS].sum())
    by_heat = _by_state(work, usual_work, facts["thermal"], near)
    by_state = _by_state(spent[:, Layer.GPU], int(usual[Layer.GPU]), facts["gpu_state"], near)
    return np.where(by_heat != 0, by_heat, by_state)


def _by_state(work: IntArray, usual: int, state: IntArray, near: IntArray) -> IntArray:
    longer = np.zeros(len(work), np.int64)
    known = state[near][state[near] != UNKNOWN]
    if not len(known) or not usual:
        return longer
    base = int(np.bincount(known).argmax())
    of_base = median(work[(state == base) & (work > 0)]) or usual
    for other in np.unique(state[state != UNKNOWN]):
        ratio = (median(work[(state == other) & (work > 0)]) or of_base) / of_base
        if other != base and not 1 / SLOWER < ratio < SLOWER:
            longer[state == other] = round((ratio - 1) * usual)
    return np.clip(longer, np.minimum(work - usual, 0), np.maximum(work - usual, 0))
