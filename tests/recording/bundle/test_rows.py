"""Rows that are read in pieces: none begins where a row does."""

import zlib

import pytest

from tracekit.columns import Numbers
from tracekit.recording import open_recording
from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.files import _PIECE, _STORED_PIECE, _inflate
from tracekit.recording.table import TableState

ROWS = 60_000


@pytest.mark.parametrize("compressed", [True, False])
def test_rows_of_several_pieces_are_all_there(made_bundle, made_table, tmp_path, compressed):
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
        assert isinstance(cells, Numbers)
        assert cells.values.tolist() == list(expected)


@pytest.mark.parametrize(("declared", "reason"), [(ROWS - 1, "contains more than"), (ROWS + 1, "contains fewer than")])
def test_a_wrong_number_of_rows_is_noticed_behind_the_first_piece(made_bundle, made_table, tmp_path, declared, reason):
    made = made_table("sample", "time:event-time count:uint32", [(row, 1) for row in range(ROWS)], declared=declared)
    (table,) = open_recording(made_bundle([made]).write(tmp_path / "run.trace")).tables("sample")
    assert table.state is TableState.UNREADABLE
    assert reason in table.reason


def test_rows_behind_the_declared_ones_are_noticed_where_blanks_follow_them(made_bundle, made_table, tmp_path):
    """One block of many pieces, the last of which holds nothing."""
    rows = [(row + 1, 1) for row in range(20_000)]
    made = made_table("sample", "time:event-time count:uint32", rows, declared=15_000, rows_per_block=1 << 16)
    assert len(made.files()["bulkstore"]) > 3 * _PIECE
    (table,) = open_recording(made_bundle([made]).write(tmp_path / "run.trace")).tables("sample")
    assert table.state is TableState.UNREADABLE
    assert "contains more than the 15,000 rows" in table.reason


def test_bytes_behind_a_stream_that_ends_with_a_piece_are_noticed():
    content = bytes(range(256)) * (_STORED_PIECE // 256)
    stream = zlib.compress(content[: _STORED_PIECE - 11], 0)
    assert len(stream) == _STORED_PIECE
    assert b"".join(_inflate([stream], "a/rows", 1 << 20)) == content[: _STORED_PIECE - 11]
    with pytest.raises(DamageError, match="has bytes after its end"):
        b"".join(_inflate([stream, b"x"], "a/rows", 1 << 20))


@pytest.mark.parametrize("kept", [0.5, 0.999])
def test_a_rows_file_that_is_cut_off_is_no_shorter_table(made_bundle, made_table, tmp_path, kept):
    made = made_table("sample", "time:event-time count:uint32", [(row, row) for row in range(ROWS)])
    bundle = made_bundle([made]).write(tmp_path / "run.trace")
    (rows,) = bundle.rglob("bulkstore")
    stored = rows.read_bytes()
    rows.write_bytes(stored[: int(len(stored) * kept)])
    (table,) = open_recording(bundle).tables("sample")
    assert table.state is TableState.UNREADABLE
    assert "cut off" in table.reason


def test_more_rows_than_are_allowed_are_refused_before_there_is_room_for_them(
    made_bundle, made_table, tmp_path, monkeypatch
):
    made = made_table("sample", "time:event-time count:uint32", [(row, 1) for row in range(100)])
    # 8 bytes of time, 8 of topology, 4 of the count.
    monkeypatch.setattr(limits, "MAX_ROWS_BYTES", 100 * 20 - 1)
    (table,) = open_recording(made_bundle([made]).write(tmp_path / "run.trace")).tables("sample")
    assert table.state is TableState.UNREADABLE
    assert "1,999 bytes" in table.reason
