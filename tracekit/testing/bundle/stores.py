"""Write tables as the stores of a bundle: what a row consists of, and the rows."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

import numpy as np

from tracekit.testing.bundle.archive import Coded, Mutable, archive, numbered_dictionary
from tracekit.testing.bundle.values import TYPES, Values
from tracekit.testing.schemas import Cell, TableContent

ROWS_PER_BLOCK = 65_536
"""The rows file is padded to a multiple of this; what Instruments writes."""
DATA_AT = 4_096
"""Offset of the first row."""
_MAGIC, _VERSION, _HEAD_WORD = 0x1234_0A0A, 3, 40
_TIME, _DURATION = "XRTraceRelativeTimestampFieldID", "XRDurationFieldID"
_CATEGORIES = ("XRCategory1FieldID", "XRCategory2FieldID")

_CATEGORY_COLUMNS: dict[str, tuple[str, ...]] = {
    "os-signpost": ("thread",),
    "os-signpost-interval": ("name", "category"),
    "OSSignpostIntervals": ("name", "category"),
    "process-info": ("pid",),
    "thread-info": ("pid",),
    "life-cycle-period": ("group", "lane"),
    "time-profile": ("thread",),
    "kdebug": ("thread",),
    "kdebug-strings": ("raw-string",),
}
"""Columns that a schema keeps in the categories of its topology; the others use none. Measured but for Xcode 27's."""

_LISTS, _FLAGS = frozenset({"codes"}), frozenset({"detect-priority-inversions"})


def table_spec(table: TableContent) -> Coded:
    """Schema and attributes, as the list of tables and the store both hold them."""
    return Coded(
        "XRAnalysisCoreTableSpec",
        {
            "schemaName": table.schema,
            "engineeringName": table.schema,
            "mergeableAttributeKeys": frozenset(),
            "attributes": Mutable({key: _attribute(key, text) for key, text in table.attributes}),
        },
    )


def store_files(table: TableContent, values: Values, rows_per_block: int) -> dict[str, bytes]:
    """Files of the store of a table, by name."""
    first, *others = table.columns
    # Field by the mnemonic of the column that lies there.
    topology = {first.mnemonic: _TIME}
    if any(column.mnemonic == "duration" for column in others):
        topology["duration"] = _DURATION
    topology |= dict(zip(_CATEGORY_COLUMNS.get(table.schema, ()), _CATEGORIES, strict=False))
    # Fields of a row: the topology first, then the other columns in order, without gaps.
    leading = [(_TIME, "<u8"), *([(_DURATION, "<u8")] if _DURATION in topology.values() else [])]
    leading += [(name, "<u4") for name in _CATEGORIES]
    rest = [column for column in table.columns if column.mnemonic not in topology]
    record = np.dtype(leading + [(column.mnemonic, f"<u{TYPES[column.type].bytes}") for column in rest])
    rows = np.zeros(len(table.rows), record)
    # Another order than that of time, as in nearly all real stores; rows of equal times keep theirs.
    by_time: dict[Cell, list[tuple[Cell, ...]]] = {}
    for row in table.rows:
        by_time.setdefault(row[0], []).append(row)
    groups = list(by_time.values())
    for index in range(1, len(groups), 3):
        groups[index - 1], groups[index] = groups[index], groups[index - 1]
    ordered = [row for group in groups for row in group]
    for index, column in enumerate(table.columns):
        field = topology.get(column.mnemonic, column.mnemonic)
        native = TYPES[column.type]
        rows[field] = np.array([values.number(native, row[index]) for row in ordered], record[field])
    size = record.itemsize
    head = struct.pack("<8I", _MAGIC, _VERSION, _HEAD_WORD, DATA_AT, size, size * rows_per_block, rows_per_block, 0)
    padding = bytes(-len(rows) % rows_per_block * size)
    return {
        "schema.xml": _schema(table, topology).encode(),
        "spec.plist": archive(root=table_spec(table)),
        "bulkstore_descriptor": archive(root=_descriptor(table, record)),
        "bulkstore": head + bytes(DATA_AT - len(head)) + rows.tobytes() + padding,
    }


def _attribute(key: str, printed: str) -> object:
    """Value of an attribute that a table of contents prints as `printed`."""
    if key in _LISTS:
        return [item.strip('"') for item in printed.split(" ")]
    if printed.isdecimal():
        return printed == "1" if key in _FLAGS else int(printed)
    return printed[1:-1] if printed.startswith('"') else printed


def _schema(table: TableContent, topology: dict[str, str]) -> str:
    """The schema file: one element per column, in order."""
    columns = ""
    for column in table.columns:
        field = topology.get(column.mnemonic)
        pairs = {
            "mnemonic": column.mnemonic,
            "engineeringName": column.name,
            "engineeringType": TYPES[column.type].id,
            **({"topologyField": field} if field else {}),
        }
        columns += f"<column {' '.join(f'{key}={quoteattr(text)}' for key, text in pairs.items())}/>"
    kind = "XRTD64_CC32_R_TypeID" if _DURATION in topology.values() else "XRT64_CC32_R_TypeID"
    head = f'<schema name={quoteattr(table.schema)} topology="{kind}">'
    return f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n{head}{columns}</schema>\n\n'


def _descriptor(table: TableContent, record: np.dtype[np.void]) -> Coded:
    """Fields, their widths, and the number of rows."""
    timed = 6 if _DURATION in (record.names or ()) else 7
    stored = [name for name in record.names or () if name not in {_TIME, _DURATION, *_CATEGORIES}]
    kinds = [("topology", timed), *((name, 1 if record[name].itemsize == 4 else 2) for name in stored)]
    fields: list[object] = [
        Coded("XRFieldDescriptor", {"$0": {"_name": name, "_index": index, "_type": kind, "_multi": 1}})
        for index, (name, kind) in enumerate(kinds)
    ]
    substitutions: dict[object, object] = {
        "next_id": 0,
        "id_map_nsdata": b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01I\x00",
        "substitution_version": 1,
    }
    description: dict[str, object] = {
        "_eventClass": "XRManagedEvent",
        "_fields": fields,
        "_maxEventSize": record.itemsize,
        "_minEventSize": record.itemsize,
        "_version": 1,
        "_variableSize": False,
        "_synopsis": table.schema,
        "_publicProps": Mutable({}),
        "_substitutions": Coded("XRDescriptorSubstitutions", {"$0": Mutable(substitutions)}),
        "_name": table.schema,
        "_props": {"storage_manager_version": 1, "next_event_id": len(table.rows), "mono_event_id": len(table.rows)},
        "_identifier": table.schema,
    }
    return Coded("XREventDescriptor", {"$0": description})


def table_list(tables: Sequence[TableContent], run: int) -> bytes:
    """The list of tables of a run. Each store has two ids, one for each side."""
    specs = [table_spec(table) for table in tables]
    entries = [
        {"storeSubpath": f"run{run}/core/stores/indexed-store-{store}", "side": side, "spec": specs[store]}
        for side in (0, 1)
        for store in range(len(tables))
    ]
    details = numbered_dictionary(list(enumerate(entries)))
    return archive(root={"lastStoreIdx": len(tables), "nextTableID": len(entries), "tableDetails": details})
