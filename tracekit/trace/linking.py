"""Which prediction a Core ML row belongs to.

The table links no rows; names, levels and times do. A row looks among certain predictions for those that contain it,
bounds included, without tolerance: data and compute events are recorded inside their prediction.

| row                                  | looks among                                                            |
|--------------------------------------|------------------------------------------------------------------------|
| prediction of a model of its own     | none: it is a call of the app                                          |
| prediction of a stage                | predictions of the pipeline that it names as parent                    |
| other row of a model of its own      | predictions of that model at level `top`                               |
| other row of a stage                 | predictions of that stage in that pipeline; failing those, predictions |
|                                      | of the pipeline                                                        |

The same model means the same base and instance; a name without instance stands for all instances of its base.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tracekit.arrays import CodeArray, IndexArray, IntArray
from tracekit.columns import Numbers, codes_of
from tracekit.intervals import Intervals, containing
from tracekit.sorting import few_bits
from tracekit.trace.events import ATTRIBUTIONS, Attribution, Events, Kind, Lane, Level
from tracekit.trace.instruments.coreml import ModelName


class _Names:
    """Names of rows as numbers, so that equal numbers mean that a row may belong to a prediction."""

    def __init__(self, model: CodeArray, parent: CodeArray, names: Sequence[ModelName]) -> None:
        distinct = dict.fromkeys(name.base for name in names)
        bases = {base: number for number, base in enumerate(distinct, start=len(names))}
        self._key_count = len(names) + len(bases)
        # Code -1, no name, is the last entry of each.
        self._base = np.array([*(bases[name.base] for name in names), self._key_count], np.int64)
        sought = [self._base[code] if name.instance is None else code for code, name in enumerate(names)]
        self._sought = np.array([*sought, self._key_count], np.int64)
        self._model, self._parent = model, parent

    def sought_model(self, rows: IndexArray) -> IntArray:
        """What a row's model must match."""
        return self._sought[self._model[rows]]

    def sought_parent(self, rows: IndexArray) -> IntArray:
        """What the pipeline that a row names must match; a row that names none, or itself, matches nothing."""
        parent = self._parent[rows]
        none = (parent < 0) | (self._base[parent] == self._base[self._model[rows]])
        return np.where(none, -1, self._sought[parent])

    def offers(self, rows: IndexArray) -> tuple[IndexArray, IntArray]:
        """Predictions under the name of their instance, and again under their base."""
        model = self._model[rows]
        by_name = np.where(model < 0, -2, model)
        return np.concatenate((rows, rows)), np.concatenate((by_name, self._base[model]))

    def in_pipeline(self, rows: IndexArray, keys: IntArray) -> IntArray:
        """The keys, made different for different parents."""
        return keys * (self._key_count + 2) + self._parent[rows] + 1


def link_events(events: Events, model: CodeArray, parent: CodeArray, names: Sequence[ModelName]) -> Events:
    """The Core ML rows with `prediction` and `attribution` filled.

    `events` is sorted by start; `model` and `parent` name its rows as codes into `names`, -1 for none. `prediction`
    counts the rows of the Activity lane. O(n log n).
    """
    activity = events.lane.is_any(Lane.ACTIVITY)
    prediction = events.kind.is_any(Kind.PREDICTION) & activity
    sub = events.level.is_any(Level.SUB)
    keys = _Names(model, parent, names)
    times = Intervals.from_rows(events)
    # Row of the one prediction that contains each, 0 where there is not one, and how many contain it.
    container, count = np.zeros(len(events), np.int64), np.zeros(len(events), np.int64)

    def search(inner: IndexArray, sought: IntArray, outer: IndexArray, offered: IntArray) -> None:
        around, rows = times.where(outer), times.where(inner)
        index, count[inner] = containing_by_key(around, offered, rows, sought)
        container[inner] = np.append(outer, 0)[index]

    top_rows = np.flatnonzero(~prediction & ~sub)
    search(top_rows, keys.sought_model(top_rows), *keys.offers(np.flatnonzero(prediction & ~sub)))

    stage_rows = np.flatnonzero(~prediction & sub)
    outer, offered = keys.offers(np.flatnonzero(prediction & sub))
    sought = keys.in_pipeline(stage_rows, keys.sought_model(stage_rows))
    search(stage_rows, sought, outer, keys.in_pipeline(outer, offered))

    rest = np.flatnonzero(sub & (count == 0))
    search(rest, keys.sought_parent(rest), *keys.offers(np.flatnonzero(prediction)))
    alone = count == 1
    label = np.cumsum(activity) - 1
    linked = Numbers(np.where(alone, label[container], 0), alone)
    named_activity = activity & (model >= 0) & (~prediction | ~sub)
    order = (Attribution.UNATTRIBUTED, Attribution.EXACT, Attribution.CONTAINED, Attribution.AMBIGUOUS)
    choice = np.select([count > 1, alone, named_activity], [3, 2, 1], 0)
    return replace(events, prediction=linked, attribution=codes_of(choice, order, ATTRIBUTIONS))


def containing_by_key(
    outer: Intervals, outer_key: CodeArray, inner: Intervals, inner_key: CodeArray
) -> tuple[IntArray, IntArray]:
    """`tracekit.intervals.containing` among the outer intervals that have the inner one's key.

    For each inner interval the index of the one outer interval of the same key that contains it, -1 where there is not
    one, and how many do. O(n log n), and one pass for each distinct key.
    """
    result = np.full(len(inner), -1, np.int64)
    count = np.zeros(len(inner), np.int64)
    outer_order, inner_order = (np.argsort(few_bits(each), kind="stable") for each in (outer_key, inner_key))
    sorted_inner, sorted_outer = inner_key[inner_order], outer_key[outer_order]
    firsts = np.flatnonzero(np.append(True, sorted_inner[1:] != sorted_inner[:-1])[: len(inner)])
    keys, lasts = sorted_inner[firsts], np.append(firsts, len(inner))[1:]
    lows, highs = (np.searchsorted(sorted_outer, keys, side) for side in ("left", "right"))
    for first, last, low, high in zip(firsts, lasts, lows, highs, strict=True):
        if low == high:
            continue
        among, sought = outer_order[low:high], inner_order[first:last]
        index, count[sought] = containing(
            outer.starts[among], outer.ends[among], inner.starts[sought], inner.ends[sought]
        )
        result[sought] = np.append(among, -1)[index]
    return result, count


def top_predictions(activity: Events) -> IntArray:
    """For each row of `activity`, the row of the outermost prediction it leads to (itself where it is outermost).

    Stages of a pipeline link to the prediction around them; following those links ends at the call of the app, or at a
    stage that lies in no single prediction of its pipeline. Shape (rows,); O(n log n).
    """
    parent = activity.prediction.filled()
    here = np.arange(len(activity), dtype=np.int64)
    if (parent < 0).all():
        return here
    owner = np.where(parent >= 0, parent, here)
    # Each pass doubles the number of links followed, so a chain of n stages takes log n passes; the bound keeps a
    # damaged table whose links run in a circle from looping for ever.
    for _ in range(max(len(activity), 1).bit_length()):
        further = owner[owner]
        if np.array_equal(further, owner):
            break
        owner = further
    return owner
