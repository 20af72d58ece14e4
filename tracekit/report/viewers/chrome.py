"""JSON in the trace event format of Chrome, which many older viewers read.

Its slices have a process and a thread for a place and must nest there, or viewers drop them. So a group of tracks is a
process, and each row of a track a thread of its own.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, BinaryIO

import numpy as np

from tracekit.report.flame import Flame
from tracekit.report.viewers.tracks import CHUNK, SliceTrack, Tracks, slice_rows

_CATEGORY = "tracekit"


def write_chrome(tracks: Tracks, stream: BinaryIO) -> None:
    """Write all tracks, event by event. Memory: some numbers per slice. O(n log n)."""
    stream.write(b'{"displayTimeUnit":"ns","otherData":' + _json(dict(tracks.facts)) + b',"traceEvents":[')
    for number, event in enumerate(_events(tracks)):
        stream.write((b",\n" if number else b"\n") + event)
    stream.write(b"\n]}\n")


def _events(tracks: Tracks) -> Iterator[bytes]:
    lines: list[str] = []
    """Process and thread of each row, as they stand in an event."""
    threads = count(1)
    for process, (title, members) in enumerate(tracks.groups, 1):
        yield _meta("process_name", process, 0, name=title)
        yield _meta("process_sort_index", process, 0, sort_index=process)
        for track in members:
            if not isinstance(track, SliceTrack):
                head = f'{{"ph":"C","pid":{process},"name":{_text(track.title)},"ts":'
                times = (track.times + tracks.shift_ns).tolist()
                for time, value in zip(times, track.values.tolist(), strict=True):
                    yield f'{head}{_micros(time)},"args":{{{_text(track.unit)}:{value}}}}}'.encode()
                continue
            for row in range(track.row_count):
                thread = next(threads)
                lines.append(f'"pid":{process},"tid":{thread}')
                yield _meta("thread_name", process, thread, name=f"{track.title} {row + 1}" if row else track.title)
                yield _meta("thread_sort_index", process, thread, sort_index=thread)
                for marker in track.markers if not row else ():
                    position = {"ph": "i", "s": "t", "pid": process, "tid": thread, "cat": _CATEGORY}
                    time = tracks.shift_ns / 1000
                    yield _json({**position, "name": marker.text, "ts": time, "args": dict(marker.details)})
    slices = slice_rows(tracks)
    names = [_text(name) for name in tracks.names]
    details = [",".join(f"{_text(name)}:{_text(value)}" for name, value in detail) for detail in tracks.details]
    columns = (slices.start, slices.end, slices.line, slices.name, slices.details, slices.work, slices.flow)
    for first in range(0, len(slices), CHUNK):
        part = (cells[first : first + CHUNK].tolist() for cells in (*columns, slices.is_first, slices.is_last))
        for start, end, line, name, detail, work, flow, is_first, is_last in zip(*part, strict=True):
            arguments = f'{details[detail]},"work":"{work:#x}"' if work else details[detail]
            track, time = lines[line], _micros(start)
            yield (
                f'{{"ph":"X",{track},"ts":{time},"dur":{_micros(end - start)},"cat":"{_CATEGORY}",'
                f'"name":{names[name]},"args":{{{arguments}}}}}'
            ).encode()
            if flow:
                phase = "s" if is_first else "f" if is_last else "t"
                binding = ',"bp":"e"' if is_last else ""
                yield (
                    f'{{"ph":"{phase}",{track},"ts":{time},"id":{flow},"cat":"{_CATEGORY}",'
                    f'"name":"prediction"{binding}}}'
                ).encode()
    if tracks.stacks is not None:
        yield from _stacks(tracks.stacks, tracks)


def _stacks(stacks: Flame, tracks: Tracks) -> Iterator[bytes]:
    """Samples of the app as a profile of V8, the only form of call stacks that viewers of today read here."""
    name, process = tracks.process
    yield _meta("process_name", process, process, name=name)
    position = {"ph": "P", "pid": process, "tid": process, "id": "0x1", "cat": "disabled-by-default-v8.cpu_profiler"}
    times = (stacks.times + tracks.shift_ns) // 1000
    yield _json({**position, "name": "Profile", "ts": 0, "args": {"data": {"startTime": 0}}})
    tree = stacks.tree
    nodes: list[dict[str, Any]] = [{"id": 1, "callFrame": {"functionName": "(root)", "url": "", "scriptId": 0}}]
    for node, (parent, code) in enumerate(zip(tree.parent.tolist(), tree.name.tolist(), strict=True)):
        frame = {"functionName": tree.names[code], "url": tree.images[code], "scriptId": 0}
        nodes.append({"id": node + 2, "parent": parent + 2 if parent >= 0 else 1, "callFrame": frame})
    profile = {"nodes": nodes, "samples": (stacks.leaves + 2).tolist()}
    data = {"cpuProfile": profile, "timeDeltas": np.diff(times, prepend=0).tolist()}
    yield _json({**position, "name": "ProfileChunk", "ts": 0, "args": {"data": data}})


def _micros(ns: int) -> str:
    """A time from 0 on in µs, exactly."""
    return f"{ns // 1000}.{ns % 1000:03d}"


def _meta(kind: str, process: int, thread: int, **arguments: Any) -> bytes:
    return _json({"ph": "M", "name": kind, "pid": process, "tid": thread, "args": arguments})


def _text(text: str) -> str:
    # Perfetto shows an escape in the name of a counter as it stands.
    return json.dumps(text, ensure_ascii=False)


def _json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
