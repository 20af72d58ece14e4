"""Rows of Core ML's own tables without a name in them, for an issue: a recording of a stranger can become a test.

Times and numbers stay. Of texts, only words of a fixed list stay, and only in columns that say what happened. All other
words become `NameA`, `NameB` and so on, the same throughout, so that rows still tell instances and pipelines apart.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable
from typing import Any

from tracekit.columns import Numbers
from tracekit.recording.contents import Recording
from tracekit.recording.table import Cells, TableState
from tracekit.report.private_text import ordinal_letters
from tracekit.trace.instruments.coreml import KNOWN_COLUMNS, is_known

FORMAT = 1
"""Version of the file; it rises where a reader of the last one would misread it."""

_TELLING = ("event-label", "graph-event-label", "event-type", "model-level", "color")
"""Columns of what happened. Names may stand in them too, behind an arrow for one."""
_WORD_LIST = """
a accelerate adapter add aggregate allocate allocation and ane apple array async asynchronous await background batch
begin bind binding blue bnns buffer bytes cache cached call cast check chunk clear cold command commit compile
compiled compiling completion compute concept concurrent configuration constant context conversion convert copy core
coreml cpu create creation data decode decompress default dequantize destroy device direct dispatch download draft
encode end engine enqueue error evaluate evaluation event execute execution failed feature features fetch file first
flush for fp16 fp32 free from function functional gpu graph gray green hit host image in init initialize input
inputs instance internal invoke io iosurface kernel key kv last layer layout level load loading lock low make map
memory metal miss ml mlcomputeplan mlmodel mlmultiarray mlstate model models move mps mpsgraph multi network neural
new not of on op open operation optimize orange other out output outputs parallel parse pipeline pixel plan planning
pool pop post predict prediction preferred preparation prepare preprocess procedure process program prompt purple
push quantize queue queued read ready red refresh release remote reorder request reset resize resource response
restore retain retry return run save schedule segment send sequence session set setup shape shared signal software
specialization specialize specialized stage start state stateful status step stop stream sub submission submit
surface sync synchronize system task tensor time to token tokenize top total transcode transfer transform
transformation transpose type uncached unload unlock unmap update upload use validate validation values wait waiting
warm warmup with work write yellow
"""
_WORDS = frozenset(_WORD_LIST.split())
"""Words that Core ML uses or may come to use in its own strings. None of them names an app or a model of anybody."""
_WORD = re.compile(r"\w+")
_SIGNS = re.compile(r"[^\w \-()/:,.→+]")
_SHORT_NUMBER = re.compile(r"[0-9]{1,4}")


def core_ml_schemas(recording: Recording) -> list[str]:
    """Tables of the Core ML instrument that the recording lists, by their names."""
    return sorted({entry.schema for entry in recording.run.tables if entry.schema.startswith("coreml")})


def unnamed_rows(recording: Recording) -> str:
    """The rows as JSON for `tracekit.testing.read_rows`, with unknown event strings and columns. O(rows)."""
    names: dict[str, str] = {}
    tables = [
        table
        for schema in core_ml_schemas(recording)
        for table in recording.tables(schema)
        if table.state in (TableState.ROWS, TableState.EMPTY)
    ]
    events = {
        text
        for table in tables
        for column, cells in zip(table.columns, table.cells, strict=True)
        if column.mnemonic == "event-label" and not isinstance(cells, Numbers)
        for text in map(str, cells.values)
    }
    plain: list[dict[str, Any]] = []
    for table in tables:
        columns = [
            {"mnemonic": column.mnemonic, "name": column.name, "type": column.engineering_type}
            for column in table.columns
        ]
        cells = [
            _values(part, names, _WORDS if column.mnemonic in _TELLING else ())
            for column, part in zip(table.columns, table.cells, strict=True)
        ]
        plain.append({"schema": table.schema, "columns": columns, "rows": list(zip(*cells, strict=True))})
    document = {
        "format": FORMAT,
        "instruments": recording.run.instruments_version,
        "unknown_events": sorted({_without_names(text, names, _WORDS) for text in events if not is_known(text)}),
        "unknown_columns": sorted({column.mnemonic for table in tables for column in table.columns} - KNOWN_COLUMNS),
        "tables": plain,
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _values(cells: Cells, names: dict[str, str], kept: Collection[str]) -> Iterable[int | str | None]:
    if isinstance(cells, Numbers):
        return map(cells.item, range(len(cells)))
    texts = [_without_names(str(value), names, kept) for value in cells.values]
    return (None if code < 0 else texts[code] for code in cells.codes.tolist())


def _without_names(text: str, names: dict[str, str], kept: Collection[str]) -> str:
    """The text with a name for each word that is not kept; `names` has those given so far."""

    def stand_in(match: re.Match[str]) -> str:
        word = match.group()
        if word.casefold() in kept or _SHORT_NUMBER.fullmatch(word):
            return word
        return names.setdefault(word, f"Name{ordinal_letters(len(names))}")

    return _WORD.sub(stand_in, _SIGNS.sub("", text))
