"""What is drawn of the rows of a frame of the trace, made once for all lanes that show some of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tracekit.lanes.categories import OF_DEVICE, OF_KIND, Category
from tracekit.lanes.events import Events
from tracekit.trace.events import Attribution, Device
from tracekit.trace.frames import is_any
from tracekit.trace.instruments.catalogue import HARDWARE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from tracekit.arrays import CodeArray, Int8Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class FrameIntervals:
    """All rows of one frame. Shape (n,) each."""

    frame: str
    """Name of the frame."""
    starts: IntArray
    ends: IntArray
    categories: CodeArray
    labels: CodeArray
    """Codes into `label_texts`, -1 for none."""
    label_texts: tuple[str, ...]
    models: CodeArray
    """Codes into `model_texts`, -1 for none."""
    model_texts: tuple[str, ...] = ()

    @staticmethod
    def of(name: str, frame: pd.DataFrame) -> FrameIntervals:
        """Rows of an event frame."""
        starts, ends = _times(frame)
        return FrameIntervals(name, starts, ends, _categories(frame), *coded(frame, "label"), *coded(frame, "model"))

    @staticmethod
    def of_states(
        name: str, frame: pd.DataFrame, categories: CodeArray, labels: CodeArray, texts: tuple[str, ...]
    ) -> FrameIntervals:
        """Rows of a context frame, which name no model."""
        return FrameIntervals(name, *_times(frame), categories, labels, texts, np.full(len(frame), -1, np.int32))

    def events(self, positions: IntArray) -> Events:
        """The rows at these positions, which ascend, as intervals of a lane."""
        at = slice(None) if len(positions) == len(self.starts) else positions
        return Events(
            self.frame,
            positions,
            self.starts[at],
            self.ends[at],
            self.categories[at],
            self.labels[at],
            self.label_texts,
            self.models[at],
            self.model_texts,
        )


def coded(frame: pd.DataFrame, column: str) -> tuple[CodeArray, tuple[str, ...]]:
    """Codes of a category column, -1 for none, and their texts."""
    values = frame[column].cat
    return values.codes.to_numpy(), tuple(values.categories.tolist())


def recoded(codes: CodeArray, categories: Sequence[Category]) -> Int8Array:
    """Categories by code; `OTHER` for code -1."""
    recoded_categories: Int8Array = np.array([*categories, Category.OTHER], np.int8)[codes]
    return recoded_categories


def _times(frame: pd.DataFrame) -> tuple[IntArray, IntArray]:
    starts = frame["start_ns"].to_numpy()
    return starts, starts + frame["duration_ns"].to_numpy() if "duration_ns" in frame else starts


def _categories(frame: pd.DataFrame) -> Int8Array:
    """Category of each row of an event frame: shape (n,)."""
    kinds, kind_texts = coded(frame, "kind")
    devices, device_texts = coded(frame, "device")
    category = recoded(kinds, [OF_KIND.get(text, Category.OTHER) for text in kind_texts])
    device = recoded(devices, [OF_DEVICE[Device(text)] for text in device_texts])
    by_device = (category == Category.OTHER) & (device != Category.OTHER)
    category[by_device] = device[by_device]
    unnamed = is_any(frame["lane"], *_BY_OWNER) & (coded(frame, "model")[0] < 0)
    category[is_any(frame["attribution"], Attribution.INFERRED)] = Category.INFERRED
    category[unnamed] = Category.APP
    category[is_any(frame["attribution"], Attribution.FOREIGN)] = Category.FOREIGN
    return category


_BY_OWNER = tuple(hardware.lane for hardware in HARDWARE.values() if hardware.by_owner)
