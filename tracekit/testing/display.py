"""Display texts (`fmt`) as Instruments writes them in an English locale.

Rules measured on real exports: times are cut to µs, durations have two decimals rounded half to even, ids are hex.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_UNITS = ((60_000_000_000, "min"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))

_EXCLUSIVE_SIGNPOST = 0xEEEEB0B5B2B2EEEE


def integer_text(kind: str, value: int) -> str:
    """Display text of an integer of an engineering type; types that are not known here show plain decimals."""
    show = _SHOW.get(kind)
    return show(value) if show else str(value)


def time_text(time_ns: int) -> str:
    """`MM:SS.mmm.uuu`, cut to µs."""
    seconds, rest = divmod(time_ns // 1_000, 1_000_000)
    return f"{seconds // 60:02}:{seconds % 60:02}.{rest // 1_000:03}.{rest % 1_000:03}"


def duration_text(duration_ns: int) -> str:
    """Two decimals in the largest unit that fits, rounded half to even."""
    for size, unit in _UNITS:
        if duration_ns >= size:
            hundredths, rest = divmod(duration_ns * 100, size)
            if rest * 2 > size or (rest * 2 == size and hundredths % 2):
                hundredths += 1
            return f"{hundredths // 100}.{hundredths % 100:02} {unit}"
    return f"{duration_ns} ns"


def _hex(value: int) -> str:
    return f"0x{value:x}"


def _identifier(value: int) -> str:
    return "OS_SIGNPOST_ID_EXCLUSIVE" if value == _EXCLUSIVE_SIGNPOST else _hex(value)


_SHOW: dict[str, Callable[[int], str]] = {
    "start-time": time_text,
    "event-time": time_text,
    "sample-time": time_text,
    "duration": duration_text,
    "weight": duration_text,
    "core": "CPU {}".format,
    "boolean": lambda value: "Yes" if value else "No",
    "gpu-frame-number": "Frame {}".format,
    "size-in-bytes": "{} B".format,
    "uint64": "{:,}".format,
    "uint64-hex-lowercase": "{:x}".format,
    "metal-command-buffer-id": _hex,
    "metal-encoder-id": _hex,
    "os-signpost-identifier": _identifier,
    "tid": _hex,
}
