"""Model names of the Core ML instrument: base name and instance number.

Instruments shows the compiled model's name followed by `-N`, one number per instance. A model may also be called
`Encoder-2` of its own, so a name is split only where the names of the whole table show that they carry numbers.
Source: public evidence of recordings on iOS 27.2 for the form; the rule when to split is our heuristic.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBERED = re.compile(r"(.+)-(0|[1-9][0-9]{0,17})", re.DOTALL)
"""Numbers with leading zeros, or too long for 64 bits, could not be put back and are part of the name."""


@dataclass(frozen=True, slots=True)
class ModelName:
    """A model name in two parts."""

    base: str
    instance: int | None = None
    """None where the name carries no instance number."""


def split_names(names: Iterable[str]) -> dict[str, ModelName]:
    """Base and instance of each distinct, non-empty name of one table (models and parents together).

    Names are split where every one of them ends in a number, or where at least two share a base with different
    numbers; otherwise all stay whole. Reversible: base, hyphen and number give each key back. O(n).
    """
    distinct = dict.fromkeys(name for name in names if name)
    parts: dict[str, ModelName] = {}
    instances: defaultdict[str, set[int]] = defaultdict(set)
    for name in distinct:
        match = _NUMBERED.fullmatch(name)
        if match is not None:
            base, number = match[1], int(match[2])
            parts[name] = ModelName(base, number)
            instances[base].add(number)
    numbered = len(parts) == len(distinct) or any(len(numbers) > 1 for numbers in instances.values())
    if not numbered:
        return {name: ModelName(name) for name in distinct}
    return {name: parts.get(name, ModelName(name)) for name in distinct}
