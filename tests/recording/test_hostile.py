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
import os, sys
sys.path.insert(0, sys.argv[1])
from fuzz_export import memory_mb
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
for line in sys.stdin:
    if os.fork():
        if os.wait()[1]:
            print("broken", 0, sep="\\t", flush=True)
        continue
    try:
        open_recording(line.rstrip())
        said = "read"
    except UnreadableRecording as error:
        said = str(error)
    print(said, int(memory_mb()), sep="\\t", flush=True)
    os._exit(0)
"""
"""Reads files by their names, each in a copy of this process: starting one again takes longer than most of the files.
Says of each how it went, and how many MB that took at most."""


def reader() -> subprocess.Popen[str]:
    command = [sys.executable, "-c", READ_AND_MEASURE, str(Path(fuzzer.__file__).parent)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)


def read_by(process: subprocess.Popen[str], path: Path) -> tuple[str, int]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{path}\n")
    message, peak = process.stdout.readline().rsplit("\t", 1)
    return message, int(peak)


@pytest.fixture(scope="module")
def refused():
    """Asserts that a file is refused with a sentence. Never takes much memory."""

    def check(path: Path, sentence: str) -> None:
        message, peak = read_by(process, path)
        assert sentence in message
        assert peak < MEMORY_MB
        path.unlink()

    with reader() as process:
        yield check
        process.stdin.close()


def test_broken_files_read_or_are_refused(tmp_path):
    outcomes = fuzzer.run(runs=400, seconds=300, seed=20_261_121, folder=tmp_path)
    assert sum(outcomes.values()) == 400
    # Both must occur, or the files prove nothing: too broken to reach the reader, or not broken at all.
    assert outcomes["read"] > 20
    assert outcomes["refused"] > 120


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
def test_files_without_end_take_little_memory(tmp_path, refused, head, unit, sentence):
    path = tmp_path / "endless.xml"
    block = unit.encode() * (1024 * 1024 // len(unit))
    with path.open("wb") as stream:
        stream.write((BEGINNING + head).encode())
        for _ in range(200):
            stream.write(block)
    refused(path, sentence)


@pytest.mark.parametrize(
    "pattern", ["<row><narrative a{}=''>x</narrative></row>", "<row><narrative><t{}/></narrative></row>"]
)
def test_ever_new_names_do_not_fill_the_memory(tmp_path, refused, pattern):
    path = tmp_path / "names.xml"
    with path.open("w") as stream:
        stream.write(BEGINNING)
        for number in range(400_000):
            stream.write(pattern.format(number))
    refused(path, "more than")


def test_many_rows_of_known_values_cost_their_columns_only(tmp_path):
    block = '<row><narrative ref="1"/></row>\n' * 1000
    peaks = []
    with reader() as process:
        for thousands in (0, 100):
            path = tmp_path / f"{thousands}.xml"
            with path.open("w") as stream:
                stream.write(BEGINNING + '<row><narrative id="1" fmt="a"/></row>')
                for _ in range(thousands):
                    stream.write(block)
                stream.write("</node></trace-query-result>")
            message, peak = read_by(process, path)
            assert message == "read"
            peaks.append(peak)
        process.stdin.close()
    # 4 bytes a code and 2 a signature: 1 MB, and pages that only some rows fill.
    assert peaks[1] - peaks[0] < 6
