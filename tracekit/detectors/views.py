"""Cuts a trace into one `ModelView` per model that the app called."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.analysis.breakdown import breakdown
from tracekit.detectors.framework import ModelView
from tracekit.trace.events import LOAD_KINDS, Attribution, Kind, Level
from tracekit.trace.frames import fixed, is_any
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
    top = activity[is_any(activity["level"], Level.TOP)]
    called = top[is_any(top["kind"], *LOAD_KINDS, Kind.COMPILE, Kind.PREDICTION)]
    names = sorted(str(name) for name in called["model"].dropna().unique())
    owner = top_predictions(activity)
    of_prediction = _places(activity["model"], names)
    parts = [_split(top, [_places(top["model"], names)], len(names))]
    for frame in (trace.data, trace.compute, trace.hardware):
        linked = _relink(frame, owner, activity)
        others = is_any(frame["attribution"], Attribution.FOREIGN)
        parts.append(_split(linked, _models_of_rows(linked, of_prediction, names, others), len(names)))
    whole = breakdown(trace)
    for name, *frames in zip(names, *parts, strict=True):
        yield _view(trace, whole, name, *frames)


def unnamed_predictions(trace: Trace) -> int:
    """Number of top-level predictions whose row names no model, so that no view holds them."""
    activity = trace.activity
    chosen = (activity["level"] == Level.TOP) & (activity["kind"] == Kind.PREDICTION) & activity["model"].isna()
    return int(chosen.to_numpy().sum())


def _relink(frame: pd.DataFrame, owner: IntArray, activity: pd.DataFrame) -> pd.DataFrame:
    """`frame` with `prediction` replaced by the outermost prediction.

    A row in a stage that lies in no single prediction of its pipeline has none either, and the stage's attribution.
    """
    linked = frame["prediction"].fillna(-1).to_numpy(dtype=np.int64)
    known = linked >= 0
    outer = np.zeros_like(linked)
    outer[known] = owner[linked[known]]
    lost = known.copy()
    lost[known] = is_any(activity["level"], Level.SUB)[outer[known]]
    attribution = frame["attribution"].cat.codes.to_numpy().copy()
    attribution[lost] = activity["attribution"].cat.codes.to_numpy()[outer[lost]]
    return frame.assign(
        prediction=pd.arrays.IntegerArray(np.where(lost, 0, outer), mask=~known | lost),
        attribution=fixed("attribution", attribution, tuple(Attribution)),
    )


def _places(models: pd.Series, names: Sequence[str]) -> IntArray:
    """Place in `names` of each row's model: shape (rows,), -1 where it is none of them. O(rows)."""
    place = {name: index for index, name in enumerate(names)}
    of_code = np.array([*(place.get(str(value), -1) for value in models.cat.categories), -1], np.int64)
    return of_code[models.cat.codes.to_numpy()]


def _models_of_rows(
    frame: pd.DataFrame, of_prediction: IntArray, names: Sequence[str], others: BoolArray
) -> list[IntArray]:
    """Places in `names` of the models that each row belongs to, -1 for none: of the model whose prediction it lies in;
    where it lies in no single one, of its own model, and of the pipeline that this is a stage of.

    `of_prediction` gives the place of the model of each row of the activity; `others` are rows of other processes,
    which belong to none. Shape (rows,) each.
    """
    linked = frame["prediction"].fillna(-1).to_numpy(dtype=np.int64)
    alone = linked < 0
    by_prediction = np.full(len(frame), -1, np.int64)
    by_prediction[~alone] = of_prediction[linked[~alone]]
    by_prediction[others] = -1
    alone &= ~others
    model, parent = (np.where(alone, _places(frame[column], names), -1) for column in ("model", "parent_model"))
    return [by_prediction, model, np.where(parent == model, -1, parent)]


def _split(frame: pd.DataFrame, places: Sequence[IntArray], count: int) -> Iterator[pd.DataFrame]:
    """The frame in `count` parts: a row stands in each part that one of `places` names for it. O(n log n)."""
    held = [np.flatnonzero(place >= 0) for place in places]
    place = np.concatenate([each[rows] for each, rows in zip(places, held, strict=True)])
    row = np.concatenate(held)
    order = np.lexsort((row, place))
    row = row[order]
    edges = np.searchsorted(place[order], np.arange(count + 1))
    return (_rows(frame, row[start:end]) for start, end in pairwise(edges.tolist()))


def _rows(frame: pd.DataFrame, places: IntArray) -> pd.DataFrame:
    """The rows at ascending places; those that stand side by side, as with one model they do, are not copied."""
    if not len(places):
        return frame.iloc[:0]
    first, after = int(places[0]), int(places[-1]) + 1
    return frame.iloc[first:after] if after - first == len(places) else frame.take(places)


def _view(
    trace: Trace,
    whole: Breakdown,
    name: str,
    own: pd.DataFrame,
    data: pd.DataFrame,
    compute: pd.DataFrame,
    hardware: pd.DataFrame,
) -> ModelView:
    """View of one base name; `own` are its rows of the Activity lane."""

    def of(kinds: Sequence[Kind]) -> pd.DataFrame:
        return _rows(own, np.flatnonzero(is_any(own["kind"], *kinds)))

    return ModelView(
        name=name,
        trace=trace,
        loads=of(LOAD_KINDS),
        compiles=of([Kind.COMPILE]),
        predictions=of([Kind.PREDICTION]),
        data=data,
        compute=compute,
        hardware=hardware,
        breakdowns=whole,
    )
