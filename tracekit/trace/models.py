"""The models of a recording: one row per base name that a Core ML row names.

| column     | dtype  | holds                                                                                     |
|------------|--------|-------------------------------------------------------------------------------------------|
| name       | object | base name                                                                                 |
| level      | object | `top` where the app called it at least once, else `sub`                                   |
| parents    | object | tuple of base names of the pipelines it is a stage of, sorted                             |
| instances  | Int64  | distinct instance numbers seen; null where names carry none                               |
| first_ns   | int64  | start of its first row                                                                    |
| last_ns    | int64  | end of its last row                                                                       |
| rows       | int64  | rows that name it                                                                         |
| *kind*     | int64  | rows of that kind, one column for each of `COUNTED_KINDS`                                 |

Sorted by first row, then name; indexed 0..n-1. Counts are of rows at all levels.
"""

from __future__ import annotations

import pandas as pd

from tracekit.trace.events import Kind, Level

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
    **{str(kind): "int64" for kind in COUNTED_KINDS},
}
"""Columns in order, with pandas dtypes."""


def model_frame(events: pd.DataFrame) -> pd.DataFrame:
    """The models that these Core ML rows name. O(n)."""
    rows = events[events["model"].notna()]
    if rows.empty:
        return pd.DataFrame({name: pd.Series(dtype=dtype) for name, dtype in MODEL_DTYPES.items()})
    rows = rows.assign(end_ns=rows["start_ns"] + rows["duration_ns"], top=rows["level"] == Level.TOP)
    groups = rows.groupby("model", observed=True, sort=False)
    instances = groups["instance"].nunique()
    pairs = rows[["model", "parent_model"]].dropna().drop_duplicates()
    parents = {
        str(name): tuple(sorted(map(str, found)))
        for name, found in pairs.groupby("model", observed=True)["parent_model"]
    }
    counts = pd.crosstab(rows["model"].astype(object), rows["kind"].astype(object))
    frame = pd.DataFrame(
        {
            "level": groups["top"].any().map({True: str(Level.TOP), False: str(Level.SUB)}),
            "instances": instances.astype("Int64").mask(instances == 0),
            "first_ns": groups["start_ns"].min(),
            "last_ns": groups["end_ns"].max(),
            "rows": groups.size(),
            **{str(kind): counts.get(str(kind), 0) for kind in COUNTED_KINDS},
        }
    )
    frame["name"] = [str(name) for name in frame.index]
    frame["parents"] = pd.Series([parents.get(name, ()) for name in frame["name"]], index=frame.index, dtype=object)
    frame = frame.sort_values(["first_ns", "name"], kind="stable").reset_index(drop=True)
    return frame[list(MODEL_DTYPES)].astype(MODEL_DTYPES)
