"""Requests to language models as rules see them: those of one runtime in one process at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import TypeVar

import numpy as np

import tracekit.detectors as tk
from tracekit.columns import constant
from tracekit.rows import group_ids
from tracekit.sorting import equal_groups
from tracekit.trace.context import of_target
from tracekit.trace.requests.frame import (
    INSTRUMENT as FOUNDATION_MODELS,
    NO_ERROR as NONE,
    OUTSIDE,
    UNVALIDATED,
    Requests,
)
from tracekit.trace.runtimes.registry import runtimes

Options = TypeVar("Options")

USES = ("Signposts", FOUNDATION_MODELS)
"""Instruments that show requests."""
MODEL_PHASES = ("prompt", "generation", "inference", "forward pass", "token interval")
"""Phases in which a request has the model."""
OUTSIDE_PHASES = OUTSIDE
"""Phases in which it does not."""
NO_ERROR = NONE
RECORD_MORE = "Record longer, with more requests."


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """Requests of one runtime in one process."""

    view: tk.RecordingView
    runtime: str
    rows: Requests
    """In order of time."""

    @property
    def recorded(self) -> bool:
        """Whether tables of Foundation Models show them, and not signposts."""
        return self.runtime in UNVALIDATED

    @property
    def elapsed_ns(self) -> tk.IntArray:
        """Shape (requests,): how long each took, or has taken at the end of the recording."""
        elapsed: tk.IntArray = self.rows.last_ns - self.rows.start_ns
        return elapsed

    @property
    def sessions(self) -> list[tk.IndexArray]:
        """Positions of the requests of each session; before them, as one, those whose session is not known."""
        return equal_groups(self.rows.session.filled())

    def phases(self, *names: str, of: tk.BoolArray | slice = slice(None)) -> tk.BoolArray:
        """Shape (phases,): those that ended, have one of these names, and belong to the requests, or to some of them.
        O(phases)."""
        rows = self.view.trace.phases
        own: tk.BoolArray = np.isin(rows.request.filled(), self.rows.request[of])
        return rows.duration_ns.known & rows.phase.is_any(*names) & own

    def times(self, *names: str, of: tk.BoolArray | slice = slice(None)) -> tk.Intervals:
        """When these phases ran."""
        return times_of(self.view, self.phases(*names, of=of))

    def logs(self, phase: str) -> bool:
        """Whether the runtime could show a phase."""
        if self.recorded:
            return True
        signposts = [entry for runtime in runtimes() if runtime.name == self.runtime for entry in runtime.signposts]
        return any(entry.phase == phase for entry in signposts)

    def unknown(self, reason: str, advice: str = "") -> tk.Outcome:
        """Not evaluated. Without other `advice`, what shows more: for what logs signposts, no other instrument."""
        if not advice and self.recorded:
            advice = "Record with all tables of the Foundation Models instrument (Xcode 27)."
        return self.view.unknown(reason, advice or f"{self.runtime} did not log it: check it in the app.")

    def finding(
        self,
        summary: str,
        metrics: tuple[tk.Metric, ...],
        chosen: tk.BoolArray,
        *,
        missed: float | None = None,
        cost: tuple[int, str, tk.Intervals] | None = None,
        once: bool = False,
        longest_wait_ns: int = 0,
        usual_ns: int = 0,
        shown: tk.Intervals | None = None,
    ) -> tk.Outcome:
        """The problem is there, as the chosen requests show, or `shown`, a part of each. `cost`: its time in ns, how it
        was worked out, and where it lies; it is a share of the time that all requests cover."""
        every = tk.Intervals(self.rows.start_ns, self.rows.last_ns)
        label = constant("request" if shown is None else "part of request", int(chosen.sum()))
        shown = every.where(chosen) if shown is None else shown
        evidence = tk.Shown(
            *(shown.starts, shown.durations, constant(None, len(label)), label),
            *(self.rows.table.take(chosen), self.rows.row[chosen], np.zeros(len(label), np.int64)),
        )
        if cost is None:
            return self.view.finding(summary, metrics, rows=evidence, missed=missed)
        affected = cost[2].union()
        ns = min(cost[0], affected.covered_ns)
        basis = f"{cost[1]}, as a share of the time of these requests."
        wait = min(longest_wait_ns, ns)
        full = tk.Cost(ns, ns / max(every.covered_ns, ns, 1), basis, "the time of requests", once, wait, usual_ns)
        return self.view.finding(summary, metrics, rows=evidence, cost=full, affected=affected)


def times_of(view: tk.RecordingView, chosen: tk.BoolArray | tk.IndexArray) -> tk.Intervals:
    """When some phases ran that have an end."""
    rows = view.trace.phases
    return tk.Intervals(rows.start_ns, rows.ends(0)).where(chosen)


def judge_requests(judge: Callable[[Asked, Options], tk.Outcome]) -> Callable[[tk.RecordingView, Options], tk.Outcome]:
    """What a rule says of the requests of each runtime and process, in one answer: the finding that takes most time;
    without one, what is not known outweighs what passed. O(requests)."""

    @wraps(judge)
    def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
        rows = view.trace.requests
        rows = rows.where(of_target(rows.pid, view.trace.run.target.process))
        if not len(rows):
            return view.not_applicable("No request to a language model was recorded.")
        groups = map(rows.at, equal_groups(group_ids([rows.runtime.codes, rows.pid.filled()], len(rows))))
        every = [Asked(view, str(of.runtime.item(0)), of) for of in groups]
        answers = [judge(asked, options) for asked in every]
        if len(every) > 1:
            answers = [_named(asked.runtime, answer) for asked, answer in zip(every, answers, strict=True)]
        return max(answers, key=_weight)

    return detect


def _named(runtime: str, answer: tk.Outcome) -> tk.Outcome:
    if isinstance(answer, tk.NotApplicable | tk.NotEvaluated):
        return replace(answer, reason=f"{runtime}: {answer.reason}")
    if isinstance(answer, tk.Finding | tk.Passed):
        return replace(answer, summary=f"{runtime}: {answer.summary}")
    return answer


def _weight(outcome: tk.Outcome) -> tuple[int, int]:
    order = (tk.NotApplicable, tk.Passed, tk.NotEvaluated, tk.Finding)
    cost = outcome.cost if isinstance(outcome, tk.Finding) else None
    return order.index(type(outcome)), 0 if cost is None else cost.ns


def is_open(hits: int, unknown: int, of: int, share: float, least: int) -> bool:
    """Whether the requests of which something is not known could make a finding of what is none."""
    return unknown > 0 and hits + unknown >= least and hits + unknown >= share * (of + unknown)
