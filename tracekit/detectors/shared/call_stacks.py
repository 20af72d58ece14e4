"""What detectors that rest on call stacks alone ask first, and what they say of samples of the app's own work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from tracekit.analysis.code import sampled_calls
from tracekit.detectors import (
    Cost,
    InsufficientData,
    NotApplicable,
    Outcome,
    Passed,
    above,
    finding,
    format_count,
    format_share,
    reached,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.analysis.code import AppWork
    from tracekit.detectors import Trace

NO_STACKS = InsufficientData(None, "No call stack could be read.", "Record with --instrument 'Time Profiler'.")
NO_TIMED_STACKS = InsufficientData(
    None,
    "Call stacks were sampled by what a CPU counted, as cycles, and not by time.",
    "Record with --instrument 'Time Profiler'.",
)


class AppWorkOptions(Protocol):
    """Thresholds of a detector that counts samples of the app's own work."""

    @property
    def share(self) -> float:
        """Lowest share of the samples."""

    @property
    def min_samples(self) -> int:
        """Fewest samples."""


@dataclass(frozen=True, slots=True)
class AppWorkWords:
    """How a detector names one sort of the app's own work."""

    which: str
    """Which samples are counted, after their number: `of threads that predict`."""
    counted: str
    """Name of the metric that counts the samples of the work."""
    threads: str
    """Whose samples the share is of: `these threads`."""
    none: str
    """Says that there is no such work."""
    little: str
    """After a share: says that so little is such work."""
    summary: Callable[[AppWork], str]
    """Summary of the finding."""
    saved: str
    """What of the time the fix saves: the last sentence of the basis of the cost."""


def nothing_to_ask(trace: Trace) -> InsufficientData | NotApplicable | None:
    """The answer where call stacks cannot show what calls Core ML; None where they can."""
    sampled = trace.sampled
    if sampled is None or sampled.stacks.empty:
        return NO_STACKS if trace.profiled in (None, sampled) else NO_TIMED_STACKS
    if not sampled.stacks["image"].notna().any():
        return InsufficientData(
            None,
            "The call stacks are addresses alone: the recording does not show which libraries were loaded, so calls of "
            "Core ML cannot be identified.",
            "Record again and let Instruments launch the app; of an export, use the whole bundle instead.",
        )
    if not sampled.stacks["function"].notna().any():
        return InsufficientData(
            None,
            "The call stacks have no symbols, so calls of Core ML cannot be identified.",
            "Use the whole bundle with its folder `symbols`, as Instruments saved it.",
        )
    calls = sampled_calls(trace)
    if calls is None or calls.empty:
        return NotApplicable(None, "No call stack shows a call of Core ML.")
    return None


def judge_app_work(trace: Trace, work: AppWork | None, options: AppWorkOptions, words: AppWorkWords) -> Outcome:
    """Whether the app spends much of its threads' CPU time on one sort of work, by samples; `work` is None where no
    samples were recorded."""
    if (answer := nothing_to_ask(trace)) is not None or work is None:
        return answer or NO_STACKS
    if work.of < options.min_samples:
        few = f"{format_count(work.of, 'sample')} {words.which}, {options.min_samples} needed."
        return InsufficientData(None, few, "Record the feature for longer.")
    metrics = (
        above(words.counted, work.samples, "count", options.min_samples),
        above(f"share of the samples of {words.threads}", work.share, "share", options.share),
    )
    if not work.samples:
        return Passed(None, words.none, metrics)
    if not all(reached(metrics, metric.name) for metric in metrics):
        return Passed(None, f"{format_share(work.share)} {words.little}", metrics)
    return finding(
        model=None,
        summary=words.summary(work),
        metrics=metrics,
        cost=Cost(
            work.time.covered_ns,
            work.share,
            f"CPU time: 1 ms for each sample {words.counted.removeprefix('samples ')}, with samples of several threads "
            f"at once counted once. {words.saved}",
            of=f"the CPU time of {words.threads}",
        ),
        rows=work.pieces,
        affected=work.time,
        call_sites=work.sites,
    )
