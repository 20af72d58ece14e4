"""Which stacks contain which functions. Each distinct function is looked at once."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from tracekit.trace.binding import flags
from tracekit.trace.frames import categorical, is_any
from tracekit.trace.samples import APP

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import BoolArray, IndexArray
    from tracekit.trace.samples import Samples


def named(stacks: pd.DataFrame, pattern: str) -> BoolArray:
    """Shape (frames,): the function of a frame begins with the pattern."""
    cells = categorical(stacks["function"])
    find = re.compile(pattern).match
    return flags(cells.codes, (find(each) is not None for each in cells.categories))


def containing(sampled: Samples, frames: BoolArray) -> BoolArray:
    """Shape (stacks,): a stack has any of the chosen frames."""
    result = np.zeros(len(sampled.starts) - 1, np.bool_)
    result[sampled.stacks["stack"].to_numpy()[frames]] = True
    return result


def outermost(sampled: Samples, frames: BoolArray) -> IndexArray:
    """Shape (stacks,): row of the outermost of the chosen frames of each stack; -1 where it has none."""
    rows = np.flatnonzero(frames)
    result = np.full(len(sampled.starts) - 1, -1)
    # Rows ascend from the innermost outwards: the last one stays.
    result[sampled.stacks["stack"].to_numpy()[rows]] = rows
    return result


def innermost(sampled: Samples, frames: BoolArray) -> IndexArray:
    """Shape (stacks,): row of the innermost of the chosen frames of each stack; -1 where it has none."""
    rows = np.flatnonzero(frames)[::-1]
    result = np.full(len(sampled.starts) - 1, -1)
    result[sampled.stacks["stack"].to_numpy()[rows]] = rows
    return result


def app_frames(stacks: pd.DataFrame) -> BoolArray:
    """Shape (frames,): code of the app itself. The Swift face of Core ML, which compilers copy into apps, is not."""
    result: BoolArray = is_any(stacks["owner"], APP) & ~stacks["overlay"].to_numpy()
    return result


def callers(sampled: Samples, rows: IndexArray) -> IndexArray:
    """Shape (stacks,): row of the next frame of the app outside of each stack's row; -1 where there is none, or where
    the stack has no row."""
    app_rows = np.flatnonzero(app_frames(sampled.stacks))
    next_app_row = np.searchsorted(app_rows, rows, "right")
    caller = np.append(app_rows, -1)[next_app_row]
    return np.where((rows >= 0) & (caller >= 0) & (caller < sampled.starts[1:]), caller, -1)
