"""Which call of the app a row in the stage of a pipeline belongs to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tracekit.trace.frames import or_minus_one

if TYPE_CHECKING:
    import pandas as pd

    from tracekit.arrays import IntArray


def top_predictions(activity: pd.DataFrame) -> IntArray:
    """For each row of `activity`, the row of the outermost prediction it leads to (itself where it is outermost).

    Stages of a pipeline link to the prediction around them; following those links ends at the call of the app, or at a
    stage that lies in no single prediction of its pipeline. Shape (rows,); O(n log n).
    """
    parent = or_minus_one(activity["prediction"])
    here = np.arange(len(activity), dtype=np.int64)
    owner = np.where(parent >= 0, parent, here)
    # Each pass doubles the number of links followed, so a chain of n stages takes log n passes; the bound keeps a
    # damaged frame whose links run in a circle from looping for ever.
    for _ in range(max(len(activity), 1).bit_length()):
        further = owner[owner]
        if np.array_equal(further, owner):
            break
        owner = further
    return owner
