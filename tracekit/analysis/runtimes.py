"""Which runtimes ran models in a recording: what their signposts show, and what else gives them away."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import starmap

import numpy as np
import pandas as pd

from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.trace.context import of_target
from tracekit.trace.filter import Shown, model_names
from tracekit.trace.frames import is_any, texts_in
from tracekit.trace.requests.frame import UNVALIDATED
from tracekit.trace.runtimes.phases import INTERVAL, OPEN, PHASES, POINT
from tracekit.trace.runtimes.registry import Recognized, runtimes
from tracekit.trace.trace import Trace, cached_by_trace
from tracekit.units import format_count, format_names


@dataclass(frozen=True, slots=True)
class PhaseSummary:
    """Signposts of one name of a runtime."""

    phase: str
    """What the signpost stands for; `unknown` for a name that is not known."""
    lane: str
    """Lane that it is on; `unknown` for a name that is not known."""
    signpost: str
    """Name of the signpost."""
    statistics: Statistics | None
    """Of those with an end; None where there is none."""
    unfinished: int
    """Intervals without an end in the recording."""
    points: int
    """Events without a duration."""

    @property
    def count(self) -> int:
        """All of them."""
        return self.points + self.unfinished + (self.statistics.count if self.statistics else 0)


@dataclass(frozen=True, slots=True)
class RuntimeSummary:
    """A runtime that ran in the target."""

    name: str
    """The runtime, as its file calls it."""
    reason: str
    """What shows that, as a sentence."""
    phases: tuple[PhaseSummary, ...] = ()
    """By lane and start; empty where it logged none."""
    first_ns: int | None = None
    """Start of its first signpost; None without any."""
    last_ns: int | None = None
    """From its first signpost to the end of its last; None without any."""
    unvalidated: bool = False
    """Whether it rests on tables of which no public recording shows the rows."""


def summarize_runtimes(trace: Trace, shown: Shown | None = None) -> tuple[RuntimeSummary, ...]:
    """Runtimes with signposts, then those recognized otherwise. `shown`: which signposts count; None for all."""
    frame = trace.phases.frame()
    logged: tuple[RuntimeSummary, ...] = ()
    if not frame.empty:
        chosen = frame["runtime"].notna().to_numpy() & of_target(trace.phases.pid, trace.run.target.process)
        chosen &= True if shown is None else shown.context[PHASES]
        groups = frame[chosen].groupby("runtime", observed=True, sort=False)
        logged = tuple(_summary(str(name), rows) for name, rows in groups)
    known = {each.name for each in logged}
    return (*logged, *(each for each in recognized(trace) if each.name not in known))


def _summary(name: str, rows: pd.DataFrame) -> RuntimeSummary:
    ends = rows["start_ns"] + rows["duration_ns"].fillna(0)
    phases = rows.groupby(["lane", "phase", "name"], observed=True, sort=False)
    unvalidated = name in UNVALIDATED
    reason = (
        f"Its tables hold {format_count(len(rows), 'row')}."
        if unvalidated
        else f"It logged {format_count(len(rows), 'signpost')}."
    )
    first, last = int(rows["start_ns"].min()), int(ends.max())
    return RuntimeSummary(name, reason, tuple(starmap(_phase, phases)), first, last, unvalidated)


def _phase(of: Hashable, rows: pd.DataFrame) -> PhaseSummary:
    assert isinstance(of, tuple)  # noqa: S101 - grouped by lane, phase, and name
    lane, phase, signpost = map(str, of)
    ended = rows[is_any(rows["form"], INTERVAL)]
    statistics = duration_statistics(ended["start_ns"].to_numpy(), ended["duration_ns"].to_numpy(np.int64))
    unfinished, points = (int(is_any(rows["form"], form).sum()) for form in (OPEN, POINT))
    return PhaseSummary(phase, lane, signpost, statistics, unfinished, points)


@cached_by_trace
def recognized(trace: Trace) -> tuple[RuntimeSummary, ...]:
    """Runtimes that models, call stacks and GPU functions of the target show. None of these names was seen in a
    recording of such a runtime, so each is probable. O(frames)."""
    if trace.samples is None or trace.stacks is None or not len(trace.samples):
        stacks = None
    else:
        own = trace.samples.stack.filled()[of_target(trace.samples.pid, trace.run.target.process)]
        stacks = trace.stacks.frame()[np.isin(trace.stacks.stack, own)]
    reasons = {runtime.name: [*_reasons(trace, stacks, runtime.recognized)] for runtime in runtimes()}
    return tuple(RuntimeSummary(name, f"Probably used: {'; '.join(why)}.") for name, why in reasons.items() if why)


def _reasons(trace: Trace, stacks: pd.DataFrame | None, signs: Recognized) -> Iterator[str]:
    def fitting(names: set[str], patterns: tuple[str, ...]) -> list[str]:
        return sorted(name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns))

    if models := fitting(set(model_names(trace)) if signs.models else set(), signs.models):
        yield f"Core ML ran {format_count(len(models), 'model')} named as it names them"
    if stacks is not None:
        if images := fitting(texts_in(stacks["image"]) if signs.libraries else set(), signs.libraries):
            yield f"call stacks are in its library {format_names(images)}"
        elif signs.functions:
            begins = re.compile("|".join(signs.functions))
            if functions := sorted(filter(begins.match, texts_in(stacks["function"]))):
                yield f"call stacks are in {format_count(len(functions), 'function')} of it"
    pipelines = trace.beside("metal_pipelines")
    if signs.pipelines and pipelines is not None:
        compiled = fitting(texts_in(pipelines["function"]), signs.pipelines)
        if compiled:
            yield f"Metal compiled {format_count(len(compiled), 'function')} of it for the GPU"
