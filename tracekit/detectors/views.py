"""Cuts a trace into one `ModelView` per model that the app called."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown import breakdown
from tracekit.detectors.model_view import ModelView
from tracekit.trace.events import LOAD_KINDS, SETUP_KINDS, Attribution, Kind, Level
from tracekit.trace.frames import categorical, fixed, is_any, or_minus_one, rows_at, rows_where, texts_in
from tracekit.trace.pipelines import top_predictions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tracekit.analysis.breakdown import Breakdown
    from tracekit.arrays import BoolArray, IntArray
    from tracekit.trace.trace import Trace


def model_views(trace: Trace) -> Iterator[ModelView]:
    """One view per base name with at least one top-level load, compilation or prediction, by name.

    A pipeline's view holds the rows of its stages too, linked to the pipeline's own prediction, since their time is
    spent inside it. A view is cut when its turn comes, so that the rows of one model at a time stand in memory twice.
    O(n log n) in the rows of the trace.
    """
    activity = trace.activity
    top = rows_where(activity, is_any(activity["level"], Level.TOP))
    called = is_any(top["kind"], *SETUP_KINDS, Kind.PREDICTION)
    names = sorted(texts_in(categorical(top["model"])[called]))
    owner = top_predictions(activity)
    of_prediction = _model_indices(activity["model"], names)
    parts = [_split(top, [_model_indices(top["model"], names)], len(names))]
    for frame in (trace.data, trace.compute, trace.hardware):
        linked = _relink(frame, owner, activity)
        others = is_any(frame["attribution"], Attribution.FOREIGN)
        parts.append(_split(linked, _models_of_rows(linked, of_prediction, names, others), len(names)))
    breakdowns = breakdown(trace)
    for name, *frames in zip(names, *parts, strict=True):
        yield _view(trace, breakdowns, name, *frames)


def unnamed_predictions(trace: Trace) -> int:
    """Number of top-level predictions whose row names no model, so that no view holds them."""
    activity = trace.activity
    calls = is_any(activity["level"], Level.TOP) & is_any(activity["kind"], Kind.PREDICTION)
    return int((calls & (categorical(activity["model"]).codes < 0)).sum())


def _relink(frame: pd.DataFrame, owner: IntArray, activity: pd.DataFrame) -> pd.DataFrame:
    """`frame` with `prediction` replaced by the outermost prediction.

    A row in a stage that lies in no single prediction of its pipeline has none either, and the stage's attribution.
    """
    linked = or_minus_one(frame["prediction"])
    known = linked >= 0
    outer = np.zeros_like(linked)
    outer[known] = owner[linked[known]]
    in_no_call = known.copy()
    in_no_call[known] = is_any(activity["level"], Level.SUB)[outer[known]]
    attribution = categorical(frame["attribution"]).codes.copy()
    attribution[in_no_call] = categorical(activity["attribution"]).codes[outer[in_no_call]]
    return frame.assign(
        prediction=pd.arrays.IntegerArray(np.where(in_no_call, 0, outer), mask=~known | in_no_call),
        attribution=fixed("attribution", attribution, tuple(Attribution)),
    )


def _model_indices(models: pd.Series, names: Sequence[str]) -> IntArray:
    """Index in `names` of each row's model: shape (rows,), -1 where it is none of them. O(rows)."""
    index_of = {name: index for index, name in enumerate(names)}
    of_code: IntArray = np.array(
        [*(index_of.get(str(value), -1) for value in categorical(models).categories), -1], np.int64
    )
    return of_code.take(categorical(models).codes)


def _models_of_rows(
    frame: pd.DataFrame, of_prediction: IntArray, names: Sequence[str], others: BoolArray
) -> list[IntArray]:
    """Indices in `names` of the models that each row belongs to, -1 for none: of the model whose prediction it lies in;
    where it lies in no single one, of its own model, and of the pipeline that this is a stage of.

    `of_prediction` gives the index of the model of each row of the activity; `others` are rows of other processes,
    which belong to none. Shape (rows,) each.
    """
    linked = or_minus_one(frame["prediction"])
    alone = linked < 0
    by_prediction = np.full(len(frame), -1, np.int64)
    by_prediction[~alone] = of_prediction[linked[~alone]]
    by_prediction[others] = -1
    alone &= ~others
    model, parent = (np.where(alone, _model_indices(frame[column], names), -1) for column in ("model", "parent_model"))
    return [by_prediction, model, np.where(parent == model, -1, parent)]


def _split(frame: pd.DataFrame, models: Sequence[IntArray], count: int) -> Iterator[pd.DataFrame]:
    """The frame in `count` parts: a row stands in each part that one of `models` names for it. O(n log n)."""
    rows_of = [np.flatnonzero(model >= 0) for model in models]
    model = np.concatenate([each[rows] for each, rows in zip(models, rows_of, strict=True)])
    row = np.concatenate(rows_of)
    order = np.lexsort((row, model))
    row = row[order]
    edges = np.searchsorted(model[order], np.arange(count + 1))
    return (rows_at(frame, row[start:end]) for start, end in pairwise(edges.tolist()))


def _view(
    trace: Trace,
    breakdowns: Breakdown,
    name: str,
    model_rows: pd.DataFrame,
    data: pd.DataFrame,
    compute: pd.DataFrame,
    hardware: pd.DataFrame,
) -> ModelView:
    """View of one base name; `model_rows` are its rows of the Activity lane."""

    def of(kinds: Sequence[Kind]) -> pd.DataFrame:
        return rows_where(model_rows, is_any(model_rows["kind"], *kinds))

    return ModelView(
        name=name,
        trace=trace,
        loads=of(LOAD_KINDS),
        compiles=of([Kind.COMPILE]),
        predictions=of([Kind.PREDICTION]),
        data=data,
        compute=compute,
        hardware=hardware,
        breakdowns=breakdowns,
    )
