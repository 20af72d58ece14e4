"""Cuts a trace into one `ModelView` per model that the app called."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.detectors.framework import ModelView
from tracekit.trace.events import LOAD_KINDS, Attribution, Kind, Level

if TYPE_CHECKING:
    import numpy.typing as npt

    from tracekit.trace.model import Trace


def model_views(trace: Trace) -> tuple[ModelView, ...]:
    """One view per base name with at least one top-level load or prediction, by name.

    A pipeline's view holds the data and compute rows of its stages too, linked to the pipeline's own prediction, since
    their time is spent inside it. O(rows) per model.
    """
    activity = trace.activity
    top = activity[(activity["level"] == Level.TOP).to_numpy()]
    called = top[top["kind"].isin([*LOAD_KINDS, Kind.PREDICTION]).to_numpy()]
    names = sorted(str(name) for name in called["model"].dropna().unique())
    owner = top_predictions(activity)
    data, compute = (_relink(frame, owner, activity) for frame in (trace.data, trace.compute))
    return tuple(_view(trace, name, called, data, compute) for name in names)


def unnamed_predictions(trace: Trace) -> int:
    """Number of top-level predictions whose row names no model, so that no view holds them."""
    activity = trace.activity
    chosen = (activity["level"] == Level.TOP) & (activity["kind"] == Kind.PREDICTION) & activity["model"].isna()
    return int(chosen.to_numpy().sum())


def top_predictions(activity: pd.DataFrame) -> npt.NDArray[np.int64]:
    """For each row of `activity`, the row of the outermost prediction it leads to (itself where it is outermost).

    Stages of a pipeline link to the prediction around them; following those links ends at the call of the app.
    """
    parent = activity["prediction"].fillna(-1).to_numpy(dtype=np.int64)
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


def _relink(frame: pd.DataFrame, owner: npt.NDArray[np.int64], activity: pd.DataFrame) -> pd.DataFrame:
    """`frame` with `prediction` replaced by the outermost prediction.

    A row in a stage that lies in no single prediction of its pipeline has none either, and the stage's attribution.
    """
    linked = frame["prediction"].fillna(-1).to_numpy(dtype=np.int64)
    known = linked >= 0
    outer = np.zeros_like(linked)
    outer[known] = owner[linked[known]]
    lost = known.copy()
    lost[known] = (activity["level"] == Level.SUB).to_numpy()[outer[known]]
    attribution = frame["attribution"].astype(object).to_numpy(copy=True)
    attribution[lost] = activity["attribution"].astype(object).to_numpy()[outer[lost]]
    return frame.assign(
        prediction=pd.arrays.IntegerArray(np.where(lost, 0, outer), mask=~known | lost),
        attribution=pd.Categorical(attribution, categories=list(map(str, Attribution))),
    )


def _view(trace: Trace, name: str, called: pd.DataFrame, data: pd.DataFrame, compute: pd.DataFrame) -> ModelView:
    """View of one base name."""
    own = called[(called["model"] == name).to_numpy()]
    is_prediction = (own["kind"] == Kind.PREDICTION).to_numpy()
    predictions = own[is_prediction]
    return ModelView(
        name=name,
        trace=trace,
        loads=own[~is_prediction],
        predictions=predictions,
        data=_rows_of(data, name, predictions),
        compute=_rows_of(compute, name, predictions),
    )


def _rows_of(frame: pd.DataFrame, name: str, predictions: pd.DataFrame) -> pd.DataFrame:
    """Rows that lie in one of the model's predictions, and rows of it or its stages that lie in no single one."""
    linked = frame["prediction"].isin(predictions.index).to_numpy(dtype=bool)
    own = (frame["model"] == name).to_numpy(dtype=bool) | (frame["parent_model"] == name).to_numpy(dtype=bool)
    return frame[linked | (own & frame["prediction"].isna().to_numpy(dtype=bool))]
