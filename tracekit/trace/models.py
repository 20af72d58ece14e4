"""The models of a recording: one row per base name of Core ML's rows and of predictions inferred from hardware.

| column     | dtype  | holds                                                                                     |
|------------|--------|-------------------------------------------------------------------------------------------|
| name       | object | base name                                                                                 |
| level      | object | `top` where the app called it at least once, else `sub`                                   |
| parents    | object | tuple of base names of the pipelines it is a stage of, sorted                             |
| instances  | Int64  | distinct instance numbers seen; null where names carry none                               |
| first_ns   | int64  | start of its first row                                                                    |
| last_ns    | int64  | end of its last row                                                                       |
| rows       | int64  | rows that name it                                                                         |
| inferred   | bool   | its rows are predictions put together from hardware rows, since Core ML recorded none     |
| *kind*     | int64  | rows of that kind, one column for each of `COUNTED_KINDS`                                 |

Sorted by first row, then name; indexed 0..n-1. Counts are of rows at all levels.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from tracekit.arrays import IntArray
from tracekit.intervals import Intervals
from tracekit.trace.events import Attribution, Level
from tracekit.trace.frames import categorical, columns_of, is_any, rows_at
from tracekit.trace.instruments import coreml
from tracekit.trace.prediction_lookup import codes_in

COUNTED_KINDS: tuple[str, ...] = tuple(coreml.INSTRUMENT.kinds)
"""Kinds that rows of the Core ML instrument can have."""

COLUMNS_READ = ("model", "parent_model", "instance", "start_ns", "duration_ns", "level", "attribution", "kind")


def model_frame(events: pd.DataFrame) -> pd.DataFrame:
    """The models that these Core ML rows, or inferred predictions, name, in whatever order they stand. O(n log n)."""
    cells = categorical(events["model"].astype("category"))
    named = np.flatnonzero(cells.codes >= 0)
    rows = events if len(named) == len(events) else rows_at(columns_of(events, COLUMNS_READ), named)
    code = cells.codes[named]
    held = np.bincount(code, minlength=len(cells.categories)) > 0
    codes, model = np.flatnonzero(held), (np.cumsum(held) - 1)[code]
    names, count = [str(name) for name in cells.categories[codes]], len(codes)
    times = Intervals.from_rows(rows)
    first_ns, last_ns = np.full(count, np.iinfo(np.int64).max), np.full(count, np.iinfo(np.int64).min)
    np.minimum.at(first_ns, model, times.starts)
    np.maximum.at(last_ns, model, times.ends)
    called = np.bincount(model[is_any(rows["level"], Level.TOP)], minlength=count) > 0
    recorded = np.bincount(model[~is_any(rows["attribution"], Attribution.INFERRED)], minlength=count) > 0
    instance = pd.factorize(rows["instance"])[0]
    instances = np.bincount(_pairs(model, instance)[0], minlength=count)
    parent = categorical(rows["parent_model"].astype("category"))
    parents: list[list[str]] = [[] for _ in names]
    for stage, code in zip(*_pairs(model, parent.codes.astype(np.int64)), strict=True):
        parents[stage].append(str(parent.categories[code]))
    order = sorted(range(count), key=lambda code: (first_ns[code], names[code]))
    kind = codes_in(rows["kind"], pd.Index(list(map(str, COUNTED_KINDS))))
    counts = np.bincount((kind * count + model)[kind >= 0], minlength=len(COUNTED_KINDS) * count)
    return pd.DataFrame(
        {
            "name": pd.Series([names[code] for code in order], dtype=object),
            "level": pd.Series([str(Level.TOP if called[code] else Level.SUB) for code in order], dtype=object),
            "parents": pd.Series([tuple(sorted(parents[code])) for code in order], dtype=object),
            "instances": pd.arrays.IntegerArray(instances[order], mask=instances[order] == 0),
            "first_ns": first_ns[order],
            "last_ns": last_ns[order],
            "rows": np.bincount(model, minlength=count)[order],
            "inferred": ~recorded[order],
            **{
                str(kind): row[order]
                for kind, row in zip(COUNTED_KINDS, counts.reshape(len(COUNTED_KINDS), count), strict=True)
            },
        }
    )


def _pairs(model: IntArray, code: IntArray) -> tuple[IntArray, IntArray]:
    """The different pairs of a model and a code, in their order; -1 is no code. O(n + pairs log pairs)."""
    known = code >= 0
    span = int(code.max(initial=0)) + 1
    pairs = np.sort(pd.unique(model[known] * span + code[known]))
    return pairs // span, pairs % span
