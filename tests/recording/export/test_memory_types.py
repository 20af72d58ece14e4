"""Cells of Activity Monitor and Power Profiler, in the form that public scripts read."""

from __future__ import annotations

from pathlib import Path

from tracekit.columns import Codes, Numbers
from tracekit.recording import open_recording

NODE = """<?xml version="1.0"?>
<trace-query-result><node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'><schema name="{schema}">{columns}</schema>
{rows}</node></trace-query-result>
"""
COLUMN = "<col><mnemonic>{0}</mnemonic><name>{0}</name><engineering-type>{1}</engineering-type></col>"


def table_of(folder: Path, schema: str, types: dict[str, str], *rows: tuple[str, ...]):
    """A table that is exported alone, with cells as they are written."""
    columns = "".join(COLUMN.format(*pair) for pair in types.items())
    lines = [
        "".join(f"<{kind}>{cell}</{kind}>" for kind, cell in zip(types.values(), row, strict=True)) for row in rows
    ]
    text = NODE.format(schema=schema, columns=columns, rows="\n".join(f"<row>{line}</row>" for line in lines))
    (folder / "table.xml").write_text(text, encoding="utf-8")
    (table,) = open_recording(folder / "table.xml").tables(schema)
    return table


def test_counts_and_sizes_are_numbers_and_percentages_are_kept_to_the_digit(tmp_path):
    types = {
        "time": "start-time",
        "cpu-percent": "system-cpu-percent",
        "thread-count": "event-count",
        "memory-physical-footprint": "size-in-bytes",
    }
    rows = (("1000000000", "28.745141400", "12", "97928328"), ("2000000000", "0", "14", "97928329"))
    table = table_of(tmp_path, "sysmon-process", types, *rows)
    percent, threads, footprint = (table.column(name) for name in [*types][1:])
    assert isinstance(percent, Codes)
    assert [percent.item(row) for row in range(2)] == ["28.745141400", "0"]
    assert isinstance(threads, Numbers)
    assert threads.values.tolist() == [12, 14]
    assert footprint.item(1) == 97_928_329


def test_a_table_of_power_is_kept_as_it_was_recorded(tmp_path):
    types = {"start": "start-time", "duration": "duration", "power-usage": "percent-per-hour"}
    table = table_of(
        tmp_path, "SystemPowerLevel", types, ("0", "1000000000", "0.1"), ("1000000000", "1000000000", "12")
    )
    assert [table.column("power-usage").item(row) for row in range(2)] == ["0.1", "12"]
