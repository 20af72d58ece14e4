"""Which runtimes ran models in a recording: what their signposts show, and what else gives them away."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase, translate

import numpy as np

from tracekit.analysis.statistics import Statistics, duration_statistics
from tracekit.arrays import IndexArray
from tracekit.rows import group_ids
from tracekit.sorting import equal_groups
from tracekit.trace.calls.stacks import innermost, matches_function
from tracekit.trace.context import of_target
from tracekit.trace.filter import Shown, model_names
from tracekit.trace.instruments.tables import MetalPipelines
from tracekit.trace.requests.frame import UNVALIDATED
from tracekit.trace.runtimes.phases import INTERVAL, OPEN, PHASES, POINT, Phases
from tracekit.trace.runtimes.registry import Recognized, Runtime, runtimes
from tracekit.trace.samples import Samples
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
    rows, logged = trace.phases, tuple[RuntimeSummary, ...]()
    if len(rows):
        chosen = rows.runtime.known & of_target(rows.pid, trace.run.target.process)
        rows = rows.where(chosen if shown is None else chosen & shown.context[PHASES])
        groups = equal_groups(group_ids([rows.runtime.codes], len(rows)))
        logged = tuple(_summary(rows.at(at)) for at in groups)
    known = {each.name for each in logged}
    return (*logged, *(each for each in recognized(trace) if each.name not in known))


def _summary(rows: Phases) -> RuntimeSummary:
    name, named = str(rows.runtime.item(0)), rows.where(rows.name.known)
    phases = equal_groups(group_ids([named.lane.codes, named.phase.codes, named.name.codes], len(named)))
    unvalidated = name in UNVALIDATED
    reason = (
        f"Its tables hold {format_count(len(rows), 'row')}."
        if unvalidated
        else f"It logged {format_count(len(rows), 'signpost')}."
    )
    first, last = int(rows.start_ns.min()), int(rows.ends(0).max())
    # Rows that share their name.
    summaries: list[PhaseSummary] = []
    for at in phases:
        phase, lane, signpost = (str(texts.item(int(at[0]))) for texts in (named.phase, named.lane, named.name))
        form = named.form.take(at)
        ended = at[form.is_any(INTERVAL)]
        statistics = duration_statistics(named.start_ns[ended], named.duration_ns.values[ended])
        unfinished, points = (int(form.is_any(each).sum()) for each in (OPEN, POINT))
        summaries.append(PhaseSummary(phase, lane, signpost, statistics, unfinished, points))
    return RuntimeSummary(name, reason, tuple(summaries), first, last, unvalidated)


def frames_of(runtime: Runtime, sampled: Samples) -> IndexArray:
    """Shape (stacks,): row of the innermost frame of a runtime; -1 for none. O(frames)."""
    stacks, signs = sampled.stacks, runtime.recognized
    inside = stacks.image.passing(re.compile("|".join(map(translate, signs.libraries)) or "(?!)").match)
    return innermost(sampled, inside | matches_function(stacks, "|".join(signs.functions) or "(?!)"))


@cached_by_trace
def recognized(trace: Trace) -> tuple[RuntimeSummary, ...]:
    """Runtimes that models, call stacks and GPU functions of the target show. None of these names was seen in a
    recording of such a runtime, so each is probable. O(frames)."""
    if trace.samples is None or trace.stacks is None or not len(trace.samples):
        code = None
    else:
        own = trace.samples.stack.filled()[of_target(trace.samples.pid, trace.run.target.process)]
        inside = np.isin(trace.stacks.stack, own)
        code = set(trace.stacks.image.take(inside).held()), set(trace.stacks.function.take(inside).held())
    reasons = {runtime.name: [*_reasons(trace, code, runtime.recognized)] for runtime in runtimes()}
    return tuple(RuntimeSummary(name, f"Probably used: {'; '.join(why)}.") for name, why in reasons.items() if why)


def _reasons(trace: Trace, code: tuple[set[str], set[str]] | None, signs: Recognized) -> Iterator[str]:
    """`code`: libraries and functions in its call stacks."""

    def fitting(names: set[str], patterns: tuple[str, ...]) -> list[str]:
        return sorted(name for name in names if any(fnmatchcase(name, pattern) for pattern in patterns))

    if models := fitting(set(model_names(trace)) if signs.models else set(), signs.models):
        yield f"Core ML ran {format_count(len(models), 'model')} named as it names them"
    if code is not None:
        libraries, named = code
        if images := fitting(libraries, signs.libraries):
            yield f"call stacks are in its library {format_names(images)}"
        elif signs.functions:
            begins = re.compile("|".join(signs.functions))
            if functions := sorted(filter(begins.match, named)):
                yield f"call stacks are in {format_count(len(functions), 'function')} of it"
    pipelines = trace.table(MetalPipelines)
    if signs.pipelines and pipelines is not None:
        compiled = fitting(set(pipelines.function.held()), signs.pipelines)
        if compiled:
            yield f"Metal compiled {format_count(len(compiled), 'function')} of it for the GPU"
