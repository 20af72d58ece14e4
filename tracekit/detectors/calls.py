"""The calls of a model whose times can be compared with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.loads import first_after_load

if TYPE_CHECKING:
    import numpy.typing as npt

    from tracekit.detectors.framework import ModelView

    Mask = npt.NDArray[np.bool_]


def is_warm(view: ModelView) -> Mask:
    """Shape (predictions,): the prediction is not the first after a load of its model. O(n log n)."""
    if view.loads.empty:
        return np.ones(len(view.predictions), np.bool_)
    cold = first_after_load(pd.concat([view.loads, view.predictions]))
    return ~cold[len(view.loads) :]
