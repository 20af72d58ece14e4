"""Rows that are read in pieces: none begins where a row does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tracekit.recording import open_recording
from tracekit.recording.bundle.files import _PIECE
from tracekit.recording.table import IntegerCells, TableState

Make = Callable[..., Any]
ROWS = 60_000


@pytest.mark.parametrize("compressed", [True, False])
def test_rows_of_several_pieces_are_all_there(
    made_bundle: Make, made_table: Make, tmp_path: Path, compressed: bool
) -> None:
    made = made_table(
        "sample", "time:event-time count:uint32 id:uint64", [(row, row % 7, row * row) for row in range(ROWS)]
    )
    # 28 bytes a row, which no piece is a multiple of.
    assert len(made.files()["bulkstore"]) > 5 * _PIECE
    path = made_bundle([made], compressed=compressed).write(tmp_path / "run.trace")
    (table,) = open_recording(path).tables("sample")
    assert table.rows == ROWS
    for mnemonic, expected in (
        ("time", range(ROWS)),
        ("count", (row % 7 for row in range(ROWS))),
        ("id", (row * row for row in range(ROWS))),
    ):
        cells = table.column(mnemonic)
        assert isinstance(cells, IntegerCells)
        assert cells.values.tolist() == list(expected)


@pytest.mark.parametrize(("declared", "reason"), [(ROWS - 1, "holds more than"), (ROWS + 1, "holds fewer than")])
def test_a_wrong_number_of_rows_is_noticed_behind_the_first_piece(
    made_bundle: Make, made_table: Make, tmp_path: Path, declared: int, reason: str
) -> None:
    made = made_table("sample", "time:event-time count:uint32", [(row, 1) for row in range(ROWS)], declared=declared)
    (table,) = open_recording(made_bundle([made]).write(tmp_path / "run.trace")).tables("sample")
    assert table.state is TableState.UNREADABLE
    assert reason in table.reason


@pytest.mark.parametrize("kept", [0.5, 0.999])
def test_a_rows_file_that_is_cut_off_is_no_shorter_table(
    made_bundle: Make, made_table: Make, tmp_path: Path, kept: float
) -> None:
    made = made_table("sample", "time:event-time count:uint32", [(row, row) for row in range(ROWS)])
    bundle = made_bundle([made]).write(tmp_path / "run.trace")
    (rows,) = bundle.rglob("bulkstore")
    stored = rows.read_bytes()
    rows.write_bytes(stored[: int(len(stored) * kept)])
    (table,) = open_recording(bundle).tables("sample")
    assert table.state is TableState.UNREADABLE
    assert "cut off" in table.reason
