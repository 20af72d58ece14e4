"""Damages small bundles and reads them: each must read or be refused with a sentence, soon and in little memory, and
what it then tells otherwise than the sound bundle must be said.

    python tests/support/fuzz_bundle.py --runs 10000 --seconds 600 --seed 1

What no reader can notice is listed in `beyond_checking`, file by file, with what damage to that file can reach. Each
bundle depends on the seed and its number alone: `--first 4711 --runs 1` makes one again.
"""

from __future__ import annotations

import random
import re
import shutil
import sys
import tempfile
import time
import zipfile
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import tracekit
from support.bundle_snapshot import Snapshot, snapshot, unsaid
from support.fuzz_export import MAX_MEMORY_MB, memory_mb, options_of, refusal, time_limit
from support.scenarios import derive_gpu_states
from tracekit.errors import UnreadableRecording
from tracekit.report.serialize import to_dict
from tracekit.testing import Model, PointRow, Process, Scenario, SignpostRow, write_bundle
from tracekit.trace.build import NEEDED_SCHEMAS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MS = 1_000_000
MAX_SECONDS = 60
"""For one bundle; some hundredths are usual, but another process may hold the machine."""
REPORT_EVERY = 25
"""One of so many damaged bundles is analyzed too."""

BYTES = ("bit", "bytes", "ones", "zeros", "cut", "grow", "empty", "lost")
"""What happens to files on a disk and on their way; a checksum notices."""
FILES = ("swap", "copy", "stray")
"""Whole files change places, or stand in a second place."""
INSIDE = ("inner bit", "inner bytes", "inner cut", "inner grow")
"""The same below the compression, which is sound again: what a faulty program would write."""
KINDS = (*BYTES, *FILES, *INSIDE)
FORMS = {"compressed": KINDS, "two runs": KINDS, "raw": (*BYTES, *FILES), "archive": BYTES}
"""Kinds of damage by form of the bundle. `raw` has no checksums, and no `form.template`; an archive is damaged as one
file."""
MANY_BYTES = 20


def scenario(pid: int, predictions: int, *missing: str) -> Scenario:
    """Some rows in few tables, since opening a bundle takes time for each."""
    run = Scenario(Process("App", pid), duration_ns=2_000 * MS, processes=[Process("WindowServer", 88)])
    run.missing |= {"life-cycle-period", "gpu-performance-state-intervals", "mps-hw-intervals", *missing}
    model = Model("Segmenter", 1)
    run.load(model, 5 * MS, 50 * MS)
    for index in range(predictions):
        prediction = run.predict(model, (100 + 40 * index) * MS, 20 * MS)
        prediction.event("Input Copy", 1 * MS, 2 * MS)
        prediction.neural_engine(4 * MS, 5 * MS)
        prediction.gpu(10 * MS, 5 * MS, buffers=2)
    run.gpu_work(3 * MS, 1 * MS, run.processes[0], "Fragment", "", 1)
    run.hang(300 * MS, 90 * MS)
    run.signposts.append(SignpostRow(7 * MS, 2 * MS, "Frame", "a.b", "c", "message"))
    run.points.append(PointRow(9 * MS, "Shutter", "a.b", "x"))
    derive_gpu_states(run)
    return run


@dataclass(frozen=True)
class Bundle:
    """A sound bundle."""

    form: str
    path: Path
    files: Mapping[str, bytes]
    """By path inside it; an archive is one file without a name."""
    snapshot: Snapshot
    report: dict[str, Any]

    def path_of(self, name: str) -> Path:
        """Path of one of its files."""
        return self.path / name if name else self.path

    def has_checksum(self, name: str) -> bool:
        """Whether a file cannot change unnoticed."""
        return self.form == "archive" or name.endswith(".run.zip") or self.files[name][:1] == b"\x78"


def sound_bundles(folder: Path) -> list[Bundle]:
    """One of each form, in a new folder."""
    first, second = scenario(412, 3), scenario(413, 2, "os-signpost", "os-signpost-interval", "potential-hangs")
    bundle = write_bundle(first, folder / "compressed.trace", rows_per_block=16)
    write_bundle([second, first], folder / "two runs.trace", rows_per_block=16)
    write_bundle(first, folder / "raw.trace", rows_per_block=16, compressed=False, form_template=False)
    with zipfile.ZipFile(folder / "archive.trace", "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(bundle.rglob("*")):
            archive.write(path, f"run.trace/{path.relative_to(bundle)}")
    return [sound_bundle(form, folder / f"{form}.trace") for form in FORMS]


def sound_bundle(form: str, path: Path) -> Bundle:
    """The bundle at a path, and what it tells."""
    inside = sorted(each for each in path.rglob("*") if each.is_file())
    files = {each.relative_to(path).as_posix(): each.read_bytes() for each in inside} or {"": path.read_bytes()}
    return Bundle(form, path, files, snapshot(path), to_dict(tracekit.analyze(path)))


def damage(bundle: Bundle, kind: str, choice: random.Random) -> dict[str, bytes | None]:
    """New contents of some files, by path; None for one that is lost. All names of files are met equally often."""
    groups: dict[str, list[str]] = {}
    for path in bundle.files:
        if not kind.startswith("inner") or bundle.files[path][:1] == b"\x78":
            groups.setdefault(path.rsplit("/", 1)[-1], []).append(path)
    alike = groups[choice.choice(sorted(groups))]
    path = choice.choice(alike)
    if kind in FILES:
        return _moved(bundle, kind, path, [each for each in alike if each != path], choice)
    if kind.startswith("inner"):
        content = damaged(zlib.decompress(bundle.files[path]), kind.removeprefix("inner "), choice)
        return {path: zlib.compress(content or b"", 1)}
    return {path: damaged(bundle.files[path], kind, choice)}


def _moved(bundle: Bundle, kind: str, path: str, alike: list[str], choice: random.Random) -> dict[str, bytes | None]:
    """One file in the place of another, mostly one of its own name; or beside it under another name."""
    if kind == "stray":
        beside = choice.choice((f"{path} 2", path.replace("store-", "store-9"), path.replace("run1", "run3")))
        return {beside: bundle.files[path]}
    other = choice.choice(alike if alike and choice.random() < 0.7 else sorted(bundle.files.keys() - {path}))
    moved = {other: bundle.files[path]}
    return moved | {path: bundle.files[other]} if kind == "swap" else moved


def damaged(data: bytes, kind: str, choice: random.Random) -> bytes | None:
    """The content after an accident; None where the file is lost."""
    content = bytearray(data)
    if kind == "lost":
        return None
    if kind == "empty" or not content:
        return b""
    offset = choice.randrange(len(content))
    if choice.random() < 0.5 and (nearest := re.search(rb"[^\0]", data[offset:])):
        # Most of many files is padding.
        offset += nearest.start()
    if kind == "cut":
        return bytes(content[:offset])
    if kind == "bit":
        content[offset] ^= 1 << choice.randrange(8)
    elif kind == "bytes":
        for _ in range(MANY_BYTES):
            content[choice.randrange(len(content))] = choice.randrange(256)
    elif kind == "grow":
        content[offset:offset] = choice.randbytes(choice.choice((1, 4, 8, 4096)))
    else:
        length = min(choice.choice((1, 8, 512, 4096)), len(content) - offset)
        content[offset : offset + length] = (b"\xff" if kind == "ones" else b"\0") * length
    return bytes(content)


def beyond_checking(bundle: Bundle, kind: str, path: str) -> Callable[[str], bool]:
    """Which changes damage to a file may bring without a word.

    Compressed files and the archives of the instruments carry checksums. Other files, whole files in the place of
    others, and damage that renews the checksum can be noticed only where two files tell the same.
    """
    if path not in bundle.files or (kind in BYTES and bundle.has_checksum(path)):
        return _nothing
    folders = path.split("/")
    name, store = folders[-1], folders[-2] if len(folders) > 1 else ""

    def in_texts(change: str) -> bool:
        # A column of type `any` may be numbers in one bundle and texts in another.
        return " texts " in change or change.endswith(" value") or change in {"fact target", "fact issues"}

    def of_table(change: str) -> bool:
        return change.startswith(f"{store} ") or of_shared(change)

    def of_shared(change: str) -> bool:
        schema = bundle.snapshot.tables[store].schema if store in bundle.snapshot.tables else ""
        if schema in {"process-info", "thread-info"}:
            return in_texts(change)
        return schema == "time-info" and change in {"fact start_date", "fact end_date"}

    rules: dict[str, Callable[[str], bool]] = {
        "bulkstore": of_table,
        "bulkstore_descriptor": of_table,
        "schema.xml": of_table,
        "strings": in_texts,
        "integeruniquer.index": in_texts,
        "integeruniquer.data": in_texts,
        "EngineeringTypes.etypes": in_texts,
        "form.template": lambda change: change.startswith("fact ") or in_texts(change),
        "RunIssues.storedata": lambda change: change == "fact issues",
        "exposedTableInfo.plist": lambda change: change in {"fact target", "fact device"},
    }
    return rules.get(name, _nothing)


def _nothing(_change: str) -> bool:
    return False


def judge(bundle: Bundle, kind: str, touched: Mapping[str, bytes | None], *, analyze: bool) -> str:
    """Read a damaged bundle: `refused`, `same`, `said` where it says what it lacks, or `unsaid` where damage that
    nobody can notice changed something. Raises AssertionError for everything that should not be.
    """
    with time_limit(MAX_SECONDS):
        try:
            state = snapshot(bundle.path)
        except UnreadableRecording as error:
            return refusal(str(error))
        changes = unsaid(bundle.snapshot, state)
        rules = [beyond_checking(bundle, kind, path) for path in touched]
        wrong = sorted(change for change in changes if not any(rule(change) for rule in rules))
        assert not wrong, f"told otherwise without a word: {wrong}"
        if analyze:
            judge_report(bundle, state)
    if changes:
        return "unsaid"
    return "same" if state == bundle.snapshot else "said"


def judge_report(bundle: Bundle, expected: Snapshot) -> None:
    """The report of a damaged bundle passes on what its reader says; without damage it is the same."""
    try:
        report = to_dict(tracekit.analyze(bundle.path))
    except UnreadableRecording:
        # The table that everything hangs on lost a column.
        assert expected != bundle.snapshot
        return
    assert set(expected.notes) <= set(report["recording"]["notes"])
    unreadable = {table.schema for table in expected.tables.values() if table.content[""][2] == "unreadable"}
    listed = {table["schema"] for table in report["tables"] if table["state"] == "unreadable"}
    # Of tables that an analysis does not read, it tells what their descriptions tell.
    assert unreadable & set(NEEDED_SCHEMAS) <= listed <= unreadable
    assert all(table["reason"] for table in report["tables"] if table["state"] == "unreadable")
    if expected == bundle.snapshot:
        assert report == bundle.report


@dataclass
class BrokenReaderError(Exception):
    """A damaged bundle that the reader did not take as it should."""

    number: int
    kind: str
    paths: list[str]
    path: Path


def attempt(bundles: list[Bundle], seed: int, number: int) -> tuple[str, str, str]:
    """Damage one bundle, read it, make it sound again. Returns kind, files, outcome. Raises `BrokenReaderError`."""
    choice = random.Random(f"{seed} {number}")  # noqa: S311 - no secret
    kind = KINDS[number % len(KINDS)]
    bundle = choice.choice([each for each in bundles if kind in FORMS[each.form]])
    touched = damage(bundle, kind, choice)
    try:
        for name, content in touched.items():
            path = bundle.path_of(name)
            if content is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        outcome = judge(bundle, kind, touched, analyze=(number // len(KINDS) + number) % REPORT_EVERY == 0)
    except Exception as error:
        raise BrokenReaderError(number, kind, sorted(touched), bundle.path) from error
    for name in touched:
        if name in bundle.files:
            bundle.path_of(name).write_bytes(bundle.files[name])
        else:
            bundle.path_of(name).unlink()
            shutil.rmtree(bundle.path / "corespace" / "run3", ignore_errors=True)
    return kind, " and ".join(sorted({name.rsplit("/", 1)[-1] or bundle.form for name in touched})), outcome


def run(runs: int, seconds: float, seed: int, folder: Path, first: int = 0) -> Counter[tuple[str, str, str]]:
    """Try damaged bundles until either is used up. One that breaks the reader is left in `folder`."""
    bundles = sound_bundles(folder)
    outcomes: Counter[tuple[str, str, str]] = Counter()
    deadline = time.monotonic() + seconds
    for number in range(first, first + runs):
        if time.monotonic() > deadline:
            break
        outcomes[attempt(bundles, seed, number)] += 1
    return outcomes


def main() -> int:
    """Command line."""
    options = options_of(__doc__, runs=100_000, seconds=300.0, numbered=True).parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tracekit-fuzz-"))
    try:
        outcomes = run(options.runs, options.seconds, options.seed, folder, options.first)
    except BrokenReaderError as broken:
        sys.stderr.write(
            f"bundle {broken.number} of seed {options.seed} ({broken.kind}: {', '.join(broken.paths)}) broke the "
            f"reader, and is left as {broken.path}\n"
        )
        raise
    shutil.rmtree(folder)
    for kind in KINDS:
        told_so = Counter(dict.fromkeys(("same", "said", "unsaid", "refused"), 0))
        for (each, _, outcome), times in outcomes.items():
            told_so[outcome] += times if each == kind else 0
        sys.stdout.write(f"{kind:<12}" + "".join(f"{name} {times:<6}" for name, times in told_so.items()) + "\n")
    unnoticed = {files: times for (_, files, outcome), times in sorted(outcomes.items()) if outcome == "unsaid"}
    sys.stdout.write(f"changed without a word, as nothing tells: {', '.join(unnoticed) or 'none'}\n")
    peak = memory_mb()
    sys.stdout.write(f"{sum(outcomes.values())} bundles, {peak:.0f} MB at most\n")
    return 0 if peak < MAX_MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
