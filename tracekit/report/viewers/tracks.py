"""What other viewers draw of a recording: tracks of slices and counters, in groups, whatever the format of the file.

Everything comes from the report and its timeline, so it is redacted as they are. Viewers nest slices of one track by
time and have no other place for what overlaps, so a track is split into rows in which nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.intervals import depth_profile
from tracekit.lanes.categories import Category
from tracekit.lanes.events import stack
from tracekit.report.formatting import duration, visible
from tracekit.report.phases import inferred_facts
from tracekit.report.report import Report, Result
from tracekit.report.timeline import DrawnLane, Timeline

Details = tuple[tuple[str, str], ...]
"""What a viewer shows beside a slice: names and texts."""

FINDINGS, PREDICTIONS = "Findings", "Predictions"
_STATES = {Category.GOOD: 0, Category.FAIR: 1, Category.SERIOUS: 2, Category.CRITICAL: 3}
"""Thermal states in the order of `ProcessInfo.ThermalState`."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A text at the start of the recording, for what has no interval."""

    text: str
    details: Details = ()


@dataclass(frozen=True, slots=True, eq=False)
class SliceTrack:
    """Intervals of one title. All arrays have shape (n,); times are ns since the start of the run."""

    title: str
    markers: tuple[Marker, ...]
    starts: IntArray
    ends: IntArray
    names: IntArray
    """Codes into `Tracks.names`."""
    details: IntArray
    """Codes into `Tracks.details`."""
    works: IntArray
    """Ids of pieces of work, 0 for none."""
    flows: IntArray
    """Number of the flow that joins the slice to others, 0 for none."""
    rows: IntArray
    """Row of the track in which each slice stands, from 0: in order of time, and none overlaps another."""

    @property
    def row_count(self) -> int:
        """Rows of the track, at least one."""
        return int(self.rows.max(initial=0)) + 1


@dataclass(frozen=True, slots=True, eq=False)
class CounterTrack:
    """A number that changes at some times, sorted, and holds between them: shape (n,) each."""

    title: str
    unit: str
    """`ns`, `bytes`, `count` or what a value stands for."""
    times: IntArray
    values: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Tracks:
    """A recording as groups of tracks, top to bottom."""

    title: str
    """What the recording is called."""
    groups: tuple[tuple[str, tuple[SliceTrack | CounterTrack, ...]], ...]
    names: tuple[str, ...]
    details: tuple[Details, ...]
    facts: Details
    """What the recording is, for the metadata of the file."""
    shift_ns: int
    """What a writer adds to all times, since viewers know none below zero; 0 unless a row starts before the run."""
    started: str | None
    """ISO 8601 date of the start of the run; None where it is not recorded."""

    @property
    def slices(self) -> tuple[SliceTrack, ...]:
        """All tracks of slices."""
        return tuple(track for _, tracks in self.groups for track in tracks if isinstance(track, SliceTrack))


def tracks_of(report: Report, timeline: Timeline) -> Tracks:
    """The tracks of a report and its timeline. O(n log n)."""
    texts = _Texts()
    joined = _has_rows(timeline)
    groups: dict[str, list[SliceTrack | CounterTrack]] = {}
    if findings := [*_findings(report, timeline, texts)]:
        groups[FINDINGS] = [*findings]
    if counters := [*_counters(timeline)]:
        groups[PREDICTIONS] = [*counters]
    for lane in timeline.lanes:
        group = groups.setdefault(lane.section, [])
        group.append(_track(lane, timeline, texts, joined))
        if lane.id == "thermal" and len(lane.starts):
            group.append(_thermal(lane))
        if lane.sizes is not None:
            group.append(CounterTrack(lane.title, "bytes", lane.sizes.times, lane.sizes.bytes))
    return Tracks(
        title=visible(report.recording.source),
        groups=tuple((title, tuple(tracks)) for title, tracks in groups.items()),
        names=tuple(texts.names),
        details=tuple(texts.details),
        facts=_facts(report, -timeline.start_ns),
        shift_ns=-timeline.start_ns,
        started=report.recording.start_date,
    )


class _Texts:
    """Names and details with their codes, each once."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.details: dict[Details, int] = {}

    def name(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names))

    def detail(self, details: Details) -> int:
        return self.details.setdefault(details, len(self.details))


def _has_rows(timeline: Timeline) -> BoolArray:
    """Whether a prediction has rows beside its own, by index label with one more at the end for none."""
    predictions = np.concatenate([lane.predictions for lane in timeline.lanes] or [np.empty(0, np.int64)])
    counts = np.bincount(predictions + 1, minlength=1)
    counts[0] = 0
    # -1, for none, leads to the last element.
    joined: BoolArray = np.append(counts[1:], 0) > 1
    return joined


def _track(lane: DrawnLane, timeline: Timeline, texts: _Texts, joined: BoolArray) -> SliceTrack:
    """A lane as a track: bars say what they say on the lanes of tracekit, and details hold it in parts."""
    keys, codes = np.unique(np.stack((lane.labels, lane.models, lane.categories)), axis=1, return_inverse=True)
    names, details = [], []
    for label, model, category in keys.T.tolist():
        label_and_model = [timeline.texts[code] for code in (label, model) if code >= 0]
        title = Category(category).title
        names.append(texts.name(" · ".join(label_and_model) or title))
        named = (("model", timeline.texts[model]),) if model >= 0 else ()
        details.append(texts.detail((("kind", title), *named)))
    codes = codes.reshape(-1)
    detail_codes = np.array(details, np.int64)[codes]
    if lane.calls_inferred is not None:
        facts = zip(detail_codes.tolist(), inferred_facts(lane.calls_inferred), strict=True)
        known = [*texts.details]
        detail_codes = np.array([texts.detail((*known[code], *more)) for code, more in facts], np.int64)
    return SliceTrack(
        title=lane.title,
        markers=(Marker(lane.words),) if lane.words else (),
        starts=lane.starts,
        ends=lane.ends,
        names=np.array(names, np.int64)[codes],
        details=detail_codes,
        works=lane.works,
        flows=np.where(joined[lane.predictions], lane.predictions + 1, 0),
        rows=_rows(lane.starts, lane.ends),
    )


def _rows(starts: IntArray, ends: IntArray) -> IntArray:
    """Rows without overlap, for intervals sorted by start, longest first. What takes no time needs a place, too."""
    return stack(starts, np.maximum(ends, starts + 1))


def _counters(timeline: Timeline) -> Iterator[CounterTrack]:
    """Predictions in flight, and the latency of each from its start on, by model: other models' would hide it."""
    lane = next((lane for lane in timeline.lanes if lane.id == "activity"), None)
    called = np.flatnonzero(lane.calls) if lane is not None else np.empty(0, np.int64)
    if lane is None or not called.size:
        return
    starts, ends, models = lane.starts[called], lane.ends[called], lane.models[called]
    yield CounterTrack("In flight", "count", *depth_profile(starts, ends))
    for model in np.unique(models).tolist():
        of_model = models == model
        title = f"Latency · {timeline.texts[model]}" if model >= 0 else "Latency"
        yield CounterTrack(title, "ns", starts[of_model], (ends - starts)[of_model])


def _thermal(lane: DrawnLane) -> CounterTrack:
    """The thermal state as a number. A state that has none is on the lane only."""
    values = np.array([_STATES.get(category, -1) for category in Category], np.int64)[lane.categories]
    known = values >= 0
    return CounterTrack("Thermal level", "0 nominal – 3 critical", lane.starts[known], values[known])


def _findings(report: Report, timeline: Timeline, texts: _Texts) -> Iterator[SliceTrack]:
    """One track per finding: all of its evidence with the texts of the check, or a marker where it has none."""
    for answers_of_check in timeline.findings(report.results):
        starts, ends = (
            np.concatenate([getattr(marked, name) for _, marked in answers_of_check]) for name in ("starts", "ends")
        )
        order = np.lexsort((-ends, starts))
        title = visible(answers_of_check[0][0].title)
        details = [_check_details(check, len(marked.starts)) for check, marked in answers_of_check]
        codes = np.repeat(
            [texts.detail(each) for each in details], [len(marked.starts) for _, marked in answers_of_check]
        )
        nothing = np.zeros(len(order), np.int64)
        yield SliceTrack(
            title=f"Finding: {title}",
            markers=tuple(
                Marker(title, each)
                for each, (_, marked) in zip(details, answers_of_check, strict=True)
                if not len(marked.starts)
            ),
            starts=starts[order],
            ends=ends[order],
            names=np.full(len(order), texts.name(title), np.int64),
            details=codes[order],
            works=nothing,
            flows=nothing,
            rows=_rows(starts[order], ends[order]),
        )


def _check_details(check: Result, marked: int) -> Details:
    """What a finding says, in the words of the report; `marked` is how many intervals of its evidence are drawn."""
    selection = f"{marked:,} longest of {check.evidence_total:,} intervals" if check.evidence_total > marked else ""
    details: Sequence[tuple[str, str | None]] = (
        ("check", check.id),
        ("severity", check.severity),
        ("model", check.model),
        ("summary", check.summary),
        (
            "est. savings",
            duration(check.own_savings_ns) if check.own_savings_ns else check.unknown_savings and "unknown",
        ),
        ("why", check.why),
        ("fix", check.fix),
        ("notes", "\n".join(check.caveats)),
        ("evidence", selection),
    )
    return tuple((name, visible(text, multiline=True)) for name, text in details if text)


def _facts(report: Report, shift_ns: int) -> Details:
    recording = report.recording
    facts: Sequence[tuple[str, str | None]] = (
        ("recording", recording.source),
        ("run", str(recording.run)),
        ("started", recording.start_date),
        ("target", recording.target),
        ("device", recording.device_model),
        ("os", recording.os_version),
        ("instruments", recording.instruments_version),
        ("verdict", report.summary.verdict),
        ("written_by", f"{report.tool.name} {report.tool.version}"),
        ("shift_ns", str(shift_ns) if shift_ns else None),
    )
    return tuple((name, visible(text)) for name, text in facts if text)


CHUNK = 1 << 16
"""Events that are made into Python numbers at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class SliceRows:
    """All slices of all tracks, track by track and row by row, each row in the order of time: shape (n,) each."""

    starts: IntArray
    ends: IntArray
    lines: IntArray
    """Rows of all tracks, counted through from 0."""
    names: IntArray
    details: IntArray
    works: IntArray
    flows: IntArray
    flow_ends: BoolArray
    """Whether the slice is the last one of its flow."""
    flow_starts: BoolArray


def slice_rows(tracks: Tracks) -> SliceRows:
    """The slices of all tracks, with times as the file has them. O(n log n)."""
    columns_of_tracks: list[tuple[IntArray, ...]] = []
    first = 0
    for track in tracks.slices:
        order = np.lexsort((np.arange(len(track.rows)), track.rows))
        placed = (track.starts + tracks.shift_ns, track.ends + tracks.shift_ns, track.rows + first)
        contents = (track.names, track.details, track.works, track.flows)
        columns_of_tracks.append(tuple(column[order] for column in (*placed, *contents)))
        first += track.row_count
    starts, ends, lines, names, details, works, flows = map(np.concatenate, zip(*columns_of_tracks, strict=True))
    in_time = np.argsort(starts, kind="stable")
    joined = in_time[flows[in_time] > 0]
    flow_starts, flow_ends = np.zeros(len(starts), np.bool_), np.zeros(len(starts), np.bool_)
    flow_starts[joined[np.unique(flows[joined], return_index=True)[1]]] = True
    back = joined[::-1]
    flow_ends[back[np.unique(flows[back], return_index=True)[1]]] = True
    return SliceRows(starts, ends, lines, names, details, works, flows, flow_ends, flow_starts)


def events_of(rows: SliceRows) -> Iterator[tuple[int, bool, int, int, int, int, int, bool]]:
    """The begin and the end of each slice, by time: time, whether it is the end, and of the slice line, name, details,
    work, flow and whether it is the last one of its flow. At one time a slice ends before the next of its line
    begins."""
    times = np.stack((rows.starts, rows.ends), axis=1).reshape(-1)
    order = np.argsort(times, kind="stable")
    columns = (rows.lines, rows.names, rows.details, rows.works, rows.flows, rows.flow_ends)
    for first in range(0, len(order), CHUNK):
        events = order[first : first + CHUNK]
        slices, ends = events >> 1, (events & 1).astype(np.bool_)
        yield from zip(
            times[events].tolist(), ends.tolist(), *(column[slices].tolist() for column in columns), strict=True
        )
