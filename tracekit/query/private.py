"""Rows without what is private: the texts of a query's views, each distinct one once."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import PurePosixPath
from typing import Final

from tracekit.columns import Codes, Numbers
from tracekit.grouping import grouped
from tracekit.query.columns import ViewRows
from tracekit.query.reading import RAW
from tracekit.recording.coding import merge_codes
from tracekit.recording.table import CellValue, Process, Table, Thread
from tracekit.report.private_text import PRIVATE, alias_names
from tracekit.report.redact import PrivateFacts, private_facts, redact_label, redact_names, redact_texts
from tracekit.trace.filter import model_names
from tracekit.trace.instruments.catalogue import INSTRUMENTS
from tracekit.trace.samples import SYSTEM
from tracekit.trace.trace import Trace

OF_REPORT: Final = (
    "models",
    "compute_units",
    "specializations",
    "operations",
    "findings",
    "checks",
    "evidence",
    "recording",
)
"""Views of a report, which is redacted itself."""
_OF_EVENTS = ("lane", "kind", "level", "compute_unit", "attribution", "origin", "source_table")
_OF_REQUESTS = ("form", "runtime", "phase", "first_token_from", "error")
_OF_OTHERS = ("state", "hang_type", "severity", "owner", "instrument", "view", "tables", "gpu", "track", "compiler")
_RECORDED = ("model_level", "event_type", "color", "aside", "says")
SAFE: Final = frozenset((*_OF_EVENTS, *_OF_REQUESTS, *_OF_OTHERS, *_RECORDED))
"""Columns of words that Apple or tracekit writes."""
_NAMED = ("label", "encoder", "event_label", "process", "image", "function", "fully_qualified_model", "model_name")
TEXTS: Final = frozenset((*_NAMED, "conclusion", "advice", "note"))
"""Columns in which names of processes, paths and ids are replaced."""
COUNTS: Final = frozenset(("total_tokens", "prompt_tokens", "response_tokens", "cached_tokens", "turn_index"))
"""Columns of numbers that are recorded as texts."""
MODELS: Final = frozenset(("model", "parent_model"))
SIGNPOSTS: Final = frozenset(("name", "category", "subsystem", "display"))
"""Columns of words that apps or users choose: each is told apart by an alias."""
_WORK = re.compile(r"\s+0x[0-9a-f]+$")
"""The piece of work at the end of a label: thousands differ in it alone."""
_MAIN, _PROCESS = "Main Thread", "process"
_SCHEMAS = frozenset(schema for instrument in INSTRUMENTS for schema in instrument.schemas)
"""Recorded tables of which it is known what their columns hold."""


def redacted(views: Mapping[str, ViewRows], trace: Trace) -> dict[str, ViewRows]:
    """The views with private texts replaced, names of processes as in a report. A text column that is known to be
    neither harmless nor of one of these kinds is private whole: apps and tables that are not known may write anything.
    O(rows + size of the distinct texts)."""
    texts = {
        (view, name): cells
        for view, rows in views.items()
        for name, cells in rows.items()
        if view not in OF_REPORT and isinstance(cells, Codes)
    }
    held = {key: list(cells.held()) for key, cells in texts.items()}
    clean = _public_texts(held, private_facts(trace), model_names(trace))
    changed = {key: texts[key].recoded(public.get) for key, public in clean.items()}
    return {
        view: {name: changed.get((view, name), cells) for name, cells in rows.items()} for view, rows in views.items()
    }


def public_tables(trace: Trace) -> Callable[[Sequence[Table]], list[Table]]:
    """What takes the same out of the cells of all tables of one schema. O(size of the distinct texts)."""
    facts, names = private_facts(trace), model_names(trace)

    def public(tables: Sequence[Table]) -> list[Table]:
        # A table that cannot be read has columns, and no cells.
        columns = [pair for table in tables for pair in zip(table.columns, table.cells, strict=False)]
        cells = [(column.mnemonic.replace("-", "_"), held) for column, held in columns]
        values = [(name, value) for name, held in cells if isinstance(held, Codes) for value in held.values]
        values += [(_PROCESS, cell.process) for _, cell in values if isinstance(cell, Thread) and cell.process]
        texts = grouped(((f"{RAW}.{tables[0].schema}", name), str(value)) for name, value in values)
        clean = {name: held for (_, name), held in _public_texts(texts, facts, names).items()}
        made = iter(
            [
                held
                if isinstance(held, Numbers) or name not in clean
                else merge_codes(held.codes, [_public_value(value, name, clean) for value in held.values])
                for name, held in cells
            ]
        )
        return [replace(table, cells=tuple(islice(made, len(table.cells)))) for table in tables]

    return public


def _public_value(value: CellValue, name: str, clean: Mapping[str, Mapping[str, str]]) -> CellValue:
    text = clean[name][str(value)]
    if isinstance(value, Thread):
        process = _public_value(value.process, _PROCESS, clean) if value.process else None
        return Thread(text, value.tid, process if isinstance(process, Process) else None)
    return Process(text.removesuffix(f" ({value.pid})"), value.pid) if isinstance(value, Process) else text


def _public_texts(
    held: Mapping[tuple[str, str], list[str]], facts: PrivateFacts, names: Collection[str]
) -> dict[tuple[str, str], dict[str, str]]:
    """What stands for each text of a view's column; columns that stay as they are have no entry."""
    unknown = {view for view, _ in held if view.startswith(f"{RAW}.") and view.removeprefix(f"{RAW}.") not in _SCHEMAS}
    held = {key: texts for key, texts in held.items() if key[0] in unknown or key[1] not in SAFE}
    bare = {text: _WORK.sub("", text) for (_, column), texts in held.items() if column in TEXTS for text in texts}
    distinct = list(dict.fromkeys(bare.values()))
    public = redact_texts([redact_label(text, facts) for text in distinct], facts, names)
    clean = dict(zip(distinct, public, strict=True))

    def replacement(column: str) -> Callable[[list[str]], list[str]]:
        if column in TEXTS:
            return lambda texts: [clean[bare[text]] + text[len(bare[text]) :] for text in texts]
        if column in MODELS:
            return lambda texts: redact_names(texts, facts)
        if column in SIGNPOSTS:
            return lambda texts: list(map(alias_names(texts, column).__getitem__, texts))
        if column == "file":
            return lambda texts: [PurePosixPath(text.replace("\\", "/")).name for text in texts]
        if column in COUNTS:
            return lambda texts: [text if text.isdecimal() else PRIVATE for text in texts]
        if column == "thread":
            return lambda texts: [_MAIN if text.startswith(_MAIN) else PRIVATE for text in texts]
        return lambda texts: [PRIVATE] * len(texts)

    return {
        (view, column): dict(
            zip(texts, [PRIVATE] * len(texts) if view in unknown else replacement(column)(texts), strict=True)
        )
        for (view, column), texts in held.items()
    }


def without_functions(rows: ViewRows) -> ViewRows:
    """The frames of stacks without names of the app's functions and source files, where `owner` is not the system.
    O(rows)."""
    owner = rows["owner"]
    return {
        name: cells.changed(~owner.is_any(SYSTEM) & cells.known, PRIVATE)
        if name in ("function", "file") and isinstance(cells, Codes) and isinstance(owner, Codes)
        else cells
        for name, cells in rows.items()
    }
