"""What fixing findings saves: the recording replayed without what the fixes of checks take away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, reduce

import numpy as np

from tracekit.analysis.changes import Changes, as_one, changed
from tracekit.analysis.code.threads import core_ml_time
from tracekit.analysis.replay import in_a_row, replay
from tracekit.analysis.schedule import Recorded, recorded_schedule
from tracekit.analysis.statistics import CallTimes
from tracekit.analysis.throughput import bursts
from tracekit.arrays import BoolArray, IntArray
from tracekit.detectors.fixes import INFERRED, NO_TIME, TOO_LARGE, Fix, fix_of
from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Cost, Each, Finding, Savings, Unknown
from tracekit.grouping import grouped
from tracekit.intervals import Intervals, union_length_by_group
from tracekit.sorting import distinct_numbers
from tracekit.trace.events import Kind
from tracekit.trace.trace import Trace

LARGE = 100_000
"""Calls and pieces of which a report runs no replay event by event: each takes 1.5 s for a million of them."""


class Replays:
    """Replays of one recording without what the fixes of some of its findings take away, each run once and kept."""

    def __init__(self, trace: Trace, answers: Iterable[Judgment], *, quick: bool = False) -> None:
        """`quick` leaves out recordings that take long."""
        self.trace = trace
        answers = tuple(answers)
        self.found = grouped(
            (answer.detector.id, answer.outcome) for answer in answers if isinstance(answer.outcome, Finding)
        )
        self._runs: dict[tuple[str, ...], tuple[Changes, Intervals]] = {}
        answered = {each.detector.id: fix_of(each.detector) for each in answers if each.detector.id in self.found}
        self.fixes = {name: fix for name, fix in answered.items() if isinstance(fix, Fix)}
        """By id of the checks that have one which can be taken out of a recording."""
        self._unknown = {name: reason for name, reason in answered.items() if isinstance(reason, str)}
        known = [name for name, fix in self.fixes.items() if not (trace.inferred and fix.overlaps)]
        if known and quick:
            schedule = self.recorded.schedule
            is_large = len(schedule.calls) + len(schedule.pieces) > LARGE
            known = [] if is_large and in_a_row(schedule) is None else known
        self.known = frozenset(known)
        """Ids of the checks that can be replayed."""

    @cached_property
    def recorded(self) -> Recorded:
        """The schedule as recorded."""
        return recorded_schedule(self.trace)

    @cached_property
    def models(self) -> tuple[str, ...]:
        """Names of the models by their code in `recorded`."""
        return self.recorded.calls.model.values

    def why_unknown(self, name: str) -> str:
        """Why the savings of a check are unknown; empty where they are known, and where it is about no time."""
        fix = self.fixes.get(name)
        if fix is None:
            return self._unknown.get(name, "")
        if name not in self.known:
            return INFERRED if self.trace.inferred and fix.overlaps else TOO_LARGE
        return "" if any(self._saved_by(name, each) for each in self.found[name]) else fix.otherwise

    def run(self, names: Iterable[str]) -> tuple[Changes, Intervals]:
        """What the fixes of these checks take away together, and when each call of the schedule runs without it, shape
        (calls,). O(n log n)."""
        key = tuple(sorted(names))
        if key not in self._runs:
            takes = (
                self.fixes[name].take(self.trace, self.recorded, each) for name in key for each in self.found[name]
            )
            changes = reduce(Changes.joined, takes)
            self._runs[key] = changes, replay(changed(self.recorded.schedule, changes))
        return self._runs[key]

    def saved_ns(self, names: Iterable[str]) -> IntArray:
        """Shape (models,): time that the fixes of these checks save, 0 or more: time that its loads, compilations and
        predictions cover; or, where the app's own time changes, time from the first prediction to the last."""
        changes, after = self.run(names)
        model, calls = self.recorded.model, self.recorded.schedule.calls
        # Who waits for whom then changes by chance: it may be no loss.
        most_ns = np.where(changes.in_flight > 0, calls.durations, changes.most_ns)
        shorter = Intervals(calls.starts, calls.starts + np.minimum(calls.durations, most_ns))
        saved = (self._covered_ns - np.minimum(self._covered(after), self._covered(shorter))).clip(0)
        for code in distinct_numbers(model[changes.timed]).tolist():
            before_ns, after_ns = self._from_first_to_last(code, changes, after)
            saved[code] = max(saved[code], before_ns - after_ns)
        return saved

    def together_ns(self, names: Sequence[str]) -> int:
        """The same of all models that these findings are about. Who waits for several loads at once waits once."""
        if not names:
            return 0
        about = sorted({code for name in names for each in self.found[name] for code in self._about(each)})
        loads = np.isin(self.recorded.model, about) & ~self._predicted
        _, after = self.run(names)
        shared_ns = self._shared(self.recorded.schedule.calls, loads) - self._shared(after, loads)
        return int(self.saved_ns(names)[about].sum()) - max(shared_ns, 0)

    def _shared(self, times: Intervals, chosen: BoolArray) -> int:
        """Time that several models cover at once, counted for each but one."""
        each = times.where(chosen)
        alone = union_length_by_group(self.recorded.model[chosen], each.starts, each.ends, len(self.models))
        return int(alone.sum()) - each.covered_ns

    def answers(self, judgments: Iterable[Judgment]) -> tuple[Judgment, ...]:
        """The judgments, with findings that say what their fixes save in their models, or why that is unknown."""
        return tuple(
            judgment._replace(outcome=self._with_savings(judgment.detector.id, judgment.outcome))
            if isinstance(judgment.outcome, Finding)
            else judgment
            for judgment in judgments
        )

    def _with_savings(self, name: str, finding: Finding) -> Finding:
        reason = self.why_unknown(name)
        if reason or name not in self.known:
            reason = reason or (NO_TIME if finding.cost else "")
            return replace(finding, savings=Unknown(reason) if reason else None)
        fix, saved = self.fixes[name], self._saved_by(name, finding)
        about, each = self._about(finding), self._each(name, finding)
        # What is said of the recording is a share of the app's time, whichever models it is about.
        spent = core_ml_time(self.trace) if finding.model is None else int(self._covered_ns[about].sum())
        changes, after = self.run((name,))
        cost, of = finding.cost or Cost(0, 0.0, ""), ""
        mine = np.isin(self.recorded.model, about)
        if changes.timed[mine].any():
            spent = self._from_first_to_last(int(about[0]), changes, after)[0]
            of = "the time from first to last prediction"
        basis = f"Replayed without what the fix takes away. {fix.assumed}"
        of_ns = max(spent, saved, 1)
        savings = Savings(saved, saved, saved / of_ns, of_ns, basis, of, cost.once, each)
        if changes.in_flight[mine].any() and not changes.timed[mine].any():
            # The time in which any is in flight stays: each takes less, and all together as long.
            return replace(finding, savings=replace(savings, total_ns=0, extra_ns=0, share=cost.share, of=cost.of))
        besides = fix.besides if finding.cost is not None and saved > finding.cost.ns else ""
        return replace(finding, savings=savings, summary=f"{finding.summary} {besides}".rstrip())

    def _saved_by(self, name: str, finding: Finding) -> int:
        """What the fix of a check saves in the models of a finding."""
        return int(self.saved_ns((name,))[self._about(finding)].sum())

    @cached_property
    def _covered_ns(self) -> IntArray:
        return self._covered(self.recorded.schedule.calls)

    def _covered(self, times: Intervals) -> IntArray:
        named = self.recorded.model >= 0
        times = times.where(named)
        return union_length_by_group(self.recorded.model[named], times.starts, times.ends, len(self.models))

    def _about(self, finding: Finding) -> IntArray:
        """Codes of the models that a finding is about; all where it does not name them."""
        names = finding.models
        return np.array([code for code, name in enumerate(self.models) if names is None or name in names], np.intp)

    @cached_property
    def _predicted(self) -> BoolArray:
        return self.recorded.calls.kind.is_any(Kind.PREDICTION)

    def _from_first_to_last(self, code: int, changes: Changes, after: Intervals) -> tuple[int, int]:
        """Time from the first to the last end of the recorded bursts of a model, added up, before and after; of calls
        that become one, from the first start to the last end."""
        mine, calls = self._predicted & (self.recorded.model == code), self.recorded.schedule.calls
        if (changes.merged[mine] >= 0).any():
            before_ns, after_ns = (as_one(times, changes, mine).durations.sum() for times in (calls, after))
            return int(before_ns), int(after_ns)
        before = calls.where(mine)
        first = first_of_bursts(before)
        return ended_in(before, first), ended_in(after.where(mine), first)

    def _each(self, name: str, finding: Finding) -> Each | None:
        """What one load, compilation or prediction takes less."""
        changes, after = self.run((name,))
        about, calls = self._about(finding), self.recorded.schedule.calls
        mine = np.isin(self.recorded.model, about)
        gone, predicted = mine & changes.gone, mine & self._predicted
        if gone.any():
            compiled = self.recorded.calls.kind.is_any(Kind.COMPILE)[gone].all()
            count, usual = int(gone.sum()), round(float(calls.durations[gone].mean()))
            return Each("compilation" if compiled else "load", count, usual, usual)
        count = int(predicted.sum())
        if not count:
            return None
        if not changes.timed[mine].any():
            sides = [float(times.durations[predicted].mean()) for times in (calls, after)]
            return Each("prediction", count, max(round(sides[0] - sides[1]), 0), round(sides[0]))
        # Such a finding is about one model.
        merged = changes.merged[predicted] >= 0
        steps = int(merged.sum()) or max(count - len(first_of_bursts(calls.where(predicted))), 1)
        before_ns, after_ns = self._from_first_to_last(int(about[0]), changes, after)
        saved, of = max(round((before_ns - after_ns) / steps), 0), round(before_ns / steps)
        return Each("round" if merged.any() else "step", steps, saved, of)


def first_of_bursts(predictions: Intervals) -> IntArray:
    """Index of the first prediction of each burst."""
    return bursts(CallTimes(predictions.starts, predictions.durations)).first


def ended_in(times: Intervals, first: IntArray) -> int:
    """Time from the first to the last end of bursts, added up."""
    return int((np.maximum.reduceat(times.ends, first) - times.ends[first]).sum()) if len(first) else 0
