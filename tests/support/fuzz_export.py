"""Feeds broken exports to the reader: every one must read or be refused with a sentence, soon and in little memory.

    python tests/support/fuzz_export.py --runs 100000 --seconds 600 --seed 1

Base documents are made here; real ones from `../shared/corpus` join where they are.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import signal
import sys
import tempfile
import time
import zipfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MEMORY_MB = 300
"""What a broken file may take, the interpreter included."""
MAX_SECONDS = 10
"""For one file; all of them are small."""
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "xml"

TOKENS = (
    *b"""<row> </row> <row/> <node> </node> <node/> </schema> <sentinel/> <sentinel <duration> </trace-query-result>
    <trace-toc> &b; <!-- --> <![CDATA[ ]]> id="1" id="4" ref="1" ref="99999999" ref="-1" fmt="" -1 1e9 1_0 nan <process
    18446744073709551616 <any> run[0] run[999999] table[0] /tracks/ ' " < >""".split(),
    b"<!DOCTYPE a [<!ENTITY b 'c'>]>",
    b"<schema name='x'/>",
    b"<string xmlns='a'>",
    b"<?p ?>",
    b"\x00",
    b"\xff\xfe",
    b"\xc3\x28",
    "١٢".encode(),
)
"""Pieces with a meaning to the reader, put where they do not belong."""

_COLUMNS = (
    "start:start-time", "duration:duration", "latency:duration", "event:coreml-model-event", "label:formatted-label",
    "process:process", "thread:thread", "stack:tagged-backtrace", "value:any", "bytes:size-in-bytes",
)  # fmt: skip


def base_documents() -> list[bytes]:
    """Sound documents of every form the reader knows."""
    rng = random.Random(0)  # noqa: S311 - no secret
    columns = "".join(
        f"<col><mnemonic>{name}</mnemonic><name>{name}</name><engineering-type>{kind}</engineering-type></col>"
        for name, kind in (column.split(":") for column in _COLUMNS)
    )
    process = (
        '<process id="6" fmt="app (42)"><pid id="7" fmt="42">42</pid><device-session id="8">TODO</device-session>'
        "</process>"
    )
    first = (
        '<start-time id="1" fmt="00:00.001">1000</start-time><duration id="2" fmt="5 ns">5</duration><sentinel/>'
        '<coreml-model-event id="3" fmt="Prediction">Prediction</coreml-model-event>'
        f'<formatted-label id="4" fmt="x"><string id="5">x</string>{process}</formatted-label><process ref="6"/>'
        '<thread id="9" fmt="Main (0x1)"><tid id="10">1</tid><process ref="6"/></thread>'
        '<tagged-backtrace id="11"><frame id="12" name="f" addr="0x1"><binary id="13" name="b"/></frame>'
        "</tagged-backtrace>"
        '<uint64 id="14">7</uint64><size-in-bytes id="15">1</size-in-bytes>'
    )
    later = "".join(
        f'<row><start-time id="{16 + row}">{rng.randrange(10**9)}</start-time><duration ref="2"/><duration ref="2"/>'
        '<coreml-model-event ref="3"/><formatted-label ref="4"/><sentinel/><thread ref="9"/>'
        '<tagged-backtrace ref="11"/><string>s</string><size-in-bytes ref="15"/></row>\n'
        for row in range(8)
    )
    table = (
        "<?xml version=\"1.0\"?>\n<trace-query-result>\n<node xpath='//trace-toc[1]/run[1]/data[1]/table[1]'>"
        f'<schema name="sample">{columns}</schema><row>{first}</row>\n{later}</node>'
        "<node xpath='//trace-toc[1]/run[2]/data[1]/table[1]'></node></trace-query-result>"
    )
    hand_made = (
        '<trace-query-result><node><schema name="ane-hw-intervals"/><row><start-time>1</start-time><duration ref="4"/>'
        '</row><row><start-time>2</start-time><duration id="4">3</duration></row></node></trace-query-result>'
    )
    toc = (
        '<trace-toc><run number="1"><info><target><device platform="macOS"/><process name="app" pid="42"/></target>'
        '<summary><duration>1.5</duration></summary></info><data><table schema="sample" codes="&quot;0x1,0x2&quot;"/>'
        "</data></run></trace-toc>"
    )
    return [text.encode() for text in (table, hand_made, toc, "<trace-query-result>\n</trace-query-result>\n")]


def corpus_documents() -> list[bytes]:
    """Small real exports, where they are."""
    paths = sorted(CORPUS.glob("*.xml")) if CORPUS.is_dir() else []
    return [path.read_bytes() for path in paths if path.stat().st_size < 30_000]


def packed(content: bytes) -> bytes:
    """The document in an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.xml", content)
    return buffer.getvalue()


def broken(rng: random.Random, documents: list[bytes]) -> bytes:
    """A document with one to four things wrong; sometimes in an archive, or the archive itself broken."""
    content = rng.choice(documents)
    in_archive = rng.random() < 0.1
    if in_archive and rng.random() < 0.5:
        return _damaged(rng, packed(content), documents)
    for _ in range(rng.randint(1, 4)):
        content = _damaged(rng, content, documents)
    return packed(content) if in_archive else content


def _damaged(rng: random.Random, content: bytes, documents: list[bytes]) -> bytes:
    offset, other = sorted(rng.randrange(len(content) + 1) for _ in range(2))
    kind = rng.randrange(10)
    if kind == 0 and content:
        at = min(offset, len(content) - 1)
        return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]
    if kind == 1:
        return content[:offset]
    if kind == 2:
        return content[:offset] + content[other:]
    if kind == 3:
        return content[:other] + content[offset:other] * rng.randint(1, 3) + content[other:]
    if kind == 4:
        donor = rng.choice(documents)
        start = rng.randrange(len(donor) + 1)
        return content[:offset] + donor[start : start + rng.randrange(2000)] + content[offset:]
    if kind == 5:
        old, new = rng.choice(TOKENS), rng.choice(TOKENS)
        return content.replace(old, new, rng.randint(1, 5))
    if kind >= 7 and (digits := [at for at, byte in enumerate(content) if byte in b"0123456789"]):
        at = rng.choice(digits)
        return content[:at] + rng.choice((b"0", b"1", b"9", b"", b"00", b"4")) + content[at + 1 :]
    return content[:offset] + rng.choice(TOKENS) + content[rng.choice((offset, other)) :]


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raises `TimeoutError` in the body after so many seconds of processor time, whatever else the machine does."""

    def expired(_signal: int, _frame: object) -> None:
        raise TimeoutError(f"a file kept the reader busy for more than {seconds} s")

    previous = signal.signal(signal.SIGPROF, expired)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def read_whole(path: Path) -> str:
    """Read all tables: `read`, or `refused` with a sentence. Anything else is an error of the reader."""
    try:
        recording = open_recording(path)
        for schema in dict.fromkeys(entry.schema for entry in recording.run.tables):
            for table in recording.tables(schema):
                assert all(len(cells) == table.rows for cells in table.cells)
    except UnreadableRecording as error:
        return refusal(str(error))
    return "read"


def refusal(sentence: str) -> str:
    """A refusal is one short line."""
    assert sentence.isprintable(), sentence
    assert len(sentence) < 1000, sentence
    return "refused"


def memory_mb() -> float:
    """The most memory this process ever took, in MB.

    Linux keeps the peak of the parent in `ru_maxrss` across fork and exec, hence its own file.
    """
    status = Path("/proc/self/status")
    if status.exists():
        return int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


def run(runs: int, seconds: float, seed: int, folder: Path) -> Counter[str]:
    """Try broken documents until either is used up. A document that breaks the reader is left in `folder`."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    documents = base_documents() + corpus_documents()
    outcomes: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    path = folder / "broken.xml"
    while sum(outcomes.values()) < runs and time.monotonic() < deadline:
        path.write_bytes(broken(rng, documents))
        with time_limit(MAX_SECONDS):
            outcomes[read_whole(path)] += 1
    return outcomes


def options_of(
    purpose: str | None, *, runs: int, seconds: float | None = None, numbered: bool = False
) -> argparse.ArgumentParser:
    """The options that these programs have, with their defaults. `numbered`: one input can be made again."""
    parser = argparse.ArgumentParser(description=(purpose or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=runs, help="inputs to try (default: %(default)s)")
    if seconds is not None:
        parser.add_argument("--seconds", type=float, default=seconds, help="time to spend (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which inputs (default: %(default)s)")
    if numbered:
        parser.add_argument("--first", type=int, default=0, help="number of the first one (default: %(default)s)")
    return parser


def main() -> int:
    """Command line."""
    options = options_of(__doc__, runs=100_000, seconds=600.0).parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tracekit-fuzz-"))
    try:
        outcomes = run(options.runs, options.seconds, options.seed, folder)
    except Exception:
        sys.stderr.write(f"the document that broke the reader: {folder / 'broken.xml'} (seed {options.seed})\n")
        raise
    peak = memory_mb()
    sys.stdout.write(f"{outcomes['read']} read, {outcomes['refused']} refused, {peak:.0f} MB at most\n")
    return 0 if peak < MAX_MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
