"""The models of a recording: one row per base name that a Core ML row names, or a prediction that was
inferred from hardware.

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

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tracekit.trace.events import Attribution, Kind, Level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.arrays import IntArray

COUNTED_KINDS: tuple[Kind, ...] = (
    Kind.LOAD,
    Kind.LOAD_CACHED,
    Kind.LOAD_UNCACHED,
    Kind.COMPILE,
    Kind.PREDICTION,
    Kind.INPUT_VALIDATION,
    Kind.INPUT_COPY,
    Kind.DATA_CAST,
    Kind.OUTPUT_TRANSFORMATION,
    Kind.ANE_DATA_COPY,
    Kind.CPU_COMPUTE,
    Kind.GPU_PREPARE,
    Kind.GPU_REQUEST,
    Kind.ANE_REQUEST,
    Kind.OTHER,
)
"""Kinds that rows of the Core ML instrument can have."""

MODEL_DTYPES: dict[str, str] = {
    "name": "object",
    "level": "object",
    "parents": "object",
    "instances": "Int64",
    "first_ns": "int64",
    "last_ns": "int64",
    "rows": "int64",
    "inferred": "bool",
    **{str(kind): "int64" for kind in COUNTED_KINDS},
}
"""Columns in order, with pandas dtypes."""


COLUMNS_READ = ("model", "parent_model", "instance", "start_ns", "duration_ns", "level", "attribution", "kind")
"""Columns of the events that `model_frame` needs."""


def model_frame(events: pd.DataFrame) -> pd.DataFrame:
    """The models that these Core ML rows, or inferred predictions, name, in whatever order they stand. O(n)."""
    rows = events[list(COLUMNS_READ)]
    if rows["model"].isna().any():
        rows = rows[rows["model"].notna()]
    if rows.empty:
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in MODEL_DTYPES.items()})
    rows = rows.assign(
        end_ns=rows["start_ns"] + rows["duration_ns"],
        top=rows["level"] == Level.TOP,
        inferred=rows["attribution"] == Attribution.INFERRED,
    )
    groups = rows.groupby("model", observed=True, sort=False)
    instances = groups["instance"].nunique()
    pairs = rows[["model", "parent_model"]].dropna().drop_duplicates()
    parents = {
        str(name): tuple(sorted(map(str, found)))
        for name, found in pairs.groupby("model", observed=True)["parent_model"]
    }
    index = instances.index
    names = [str(name) for name in index]
    frame = pd.DataFrame(
        {
            "name": pd.Series(names, index, object),
            "level": groups["top"].any().map({True: str(Level.TOP), False: str(Level.SUB)}).astype(object),
            "parents": pd.Series([parents.get(name, ()) for name in names], index, object),
            "instances": instances.astype("Int64").mask(instances == 0),
            "first_ns": groups["start_ns"].min(),
            "last_ns": groups["end_ns"].max(),
            "rows": groups.size(),
            "inferred": groups["inferred"].all(),
            **dict(zip(map(str, COUNTED_KINDS), _counts(rows, names), strict=True)),
        }
    )
    return frame.sort_values(["first_ns", "name"], kind="stable").reset_index(drop=True)


def _counts(rows: pd.DataFrame, models: Sequence[str]) -> IntArray:
    """Rows of each kind and model: shape (len(COUNTED_KINDS), models)."""
    kinds = list(map(str, COUNTED_KINDS))
    kind, model = _places(rows["kind"], kinds), _places(rows["model"], models)
    counted = (kind >= 0) & (model >= 0)
    counts = np.bincount((kind * len(models) + model)[counted], minlength=len(kinds) * len(models))
    return counts.reshape(len(kinds), len(models))


def _places(column: pd.Series, values: Sequence[str]) -> IntArray:
    """Place in `values` of each cell: shape (rows,), -1 where it is none of them. O(rows)."""
    cells = column.astype("category").cat
    of_code = np.append(pd.Index(list(values)).get_indexer(cells.categories), -1)
    return of_code[cells.codes.to_numpy()].astype(np.int64)
