"""Display texts (`fmt`) of numbers, as Instruments shows them in English.

Readers take numbers from the content of a cell and never from here. Rules: exports of Xcode 16.4 to 27.2; types that
are not listed show plain decimals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.recording.engineering_types import DURATIONS, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

_UNITS = ((60_000_000_000, "min"), (1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))


def display_of(engineering_type: str) -> Callable[[int], str]:
    """Function that gives the display text of a number of that type."""
    if engineering_type in DURATIONS:
        return _duration
    if kind_of(engineering_type) is Kind.TIME:
        return _time
    return _SHOWN.get(engineering_type, str)


def _time(ns: int) -> str:
    """`MM:SS.mmm.uuu`, cut to µs."""
    seconds, us = divmod(ns // 1_000, 1_000_000)
    minutes, seconds = divmod(seconds, 60)
    ms, us = divmod(us, 1_000)
    return f"{minutes:02}:{seconds:02}.{ms:03}.{us:03}"


def _duration(ns: int) -> str:
    """Two decimals in the largest unit that fits, rounded half to even."""
    for size, unit in _UNITS:
        if ns >= size:
            hundredths, rest = divmod(ns * 100, size)
            hundredths += rest * 2 > size or (rest * 2 == size and hundredths % 2 == 1)
            return f"{hundredths // 100}.{hundredths % 100:02} {unit}"
    return f"{ns} ns"


_SHOWN: dict[str, Callable[[int], str]] = {
    "uint64": "{:,}".format,
    "boolean": lambda value: "Yes" if value else "No",
    "core": "CPU {}".format,
    "gpu-frame-number": "Frame {}".format,
    "tid": "0x{:x}".format,
    "address": "0x{:x}".format,
    "os-signpost-identifier": "0x{:x}".format,
    "metal-command-buffer-id": "0x{:x}".format,
    "metal-encoder-id": "0x{:x}".format,
    "uint64-hex-lowercase": "{:x}".format,
    "kdebug-func": lambda value: {0: "POINT", 1: "START", 2: "END"}.get(value, str(value)),
    "time-sample-kind": lambda value: {0: "Timer Fired", 2: "LPET", 3: "Stackshot"}.get(value, str(value)),
}
