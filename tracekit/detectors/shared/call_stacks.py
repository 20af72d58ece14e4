"""What detectors that rest on call stacks alone ask first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.analysis.code import sampled_calls
from tracekit.detectors import InsufficientData, NotApplicable

if TYPE_CHECKING:
    from tracekit.detectors import Trace

MIN_SAMPLES = 20
"""Fewer samples, of 1 ms each, are too few to tell a share of, or to matter (heuristic)."""


def nothing_to_ask(trace: Trace) -> InsufficientData | NotApplicable | None:
    """The answer where call stacks cannot tell what calls Core ML; None where they can."""
    sampled = trace.sampled
    if sampled is None or sampled.stacks.empty:
        return InsufficientData(None, "No call stack could be read.", "Record with --instrument 'Time Profiler'.")
    if not sampled.stacks["function"].notna().any():
        return InsufficientData(
            None,
            "The call stacks have no symbols, so calls of Core ML cannot be told.",
            "Use the whole bundle with its folder `symbols`, as Instruments saved it.",
        )
    calls = sampled_calls(trace)
    if calls is None or calls.empty:
        return NotApplicable(None, "No call stack shows a call of Core ML.")
    return None
