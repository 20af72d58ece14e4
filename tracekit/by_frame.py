"""What is worked out from a frame, kept as long as the frame is.

Checks ask the same frames for the same columns and times again and again, and for pandas a column of few rows costs
more than what is done with it. Frames of a trace do not change once they are made.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import pandas as pd

Value = TypeVar("Value")


class ByFrame(Generic[Value]):
    """Answers about frames, by their identity: what has the same cells is another frame."""

    __slots__ = ("_kept",)

    def __init__(self) -> None:
        self._kept: dict[int, tuple[weakref.ref[pd.DataFrame], Value]] = {}

    def get(self, frame: pd.DataFrame, compute: Callable[[pd.DataFrame], Value]) -> Value:
        """The answer about a frame, worked out the first time."""
        key = id(frame)
        if key not in self._kept:
            answer = compute(frame)
            self._kept[key] = weakref.ref(frame, lambda _: self._kept.pop(key)), answer
        return self._kept[key][1]
