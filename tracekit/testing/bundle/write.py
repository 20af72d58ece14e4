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
import zlib
from collections.abc import Sequence
from pathlib import Path

from tracekit.testing.bundle.archive import Coded, MutableText, archive
from tracekit.testing.bundle.facts import configuration, instrument_files, run_information, run_issues
from tracekit.testing.bundle.stores import ROWS_PER_BLOCK, store_files, table_list
from tracekit.testing.bundle.symbols import app_path, driver_table, image_tables, symbol_files
from tracekit.testing.bundle.values import STACK_TYPES, TYPE_LIST, TYPES, Values
from tracekit.testing.machines import Thread, main_thread
from tracekit.testing.scenario import Scenario
from tracekit.testing.schemas import TableContent, columns_from
from tracekit.testing.stacks import placed_images
from tracekit.testing.tables import tables_of

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
