"""What the terminal UI shows, as immutable values. Widgets draw a `State`; only the app replaces it.

Rows are named by frame and index, so that a selection survives any grouping, sorting and filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from tracekit.analysis.breakdown.summary import GROUPS
from tracekit.analysis.code.tree import Frames
from tracekit.analysis.comparison import Measure
from tracekit.analysis.frames.late import late_frames
from tracekit.arrays import BoolArray, IntArray
from tracekit.detectors.outcomes import Evidence
from tracekit.documents.time_breakdown import PartsRow, Slice
from tracekit.lanes.events import position_of
from tracekit.lanes.lanes import Grouping
from tracekit.lanes.process import FRAME, main_thread_stretches
from tracekit.report.late_lane import LATE
from tracekit.report.report import Report, Result
from tracekit.request import ALL, Request
from tracekit.trace.events import Kind
from tracekit.trace.filter import EVENT_FRAMES, Shown
from tracekit.trace.runtimes.phases import PHASES
from tracekit.trace.trace import Trace
from tracekit.tui.viewport import Bounds, History, Span, Viewport

if TYPE_CHECKING:
    from tracekit.analysis.aggregation import AggregationRow
    from tracekit.comparison.comparison import Comparison

EVIDENCE_FRAMES: Final = (*EVENT_FRAMES, PHASES)
"""Frames of a trace whose rows can be evidence. A request is on the lanes as its phases."""
LATENCY: Final = "latency"
"""Way to compare: whether the latency of each model changed, as `tracekit compare` answers."""


@dataclass(frozen=True, slots=True)
class EventRef:
    """A row of a trace: a frame of `Trace` (`activity`, `hardware`, ...) or a key of its `context`, and an index."""

    frame: str
    index: int


@dataclass(frozen=True, slots=True)
class FindingRef:
    """A check of the report, and which of its evidence is looked at (None: the finding as a whole)."""

    check: int
    """Index in `Report.results`."""
    evidence: int | None = None


@dataclass(frozen=True, slots=True)
class WaitsRef:
    """A prediction that is explained, and which of the rows that it waited for is looked at (None: the prediction)."""

    prediction: int
    """Index in `Trace.activity`."""
    rows: tuple[int, ...]
    """Indices in `Trace.hardware`, by start: on the lanes they are marked in place of evidence."""
    pipelines: tuple[int, ...] = ()
    """Indices of Metal pipelines that were compiled during it, if that made it slow: marked, too."""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class RowRef:
    """A row of the aggregation."""

    source: AggregationRow
    warm: bool = False
    """Only its warm predictions."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What the inspector shows. At most one of `prediction` and `finding` is set along with `event`."""

    event: EventRef | None = None
    prediction: int | None = None
    """Index in `Trace.activity` of a prediction that is looked at as a whole, with its breakdown."""
    finding: FindingRef | None = None
    model: str | None = None
    row: RowRef | None = None
    waits: WaitsRef | None = None
    """Set along with the `event` that is the prediction, or what it waited for."""
    elsewhere: Selection | None = None
    """Of the other of two recordings, where the active one has nothing of it: then it stands alone."""


NOTHING = Selection()


class Area(StrEnum):
    """A part of the screen that can have all of it."""

    TIMELINE = "timeline"
    PANE = "pane"
    INSPECTOR = "inspector"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events the lists show. Empty fields let everything through."""

    text: str = ""
    """Part of label, model or process, or of what the aggregation calls the event, without regard to case."""
    model: str | None = None
    """Base name; "" for rows that name no model."""
    kind: str | None = None
    device: str | None = None
    min_ns: int | None = None
    max_ns: int | None = None

    @property
    def active(self) -> bool:
        """Whether it hides anything."""
        return self != EventFilter()

    def within(self, outer: EventFilter) -> EventFilter:
        """This filter with the device and the durations of another one."""
        return replace(self, device=outer.device, min_ns=outer.min_ns, max_ns=outer.max_ns)


@dataclass(frozen=True, slots=True)
class Sort:
    """How a list is sorted."""

    column: str
    """Title of the column."""
    descending: bool


@dataclass(frozen=True, slots=True)
class Bookmark:
    """A place to come back to."""

    time_ns: int
    note: str


@dataclass(frozen=True, slots=True, eq=False)
class Calls:
    """Predictions by start. Arrays have shape (n,), and (groups, n) with the groups of `GROUPS` where it says so."""

    index: IntArray
    """Rows of `Trace.activity`, ascending."""
    starts: IntArray
    durations: IntArray
    first: BoolArray
    """The first after a load of its model; see `tracekit.analysis.loads.first_after_load`."""
    inferred: BoolArray
    """Put together from hardware rows: whether it is the first is not known."""
    time_ns: IntArray
    """Shape (groups, n): time of each group of parts as far as it is known; together the durations."""
    incomplete: BoolArray
    """Shape (groups, n): some of the group is not known."""

    def __len__(self) -> int:
        return len(self.index)

    def position(self, index: int) -> int | None:
        """Position of a row of `Trace.activity`; None where it is no prediction that the app called. O(log n)."""
        return position_of(self.index, index)

    def parts(self, position: int) -> PartsRow:
        """Where the time of one went, without what only many predictions show."""
        duration_ns = int(self.durations[position])
        slices = tuple(
            Slice(group, float(time), float(time) / duration_ns, bool(missing))
            for group, time, missing in zip(
                GROUPS, self.time_ns[:, position], self.incomplete[:, position], strict=True
            )
            if time
        )
        return PartsRow("", float(duration_ns), slices, (), {})


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """One recording that is open. Never changes, except that `report` is None until the detectors are done."""

    name: str
    trace: Trace
    report: Report | None
    bounds: Bounds
    calls: Calls | None = None
    """Its predictions one by one; there when the report is."""
    evidence: tuple[Mapping[str, IntArray], ...] = ()
    """For each check of the report the rows that are its evidence, all of them: indices by event frame, ascending."""
    request: Request = ALL
    """What was asked of it: the settings that it is judged by, for one."""
    full_trace: Trace | None = None
    """All of the recording, of which `trace` is a part; None where that is all of it."""
    shown: Shown | None = None
    """Which part that is; None for all."""

    @property
    def whole_trace(self) -> Trace:
        """What is judged, whatever part of it is shown."""
        return self.trace if self.full_trace is None else self.full_trace

    def in_whole_trace(self, frame: str, rows: BoolArray) -> BoolArray:
        """A choice of rows of an event frame of `trace`, shape (rows,), as one of rows of `whole_trace`."""
        if self.shown is None:
            return rows
        mask = self.shown.rows[frame].copy()
        mask[mask] = rows
        return mask

    def label_in_whole_trace(self, index: int) -> int:
        """The row of the activity of `whole_trace` that a row of the activity of `trace` is. O(n)."""
        return index if self.shown is None else int(np.flatnonzero(self.shown.rows["activity"])[index])

    def columns(self, name: str) -> Mapping[str, Any]:
        """The columns of the rows that an `EventRef` may name."""
        if name in EVENT_FRAMES:
            return self.trace.events[name].columns()
        if name == LATE:
            return late_frames(self.whole_trace).columns()
        if name == FRAME:
            return main_thread_stretches(self.whole_trace).columns()
        return self.trace.context[name].columns()

    def row(self, ref: EventRef) -> dict[str, Any]:
        """The cells of the row that an `EventRef` names, None where there is none."""
        return {name: cells.item(ref.index) for name, cells in self.columns(ref.frame).items()}

    @property
    def first_prediction_ns(self) -> int | None:
        """When the first prediction begins; None where there is none. O(n)."""
        starts = self.trace.activity.start_ns[self.trace.activity.kind.is_any(Kind.PREDICTION)]
        return int(starts[0]) if starts.size else None

    def span(self, ref: EventRef) -> Span:
        """Where a row lies; an instant is 1 ns long."""
        columns = self.columns(ref.frame)
        start = int(columns["start_ns"][ref.index])
        length = columns["duration_ns"].item(ref.index) if "duration_ns" in columns else 0
        return Span(start, max((self.trace.run.duration_ns or 0) - start if length is None else length, 1))

    def check(self, ref: FindingRef | None) -> Result | None:
        """The check that a `FindingRef` names; None without one, or while the report is not there."""
        return self.report.results[ref.check] if self.report is not None and ref is not None else None

    def holds(self, selection: Selection) -> bool:
        """Whether there is such a row, check and interval: a list may have named one of another recording."""
        event, finding = selection.event, selection.finding
        if event is not None and event.index >= len(self.columns(event.frame)["start_ns"]):
            return False
        if finding is None:
            return True
        checks = self.report.results[finding.check : finding.check + 1] if self.report is not None else ()
        return any(finding.evidence is None or finding.evidence < len(check.evidence) for check in checks)

    def locate(self, evidence: Evidence) -> EventRef | None:
        """The row that an interval of evidence was made from. O(n)."""
        for name in EVIDENCE_FRAMES:
            columns = self.columns(name)
            matches = np.flatnonzero((columns["row"] == evidence.row) & columns["table"].is_any(evidence.table))
            if matches.size:
                return EventRef(name, int(matches[0]))
        return None


@dataclass(frozen=True, slots=True)
class State:
    """All that can change while the UI runs. All times are times of the active recording."""

    sessions: tuple[Session, ...]
    """One recording, or two that are compared."""
    view: Viewport
    active: int = 0
    """Index in `sessions` of the one that selection and detail are about."""
    origins: tuple[int, ...] = (0, 0)
    """For each recording the time that stands in one column with those of the others: 0 aligns their starts."""
    history: History = field(default_factory=History)
    grouping: Grouping = Grouping.LANES
    lane: str = "activity"
    """Id of the lane that has the cursor."""
    cursor_ns: int = 0
    selection: Selection = NOTHING
    first: tuple[str, Selection] | None = None
    """A pane, and what its first row stands for: the inspector shows that where nothing is selected."""
    mark: Span | None = None
    """Where a range that is being selected begins: an event, or an instant."""
    range: Span | None = None
    ends: tuple[Span, Span] | None = None
    """What the range was measured between: two events or instants, the earlier first."""
    filter: EventFilter = EventFilter()
    bookmarks: tuple[Bookmark, ...] = ()
    opened: int | None = None
    """Index in `Report.results` of the check whose evidence is listed."""
    pane: str = "findings"
    measure: Measure | Literal["latency"] | None = None
    """What two recordings are compared by; None: their findings."""
    comparison: Comparison | None = None
    """What changed between two recordings; None until both are judged."""
    sorts: Mapping[str, Sort] = field(default_factory=dict)
    """How the list of a pane is sorted, where the user chose."""
    hidden: frozenset[tuple[str, str]] = field(default_factory=frozenset)
    """Columns that the user does not want to see: pane and title."""
    inspector: bool = True
    """Whether the inspector is wanted. It is shown beside the detail where there is room, else in its place."""
    frames: Frames = Frames.FOLDED
    inverted: bool = False
    """Whether the call tree begins with the innermost functions."""
    maximized: Area | None = None
    """The part of the screen that has all of it; None: each has its share."""
    expanded: frozenset[str] = field(default_factory=frozenset)
    """Ids of lanes that show all their rows."""

    @property
    def session(self) -> Session:
        """The active recording."""
        return self.sessions[self.active]

    @property
    def inspector_selection(self) -> Selection:
        """What the inspector shows: the selection, else the first row of the list on screen."""
        report = self.session.report
        # What cannot be judged has its reason in the first finding, if there is one.
        has_reason = report is not None and report.summary.findings > 0 and not report.summary.evaluated
        if self.selection == NOTHING and (self.pane == "findings" or (self.pane == "facts" and has_reason)):
            return Selection(finding=FindingRef(0))
        if self.selection == NOTHING and self.first is not None and self.first[0] == self.pane:
            return self.first[1]
        return self.selection

    @property
    def inspects_nothing(self) -> bool:
        """Whether a text, which has no first row, leaves the inspector without anything to show."""
        return self.pane in ("facts", "code") and self.inspector_selection == NOTHING and self.range is None

    @property
    def bounds(self) -> Bounds:
        """What there is to see of all recordings together."""
        low = min(session.bounds.start_ns - self.shift(at) for at, session in enumerate(self.sessions))
        high = max(session.bounds.end_ns - self.shift(at) for at, session in enumerate(self.sessions))
        return Bounds(low, high - low)

    def shift(self, index: int) -> int:
        """What a time of the active recording lacks to the time of another one in the same column."""
        return self.origins[index] - self.origins[self.active]

    def with_active(self, index: int) -> State:
        """The same columns with another recording active; what is selected in the one before, is not in this one."""
        if index == self.active:
            return self
        shift_ns = self.shift(index)
        return replace(
            self,
            active=index,
            view=self.view.moved(shift_ns),
            history=self.history.moved(shift_ns),
            cursor_ns=self.cursor_ns + shift_ns,
            selection=self.selection.elsewhere or NOTHING,
            first=None,
            mark=self.mark and self.mark.moved(shift_ns),
            range=self.range and self.range.moved(shift_ns),
            ends=self.ends and (self.ends[0].moved(shift_ns), self.ends[1].moved(shift_ns)),
            bookmarks=tuple(replace(entry, time_ns=entry.time_ns + shift_ns) for entry in self.bookmarks),
            opened=None,
        )


def bounds_of(trace: Trace) -> Bounds:
    """From the start of the run to its end, or to the end of its last row where that is later or the end not known."""
    low, high = 0, trace.run.duration_ns or 0
    for name in EVENT_FRAMES:
        rows = trace.events[name]
        if len(rows):
            low, high = min(low, int(rows.start_ns[0])), max(high, int(rows.ends_ns.max()))
    return Bounds(low, max(high - low, 1))


def first_state(sessions: tuple[Session, ...]) -> State:
    """The state in which the UI opens: all of the recording in view. Two are aligned and compared by their means."""
    state = State(sessions, sessions[0].bounds)
    if len(sessions) > 1:
        state = replace(state, origins=first_predictions(sessions), pane="compare", measure=Measure.MEAN)
    return replace(state, view=state.bounds, cursor_ns=state.bounds.start_ns)


def first_predictions(sessions: tuple[Session, ...]) -> tuple[int, ...]:
    """When the first prediction of each recording begins; 0 for all where one has none."""
    firsts = [session.first_prediction_ns for session in sessions]
    known_ns = tuple(first for first in firsts if first is not None)
    return known_ns if len(known_ns) == len(firsts) else (0,) * len(firsts)
