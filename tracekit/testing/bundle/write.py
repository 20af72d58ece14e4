"""Write scenarios as native `.trace` bundles, in the layout of Instruments 16.

X.trace/
  open.creq, form.template, TraceN.run/, instrument_data/      what is said of the document and its runs
  corespace/runN/core/                                         tables and shared values of run N
  symbols/stores/                                              functions and lines of the images that stacks hit

The same scenario gives the same bytes with one version of zlib. A bundle holds the tables whose rows a scenario knows;
names of processes that `Scenario.processes` does not list are in `form.template` alone.
"""

from __future__ import annotations

import plistlib
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from tracekit.testing.bundle.archive import Coded, Mutable, MutableText, archive, numbered_dictionary
from tracekit.testing.bundle.facts import configuration, instrument_files, run_information, run_issues
from tracekit.testing.bundle.symbols import app_path, driver_table, image_tables, symbol_files
from tracekit.testing.bundle.values import STACK_TYPES, TYPE_LIST, TYPES, Values
from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import Cell, TableContent, columns_from
from tracekit.testing.stacks import placed_images
from tracekit.testing.tables import tables_of

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


_THREAD_INFO = columns_from("""
    time: event-time | Timestamp; pid | Process ID; tid | Thread ID; process; thread; name: thread-name;
    main-thread: boolean
""")

_DOCUMENT_VERSION = 5
CORE = "corespace/"
"""Folder of all tables; files outside it are never compressed."""


def write_bundle(
    scenario: Scenario | Sequence[Scenario],
    path: Path | str,
    *,
    form_template: bool = True,
    compressed: bool = True,
    rows_per_block: int = ROWS_PER_BLOCK,
) -> Path:
    """Write a recording as a folder at `path`, which must not exist and should end in `.trace`. Returns the path.

    Several scenarios become the runs of one recording. Without `form_template` the run information is left out, as in
    most public bundles. Without `compressed` the files below `corespace` are stored as they are. Rows files are padded
    to whole blocks, 1 MB and more for a single row; fewer `rows_per_block` than Instruments has make them small.

    Raises FileExistsError where there is something at `path`.
    """
    path = Path(path)
    runs = [scenario] if isinstance(scenario, Scenario) else list(scenario)
    path.mkdir(parents=True)
    for name, content in bundle_files(runs, form_template=form_template, rows_per_block=rows_per_block).items():
        target = path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        packed = compressed and name.startswith(CORE) and not name.endswith("MANIFEST.plist")
        target.write_bytes(zlib.compress(content) if packed else content)
    return path


def bundle_files(
    runs: Sequence[Scenario], *, form_template: bool = True, rows_per_block: int = ROWS_PER_BLOCK
) -> dict[str, bytes]:
    """All files of a bundle by path, nothing compressed."""
    files: dict[str, bytes] = {}
    shared = []
    mnemonics: set[str] = set()
    for number, run in enumerate(runs, start=1):
        caught = [*run.samples, *run.driver]
        images = placed_images(caught, app_path(run))
        values = Values(run.target, images)
        shared.append(values)
        files |= symbol_files(caught, images) if run.symbols else {}
        tables = [*_tables(run), *image_tables(run, images), *driver_table(run)]
        mnemonics |= {column.type for table in tables for column in table.columns}
        core = f"{CORE}run{number}/core"
        for store, table in enumerate(tables):
            folder = f"{core}/stores/indexed-store-{store}"
            files |= {
                f"{folder}/{name}": content for name, content in store_files(table, values, rows_per_block).items()
            }
        files[f"{core}/table-manager/tables.plist"] = table_list(tables, number)
        files[f"{core}/core-config/exposedTableInfo.plist"] = configuration(run)
        files |= {f"{core}/uniquing/{name}": content for name, content in _shared_files(values, tables).items()}
        files[f"Trace{number}.run/RunIssues.storedata"] = run_issues(run.issues)
    files |= instrument_files(runs)
    topology = "The stored data contains storage topology not yet implemented by this version."
    entries: dict[str, list[object]] = {
        "com.apple.dt.ac.topology.XRT64_CC32_R_TypeID": [1, topology],
        "com.apple.dt.ac.topology.XRTD64_CC32_R_TypeID": [1, topology],
        "com.apple.dt.path-manager.compression": [1, "The data is compressed."],
        "com.apple.dt.trace": [_DOCUMENT_VERSION, "This document was saved by a newer version of Instruments."],
    }
    for mnemonic in mnemonics:
        sentence = f"This version does not support the new engineering type '{mnemonic}'."
        entries[f"com.apple.dt.etype.{TYPES[mnemonic].id}"] = [1, sentence]
    files["open.creq"] = plistlib.dumps(entries, fmt=plistlib.FMT_XML)
    folders = sorted({path.rpartition("/")[0].removeprefix(CORE) for path in files if path.startswith(CORE)})
    files[f"{CORE}MANIFEST.plist"] = plistlib.dumps(
        {"compressed-paths": folders, "paths": folders}, fmt=plistlib.FMT_XML
    )
    if form_template:
        files["form.template"] = run_information(runs, shared)
    return files


def _tables(run: Scenario) -> list[TableContent]:
    """Tables of a run. `thread-info` is not among the rows of scenarios, and says which thread is the main one."""
    tables = [table for _, table in tables_of(run)]
    if "thread-info" in run.missing:
        return tables
    cells = dict.fromkeys(cell for table in tables for row in table.rows for cell in row)
    main = main_thread(run.target, run.thread)
    threads = dict.fromkeys((main, *(cell for cell in cells if isinstance(cell, Thread))))
    # The main thread has no name of its own in real recordings.
    rows = tuple(
        (0, thread.process.pid, thread.tid, thread.process, thread, None, int(thread.name == "Main Thread"))
        for thread in threads
    )
    return [*tables, TableContent("thread-info", (), _THREAD_INFO, rows)]


def _shared_files(values: Values, tables: Sequence[TableContent]) -> dict[str, bytes]:
    """Files of the shared values of a run, by path below `uniquing`."""
    names = {
        "strings": "strings",
        "arrayUniquer": "arrayUniquer",
        "typedArrayUniquer": "typedArrayUniquer",
        "etypeMap": "EngineeringTypes.etypes",
        "nextUniqueIdentifier": 0,
    }
    used = {column.type for table in tables for column in table.columns}
    types = [*TYPE_LIST, *(native.id for mnemonic, native in STACK_TYPES.items() if mnemonic in used)]
    files = {
        "TOC": archive(root=Coded("XRAnalysisCoreObjectRegistryTOC", names)),
        "strings": plistlib.dumps(list(values.strings), fmt=plistlib.FMT_XML),
        "EngineeringTypes.etypes": archive(root=list(map(MutableText, types))),
    }
    for folder, arrays in (("arrayUniquer", values.arrays), ("typedArrayUniquer", values.labels)):
        index, data = arrays.files()
        files |= {f"{folder}/integeruniquer.index": index, f"{folder}/integeruniquer.data": data}
    return files
