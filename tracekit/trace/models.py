"""The models of a recording: one for each base name of Core ML's rows and of predictions inferred from hardware."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tracekit.arrays import BoolArray, IntArray
from tracekit.columns import Numbers, joined_codes
from tracekit.intervals import Intervals
from tracekit.sorting import ranks
from tracekit.trace.events import Attribution, Events, Level
from tracekit.trace.instruments import coreml

COUNTED_KINDS: Final = tuple(map(str, coreml.INSTRUMENT.kinds))
"""Kinds that rows of the Core ML instrument can have."""


@dataclass(frozen=True, slots=True, eq=False)
class Models:
    """Models by first row, then name. Counts are of rows at all levels. Shape (models,) each."""

    name: tuple[str, ...]
    """Base names."""
    level: tuple[str, ...]
    """`top` where the app called it at least once, else `sub`."""
    parents: tuple[tuple[str, ...], ...]
    """Base names of the pipelines it is a stage of, sorted."""
    instances: Numbers
    """Distinct instance numbers seen; null where names carry none."""
    first_ns: IntArray
    """Start of its first row."""
    last_ns: IntArray
    """End of its last row."""
    rows: IntArray
    """Rows that name it."""
    inferred: BoolArray
    """Its rows are predictions put together from hardware rows, since Core ML recorded none."""
    counts: Mapping[str, IntArray]
    """Rows of each of `COUNTED_KINDS`."""

    def __len__(self) -> int:
        return len(self.name)


def models_of(*parts: Events) -> Models:
    """The models that these Core ML rows, or inferred predictions, name, in whatever order they stand. O(n log n)."""
    cells = joined_codes([rows.model for rows in parts])
    named = np.flatnonzero(cells.known)
    code = cells.codes[named]
    held = np.bincount(code, minlength=len(cells.values)) > 0
    codes, model = np.flatnonzero(held), (np.cumsum(held) - 1)[code]
    names, count = [cells.values[place] for place in codes.tolist()], len(codes)
    times = Intervals.from_rows(*parts).where(named)
    first_ns, last_ns = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(first_ns, model, times.starts)
    np.maximum.at(last_ns, model, times.ends)

    def rows_with(*cells: BoolArray) -> IntArray:
        """Shape (models,): of how many of its rows this is true."""
        return np.bincount(model[np.concatenate(cells)[named]], minlength=count)

    called = rows_with(*(rows.level.is_any(Level.TOP) for rows in parts)) > 0
    recorded = rows_with(*(~rows.attribution.is_any(Attribution.INFERRED) for rows in parts)) > 0
    numbers = np.concatenate([rows.instance.filled() for rows in parts])[named]
    instance = np.where(numbers < 0, -1, ranks(numbers)[1])
    instances = np.bincount(_pairs(model, instance)[0], minlength=count)
    parent = joined_codes([rows.parent_model for rows in parts]).take(named)
    parents: list[list[str]] = [[] for _ in names]
    for stage, around in zip(*_pairs(model, parent.codes.astype(np.int64)), strict=True):
        parents[stage].append(parent.values[around])
    order = sorted(range(count), key=lambda place: (first_ns[place], names[place]))
    kind = np.concatenate([rows.kind.codes_in(COUNTED_KINDS) for rows in parts])[named]
    counts = np.bincount((kind * count + model)[kind >= 0], minlength=len(COUNTED_KINDS) * count)
    return Models(
        name=tuple(names[place] for place in order),
        level=tuple(str(Level.TOP if called[place] else Level.SUB) for place in order),
        parents=tuple(tuple(sorted(parents[place])) for place in order),
        instances=Numbers(instances[order], instances[order] > 0),
        first_ns=first_ns[order],
        last_ns=last_ns[order],
        rows=np.bincount(model, minlength=count)[order],
        inferred=~recorded[order],
        counts={
            name: row[order] for name, row in zip(COUNTED_KINDS, counts.reshape(len(COUNTED_KINDS), count), strict=True)
        },
    )


def _pairs(model: IntArray, code: IntArray) -> tuple[IntArray, IntArray]:
    """The different pairs of a model and a code, in their order; -1 is no code. O(n log n)."""
    known = code >= 0
    span = int(code.max(initial=0)) + 1
    pairs, _ = ranks(model[known] * span + code[known])
    return pairs // span, pairs % span
