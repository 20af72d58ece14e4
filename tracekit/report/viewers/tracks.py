"""What other viewers draw of a recording: tracks of slices and counters, in groups, whatever the format of the file.

Everything comes from the report and its timeline, so it is redacted as they are. Viewers nest slices of one track by
time and have no other place for what overlaps, so a track is split into rows in which nothing does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import column
from tracekit.intervals import depth_profile
from tracekit.lanes.categories import Category
from tracekit.lanes.events import stack
from tracekit.lanes.lanes import Reason
from tracekit.report.flame import Flame
from tracekit.report.formatting import duration, extreme_word, inferred_facts, visible
from tracekit.report.report import Report, Result
from tracekit.report.timeline import DrawnLane, Timeline
from tracekit.rows import Rows, joined

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
class Slices(Rows):
    """Intervals of a track, by start; none overlaps another of its row."""

    start: IntArray = column("ns since the start of the run")
    end: IntArray = column("the same")
    name: IntArray = column("code into `Tracks.names`")
    details: IntArray = column("code into `Tracks.details`")
    work: IntArray = column("id of a piece of work; 0 for none")
    flow: IntArray = column("number of the flow that joins it to others; 0 for none")
    row: IntArray = column("row of the track that it stands in, from 0")


@dataclass(frozen=True, slots=True, eq=False)
class FileSlices(Slices):
    """The slices of all tracks, with times as the file has them."""

    line: IntArray = column("its row, counted through those of all tracks from 0")
    is_first: BoolArray = column("whether it is the first of its flow")
    is_last: BoolArray = column("whether it is the last of its flow")


@dataclass(frozen=True, slots=True, eq=False)
class SliceTrack:
    """Intervals of one title."""

    title: str
    markers: tuple[Marker, ...]
    slices: Slices

    @property
    def row_count(self) -> int:
        """Rows of the track, at least one."""
        return int(self.slices.row.max(initial=0)) + 1


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
    process: tuple[str, int]
    """Name and id of the app."""
    stacks: Flame | None
    """Its call stacks."""

    @property
    def slices(self) -> tuple[SliceTrack, ...]:
        """All tracks of slices."""
        return tuple(track for _, tracks in self.groups for track in tracks if isinstance(track, SliceTrack))


class _Texts:
    """Names and details with their codes, each once."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.details: dict[Details, int] = {}

    def name(self, text: str) -> int:
        return self.names.setdefault(text, len(self.names))

    def detail(self, details: Details) -> int:
        return self.details.setdefault(details, len(self.details))


def tracks_of(report: Report, timeline: Timeline) -> Tracks:
    """The tracks of a report and its timeline. O(n log n)."""
    texts = _Texts()
    # Whether a prediction has rows beside its own, by id with one more at the end for none.
    predictions = np.concatenate([lane.predictions for lane in timeline.lanes] or [np.empty(0, np.int64)])
    counts = np.bincount(predictions + 1, minlength=1)
    counts[0] = 0
    # -1, for none, leads to the last element.
    joined: BoolArray = np.append(counts[1:], 0) > 1
    groups: dict[str, list[SliceTrack | CounterTrack]] = {}
    if findings := [*_findings(report, timeline, texts)]:
        groups[FINDINGS] = [*findings]
    if counters := [*_counters(timeline)]:
        groups[PREDICTIONS] = [*counters]
    for lane in timeline.lanes:
        if lane.words == Reason.ABSENT:
            continue
        group = groups.setdefault(lane.section, [])
        group.append(_track(lane, timeline, texts, joined))
        if lane.id == "thermal" and len(lane.starts):
            # The thermal state as a number. A state that has none is on the lane only.
            values = np.array([_STATES.get(category, -1) for category in Category], np.int64)[lane.categories]
            has_value = values >= 0
            thermal = CounterTrack("Thermal level", "0 nominal – 3 critical", lane.starts[has_value], values[has_value])
            group.append(thermal)
        if lane.sizes is not None:
            group.append(CounterTrack(lane.title, "bytes", lane.sizes.times, lane.sizes.bytes))
    shift_ns = -timeline.start_ns
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
        ("not_recorded", ", ".join(lane.title for lane in timeline.lanes if lane.words == Reason.ABSENT)),
        ("written_by", f"{report.tool.name} {report.tool.version}"),
        ("shift_ns", str(shift_ns) if shift_ns else None),
    )
    return Tracks(
        title=visible(recording.source),
        groups=tuple((title, tuple(tracks)) for title, tracks in groups.items()),
        names=tuple(texts.names),
        details=tuple(texts.details),
        facts=tuple((name, visible(text)) for name, text in facts if text),
        shift_ns=shift_ns,
        started=recording.start_date,
        process=(visible(recording.target or ""), recording.target_pid or 0),
        stacks=timeline.flame,
    )


def _track(lane: DrawnLane, timeline: Timeline, texts: _Texts, joined: BoolArray) -> SliceTrack:
    """A lane as a track: bars say what they say on the lanes of tracekit, and details hold it in parts."""
    keys, codes = np.unique(np.stack((lane.labels, lane.models, lane.categories)), axis=1, return_inverse=True)
    names, details = [], []
    for label, model, category in keys.T.tolist():
        label_and_model = [timeline.texts[code] for code in (label, model) if code >= 0]
        title = Category(category).title
        names.append(texts.name(" · ".join(label_and_model) or title))
        of_model = (("model", timeline.texts[model]),) if model >= 0 else ()
        details.append(texts.detail((("kind", title), *of_model)))
    codes = codes.reshape(-1)
    detail_codes = np.array(details, np.int64)[codes]
    if lane.calls_inferred is not None:
        facts = zip(detail_codes.tolist(), inferred_facts(lane.calls_inferred), strict=True)
        known = [*texts.details]
        detail_codes = np.array([texts.detail((*known[code], *more)) for code, more in facts], np.int64)
    flows = np.where(joined[lane.predictions], lane.predictions + 1, 0)
    named = np.array(names, np.int64)[codes]
    slices = _slices(lane.starts, lane.ends, named, detail_codes, lane.works, flows)
    return SliceTrack(lane.title, (Marker(lane.words),) if lane.words else (), slices)


def _slices(
    starts: IntArray, ends: IntArray, name: IntArray, details: IntArray, work: IntArray, flow: IntArray
) -> Slices:
    """Slices of intervals sorted by start, longest first. What takes no time needs a row, too."""
    return Slices(starts, ends, name, details, work, flow, stack(starts, np.maximum(ends, starts + 1)))


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
            [texts.detail(detail) for detail in details], [len(marked.starts) for _, marked in answers_of_check]
        )
        markers = zip(details, answers_of_check, strict=True)
        none = np.zeros(len(order), np.int64)
        yield SliceTrack(
            f"Finding: {title}",
            tuple(Marker(title, check) for check, (_, marked) in markers if not len(marked.starts)),
            _slices(starts[order], ends[order], none + texts.name(title), codes[order], none, none),
        )


def _check_details(check: Result, marked: int) -> Details:
    """What a finding says, in the words of the report; `marked` is how many intervals of its evidence are drawn."""
    most, total = extreme_word(check.evidence), check.evidence_total
    selection = f"{marked:,} {most} of {total:,} intervals" if total > marked else ""
    details: Sequence[tuple[str, str | None]] = (
        ("check", check.id),
        ("severity", check.severity),
        ("model", check.model),
        ("summary", check.summary),
        ("est. savings", duration(check.saved_ns) if check.saved_ns else check.unknown_savings and "unknown"),
        ("why", check.why),
        ("fix", check.fix),
        ("notes", "\n".join(check.caveats)),
        ("evidence", selection),
    )
    return tuple((name, visible(text, multiline=True)) for name, text in details if text)


CHUNK = 1 << 16
"""Events that are made into Python numbers at a time."""


def slice_rows(tracks: Tracks) -> FileSlices:
    """The slices of all tracks, track by track and row by row, each row in the order of time. O(n log n)."""
    first = np.cumsum([0, *(track.row_count for track in tracks.slices)])
    slices = joined([track.slices for track in tracks.slices])
    line = slices.row + np.repeat(first[:-1], [len(track.slices) for track in tracks.slices])
    order = np.argsort(line, kind="stable")
    slices, line = slices.take(order), line[order]
    flowing = np.flatnonzero(slices.flow)
    flowing = flowing[np.lexsort((slices.start[flowing], slices.flow[flowing]))]
    changes = np.diff(slices.flow[flowing]) != 0
    is_first, is_last = np.zeros((2, len(line)), np.bool_)
    if len(flowing):
        is_first[flowing], is_last[flowing] = np.append(True, changes), np.append(changes, True)
    shifted = replace(slices, start=slices.start + tracks.shift_ns, end=slices.end + tracks.shift_ns)
    return FileSlices(**shifted.columns(), line=line, is_first=is_first, is_last=is_last)


def events_of(slices: FileSlices) -> Iterator[tuple[int, bool, int, int, int, int, int, bool]]:
    """The begin and the end of each slice, by time: time, whether it is the end, and of the slice line, name, details,
    work, flow and whether it is the last one of its flow. At one time a slice ends before the next of its line
    begins."""
    times = np.column_stack((slices.start, slices.end)).reshape(-1)
    order = np.argsort(times, kind="stable")
    columns = (slices.line, slices.name, slices.details, slices.work, slices.flow, slices.is_last)
    for first in range(0, len(order), CHUNK):
        events = order[first : first + CHUNK]
        places, ends = events >> 1, (events & 1).astype(np.bool_)
        yield from zip(
            times[events].tolist(), ends.tolist(), *(column[places].tolist() for column in columns), strict=True
        )
