"""Which prediction each hardware row worked for, and how sure that is.

The hardware tables show the whole machine and link no rows. Labels, processes, command buffers and times do, in this
order; `tracekit.trace.events` explains each `attribution`.

| row                                        | looks for                                                           |
|--------------------------------------------|---------------------------------------------------------------------|
| Neural Engine or GPU, label names a model  | the prediction of that model that contains it; failing any, that of |
|                                            | a pipeline of which the model is a stage                            |
| Neural Engine, label names a hash alone    | the model whose predictions alone hold all rows of the hash, for    |
|                                            | all of them; compiled programs may be named so                      |
| Neural Engine, generic label               | the innermost prediction of any model that contains it, unless      |
|                                            | labels name that model: one public recording holds 599 such rows    |
|                                            | and 6,837 generic ones of another job                               |
| MPS graph                                  | the GPU row of its command buffer, whose answer it shares; without  |
|                                            | one, the innermost prediction that contains it                      |
| GPU, label names no model                  | none: work of another kind, such as the app's own drawing           |
| Neural Engine load or compilation          | none: it is no inference                                            |

A label names the base of a model only: where several instances are in flight, the model is known and the prediction is
not. Neither is it where the rows in one prediction are of several processes, as they can be without a single target.
Where a label names the stage of a pipeline, the prediction is that of the stage. A generic row inside a pipeline's
prediction and inside that of its one stage there is the stage's; with two stages at once it is the pipeline's.

Neural Engine rows lie inside their prediction, bounds included and without tolerance: in 1,295 of 1,295 published pairs
they do, and the closest ended 0.07 ms before it. A generic one that begins in a prediction and runs past its end can
be of it, but hardly is. GPU work may outlive the request that it was sent by, so a GPU or MPS row may end up to 1 ms
after the prediction in which it began.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

import numpy as np

from tracekit.arrays import BoolArray, IndexArray, IntArray
from tracekit.columns import Numbers, codes_of
from tracekit.intervals import Intervals, containing
from tracekit.sorting import distinct_numbers, few_bits
from tracekit.trace.events import ATTRIBUTIONS, Attribution, Events, Kind, Lane
from tracekit.trace.linking import containing_by_key

CallAndCount = tuple[IntArray, IntArray]

_DEEPEST = 16
"""Levels of pipelines in pipelines that a row without a name is followed into, far more than were seen. A damaged file
can nest as many as it has rows, and each takes a pass over all rows. What lies deeper counts for the last of them."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Predictions of the Core ML table; shape (predictions,) each. A search among them answers with the index of the
    one that contains a row of hardware, else -1, and how many contain it."""

    label: IntArray
    """Its row in `Trace.activity`."""
    start: IntArray
    end: IntArray
    model: IntArray
    """Code of column `model`; -1 where it is not named."""
    outer: IntArray
    """Index of the prediction around it, for a stage of a pipeline; -1 where there is none."""
    row: IndexArray
    """Index in the Core ML rows."""

    def tiers(self) -> tuple[IntArray, IntArray]:
        """How many predictions lie around each, at most `_DEEPEST` (damage can make a circle), and the outermost."""
        tier = np.zeros(len(self.outer), np.int64)
        outermost = np.arange(len(self.outer))
        for _ in range(_DEEPEST):
            around = self.outer[outermost]
            if (around < 0).all():
                break
            tier += around >= 0
            outermost = np.where(around >= 0, around, outermost)
        return tier, outermost


@dataclass(frozen=True, slots=True)
class Rows:
    """Hardware rows that look for their prediction; shape (rows,) each."""

    start: IntArray
    end: IntArray
    model: IntArray
    """Code of the Core ML rows' column `model`; -1 where the row names none of them."""

    def at(self, row_numbers: IndexArray) -> Rows:
        """Some of the rows."""
        return Rows(self.start[row_numbers], self.end[row_numbers], self.model[row_numbers])


def calls_of(events: Events) -> Calls:
    """The predictions among the linked Core ML rows."""
    activity = events.lane.is_any(Lane.ACTIVITY)
    row = np.flatnonzero(activity & events.kind.is_any(Kind.PREDICTION))
    times = Intervals.from_rows(events).where(row)
    label = (np.cumsum(activity) - 1)[row]
    call_of_label = np.full(int(activity.sum()) + 1, -1, np.int64)
    call_of_label[label] = np.arange(len(row))
    outer = call_of_label[events.prediction.filled()[row]]
    model = events.model.codes[row].astype(np.int64)
    return Calls(label, times.starts, times.ends, model, outer, row)


def of_model(calls: Calls, rows: Rows) -> CallAndCount:
    """The prediction of the model that each row names. O((rows + predictions) log predictions)."""
    return _of_keys(calls, np.arange(len(calls.model)), calls.model, rows, rows.model)


def of_pipelines(calls: Calls, events: Events, rows: Rows) -> CallAndCount:
    """The prediction of one of the pipelines of which the model that each row names is a stage.

    Stages of the same pipelines are sought together, so that a pipeline of many stages is offered once.
    """
    names = events.model.values
    stages, pipelines = (cells.codes_in(names) for cells in (events.model, events.parent_model))
    known = (stages >= 0) & (pipelines >= 0)
    around: dict[int, list[int]] = {stage: [] for stage in distinct_numbers(rows.model).tolist()}
    for pair in distinct_numbers(stages[known] * len(names) + pipelines[known]).tolist():
        stage, pipeline = divmod(pair, len(names))
        if stage in around:
            around[stage].append(pipeline)
    keys: dict[tuple[int, ...], int] = {}
    key_of = {stage: keys.setdefault(tuple(sorted(outer)), len(keys)) for stage, outer in around.items()}
    order = np.argsort(few_bits(calls.model), kind="stable")
    low, high = (np.searchsorted(calls.model[order], np.arange(len(names)), side) for side in ("left", "right"))
    members = [np.concatenate([order[:0], *(order[low[code] : high[code]] for code in outer)]) for outer in keys]
    offered = np.concatenate([order[:0], *members])
    key = np.repeat(np.arange(len(keys)), [len(predictions) for predictions in members])
    return _of_keys(calls, offered, key, rows, np.array([key_of[stage] for stage in rows.model.tolist()], np.int64))


def innermost(calls: Calls, rows: Rows) -> CallAndCount:
    """Of all predictions, the last of those that lie in each other and contain the row.

    The count is that of the outermost predictions that contain it.
    """
    tiers, _ = calls.tiers()
    call = np.full(len(rows.start), -1, np.int64)
    count = np.zeros(len(rows.start), np.int64)
    for tier in np.flatnonzero(np.bincount(tiers)[:_DEEPEST]):
        among = np.flatnonzero(tiers == tier)
        index, containing_count = containing(calls.start[among], calls.end[among], rows.start, rows.end)
        inner = np.append(among, -1)[index]
        if tier == 0:
            call, count = inner, containing_count
        else:
            call = np.where((inner >= 0) & (call >= 0) & (calls.outer[inner] == call), inner, call)
    return call, count


def running(calls: Calls, rows: Rows) -> BoolArray:
    """Whether a prediction is in flight when each row begins."""
    outermost = calls.outer < 0
    _, count = containing(calls.start[outermost], calls.end[outermost], rows.start, rows.start + 1)
    return count > 0


def _of_keys(calls: Calls, offered: IndexArray, key: IntArray, rows: Rows, sought: IntArray) -> CallAndCount:
    """Search among the predictions `offered` under `key` for those of the key that each row seeks."""
    around = Intervals(calls.start[offered], calls.end[offered])
    index, count = containing_by_key(around, key, Intervals(rows.start, rows.end), sought)
    return np.append(offered, -1)[index], count


GPU_OUTLIVES_NS = 1_000_000
"""How long after the end of a prediction its GPU work may end (heuristic)."""

HASH = re.compile(r"[0-9A-Fa-f]{32,64}|[0-9A-Fa-f]{8}(?:[-_][0-9A-Fa-f]{4}){3}[-_][0-9A-Fa-f]{12}")
"""Names of compiled programs in labels that say nothing of the model."""
_HASH_INSIDE = 0.95
"""Share of the rows of a hash in predictions of one model that show it to be this model's (heuristic)."""
_HASH_ROWS = 3
"""Fewest such rows (heuristic)."""

_UNNAMED = "Unnamed_Model"
"""What Core ML calls a model without a display name (reported). Labels of the hardware may still name it."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found for each hardware row; shape (rows,) each."""

    prediction: IntArray
    """Index among the predictions; -1 where there is not one."""
    attribution: IntArray
    """Index in `ATTRIBUTIONS`."""

    @staticmethod
    def of(hardware: Events) -> _Answer:
        """What the rows themselves say."""
        return _Answer(np.full(len(hardware), -1, np.int64), hardware.attribution.codes_in(ATTRIBUTIONS))

    @property
    def named(self) -> BoolArray:
        """Whether the row's label names a model that may be the target's."""
        label, exact = (self.attribution == _code(each) for each in (Attribution.LABEL, Attribution.EXACT))
        named: BoolArray = label | exact
        return named

    def set(self, row_numbers: IndexArray, value: Attribution) -> None:
        """Say how sure some rows are."""
        self.attribution[row_numbers] = _code(value)


def attribute_hardware(hardware: Events, events: Events, graphs: IntArray) -> Events:
    """The hardware rows with `prediction`, `model`, `parent_model` and `attribution` filled.

    `hardware` holds what each row itself states (`tracekit.trace.instruments.hardware.attribution`); `events` are the
    linked Core ML rows, of which there is at least one; `graphs` is the answer of `graph_rows`. `prediction` counts
    the rows of the Activity lane. O((rows + predictions) log predictions).
    """
    calls = calls_of(events)
    on_gpu, graph = (hardware.lane.is_any(lane) for lane in (Lane.GPU, Lane.MPS))
    executed = hardware.kind.is_any(Kind.ANE_EXEC)
    times = Intervals.from_rows(hardware)
    hardware = _with_hashes(hardware, calls, events, executed)
    # What may be of a prediction that has ended is sought by the part that no slack explains.
    end = np.where(on_gpu | graph, np.maximum(times.starts, times.ends - GPU_OUTLIVES_NS), times.ends)
    rows = Rows(times.starts, end, hardware.model.codes_in(events.model.values))
    answer = _Answer.of(hardware)
    unnamed = events.lane.is_any(Lane.ACTIVITY) & ~events.model.known
    # Where Core ML does not name each model that it loaded or called, a label may name one of these.
    if not unnamed.any() and _UNNAMED not in events.model.values:
        unknown = (answer.attribution == _code(Attribution.LABEL)) & (rows.model < 0)
        answer.set(np.flatnonzero(unknown), Attribution.FOREIGN)

    named = answer.named & (rows.model >= 0)
    by_label = np.flatnonzero(named & (executed | on_gpu))
    answer.prediction[by_label], count = of_model(calls, rows.at(by_label))
    in_none = by_label[count == 0]
    answer.prediction[in_none], _ = of_pipelines(calls, events, rows.at(in_none))
    # Take back links of rows where those of one prediction name several processes: Core ML names its process nowhere,
    # and it is of one of them only.
    owned = by_label[(answer.prediction[by_label] >= 0) & hardware.pid.known[by_label]]
    _, outermost = calls.tiers()
    call, owner = outermost[answer.prediction[owned]], hardware.pid.values[owned]
    lowest_pid, highest_pid = np.full(len(outermost), np.iinfo(np.int64).max), np.full(len(outermost), -1)
    np.minimum.at(lowest_pid, call, owner)
    np.maximum.at(highest_pid, call, owner)
    answer.prediction[owned[(lowest_pid != highest_pid)[call]]] = -1

    silent = answer.attribution == _code(Attribution.UNATTRIBUTED)
    _link_by_time(answer, calls, rows, np.flatnonzero(silent & graph & (graphs < 0)))
    of_engine = np.flatnonzero(silent & executed)
    _link_by_time(answer, calls, rows, of_engine)
    _doubt(answer, calls, rows, of_engine, np.flatnonzero(named & executed))
    return with_graphs(_with_answer(hardware, answer, calls, events), graphs)


def _with_hashes(hardware: Events, calls: Calls, events: Events, executed: BoolArray) -> Events:
    """The rows, with the model of those whose labels name the hash of a program that only this model ran."""
    names = events.model.values
    hashes = hardware.model.passing(lambda name: name not in names and HASH.fullmatch(name) is not None) & executed
    chosen = np.flatnonzero(hashes)
    if not len(chosen) or not len(calls.start):
        return hardware
    times = Intervals.from_rows(hardware).where(chosen)
    call, _ = innermost(calls, Rows(times.starts, times.ends, np.full(len(chosen), -1)))
    # Outside of the time in which Core ML was recorded, nothing says whose a row is.
    within = (times.ends > calls.start.min()) & (times.starts < calls.end.max())
    called = np.where(call >= 0, calls.model[call], -1)
    model = list(hardware.model.values)
    for code, name in enumerate(hardware.model.values):
        of_hash = called[(hardware.model.codes[chosen] == code) & within]
        counts = np.bincount(of_hash[of_hash >= 0], minlength=1)
        if counts.max() >= max(_HASH_INSIDE * len(of_hash), _HASH_ROWS) and HASH.fullmatch(name):
            model[code] = names[int(counts.argmax())]
    return replace(hardware, model=codes_of(hardware.model.codes, model, names))


def graph_rows(hardware: Events, buffer: IntArray) -> IntArray:
    """For each MPS row the index of the GPU row that ran its command buffer; -1 for other rows and where there is none.

    `buffer` is the id of the command buffer of each row, 0 where it has none. Several GPU rows may share one: the first
    that names a model counts, else the first. O(n log n).
    """
    partner = np.full(len(hardware), -1, np.int64)
    graph = np.flatnonzero(hardware.lane.is_any(Lane.MPS) & (buffer != 0))
    ran = np.flatnonzero(hardware.lane.is_any(Lane.GPU) & np.isin(buffer, buffer[graph]) & (buffer != 0))
    if not len(graph) or not len(ran):
        return partner
    unnamed = ~hardware.model.known[ran]
    ran = ran[np.lexsort((ran, unnamed, buffer[ran]))]
    index = np.searchsorted(buffer[ran], buffer[graph])
    gpu_row = ran[np.minimum(index, len(ran) - 1)]
    partner[graph] = np.where(buffer[gpu_row] == buffer[graph], gpu_row, -1)
    return partner


def with_graphs(hardware: Events, graphs: IntArray) -> Events:
    """The hardware rows, with the MPS rows sharing what is known of the GPU row that ran their command buffer.

    A row that names its own process keeps what that says.
    """
    if (graphs < 0).all():
        return hardware
    is_foreign = hardware.attribution.is_any(Attribution.FOREIGN)
    source = np.where((graphs >= 0) & ~is_foreign, graphs, np.arange(len(hardware)))
    return replace(
        hardware,
        model=hardware.model.take(source),
        parent_model=hardware.parent_model.take(source),
        operation=hardware.operation.take(source),
        prediction=hardware.prediction.take(source),
        attribution=hardware.attribution.take(source),
    )


def _code(value: Attribution) -> int:
    return ATTRIBUTIONS.index(value)


def _link_by_time(answer: _Answer, calls: Calls, rows: Rows, row_numbers: IndexArray) -> None:
    """Link rows that name no model to the prediction that contains them."""
    answer.prediction[row_numbers], count = innermost(calls, rows.at(row_numbers))
    answer.set(row_numbers[answer.prediction[row_numbers] >= 0], Attribution.CONTAINED)
    answer.set(row_numbers[count > 1], Attribution.AMBIGUOUS)


def _doubt(answer: _Answer, calls: Calls, rows: Rows, generic: IndexArray, named: IndexArray) -> None:
    """Take back links of generic rows of the Neural Engine to models of which other rows are `named`, and mark generic
    rows that begin in a prediction and run past its end."""
    _, outermost = calls.tiers()
    # Of no prediction there is no model; the appended value stands for it.
    top = np.append(calls.model[outermost], -1)
    # The entry behind the last stands for no model.
    is_named = np.zeros(max(int(top.max()), int(rows.model.max(initial=-1))) + 2, np.bool_)
    is_named[rows.model[named]] = is_named[top[answer.prediction[named]]] = True
    is_named[-1] = False
    linked = generic[answer.prediction[generic] >= 0]
    unsure = linked[is_named[top[answer.prediction[linked]]]]
    answer.prediction[unsure] = -1
    answer.set(unsure, Attribution.AMBIGUOUS)
    alone = generic[answer.attribution[generic] == _code(Attribution.UNATTRIBUTED)]
    answer.set(alone[running(calls, rows.at(alone))], Attribution.AMBIGUOUS)


def _with_answer(hardware: Events, answer: _Answer, calls: Calls, events: Events) -> Events:
    linked = answer.prediction >= 0
    call = np.where(linked, answer.prediction, 0)
    by_time = answer.attribution == _code(Attribution.CONTAINED)
    models, names = hardware.model, events.model.values
    # Of no prediction there is nothing to take; the appended value stands for it.
    called = np.append(calls.model, -1)[answer.prediction]
    model = np.where(by_time & (called >= 0), called + len(models.values), models.codes)
    # A row that names a stage and lies in the pipeline's own prediction has that pipeline around it.
    in_pipeline = linked & ~by_time & (called >= 0) & (called != models.codes_in(names))
    parents = events.parent_model
    parent = np.append(parents.codes[calls.row], -1)[answer.prediction]
    around = np.where(in_pipeline, called + len(parents.values), parent)
    return replace(
        hardware,
        model=codes_of(model, [*models.values, *names]),
        parent_model=codes_of(around, [*parents.values, *names]),
        prediction=Numbers(np.where(linked, np.append(calls.label, 0)[call], 0), linked),
        attribution=codes_of(answer.attribution, ATTRIBUTIONS),
    )
