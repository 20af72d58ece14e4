"""Numbers as people read them. Everything else computes in int64 ns and shares from 0 to 1."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import accumulate, pairwise

_DURATION_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))
_SECOND_NS = 1_000_000_000
DURATION_UNITS_NS = {"ns": 1, "us": 1_000, "µs": 1_000, "ms": 1_000_000, "s": _SECOND_NS}
DURATION_UNITS_NS |= {"m": 60 * _SECOND_NS, "h": 3_600 * _SECOND_NS}
_DURATION = re.compile(rf"(\d{{1,18}}(?:\.\d{{0,12}})?|\.\d{{1,12}})\s*({'|'.join(DURATION_UNITS_NS)})?", re.ASCII)
_CLOCK = re.compile(r"(?:(\d{1,5}):)?(\d{1,5}):(\d{1,2}(?:\.\d{1,12})?)", re.ASCII)

_COMPUTE_UNITS = {"ane": "neural-engine", "ne": "neural-engine", "neuralengine": "neural-engine"}
"""The spelling of a compute unit by others of it; Core AI and compute plans call them by their classes, too."""


def compute_unit(text: str) -> str | None:
    """`cpu`, `gpu` or `neural-engine`, in any spelling (`ANE`, `MLGPUComputeDevice`); None for none."""
    word = re.sub(r"[ _-]", "", text).casefold()
    word = word.removeprefix("ml").removeprefix("apple").removesuffix("computedevice")
    unit = _COMPUTE_UNITS.get(word, word)
    return unit if unit in ("cpu", "gpu", "neural-engine") else None


def parse_duration(text: str, bare: str = "") -> int | None:
    """A time in whole ns: with its unit (`16.7ms`, `250 us`, `5m`), as a clock has it (`00:02.896`, `1:00:02`), or a
    number in the unit `bare`, where that is one; None for any other text."""
    if clock := _CLOCK.fullmatch(text.strip()):
        return round((int(clock[1] or 0) * 3_600 + int(clock[2]) * 60 + Decimal(clock[3])) * _SECOND_NS)
    match = _DURATION.fullmatch(text.strip())
    unit = match and (match[2] or bare)
    return round(Decimal(match[1]) * DURATION_UNITS_NS[unit]) if match and unit else None


def format_parts(parts_ns: Sequence[float]) -> list[str]:
    """Durations in ns that add up, with unit and decimals of their sum: as shown they add up to it."""
    value, unit = format_time(sum(parts_ns)).split(" ")
    size, decimals = DURATION_UNITS_NS[unit], len(value.partition(".")[2])
    ends = [round(10**decimals * end / size) for end in accumulate(parts_ns, initial=0)]
    return [f"{(end - start) / 10**decimals:.{decimals}f} {unit}" for start, end in pairwise(ends)]


def format_time(ns: float, resolution_ns: float = 0) -> str:
    """A duration in ns with three significant digits. One that is known to `resolution_ns` only has no more digits than
    that."""
    for size, unit in _DURATION_UNITS:
        if abs(ns) >= size * 0.9995:
            value = ns / size
            digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            return _to_resolution(ns, resolution_ns, digits) if resolution_ns else f"{value:,.{digits}f} {unit}"
    return _to_resolution(ns, resolution_ns, 0) if resolution_ns else f"{ns:.0f} ns"


def _to_resolution(ns: float, resolution_ns: float, digits: int) -> str:
    """A duration as a multiple of what it is known to, with so many decimals at most."""
    rounded = round(ns / resolution_ns) * resolution_ns
    if not rounded:
        return f"<{format_time(resolution_ns, resolution_ns)}" if ns else "0 ms"
    size, unit = next(((size, unit) for size, unit in _DURATION_UNITS if abs(rounded) >= size), (1, "ns"))
    known = math.floor(math.log10(size / resolution_ns) + 1e-9)
    return f"{rounded / size:,.{min(max(known, 0), digits)}f} {unit}"


def format_like(ns: float, whole_ns: float, resolution_ns: float = 0) -> str:
    """A part of a duration, both in ns, in the unit of the whole and with its decimals."""
    value, unit = format_time(whole_ns, resolution_ns).split(" ")
    return f"{ns / DURATION_UNITS_NS[unit]:,.{len(value.partition('.')[2])}f} {unit}"


def format_error(ns: float) -> str:
    """How exact a time is, with two digits, zeros left out: `±1 ms`, `±1.4 ms`."""
    value, unit = format_time(round(ns, 1 - math.floor(math.log10(max(ns, 1))))).split(" ")
    return f"±{value.rstrip('0').rstrip('.') if '.' in value else value} {unit}"


def format_share(share: float) -> str:
    """A share from 0 to 1 in percent; below 10% with one decimal, and never rounded to a false 0 or 100."""
    percent = share * 100
    if 0 < percent < 0.1:
        return "<0.1%"
    if 99.5 <= percent < 100:
        return ">99%"
    return f"{percent:.1f}%" if percent < 9.95 and percent != int(percent) else f"{percent:.0f}%"


def format_count(count: int, noun: str, plural: str | None = None) -> str:
    """A count with its noun: `1 load`, `1,295 predictions`."""
    words = noun if count == 1 else (plural or f"{noun}s")
    return f"{count:,} {words}"


def format_rate(per_second: float, unit: str = "/s") -> str:
    """A rate with one decimal, none from 100 on; below one a second per minute or hour: `19.2/s`, `12.0/min`. `unit`
    is that of a rate per second; empty where a title says it, and small rates have two digits: `0.20`."""
    if per_second >= 0.95:
        return f"{per_second:,.{0 if per_second >= 99.95 else 1}f}{unit}"
    if not unit:
        return f"{per_second:.{1 - math.floor(math.log10(per_second))}f}" if per_second else "0"
    per_minute, what = 60 * per_second, unit.removesuffix("/s")
    return f"{per_minute:.1f}{what}/min" if per_minute >= 0.95 else f"{60 * per_minute:.1f}{what}/h"


def format_names(names: Sequence[str], most: int = 3, noun: str = "") -> str:
    """The first names and how many more: `A`, `A, B`, `A, B, C and 2 more`, or `2 more types` with a noun."""
    rest = len(names) - most
    more = f" and {rest:,} more{noun and f' {noun}'}{'s' if noun and rest > 1 else ''}" if rest > 0 else ""
    return f"{', '.join(names[:most])}{more}"


def format_percent(share: float) -> str:
    """A share from 0 to 1 in whole percent; never rounded to a false 0 or 100."""
    percent = share * 100
    if 0 < percent < 1:
        return "<1%"
    return ">99%" if 99.5 <= percent < 100 else f"{percent:.0f}%"


def format_estimate(ns: float) -> str:
    """An estimated duration in ns with two significant digits, in seconds from 0.1 s on."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if abs(ns) >= size * (0.0995 if unit == "s" else 0.995):
            value = float(f"{ns / size:.2g}")
            digits = 2 if value < 0.995 else 1 if value < 9.95 else 0
            return f"{value:,.{digits}f} {unit}"
    return f"{ns:.0f} ns"


def format_bytes(size: int) -> str:
    """A size in bytes with three significant digits in decimal units, as Finder and Xcode show it."""
    for unit, name in ((1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "KB")):
        if abs(size) >= unit * 0.9995:
            value = size / unit
            digits = 2 if abs(value) < 9.995 else 1 if abs(value) < 99.95 else 0
            return f"{value:,.{digits}f} {name}"
    return f"{size:,} bytes"
