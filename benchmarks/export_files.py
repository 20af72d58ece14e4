"""Writes exports of any size in the three shapes that the benchmark reads.

Rows look like those that `xctrace export` writes: what changes from row to row is defined, the rest referred to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_GPU = (
    "start:start-time duration channel-name:gpu-channel-name frame-number:gpu-frame-number start-latency:duration "
    "event-depth:metal-nesting-level event-label:formatted-label state:gpu-state connection-UUID:connection-uuid64 "
    "color:render-buffer-depth process gpu:metal-device-name channel-subtitle:metal-object-label "
    "iosurface-accesses:formatted-label bytes:size-in-bytes cmdbuffer-id:metal-command-buffer-id "
    "encoder-id:metal-command-buffer-id gpu-submission-id:uint64"
)
_CORE_ML = (
    "start:start-time duration full-layout-id:layout-id event-label:coreml-model-event model-name:coreml-model-name "
    "model-specific-track-model-name:formatted-label fully-qualified-model:formatted-label "
    "parent-model-name:coreml-model-name model-level:coreml-model-level event-type:string color:event-concept "
    "graph-event-label:formatted-label"
)
_SIGNPOST = (
    "time:event-time thread process event-type scope:string identifier:os-signpost-identifier name:signpost-name "
    "format-string backtrace:text-backtrace subsystem category message:os-log-metadata emit-location:return-location"
)


class _Ids:
    """Gives ids and remembers what was defined."""

    def __init__(self) -> None:
        self._last = 0
        self._known: dict[tuple[str, str], int] = {}

    def new(self, tag: str, shown: str, content: str | int = "", parts: Callable[[], str] | None = None) -> str:
        """An element that defines a value."""
        self._last += 1
        identity = self._last
        return f'<{tag} id="{identity}" fmt="{shown}">{parts() if parts else content}</{tag}>'

    def use(
        self, tag: str, shown: str, content: str | int | None = None, parts: Callable[[], str] | None = None
    ) -> str:
        """An element that defines a value at its first use and refers to it later."""
        known = self._known.get((tag, shown))
        if known is not None:
            return f'<{tag} ref="{known}"/>'
        self._known[tag, shown] = self._last + 1
        return self.new(tag, shown, shown if content is None else content, parts)


def write_export(shape: str, rows: int, path: Path) -> None:
    """Write an export of so many rows of one of `SHAPES`."""
    columns, row = SHAPES[shape]
    ids = _Ids()
    with path.open("w", encoding="utf-8", newline="\n") as stream:
        stream.write('<?xml version="1.0"?>\n<trace-query-result>\n')
        stream.write(f"<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>{_schema(shape, columns)}")
        for number in range(rows):
            stream.write(f"<row>{''.join(row(ids, number))}</row>\n")
        stream.write("</node></trace-query-result>\n")


def _schema(name: str, columns: str) -> str:
    pairs = (each.partition(":") for each in columns.split())
    described = "".join(
        f"<col><mnemonic>{mnemonic}</mnemonic><name>{mnemonic}</name><engineering-type>{kind or mnemonic}"
        "</engineering-type></col>"
        for mnemonic, _, kind in pairs
    )
    return f'<schema name="{name}">{described}</schema>'


def _clock(time: int) -> str:
    """A time as Instruments shows it."""
    minutes, rest = divmod(time // 1000, 60_000_000)
    return f"{minutes:02}:{rest // 1_000_000:02}.{rest // 1000 % 1000:03}.{rest % 1000:03}"


def _span(ids: _Ids, row: int) -> Iterator[str]:
    """The two cells with which a table of intervals begins."""
    start, lasts = 259_173 * row, 41_000 + row * 7919 % 900_000
    yield ids.new("start-time", _clock(start), start)
    yield ids.new("duration", f"{lasts / 1000:.2f} µs", lasts)


def _process(ids: _Ids) -> str:
    def parts() -> str:
        return ids.use("pid", "99926") + ids.use("device-session", "TODO")

    return ids.use("process", "python (99926)", parts=parts)


def _thread(ids: _Ids, row: int) -> str:
    tid = 0x2687 + row % 7

    def parts() -> str:
        return ids.use("tid", f"0x{tid:x}", tid) + _process(ids)

    return ids.use("thread", f"Worker (0x{tid:x}) (python, pid: 99926)", parts=parts)


def _gpu(ids: _Ids, row: int) -> Iterator[str]:
    work, command = 0x1C0000 + 771 * row, 0x1B00 + row
    yield from _span(ids, row)
    yield ids.use("gpu-channel-name", ("Compute", "Vertex", "Fragment", "Blit")[row % 4])
    yield "<sentinel/>"
    yield ids.use("duration", "14.21 µs", 14_208)
    yield ids.use("metal-nesting-level", "0")
    label = f"Command Buffer 0:Compute Command 0   (python (99926)) 0x{work:x}"
    yield ids.new(
        "formatted-label",
        label,
        parts=lambda: _process(ids) + ids.new("metal-encoder-id", f"0x{work:x}", work),
    )
    yield ids.use("gpu-state", "Active")
    yield ids.use("connection-uuid64", "0")
    yield ids.use("render-buffer-depth", "0")
    yield _process(ids)
    yield ids.use("metal-device-name", "M2 Ultra")
    yield ids.use("metal-object-label", "")
    yield ids.use("formatted-label", "Read Surface: 0x1 -&gt; Write Surface: 0x2", "")
    yield ids.use("size-in-bytes", "0 Bytes", 0)
    yield ids.use("metal-command-buffer-id", f"0x{command // 8:x}", command // 8)
    yield ids.use("metal-command-buffer-id", f"0x{command // 2:x}", command // 2)
    yield ids.use("uint64", f"{work // 1542:,}", work // 1542)


def _core_ml(ids: _Ids, row: int) -> Iterator[str]:
    event = ("Prediction", "Input Validation", "Input Copy", "Neural Engine Prediction", "Output Transformation")
    yield from _span(ids, row)
    yield ids.use("layout-id", "0")
    yield ids.use("coreml-model-event", event[row % 5])
    yield ids.use("coreml-model-name", "Segmenter-1")
    yield ids.use("formatted-label", "Segmenter", parts=lambda: ids.use("string", "Segmenter"))
    yield ids.use("formatted-label", "Segmenter-1", parts=lambda: ids.use("string", "Segmenter-1"))
    yield "<sentinel/>"
    yield ids.use("coreml-model-level", "top")
    yield ids.use("string", "model-direct-event")
    yield ids.use("event-concept", "Blue")
    yield ids.use("formatted-label", f"Segmenter {event[row % 5]}", parts=lambda: ids.use("string", event[row % 5]))


def _signpost(ids: _Ids, row: int) -> Iterator[str]:
    time = 91_173 * row
    yield ids.new("event-time", _clock(time), time)
    yield _thread(ids, row // 2)
    yield _process(ids)
    yield ids.use("event-type", ("Begin", "End")[row % 2])
    yield ids.use("string", "Process")
    yield ids.new("os-signpost-identifier", f"0x{row // 2:x}", row // 2)
    yield ids.use("signpost-name", "decode")
    yield ids.use("format-string", "frame=%u")
    yield "<sentinel/>"
    yield ids.use("subsystem", "com.example.player")
    yield ids.use("category", "frames")
    yield ids.new(
        "os-log-metadata",
        f"frame={row // 2}",
        parts=lambda: ids.use("narrative-text", "frame=") + ids.use("uint64", f"{row // 2:,}", row // 2),
    )
    yield ids.use("return-location", "0x104e1c2a8", "")


SHAPES = {
    "metal-gpu-intervals": (_GPU, _gpu),
    "coreml-os-signpost": (_CORE_ML, _core_ml),
    "os-signpost": (_SIGNPOST, _signpost),
}
"""Columns of a table and what makes the cells of a row, by schema."""
