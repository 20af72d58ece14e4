"""Sentences that several detectors say alike."""

from __future__ import annotations

from tracekit.units import format_count


def too_few(count: int, needed: int, which: str = "") -> str:
    """`Only 3 predictions with work on the GPU; 10 are needed.`; `which` says what sets these predictions apart."""
    found = f"Only {format_count(count, 'prediction')}" if count else "No prediction"
    return f"{found}{which and f' {which}'}; {needed} are needed."
