"""Files made to harm: refused soon, with a sentence, in bounded memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from support import fuzz_export as fuzzer

BEGINNING = (
    "<?xml version='1.0'?><trace-query-result><node><schema name='x'><col><mnemonic>a</mnemonic><name>a</name>"
    "<engineering-type>narrative</engineering-type></col></schema>"
)
MEMORY_MB = 300

READ_AND_MEASURE = """
import sys
sys.path.insert(0, sys.argv[2])
from fuzz_export import memory_mb
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
try:
    open_recording(sys.argv[1])
except UnreadableRecording as error:
    print(error)
print(int(memory_mb()))
"""


def test_a_thousand_broken_files_read_or_are_refused(tmp_path: Path) -> None:
    outcomes = fuzzer.run(runs=1000, seconds=300, seed=20_261_121, folder=tmp_path)
    assert sum(outcomes.values()) == 1000
    # Both must occur, or the files prove nothing: too broken to reach the reader, or not broken at all.
    assert outcomes["read"] > 50
    assert outcomes["refused"] > 300


def test_the_fuzzer_reports_and_stays_small() -> None:
    done = subprocess.run(
        [sys.executable, fuzzer.__file__, "--runs", "200", "--seconds", "60"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "read" in done.stdout
    assert int(done.stdout.split()[-4]) < MEMORY_MB


@pytest.mark.parametrize(
    ("head", "unit", "sentence"),
    [
        ("<row><narrative>", "a", "no row ended within 4,194,304 bytes"),
        ("<row><narrative fmt='", "a", "no row ended"),
        ("<row><narrative>", "<a/>", "no row ended"),
        ("<row>", "<a/>", "no row ended"),
        ("", " ", "no row ended"),
        ("", "<!-- nothing -->", "no row ended"),
        ("", "<a/>", "is not allowed here, only a <schema> or a <row>"),
        ("</node>", "<node/>", "more than 20,000 nodes"),
        ("</node></trace-query-result>", "\n", "no row ended"),
    ],
)
def test_files_without_end_take_little_memory(tmp_path: Path, head: str, unit: str, sentence: str) -> None:
    path = tmp_path / "endless.xml"
    block = unit.encode() * (1024 * 1024 // len(unit))
    with path.open("wb") as stream:
        stream.write((BEGINNING + head).encode())
        for _ in range(200):
            stream.write(block)
    _check(path, sentence)


@pytest.mark.parametrize(
    "pattern", ["<row><narrative a{}=''>x</narrative></row>", "<row><narrative><t{}/></narrative></row>"]
)
def test_ever_new_names_do_not_fill_the_memory(tmp_path: Path, pattern: str) -> None:
    path = tmp_path / "names.xml"
    with path.open("w") as stream:
        stream.write(BEGINNING)
        for number in range(400_000):
            stream.write(pattern.format(number))
    _check(path, "more than")


def _check(path: Path, sentence: str) -> None:
    message, peak = _read_elsewhere(path).rsplit("\n", 1)
    assert sentence in message
    assert int(peak) < MEMORY_MB
    path.unlink()


def _read_elsewhere(path: Path) -> str:
    """What a fresh process says of a file, and its peak memory in MB on the last line."""
    command = [sys.executable, "-c", READ_AND_MEASURE, str(path), str(Path(fuzzer.__file__).parent)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()


def test_many_rows_of_known_values_cost_their_columns_only(tmp_path: Path) -> None:
    path = tmp_path / "rows.xml"
    rows = 500_000
    block = '<row><narrative ref="1"/></row>\n' * 1000
    with path.open("w") as stream:
        stream.write(BEGINNING + '<row><narrative id="1" fmt="a"/></row>')
        for _ in range(rows // 1000):
            stream.write(block)
        stream.write("</node></trace-query-result>")
    # 4 bytes a code, 2 a signature and the interpreter with numpy and lxml, about 35 MB.
    assert int(_read_elsewhere(path)) < 80
