"""Which prediction each hardware row worked for, and how sure that is.

The hardware tables show the whole machine and link no rows. Labels, processes, command buffers and times do, in this
order; the meaning of each `attribution` is told in `tracekit.trace.events`.

| row                                        | looks for                                                           |
|--------------------------------------------|---------------------------------------------------------------------|
| Neural Engine or GPU, label names a model  | the prediction of that model that contains it; failing any, that of |
|                                            | a pipeline of which the model is a stage                            |
| Neural Engine, generic label               | the innermost prediction of any model that contains it              |
| MPS graph                                  | the GPU row of its command buffer, whose answer it shares; without  |
|                                            | one, the innermost prediction that contains it                      |
| GPU, label names no model                  | none: work of another kind, such as the app's own drawing           |
| Neural Engine load or compilation          | none: it is no inference                                            |

A label names the base of a model only: where several instances are in flight, the model is known and the prediction is
not. Where a label names the stage of a pipeline, the prediction is that of the stage. A generic row inside a pipeline's
prediction and inside that of its one stage there is the stage's; with two stages at once it is the pipeline's.

Neural Engine rows lie inside their prediction, bounds included and without tolerance: in 1,295 of 1,295 published pairs
they do, and the closest ended 0.07 ms before it. GPU work may outlive the request that it was sent by, so a GPU or MPS
row may end up to 1 ms after the prediction in which it began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from tracekit.intervals import containing
from tracekit.trace.binding import recode
from tracekit.trace.events import Attribution, Kind, Lane
from tracekit.trace.frames import fixed
from tracekit.trace.linking import containing_by_key

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Int64Array = npt.NDArray[np.int64]
    Mask = npt.NDArray[np.bool_]
    Places = npt.NDArray[np.intp]
    Search = Callable[[Int64Array, Int64Array, Places], tuple[Int64Array, Int64Array]]

GPU_OUTLIVES_NS = 1_000_000
"""How long after the end of a prediction its GPU work may end (a heuristic of the reference)."""

_DEEPEST = 16
"""Levels of pipelines in pipelines that a row without a name is followed into, far more than were seen. A damaged file
can nest as many as it has rows, and each takes a pass over all rows. What lies deeper counts for the last of them."""

_UNNAMED = "Unnamed_Model"
"""What Core ML calls a model without a display name (reported). Labels of the hardware may still name it."""

_VALUES = tuple(Attribution)


def attributed(hardware: pd.DataFrame, events: pd.DataFrame, graphs: Int64Array) -> pd.DataFrame:
    """The hardware rows with `prediction`, `model`, `parent_model` and `attribution` filled.

    `hardware` holds what each row itself tells (`tracekit.trace.instruments.hardware.attribution`); `events` are the
    linked Core ML rows, of which there is at least one; `graphs` is the answer of `graph_rows`. `prediction` counts
    the rows of the Activity lane, as the index of `Trace.activity` does. O((rows + predictions) log predictions).
    """
    calls = _calls(events)
    names = events["model"].cat.categories
    own_model = _codes_in(hardware["model"], names)
    answer = _Answer.of(hardware)
    if _all_named(events):
        unknown = (answer.attribution == _code(Attribution.LABEL)) & (own_model < 0)
        answer.attribution[unknown] = _code(Attribution.FOREIGN)

    start, end = _times(hardware)
    lane, kind = hardware["lane"], hardware["kind"]
    executed = np.asarray(kind == Kind.ANE_EXEC)
    on_gpu = np.asarray(lane == Lane.GPU)
    named = np.isin(answer.attribution, (_code(Attribution.LABEL), _code(Attribution.EXACT))) & (own_model >= 0)
    silent = answer.attribution == _code(Attribution.UNATTRIBUTED)

    by_label = np.flatnonzero(named & (executed | on_gpu))
    search = _search_by_model(calls, np.arange(len(calls.model)), calls.model, own_model[by_label])
    answer.call[by_label], count = _with_slack(search, start[by_label], end[by_label], on_gpu[by_label])
    by_label = by_label[count == 0]
    search = _search_by_model(calls, *_of_stages(calls, events, own_model[by_label]))
    answer.call[by_label], _ = _with_slack(search, start[by_label], end[by_label], on_gpu[by_label])

    graph = np.asarray(lane == Lane.MPS)
    by_time = np.flatnonzero(silent & (executed | (graph & (graphs < 0))))
    place, count = _with_slack(_search_innermost(calls), start[by_time], end[by_time], graph[by_time])
    answer.call[by_time] = place
    answer.attribution[by_time[place >= 0]] = _code(Attribution.CONTAINED)
    answer.attribution[by_time[count > 1]] = _code(Attribution.AMBIGUOUS)
    return with_graphs(_filled(hardware, answer, calls, events), graphs)


def graph_rows(hardware: pd.DataFrame, buffer: Int64Array) -> Int64Array:
    """For each MPS row the place of the GPU row that ran its command buffer; -1 for other rows and where there is none.

    `buffer` is the id of the command buffer of each row, 0 where it has none. Several GPU rows may share one: the first
    that names a model counts, else the first. O(n log n).
    """
    partner = np.full(len(hardware), -1, np.int64)
    lane = hardware["lane"]
    graph = np.flatnonzero(np.asarray(lane == Lane.MPS) & (buffer != 0))
    ran = np.flatnonzero(np.asarray(lane == Lane.GPU) & np.isin(buffer, buffer[graph]) & (buffer != 0))
    if not len(graph) or not len(ran):
        return partner
    unnamed = np.asarray(hardware["model"].cat.codes)[ran] < 0
    ran = ran[np.lexsort((ran, unnamed, buffer[ran]))]
    place = np.searchsorted(buffer[ran], buffer[graph])
    found = ran[np.minimum(place, len(ran) - 1)]
    partner[graph] = np.where(buffer[found] == buffer[graph], found, -1)
    return partner


def with_graphs(hardware: pd.DataFrame, graphs: Int64Array) -> pd.DataFrame:
    """The hardware rows, with the MPS rows sharing what is known of the GPU row that ran their command buffer.

    A row that names its own process keeps what that told.
    """
    told = np.asarray(hardware["attribution"] == Attribution.FOREIGN)
    source = np.where((graphs >= 0) & ~told, graphs, np.arange(len(hardware)))
    shared = ("model", "parent_model", "operation", "prediction", "attribution")
    return hardware.assign(**{name: hardware[name].array.take(source) for name in shared})


@dataclass(frozen=True, slots=True)
class _Calls:
    """Predictions of the Core ML table; shape (predictions,) each."""

    label: Int64Array
    """Index label in `Trace.activity`."""
    start: Int64Array
    end: Int64Array
    model: Int64Array
    """Place in the categories of column `model`; -1 where it is not named."""
    outer: Int64Array
    """Place of the prediction around it, for a stage of a pipeline; -1 where there is none."""
    row: Places
    """Place in the Core ML rows."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found for each hardware row; shape (rows,) each."""

    call: Int64Array
    """Place among the predictions; -1 where there is not one."""
    attribution: Int64Array
    """Place in `Attribution`."""

    @staticmethod
    def of(hardware: pd.DataFrame) -> _Answer:
        """What the rows themselves tell."""
        told = _codes_in(hardware["attribution"], pd.Index(_VALUES, dtype=object))
        return _Answer(np.full(len(hardware), -1, np.int64), told)


def _code(value: Attribution) -> int:
    return _VALUES.index(value)


def _times(rows: pd.DataFrame) -> tuple[Int64Array, Int64Array]:
    start = rows["start_ns"].to_numpy()
    return start, start + rows["duration_ns"].to_numpy()


def _codes_in(column: pd.Series, names: pd.Index) -> Int64Array:
    """Place of each cell in `names`; -1 where it is null or none of them."""
    target: Int64Array = np.append(names.get_indexer(column.cat.categories), -1).astype(np.int64)
    return target.take(column.cat.codes.to_numpy())


def _all_named(events: pd.DataFrame) -> bool:
    """Whether Core ML names each model that it loaded or called. Else a label may name one that it does not."""
    activity = events[np.asarray(events["lane"] == Lane.ACTIVITY)]
    return not activity["model"].isna().any() and _UNNAMED not in events["model"].cat.categories


def _calls(events: pd.DataFrame) -> _Calls:
    activity = np.asarray(events["lane"] == Lane.ACTIVITY)
    row = np.flatnonzero(activity & np.asarray(events["kind"] == Kind.PREDICTION))
    start, end = _times(events)
    label = (np.cumsum(activity) - 1)[row]
    place = np.full(int(activity.sum()) + 1, -1, np.int64)
    place[label] = np.arange(len(row))
    outer = place[events["prediction"].fillna(-1).to_numpy(np.int64)[row]]
    return _Calls(
        label, start[row], end[row], _codes_in(events["model"], events["model"].cat.categories)[row], outer, row
    )


def _of_stages(calls: _Calls, events: pd.DataFrame, stages: Int64Array) -> tuple[Places, Int64Array, Int64Array]:
    """Predictions of the pipelines that have these stages, and a key of each; and the key that each stage looks for.

    Stages of the same pipelines share a key, so that a pipeline of many stages is offered once.
    """
    names = events["model"].cat.categories
    pairs = events[["model", "parent_model"]].dropna().drop_duplicates()
    around: dict[int, list[int]] = {stage: [] for stage in np.unique(stages).tolist()}
    for stage, pipeline in zip(*(_codes_in(pairs[name], names).tolist() for name in pairs), strict=True):
        if stage in around:
            around[stage].append(pipeline)
    keys: dict[tuple[int, ...], int] = {}
    key_of = {stage: keys.setdefault(tuple(sorted(outer)), len(keys)) for stage, outer in around.items()}
    order = np.argsort(calls.model, kind="stable")
    low, high = (np.searchsorted(calls.model[order], np.arange(len(names)), side=side) for side in _SIDES)
    members = [np.concatenate([order[:0], *(order[low[code] : high[code]] for code in outer)]) for outer in keys]
    return (
        np.concatenate([order[:0], *members]),
        np.repeat(np.arange(len(keys)), [len(found) for found in members]),
        np.array([key_of[stage] for stage in stages.tolist()], np.int64),
    )


_SIDES: tuple[Literal["left", "right"], ...] = ("left", "right")
"""Of a searched value: before the first of its equals, and behind the last."""


def _search_by_model(calls: _Calls, offered: Int64Array, key: Int64Array, keys: Int64Array) -> Search:
    """Search among the predictions `offered` under `key` for those of the model that each row names (`keys`)."""

    def search(start: Int64Array, end: Int64Array, rows: Places) -> tuple[Int64Array, Int64Array]:
        place, count = containing_by_key(calls.start[offered], calls.end[offered], key, start, end, keys[rows])
        return np.append(offered, -1)[place], count

    return search


def _search_innermost(calls: _Calls) -> Search:
    """Search among all predictions, for the last of those that lie in each other and contain the row.

    The count is that of the outermost predictions that contain it.
    """
    tiers = _tiers(calls)

    def search(start: Int64Array, end: Int64Array, rows: Places) -> tuple[Int64Array, Int64Array]:
        place = np.full(len(rows), -1, np.int64)
        count = np.zeros(len(rows), np.int64)
        for tier in np.unique(tiers[tiers < _DEEPEST]):
            among = np.flatnonzero(tiers == tier)
            index, found = containing(calls.start[among], calls.end[among], start, end)
            inner = np.append(among, -1)[index]
            if tier == 0:
                place, count = inner, found
            else:
                place = np.where((inner >= 0) & (place >= 0) & (calls.outer[inner] == place), inner, place)
        return place, count

    return search


def _tiers(calls: _Calls) -> Int64Array:
    """How many predictions lie around each, at most `_DEEPEST`: damage can make a chain a circle."""
    tier = np.zeros(len(calls.outer), np.int64)
    around = calls.outer
    for _ in range(_DEEPEST):
        if (around < 0).all():
            break
        tier += around >= 0
        around = np.where(around >= 0, calls.outer[around], -1)
    return tier


def _with_slack(search: Search, start: Int64Array, end: Int64Array, slack: Mask) -> tuple[Int64Array, Int64Array]:
    """What `search` finds for these rows; those with `slack` that lie in no prediction are sought once more, as if they
    had ended `GPU_OUTLIVES_NS` earlier, but not before they began."""
    place, count = search(start, end, np.arange(len(start)))
    again = np.flatnonzero(slack & (count == 0))
    if len(again):
        shorter = np.maximum(start[again], end[again] - GPU_OUTLIVES_NS)
        place[again], count[again] = search(start[again], shorter, again)
    return place, count


def _filled(hardware: pd.DataFrame, answer: _Answer, calls: _Calls, events: pd.DataFrame) -> pd.DataFrame:
    linked = answer.call >= 0
    call = np.where(linked, answer.call, 0)
    by_time = answer.attribution == _code(Attribution.CONTAINED)
    own, names = hardware["model"].cat, events["model"].cat.categories
    # Of no prediction there is nothing to take; the appended value stands for it.
    called = np.append(calls.model, -1)[answer.call]
    model = np.where(by_time & (called >= 0), called + len(own.categories), np.asarray(own.codes))
    # A row that names a stage and lies in the pipeline's own prediction has that pipeline around it.
    in_pipeline = linked & ~by_time & (called >= 0) & (called != _codes_in(hardware["model"], names))
    parents = events["parent_model"].cat
    parent = np.append(np.asarray(parents.codes)[calls.row], -1)[answer.call]
    around = np.where(in_pipeline, called + len(parents.categories), parent)
    return hardware.assign(
        model=recode(model, [*own.categories, *names]),
        parent_model=recode(around, [*parents.categories, *names]),
        prediction=pd.arrays.IntegerArray(np.append(calls.label, 0)[call], ~linked),
        attribution=fixed("attribution", answer.attribution, _VALUES),
    )
