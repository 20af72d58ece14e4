"""What a user types: filters and times. Pure; errors are sentences for the screen."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, NamedTuple

from tracekit import units
from tracekit.tui.state import EventFilter
from tracekit.units import format_names

TIME_HINT = "1.5 (seconds), 250ms, 1:02.5 or 1234567ns from the start; with + or -, relative to the cursor"

_NUMBER = re.compile(r"\d[\d.]*")
_ALIKE = 0.75
"""How alike a word and a key must be to be one mistyped; texts with a colon are searched for as well."""


class QueryError(ValueError):
    """What was typed means nothing; the text says why."""


class Known(NamedTuple):
    """What a recording has to filter by: names of fields of `EventFilter`, with the values that occur."""

    model: Sequence[str]
    kind: Sequence[str]
    device: Sequence[str]


def filter_hint(known: Known) -> str:
    """What can be typed, with the values that occur."""
    offered = [
        "text",
        known.model and "model:NAME",
        known.kind and "kind:KIND",
        known.device and f"device:{'|'.join(known.device)}",
        ">5ms, <20ms",
    ]
    line = ", ".join(str(offer) for offer in offered if offer)
    quotes = "; quote names with spaces" if known.model else ""
    kinds = f"\nkinds: {', '.join(known.kind)}" if known.kind else ""
    return f"{line}{quotes}{kinds}"


def complete_last_word(text: str, known: Known, model: str | None) -> str:
    """A filter that is being typed with its last word completed: to the first value that holds it, or where it is one
    already, to the next. In place of nothing stands `model`, else the first one."""
    last_word = _LAST_WORD.fullmatch(text)
    if last_word is None:
        return text
    name, colon, value = last_word[2].partition(":")
    name, value = (name, value) if colon else ("model", name)
    values = known._asdict().get(name, ())
    typed = value.strip("'").casefold()
    near = [entry for entry in values if typed in entry.casefold()]
    same = next((at for at, entry in enumerate(values) if entry.casefold() == typed), None)
    if same is not None:
        meant = values[(same + 1) % len(values)]
    elif near:
        meant = model if not typed and name == "model" and model in near else near[0]
    else:
        return text
    return f"{last_word[1] or ''}{name}:{shlex.quote(meant)} "


_LAST_WORD = re.compile(r"(.*\s)??((?:[^\s']|'[^']*'?)*)\s*", re.DOTALL)


def parse_filter(text: str, known: Known) -> EventFilter:
    """The filter that a text means. Raises `QueryError`."""
    try:
        tokens = shlex.split(text)
    except ValueError as error:
        raise QueryError("Missing closing quote.") from error
    words: list[str] = []
    parsed = EventFilter()
    while tokens:
        token = tokens.pop(0)
        if token.startswith(("duration>", "duration<")):
            # People write it in front, and it says nothing more.
            token = token.removeprefix("duration")
        name, colon, value = token.partition(":")
        if token[0:1] in (">", "<"):
            # It may be written with blanks: `> 7 ms`.
            amount = token[1:]
            if not amount and tokens and tokens[0][:1].isdigit():
                amount = tokens.pop(0)
            if _NUMBER.fullmatch(amount) and tokens and tokens[0] in units.DURATION_UNITS_NS:
                amount += tokens.pop(0)
            bound = parse_duration(amount)
            parsed = replace(parsed, min_ns=bound) if token[0] == ">" else replace(parsed, max_ns=bound)
        elif colon and (name, value) == ("model", ""):
            parsed = replace(parsed, model="")
        elif colon and name in Known._fields:
            value = (units.compute_unit(value) or value) if name == "device" else value
            meant_value: Any = _one(name, value, known._asdict()[name])
            parsed = replace(parsed, **{name: meant_value})
        elif colon and (meant := get_close_matches(name, Known._fields, 1, _ALIKE)):
            raise QueryError(f"Unknown filter '{name}:'; did you mean {meant[0]}:{value}?")
        else:
            words.append(token)
    return replace(parsed, text=" ".join(words))


def filter_text(chosen: EventFilter) -> str:
    """What to type for a filter; the inverse of `parse_filter`."""
    parts = [shlex.quote(word) for word in chosen.text.split()]
    parts += ["model:" + shlex.quote(chosen.model) if chosen.model else "model:"] if chosen.model is not None else []
    named = (("kind", chosen.kind), ("device", chosen.device))
    parts += [f"{name}:{value}" for name, value in named if value is not None]
    parts += [f"{sign}{_shortest(ns)}" for sign, ns in ((">", chosen.min_ns), ("<", chosen.max_ns)) if ns is not None]
    return " ".join(parts)


def parse_duration(text: str) -> int:
    """A duration with its unit, in ns. Raises `QueryError`."""
    duration_ns = units.parse_duration(text)
    if duration_ns is None:
        raise QueryError(f"Invalid duration '{text}'. Examples: 5ms, 250us, 1.5s.")
    return duration_ns


def parse_time(text: str, here_ns: int) -> int:
    """A time of the run in ns: a clock time, a duration since the start, in seconds without a unit, or with a sign
    from `here_ns`; blanks and units as in `12.345 678 s` mean nothing. Raises `QueryError`."""
    text = "".join(text.split())
    sign, rest = (text[0], text[1:]) if text[:1] in ("+", "-") else ("", text)
    time_ns = units.parse_duration(rest, "s")
    if time_ns is None:
        raise QueryError(f"Invalid time '{text}'. Examples: 1.5, 250ms, 1:02.5, +10ms.")
    return {"": time_ns, "+": here_ns + time_ns, "-": here_ns - time_ns}[sign]


def _one(what: str, value: str, known: Sequence[str]) -> str:
    """The known value that is meant: the same, else the only one that holds the text."""
    same = [entry for entry in known if entry.casefold() == value.casefold()]
    near = [entry for entry in known if value.casefold() in entry.casefold()]
    if same or len(near) == 1:
        return (same or near)[0]
    if not known:
        raise QueryError(f"No event in this recording has a {what}.")
    folded = {entry.casefold(): entry for entry in known}
    alike = [folded[entry] for entry in get_close_matches(value.casefold(), folded)]
    offered = near or [*alike, *(entry for entry in known if entry not in alike)]
    # A single one more is named too.
    most = _OFFERED + (len(offered) == _OFFERED + 1)
    problem = f"'{value}' matches several {what}s: " if near else f"Unknown {what} '{value}'. Available: "
    raise QueryError(f"{problem}{format_names(offered, most)}.")


_OFFERED = 6
"""Values that are named in place of one that means nothing."""


def _shortest(ns: int, blank: str = "") -> str:
    """A duration as one would type it, exactly, with a blank before the unit if one is given."""
    for unit in ("s", "ms", "us"):
        if ns and ns % (units.DURATION_UNITS_NS[unit] // 100) == 0 and ns >= units.DURATION_UNITS_NS[unit]:
            return f"{Decimal(ns) / units.DURATION_UNITS_NS[unit]:f}{blank}{unit}"
    return f"{ns}{blank}ns"


def filter_words(chosen: EventFilter) -> str:
    """A filter as the first line and the headings show it."""
    parts = [chosen.text] if chosen.text else []
    parts += [chosen.model or "unattributed"] if chosen.model is not None else []
    parts += [part for part in (chosen.kind, chosen.device) if part is not None]
    bounds = (("≥", chosen.min_ns), ("≤", chosen.max_ns))
    # As one would read it: `8 ms`.
    return ", ".join((*parts, *(f"{sign} {_shortest(ns, ' ')}" for sign, ns in bounds if ns is not None)))
