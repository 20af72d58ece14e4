"""What the lanes of a recording show, ready to leave the machine: held to the same redaction as the report.

A renderer that draws lanes gets this beside the report. Texts are few and rows many, so rows hold codes of texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracekit.analysis.frames.late import late_frames
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import Cause
from tracekit.analysis.ledger.choice import MOST, Choice
from tracekit.analysis.ledger.explain import Why, compiled_for, waited_for, why
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.loads import first_predictions
from tracekit.analysis.memory import Sizes, sizes
from tracekit.arrays import BoolArray, CodeArray, IntArray
from tracekit.characters import visible
from tracekit.grouping import grouped
from tracekit.intervals import depth_profile, positions_between
from tracekit.lanes.events import Events, LaneRows
from tracekit.lanes.lanes import Grouping, Reason, lanes_of, main_thread
from tracekit.lanes.process import OPERATIONS, TOOLS
from tracekit.report.flame import Flame, flame_of
from tracekit.report.late_lane import LATE, late_lanes
from tracekit.report.redact import PrivateFacts, private_facts, redact_label, redact_names, redact_texts, redact_values
from tracekit.report.report import Result
from tracekit.report.why import AS_USUAL
from tracekit.sorting import distinct_numbers, occurrence
from tracekit.trace.events import Calls, Kind, Level, Origin
from tracekit.trace.filter import EVENT_FRAMES, Shown, model_names, reach_ranges
from tracekit.trace.instruments.memory import MEMORY, Memory
from tracekit.trace.trace import Trace

_WORK = re.compile(r"\s+0x([0-9a-f]{1,13})$")
"""The id of a piece of work at the end of a label, if a script can hold it as a number."""

CALL, COLD = 1, 2
"""Flags of a row: a prediction that the app called, with a known duration; the first one after a load."""


@dataclass(frozen=True, slots=True, eq=False)
class DrawnLane:
    """One lane. All arrays have shape (n,); rows are sorted by start."""

    id: str
    title: str
    section: str
    words: str
    """Why there is nothing to draw; empty where there is."""
    strip: bool
    """Whether it is a thin strip of states."""
    starts: IntArray
    ends: IntArray
    categories: CodeArray
    labels: IntArray
    """Codes into `Timeline.texts`, -1 for none; without the ids of pieces of work."""
    works: IntArray
    """Ids of pieces of work that Instruments ends labels with, 0 for none."""
    models: IntArray
    flags: IntArray
    """`CALL` and `COLD`, added up."""
    predictions: IntArray
    """Ids in `Trace.activity` of the predictions that the rows are or belong to, -1 for none."""
    depth: int
    """Most rows at once."""
    sizes: Sizes | None = None
    """All samples that a lane of memory is drawn of; None for other lanes."""
    calls_inferred: Calls | None = None
    """The rows of the Activity lane where Core ML did not record them; else None."""

    @property
    def calls(self) -> BoolArray:
        """Shape (n,): predictions that the app called."""
        return (self.flags & CALL) > 0

    @property
    def cold(self) -> BoolArray:
        """Shape (n,): the first prediction after a load."""
        return (self.flags & COLD) > 0


@dataclass(frozen=True, slots=True, eq=False)
class Marked:
    """Evidence on the lanes. All arrays have shape (n,); sorted by start."""

    starts: IntArray
    ends: IntArray
    lanes: IntArray
    """Position of the lane, -1 where the interval is on none."""
    rows: IntArray
    """Position of the row in its lane."""


@dataclass(frozen=True, slots=True, eq=False)
class Slow:
    """A slow prediction."""

    why: Why
    lane: int
    """Position of the lane that it is on."""
    row: int
    """Position of the row in its lane."""
    due_to: Marked
    """What it waited for, and Metal pipelines that were compiled during it, if that made it slow."""
    of: IntArray
    """Predictions that the rows of `due_to` are of, by id, by the order of submission too; -1 for none."""
    own: Marked
    """When compute units worked for it."""


@dataclass(frozen=True, slots=True, eq=False)
class Accounts:
    """What predictions took beyond a usual one. All arrays have shape (n,)."""

    predictions: IntArray
    """By id."""
    usual_ns: IntArray
    least_ns: IntArray
    """A difference up to that is as usual."""
    parts: Mapping[Cause, IntArray]
    """They add up to what each took longer or shorter."""


@dataclass(frozen=True, slots=True, eq=False)
class Timeline:
    """All lanes of one recording, grouped as in Instruments."""

    start_ns: int
    end_ns: int
    """Bounds of what was recorded, half-open."""
    lanes: tuple[DrawnLane, ...]
    texts: tuple[str, ...]
    """Labels and names of models, redacted and fit for a screen."""
    evidence: tuple[Marked, ...]
    """For each check of the report: where all of its evidence lies."""
    slow: tuple[Slow, ...] = ()
    """The `MOST` slowest predictions of each model that took longer than usual, those of the busiest model first."""
    flame: Flame | None = None
    """What running threads of the target were doing; None where the recording does not show it."""
    accounts: Accounts | None = None
    """Of all predictions; None where no model has enough to compare."""

    def findings(self, checks: Sequence[Result]) -> list[list[tuple[Result, Marked]]]:
        """The answers of each check of the report that found something, with where their evidence lies."""
        pairs = zip(checks, self.evidence, strict=True)
        return list(grouped((pair[0].id, pair) for pair in pairs if pair[0].outcome == "finding").values())

    @property
    def rows(self) -> int:
        """Rows of all lanes."""
        return sum(len(lane.starts) for lane in self.lanes)


class _Words:
    """Texts of rows with their codes, each text once."""

    def __init__(self, trace: Trace, facts: PrivateFacts | None) -> None:
        self._codes: dict[str, int] = {}
        self._names, self._facts = model_names(trace), facts

    def labels(self, texts: Sequence[str], codes: CodeArray) -> tuple[IntArray, IntArray]:
        """Codes of labels among all texts, and the ids of pieces of work at their ends, in which alone thousands
        differ: shape (n,) each."""
        used = distinct_numbers(codes[codes >= 0])
        works = np.zeros(len(texts) + 1, np.int64)
        bare = list(texts)
        for code in used.tolist():
            if work := _WORK.search(texts[code]):
                bare[code], works[code] = texts[code][: work.start()], int(work[1], 16)
        return self._recode(bare, codes, self._redact_labels), works[codes]

    def models(self, texts: Sequence[str], codes: CodeArray) -> IntArray:
        """Codes of names of models among all texts: shape (n,)."""
        return self._recode(texts, codes, redact_names)

    def _redact_labels(self, texts: Sequence[str], facts: PrivateFacts) -> list[str]:
        return redact_texts([redact_label(text, facts) for text in texts], facts, self._names)

    def texts(self) -> tuple[str, ...]:
        """All texts so far, by code."""
        return tuple(self._codes)

    def _recode(
        self, texts: Sequence[str], codes: CodeArray, clean: Callable[[Sequence[str], PrivateFacts], Sequence[str]]
    ) -> IntArray:
        used = distinct_numbers(codes[codes >= 0])
        distinct = list(dict.fromkeys(texts[code] for code in used.tolist()))
        cleaned = dict(zip(distinct, distinct if self._facts is None else clean(distinct, self._facts), strict=True))
        table = np.full(len(texts) + 1, -1, np.int64)
        for code in used.tolist():
            table[code] = self._codes.setdefault(visible(cleaned[texts[code]]), len(self._codes))
        return table[codes]


def timeline_of(
    trace: Trace,
    checks: Sequence[Result],
    *,
    shown: Shown | None = None,
    redact: bool = True,
    functions: bool = True,
    explained: Sequence[int] | None = None,
) -> Timeline:
    """The lanes of a trace with the evidence of the report's checks; `shown` is what counts (None: all), `redact` as in
    the report. Without `functions`, call stacks and lanes of operations and tools, made of names, go. `explained` are
    the predictions of `slow`, by id (None: the slowest of each model). O(n log n)."""
    # Core ML's own rows do not name their thread: only inferred calls show what held up the main one. Without Core ML,
    # when it ran is most of what there is.
    thread = main_thread(trace) if trace.inferred or not len(trace.activity) else ()
    lanes = (*lanes_of(trace, Grouping.LANES), *late_lanes(trace), *thread)
    if not functions:
        lanes = tuple(lane for lane in lanes if lane.section != OPERATIONS and lane.title != TOOLS)
    kept = [_shown_positions(lane, shown) for lane in lanes]
    facts = private_facts(trace) if redact else None
    words = _Words(trace, facts)
    drawn = tuple(_draw_lane(lane, rows, trace, words) for lane, rows in zip(lanes, kept, strict=True))
    starts = [int(lane.starts[0]) for lane in drawn if len(lane.starts)]
    ends = [int(lane.ends.max()) for lane in drawn if len(lane.ends)]
    return Timeline(
        start_ns=min(0, *starts) if starts else 0,
        end_ns=max(trace.run.duration_ns or 0, 1, *ends) if ends else trace.run.duration_ns or 1,
        lanes=drawn,
        texts=words.texts(),
        evidence=tuple(_evidence_marks(trace, checks, lanes, kept, drawn)),
        slow=tuple(_slow(trace, lanes, kept, facts, explained, functions=functions)),
        flame=flame_of(trace, shown=shown, redact=redact) if functions else None,
        accounts=_accounts(trace),
    )


def _accounts(trace: Trace) -> Accounts | None:
    models = ledger(trace).values()
    if not models:
        return None
    causes = {cause: np.concatenate([model.of(cause) for model in models]) for cause in Cause}
    usual = np.concatenate([model.usual_ns for model in models])
    resolution = np.concatenate([np.full(len(model.calls), model.resolution_ns) for model in models])
    return Accounts(
        predictions=np.concatenate([model.calls.id for model in models]),
        usual_ns=usual,
        least_ns=np.maximum((AS_USUAL * usual).astype(np.int64), resolution),
        parts={cause: ns for cause, ns in causes.items() if ns.any()},
    )


def _slow(
    trace: Trace,
    lanes: Sequence[LaneRows],
    kept: Sequence[IntArray],
    facts: PrivateFacts | None,
    chosen: Sequence[int] | None,
    *,
    functions: bool,
) -> Iterator[Slow]:
    """What is said of slow predictions, and where they are on the lanes. O(rows of its model) for each."""

    def on_lanes(**wanted: IntArray) -> Marked:
        pieces = [np.empty((0, 4), np.int64)]
        for number, (lane, positions) in enumerate(zip(lanes, kept, strict=True)):
            if lane.events is not None and lane.events.frame in wanted:
                rows = _found(positions, _found(lane.events.index, distinct_numbers(wanted[lane.events.frame])))
                at = positions[rows]
                times = (lane.events.starts[at], lane.events.ends[at])
                pieces.append(np.column_stack((*times, np.full(len(rows), number), rows)))
        found = np.concatenate(pieces)
        return Marked(*found[np.argsort(found[:, 0], kind="stable")].T)

    held = in_order(trace).hardware.prediction.filled()
    models = sorted(ledger(trace).values(), key=lambda calls: -int(calls.durations.sum()))
    slowest = (int(model.calls.id[at]) for model in models for at in Choice(slowest=MOST).rows(model))
    for label in slowest if chosen is None else chosen:
        place = on_lanes(activity=np.array([label]))
        explained = why(trace, label) if len(place.rows) else None
        if explained is None:
            continue
        if chosen is None and explained.extra_ns <= max(AS_USUAL * explained.usual_ns, explained.resolution_ns):
            continue
        waits, pipelines = waited_for(trace, explained), compiled_for(trace, explained)
        if not functions:
            explained = replace(explained, called_from=None)
        whys = explained if facts is None else redact_values(explained, facts)
        due_to = on_lanes(hardware=waits, metal_pipelines=pipelines)
        of = np.full(len(due_to.rows), -1, np.int64)
        for at, (number, row) in enumerate(zip(due_to.lanes.tolist(), due_to.rows.tolist(), strict=True)):
            if (events := lanes[number].events) is not None and events.frame == "hardware":
                of[at] = held[events.index[kept[number][row]]]
        own = on_lanes(hardware=np.flatnonzero(held == label))
        yield Slow(whys, int(place.lanes[0]), int(place.rows[0]), due_to, of, own)


def _found(ascending: IntArray, sought: IntArray) -> IntArray:
    """Places of those sought, ascending too, that are among the values. O(m log n)."""
    first, after = (np.searchsorted(ascending, sought, side) for side in ("left", "right"))
    return first[after > first]


def _shown_positions(lane: LaneRows, shown: Shown | None) -> IntArray:
    if lane.events is None:
        return np.empty(0, np.int64)
    masks = {} if shown is None else {**shown.context, **shown.rows}
    if lane.events.frame in masks:
        return np.flatnonzero(masks[lane.events.frame][lane.events.index])
    if shown is None or shown.ranges is None:
        return np.arange(len(lane.events))
    return np.flatnonzero(reach_ranges(shown.ranges, lane.events.starts, lane.events.ends))


def _draw_lane(lane: LaneRows, kept: IntArray, trace: Trace, words: _Words) -> DrawnLane:
    if lane.events is None or not kept.size:
        nothing = np.empty(0, np.int64)
        why = lane.words or Reason.NONE_SHOWN
        return DrawnLane(lane.id, lane.title, lane.section, why, lane.strip, *(nothing,) * 8, depth=0)
    events = lane.events
    labels, works = words.labels(events.label_texts, events.labels[kept])
    starts, ends = events.starts[kept], events.ends[kept]
    is_activity, flags = events.frame == "activity", np.zeros(len(kept), np.int64)
    if is_activity:
        rows = trace.activity
        called = _predicted(rows) & ~rows.origin.is_any(Origin.HARDWARE)
        flags = np.where(called, CALL + COLD * first_predictions(trace), 0)[events.index[kept]]
    held = None
    if events.frame == MEMORY:
        # The samples from the first level that is shown to the last.
        memory = sizes(trace, Memory(lane.id.partition("/")[2]))
        between = (memory.times >= starts[0]) & (memory.times <= ends[-1])
        held = Sizes(memory.times[between], memory.bytes[between])
    return DrawnLane(
        id=lane.id,
        title=lane.title,
        section=lane.section,
        words="",
        strip=lane.strip,
        starts=starts,
        ends=ends,
        categories=events.categories[kept],
        labels=labels,
        works=works,
        models=words.models(events.model_texts, events.models[kept]),
        flags=flags,
        predictions=_predictions(trace, events)[kept],
        depth=int(depth_profile(starts, np.maximum(ends, starts + 1))[1].max(initial=0)),
        sizes=held,
        calls_inferred=trace.activity.take(events.index[kept]) if is_activity and trace.inferred else None,
    )


def _predictions(trace: Trace, events: Events) -> IntArray:
    if events.frame == LATE:
        late = late_frames(trace)
        calls = np.where(late.counted, late.call, -1)[events.index]
        return np.where(np.append(_predicted(trace.activity), False)[calls], calls, -1)
    if events.frame not in EVENT_FRAMES:
        return np.full(len(events), -1, np.int64)
    predictions = trace.events[events.frame].prediction.filled()[events.index]
    if events.frame == "activity":
        return np.where(_predicted(trace.activity)[events.index], events.index, predictions)
    return predictions


def _predicted(calls: Calls) -> BoolArray:
    """Shape (rows,): a prediction that the app called."""
    return calls.kind.is_any(Kind.PREDICTION) & calls.level.is_any(Level.TOP)


def _evidence_marks(
    trace: Trace,
    checks: Sequence[Result],
    lanes: Sequence[LaneRows],
    kept: Sequence[IntArray],
    drawn: Sequence[DrawnLane],
) -> Iterator[Marked]:
    """All evidence of each check, on the lanes that those intervals of it are on whose row is known. O(n log n)."""
    for check, numbers in zip(checks, _lanes_of_evidence(trace, checks, lanes, kept), strict=True):
        listed = np.array([(entry.start_ns, entry.end_ns) for entry in check.evidence], np.int64).reshape(-1, 2)
        all_marked = len(check.marked) > len(listed)
        starts, ends = (check.marked.starts, check.marked.ends) if all_marked else listed.T
        order = np.lexsort((ends, starts))
        starts, ends = starts[order].astype(np.int64), ends[order].astype(np.int64)
        where, rows = np.full((2, len(starts)), -1, np.int64)
        for number in numbers:
            lane_rows = _rows_at(drawn[number], starts, ends)
            on_lane = (where < 0) & (lane_rows >= 0)
            where[on_lane], rows[on_lane] = number, lane_rows[on_lane]
        yield Marked(starts, ends, where, rows)


def _rows_at(lane: DrawnLane, starts: IntArray, ends: IntArray) -> IntArray:
    """For each interval the row of the lane with these very times, each row once; -1 for none."""
    distinct = distinct_numbers(starts)
    some = positions_between(*(np.searchsorted(lane.starts, distinct, side) for side in ("left", "right")))
    # Below each other, those with the same times one after the other: the row first, for the interval of its number.
    start, end = np.concatenate((lane.starts[some], starts)), np.concatenate((lane.ends[some], ends))
    is_sought = np.arange(len(start)) >= len(some)
    nth = occurrence(start, end, is_sought.astype(np.int8))
    order = np.lexsort((is_sought, nth, end, start))
    keys = [key[order] for key in (start, end, nth)]
    paired = np.append(False, np.logical_and.reduce([key[1:] == key[:-1] for key in keys]))
    rows = np.full(len(starts), -1, np.int64)
    after = np.flatnonzero(paired)
    rows[order[after] - len(some)] = some[order[after - 1]]
    return rows


def _lanes_of_evidence(
    trace: Trace, checks: Sequence[Result], lanes: Sequence[LaneRows], kept: Sequence[IntArray]
) -> list[list[int]]:
    """For each check the lanes that its listed evidence is on, by their positions, ascending."""
    wanted = {entry.row for check in checks for entry in check.evidence}
    located: dict[tuple[str, int], int] = {}
    for number, (lane, positions) in enumerate(zip(lanes, kept, strict=True)):
        if lane.events is None or not positions.size:
            continue
        name = lane.events.frame
        if name in EVENT_FRAMES:
            tables, rows = trace.events[name].table, trace.events[name].row
        elif name in trace.context:
            held = trace.context[name].columns()
            tables, rows = held["table"], held["row"]
        elif name == LATE:
            frames, place = trace.frames, late_frames(trace).place
            tables, rows = frames.table.take(place), frames.row[place]
        else:
            continue
        at = lane.events.index[positions]
        at = at[np.isin(rows[at], [*wanted])]
        located |= dict.fromkeys(zip(tables.take(at).as_objects(), rows[at].tolist(), strict=True), number)
    places = ([located.get((entry.table, entry.row)) for entry in check.evidence] for check in checks)
    return [sorted({lane for lane in place if lane is not None}) for place in places]
