"""Changed, cut and swapped files: a bundle reads, or a table or the whole of it is refused with a sentence."""

from __future__ import annotations

import random
import resource
import shutil
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path

import pytest

from support import fuzz_bundle as fuzzer
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.table import TableState

NONE_64 = (1 << 64) - 1
RUNS = 30
"""Damaged bundles, as many of each kind; `make fuzz` tries far more."""
UNNOTICED = {
    "EngineeringTypes.etypes",
    "RunIssues.storedata",
    "bulkstore",
    "bulkstore_descriptor",
    "exposedTableInfo.plist",
    "form.template",
    "integeruniquer.data",
    "integeruniquer.index",
    "schema.xml",
    "strings",
}
"""Files whose damage can pass, where no checksum covers it and no other file tells the same."""


def states(path: Path) -> set[TableState]:
    recording = open_recording(path)
    schemas = dict.fromkeys(entry.schema for entry in recording.run.tables)
    return {table.state for schema in schemas for table in recording.tables(schema)}


def test_damaged_bundles_tell_nothing_wrong_without_a_word():
    done = subprocess.run(
        [sys.executable, fuzzer.__file__, "--runs", str(RUNS), "--seconds", "300", "--seed", "20261121"],
        capture_output=True,
        text=True,
        check=False,
    )
    # Not 0 where the process took more than 300 MB, too.
    assert done.returncode == 0, done.stderr
    *lines, unnoticed, summary = done.stdout.splitlines()
    assert summary.startswith(f"{RUNS} bundles")
    outcomes: Counter[str] = Counter()
    for kind, line in zip(fuzzer.KINDS, lines, strict=True):
        words = line.removeprefix(kind).split()
        counts = dict(zip(words[::2], map(int, words[1::2]), strict=True))
        assert sum(counts.values()) == RUNS // len(fuzzer.KINDS)
        outcomes.update(counts)
    # Some of each, or the damage was none.
    assert min(outcomes.values()) > 0
    assert outcomes["said"] > RUNS // 4
    files = unnoticed.partition(": ")[2].replace(" and ", ", ").split(", ")
    assert set(files) <= UNNOTICED


@pytest.fixture
def made(made_bundle, made_table, tmp_path):
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


def test_damage_to_every_kind_of_value(made):
    bundle = fuzzer.sound_bundle("compressed", made)
    outcomes = Counter(fuzzer.attempt([bundle], 1, number)[2] for number in range(75))
    assert outcomes["said"] > 15


@pytest.mark.corpus
def test_damage_to_a_real_bundle(corpus, tmp_path):
    path = tmp_path / "run.trace"
    left_out = shutil.ignore_patterns("symbols", "spindex*", "run[23]", "Trace[23].run", "[23].run.zip")
    shutil.copytree(corpus / "bundles/output.trace", path, ignore=left_out)
    bundle = fuzzer.sound_bundle("compressed", path)
    outcomes = Counter(fuzzer.attempt([bundle], 2, number)[2] for number in range(6))
    assert outcomes["said"] > 1


def test_a_flipped_bit_below_the_compression_never_passes(made):
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


def test_rows_that_were_swapped_between_tables_are_noticed(made_bundle, made_table, tmp_path):
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
        assert TableState.UNREADABLE in states(path), name
        first.write_bytes(content[0])
        second.write_bytes(content[1])


def test_a_file_that_inflates_without_end_is_refused_before_it_does(made):
    rows = made / "corespace/run1/core/stores/indexed-store-0/bulkstore"
    head = zlib.decompress(rows.read_bytes())[:4096]
    packer = zlib.compressobj(9)
    bomb = packer.compress(head) + b"".join(packer.compress(bytes(1 << 22)) for _ in range(64)) + packer.flush()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    rows.write_bytes(bomb)
    (table,) = open_recording(made).tables("sample")
    assert "than 6,912 bytes" in table.reason
    strings = made / "corespace/run1/core/table-manager/tables.plist"
    strings.write_bytes(bomb)
    with pytest.raises(UnreadableRecording, match=r"inflates to more than 16,777,216 bytes"):
        open_recording(made)
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) * 1024 < 128 << 20
