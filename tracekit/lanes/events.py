"""Intervals of one lane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tracekit.arrays import CodeArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """Intervals of a lane, sorted by start, longest first. All arrays have shape (n,)."""

    frame: str
    """Frame of the trace that they come from; a name of `tracekit.trace.filter.EVENT_FRAMES` or of the context."""
    index: IntArray
    """Index of each in that frame, ascending."""
    starts: IntArray
    ends: IntArray
    categories: CodeArray
    labels: CodeArray
    """Codes into `label_texts`, -1 for none."""
    label_texts: tuple[str, ...]
    models: CodeArray
    """Codes into `model_texts`, -1 for none."""
    model_texts: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.starts)

    def label(self, position: int) -> str:
        """What is written on a bar: `Prediction · Watercolor`."""
        label, model = int(self.labels[position]), int(self.models[position])
        parts = (self.label_texts[label] if label >= 0 else "", self.model_texts[model] if model >= 0 else "")
        return " · ".join(part for part in parts if part)

    def position(self, index: int) -> int | None:
        """Position of the row with this index in the frame; None where the lane does not have it. O(log n)."""
        return position_of(self.index, index)


def position_of(values: IntArray, value: int) -> int | None:
    """Where a value stands among sorted ones; None where it is not there. O(log n)."""
    at = int(np.searchsorted(values, value))
    return at if at < len(values) and values[at] == value else None
