"""Perfetto's own format: a stream of packets, with the optional package perfetto.

Facts about the format: `protos/perfetto/trace/track_event/` of Perfetto. A track knows begins and ends, no durations,
so each row of a track is a track of its own, and viewers show those that share a merge key as one.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, BinaryIO

import numpy as np

from tracekit.errors import import_extra
from tracekit.report.flame import Flame
from tracekit.report.viewers.tracks import CounterTrack, Details, SliceTrack, Tracks, events_of, slice_rows

_SEQUENCE = 1
"""Number of the one writer of packets."""
_REALTIME, _BOOTTIME = 1, 6
"""Clocks of the format (`BuiltinClock`). The time of a recording stands as time since boot, which is the usual one."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_KEY = "io.github.coreml-tracekit."
"""Beginning of the names of our metadata, which belong to nobody else's."""
_UNITS = {"ns": "UNIT_TIME_NS", "bytes": "UNIT_SIZE_BYTES"}
"""Units that the format has a name for."""
_WORK = "work"
"""Name of the detail that holds the id of a piece of work."""


def check_available() -> None:
    """Raise `UsageError` where the package perfetto is not installed."""
    needed = "Perfetto files need the package perfetto; write a .json file instead, or install it"
    import_extra("perfetto.trace_builder.proto_builder", "perfetto", needed)


class _Writer:
    """Writes one file. A packet is made once for all events that differ in numbers only."""

    def __init__(self, tracks: Tracks, stream: BinaryIO) -> None:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as messages
        from perfetto.trace_builder.proto_builder import StreamingTraceProtoBuilder

        self._tracks = tracks
        self._messages = messages
        self._builder: Any = StreamingTraceProtoBuilder(stream)
        details = (*tracks.details, *(marker.details for track in tracks.slices for marker in track.markers))
        self._detail_names = _codes([_WORK, *(name for detail in details for name, _ in detail)])
        self._detail_values = _codes(value for detail in details for _, value in detail)
        self._identities = count(1)
        self._lines: list[int] = []
        """Ids of the tracks of all rows."""
        self._begins: dict[tuple[int, bool, bool, bool], Any] = {}

    def write(self) -> None:
        # The texts of all slices, each once; slices hold their codes.
        packet = self._packet()
        packet.sequence_flags = self._messages.TracePacket.SEQ_INCREMENTAL_STATE_CLEARED
        packet.first_packet_on_sequence = True
        texts = packet.interned_data
        for code, text in enumerate(self._tracks.names, 1):
            texts.event_names.add(iid=code, name=text)
        for text, code in self._detail_names.items():
            texts.debug_annotation_names.add(iid=code, name=text)
        for detail, code in self._detail_values.items():
            texts.debug_annotation_string_values.add(iid=code, str=detail.encode())
        self._builder.write_packet(packet)
        packet = self._packet()
        snapshot = packet.clock_snapshot
        snapshot.primary_trace_clock = _BOOTTIME
        snapshot.clocks.add(clock_id=_BOOTTIME, timestamp=self._tracks.shift_ns)
        if (started := _since_1970(self._tracks.started)) is not None:
            snapshot.clocks.add(clock_id=_REALTIME, timestamp=started)
        self._builder.write_packet(packet)
        packet = self._packet()
        for name, value in self._tracks.facts:
            packet.trace_attributes.attribute.add(key=_KEY + name, string_value=value)
        self._builder.write_packet(packet)
        # Viewers sort the outermost tracks by name and close them, so that all others stand in one.
        root = next(self._identities)
        ordering = self._messages.TrackDescriptor.EXPLICIT
        self._write_descriptor(uuid=root, name=self._tracks.title, child_ordering=ordering)
        for place, (title, tracks) in enumerate(self._tracks.groups):
            group = next(self._identities)
            beside = {"parent_uuid": root, "sibling_order_rank": place, "child_ordering": ordering}
            self._write_descriptor(uuid=group, name=title, **beside)
            for rank, track in enumerate(tracks):
                if isinstance(track, SliceTrack):
                    self._write_rows(track, group, rank)
                else:
                    self._write_counter(track, group, rank)
        self._write_slices()
        if self._tracks.stacks is not None:
            self._write_stacks(self._tracks.stacks)

    def _packet(self) -> Any:
        packet = self._builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        packet.sequence_flags = self._messages.TracePacket.SEQ_NEEDS_INCREMENTAL_STATE
        return packet

    def _write_descriptor(self, **fields: Any) -> None:
        packet = self._packet()
        packet.track_descriptor.CopyFrom(self._messages.TrackDescriptor(**fields))
        self._builder.write_packet(packet)

    def _write_rows(self, track: SliceTrack, root: int, rank: int) -> None:
        """One track for each row, merged by viewers, and the markers on the first."""
        merging = self._messages.TrackDescriptor.SIBLING_MERGE_BEHAVIOR_BY_SIBLING_MERGE_KEY
        first = len(self._lines)
        for _ in range(track.row_count):
            self._lines.append(next(self._identities))
            self._write_descriptor(
                uuid=self._lines[-1],
                parent_uuid=root,
                name=track.title,
                sibling_order_rank=rank,
                sibling_merge_behavior=merging,
                sibling_merge_key=str(rank),
            )
        for marker in track.markers:
            packet = self._event(self._messages.TrackEvent.TYPE_INSTANT, marker.details)
            packet.timestamp = self._tracks.shift_ns
            packet.track_event.track_uuid = self._lines[first]
            packet.track_event.name = marker.text
            self._builder.write_packet(packet)

    def _write_counter(self, track: CounterTrack, root: int, rank: int) -> None:
        identity = next(self._identities)
        counter = self._messages.CounterDescriptor(y_axis_share_key=track.unit)
        if track.unit in _UNITS:
            counter.unit = getattr(self._messages.CounterDescriptor, _UNITS[track.unit])
        else:
            counter.unit_name = track.unit
        self._write_descriptor(
            uuid=identity, parent_uuid=root, name=track.title, sibling_order_rank=rank, counter=counter
        )
        packet = self._event(self._messages.TrackEvent.TYPE_COUNTER)
        packet.track_event.track_uuid = identity
        for time, value in zip((track.times + self._tracks.shift_ns).tolist(), track.values.tolist(), strict=True):
            packet.timestamp = time
            packet.track_event.counter_value = value
            self._builder.write_packet(packet)

    def _write_slices(self) -> None:
        rows = slice_rows(self._tracks)
        begins = self._begins
        end = self._event(self._messages.TrackEvent.TYPE_SLICE_END)
        for time, ends, line, name, details, work, flow, last in events_of(rows):
            if ends:
                packet = end
            else:
                key = details, work > 0, flow > 0, last
                packet = begins.get(key) or self._begin(*key)
                event = packet.track_event
                event.name_iid = name + 1
                if work:
                    event.debug_annotations[-1].pointer_value = work
                if flow:
                    (event.terminating_flow_ids if last else event.flow_ids)[0] = flow
            packet.timestamp = time
            packet.track_event.track_uuid = self._lines[line]
            self._builder.write_packet(packet)

    def _write_stacks(self, stacks: Flame) -> None:
        """Samples of the app, as its process has them."""
        tree, (name, pid) = stacks.tree, self._tracks.process
        process = self._messages.ProcessDescriptor(process_name=name, pid=pid)
        self._write_descriptor(uuid=next(self._identities), process=process)
        packet = self._packet()
        texts, libraries = packet.interned_data, _codes(tree.images)
        for name, code in libraries.items():
            texts.mapping_paths.add(iid=code, str=name.encode())
            texts.mappings.add(iid=code, path_string_ids=[code])
        for code, (name, library) in enumerate(zip(tree.names, tree.images, strict=True), 1):
            texts.function_names.add(iid=code, str=name.encode())
            texts.frames.add(iid=code, function_name_id=code, mapping_id=libraries[library])
        paths: list[list[int]] = []
        for parent, name in zip(tree.parent.tolist(), tree.name.tolist(), strict=True):
            paths.append([*(paths[parent] if parent >= 0 else ()), name + 1])
        for leaf in np.unique(stacks.leaves).tolist():
            texts.callstacks.add(iid=leaf + 1, frame_ids=paths[leaf])
        self._builder.write_packet(packet)
        packet = self._packet()
        packet.perf_sample.pid = packet.perf_sample.tid = pid
        for time, leaf in zip((stacks.times + self._tracks.shift_ns).tolist(), stacks.leaves.tolist(), strict=True):
            packet.timestamp, packet.perf_sample.callstack_iid = time, leaf + 1
            self._builder.write_packet(packet)

    def _begin(self, details: int, has_work: bool, has_flow: bool, is_last: bool) -> Any:
        """The packet of all slices that begin with these details, to be filled with the numbers of each."""
        packet = self._event(self._messages.TrackEvent.TYPE_SLICE_BEGIN, self._tracks.details[details])
        if has_work:
            packet.track_event.debug_annotations.add(name_iid=self._detail_names[_WORK], pointer_value=0)
        if has_flow:
            (packet.track_event.terminating_flow_ids if is_last else packet.track_event.flow_ids).append(0)
        self._begins[details, has_work, has_flow, is_last] = packet
        return packet

    def _event(self, kind: int, details: Details = ()) -> Any:
        packet = self._packet()
        packet.track_event.type = kind
        for name, value in details:
            packet.track_event.debug_annotations.add(
                name_iid=self._detail_names[name], string_value_iid=self._detail_values[value]
            )
        return packet


def write_perfetto(tracks: Tracks, stream: BinaryIO) -> None:
    """Write all tracks, packet by packet. Memory: some numbers per slice. O(n log n)."""
    _Writer(tracks, stream).write()


def _codes(texts: Iterable[str]) -> dict[str, int]:
    """Codes of texts from 1 on; 0 means none in the format."""
    return {text: code for code, text in enumerate(dict.fromkeys(texts), 1)}


def _since_1970(date: str | None) -> int | None:
    """Nanoseconds from 1970 to an ISO 8601 date; None where it is not recorded, or has no time zone."""
    try:
        started = datetime.fromisoformat(date or "")
    except ValueError:
        return None
    known = started.tzinfo is not None and started >= _EPOCH
    return (started - _EPOCH) // timedelta(microseconds=1) * 1000 if known else None
