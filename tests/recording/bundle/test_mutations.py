"""Changed, cut and swapped files: a bundle reads, or a table or the whole of it is refused with a sentence."""

from __future__ import annotations

import random
import resource
import shutil
import zlib
from typing import TYPE_CHECKING, Any

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.table import TableState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NONE_64 = (1 << 64) - 1
ADDED_BYTES = 1 << 30
"""How much a changed bundle of a few kilobytes may take at most."""


def read_everything(path: Path) -> str:
    """`whole`, `tables` where some cannot be read, or `refused`. Nothing but `UnreadableRecording` may be raised."""
    try:
        recording = open_recording(path)
    except UnreadableRecording:
        return "refused"
    states = set()
    for schema in dict.fromkeys(entry.schema for entry in recording.run.tables):
        for table in recording.tables(schema):
            assert (table.state is TableState.UNREADABLE) == bool(table.reason)
            assert all(len(cells) == table.rows for cells in table.cells)
            states.add(table.state)
    return "tables" if TableState.UNREADABLE in states else "whole"


def changed(data: bytes, others: list[bytes], choice: random.Random) -> bytes | None:
    """The content after one accident; None where the file is lost."""
    content = bytearray(data)
    accident = choice.choice(("bit", "bit", "bytes", "ones", "cut", "grow", "swap", "empty", "lost"))
    if accident == "lost":
        return None
    if accident == "swap" or not content:
        return choice.choice(others)
    place = choice.randrange(len(content))
    if accident == "bit":
        content[place] ^= 1 << choice.randrange(8)
    elif accident == "bytes":
        for _ in range(20):
            content[choice.randrange(len(content))] = choice.randrange(256)
    elif accident == "ones":
        content[place : place + 8] = b"\xff" * 8
    elif accident == "grow":
        content[place:place] = choice.randbytes(4)
    return b"" if accident == "empty" else bytes(content[:place]) if accident == "cut" else bytes(content)


def run_accidents(folder: Path, count: int, seed: int, read: Callable[[], str]) -> dict[str, int]:
    """Outcomes of reading after accidents to one or two files, below the compression where there is one."""
    choice = random.Random(seed)  # noqa: S311 - accidents that repeat
    originals = {
        path: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "currentRun" not in path.parts
    }
    inner = {path: zlib.decompress(data) if data[:1] == b"\x78" else data for path, data in originals.items()}
    pool = list(originals.values())
    outcomes = {"whole": 0, "tables": 0, "refused": 0}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(count):
        touched = choice.sample(list(originals), choice.choice((1, 1, 2)))
        for path in touched:
            below = choice.random() < 0.6
            content = changed(inner[path] if below else originals[path], pool, choice)
            path.unlink()
            if content is not None:
                again = below and inner[path] is not originals[path] and choice.random() < 0.7
                path.write_bytes(zlib.compress(content, 1) if again else content)
        outcomes[read()] += 1
        for path in touched:
            path.write_bytes(originals[path])
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024
    assert grown < ADDED_BYTES
    return outcomes


@pytest.fixture
def made(made_bundle: Any, made_table: Any, tmp_path: Path) -> Path:
    """A bundle with every kind of value."""
    zero = (1 << 63) - 1
    tables = [
        made_table(
            "sample",
            "start:start-time duration thread label:formatted-label value:any stack:backtrace name:string",
            [(n, 5, 2, n % 2, 2, 5, 1) for n in range(50)],
            interval=True,
        ),
        made_table("process-info", "time:event-time pid process process-name:string", [(1, 77, 0, 1)]),
        made_table(
            "thread-info", "time:event-time tid thread name:thread-name main-thread:boolean", [(1, 5, 2, NONE_64, 1)]
        ),
        made_table("time-info", "time:event-time trace-start-time:time-since-epoch", [(1, zero + 10**18)]),
    ]
    typed = [[("string", 1), ("process", 0)], [("formatted-label", 0), ("duration", 9)], [("uint64", 3)]]
    arrays = [[77, 0], [78, 0], [5, 0], [0x10], [0x20, 0x30], [3, 4]]
    return made_bundle(tables, strings=["", "name"], arrays=arrays, typed=typed).write(tmp_path / "run.trace")


def test_accidents_to_a_made_bundle(made: Path) -> None:
    assert read_everything(made) == "whole"
    outcomes = run_accidents(made, 300, 1, lambda: read_everything(made))
    # Some of each, or the accidents were none.
    assert min(outcomes.values()) > 10


@pytest.mark.corpus
def test_accidents_to_a_real_bundle(corpus: Path, tmp_path: Path) -> None:
    path = tmp_path / "run.trace"
    shutil.copytree(
        corpus / "bundles/output.trace", path, ignore=shutil.ignore_patterns("symbols", "spindex*", "run[23]")
    )
    for number in (2, 3):
        shutil.rmtree(path / f"Trace{number}.run")
    assert read_everything(path) == "whole"
    outcomes = run_accidents(path, 20, 2, lambda: read_everything(path))
    assert outcomes["tables"] > 5


def test_a_flipped_bit_below_the_compression_never_passes(made: Path) -> None:
    """Compressed files carry a checksum, so that no number changes without a word."""
    rows = made / "corespace/run1/core/stores/indexed-store-0/bulkstore"
    data = rows.read_bytes()
    choice = random.Random(3)  # noqa: S311 - accidents that repeat
    for _ in range(40):
        content = bytearray(data)
        content[choice.randrange(2, len(content))] ^= 1 << choice.randrange(8)
        rows.write_bytes(content)
        (table,) = open_recording(made).tables("sample")
        assert table.state is TableState.UNREADABLE


def test_rows_that_were_swapped_between_tables_are_noticed(made_bundle: Any, made_table: Any, tmp_path: Path) -> None:
    tables = [
        made_table("one", "time:event-time count:uint32", [(1, 1), (2, 2)]),
        made_table("two", "time:event-time count:uint32", [(1, 1)]),
    ]
    path = made_bundle(tables).write(tmp_path / "run.trace")
    stores = path / "corespace/run1/core/stores"
    for name in ("bulkstore", "spec.plist", "schema.xml"):
        first, second = stores / f"indexed-store-0/{name}", stores / f"indexed-store-1/{name}"
        content = first.read_bytes(), second.read_bytes()
        first.write_bytes(content[1])
        second.write_bytes(content[0])
        assert read_everything(path) == "tables", name
        first.write_bytes(content[0])
        second.write_bytes(content[1])


def test_a_file_that_inflates_without_end_is_refused_before_it_does(made: Path) -> None:
    rows = made / "corespace/run1/core/stores/indexed-store-0/bulkstore"
    head = zlib.decompress(rows.read_bytes())[:4096]
    packer = zlib.compressobj(9)
    bomb = packer.compress(head) + b"".join(packer.compress(bytes(1 << 22)) for _ in range(64)) + packer.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows.write_bytes(bomb)
    (table,) = open_recording(made).tables("sample")
    assert "than the 6,912 bytes that are allowed" in table.reason
    strings = made / "corespace/run1/core/table-manager/tables.plist"
    strings.write_bytes(bomb)
    with pytest.raises(UnreadableRecording, match=r"inflates to more than the 16,777,216 bytes"):
        open_recording(made)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024 < 128 << 20
