"""Makes inputs that ask for more than they have, and reads them: each must read or be refused with a sentence, soon and
in little memory.

    python tests/support/fuzz_hostile.py --kind bundle --runs 2000 --seconds 300 --seed 1

Each input depends on kind, seed and its number alone: `--first 4711 --runs 1` makes one again.
"""

from __future__ import annotations

import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parent))

from fuzz_export import memory_mb, options_of, read_whole, refusal, time_limit
from hostile_inputs import ISSUES, hostile_archive, hostile_bundle, hostile_export, hostile_issues

from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.run_metadata import read_issues

MAX_MEMORY_MB: Final = 400
"""The most that any of these inputs takes, the interpreter included; each has less than 1 MB."""
MAX_SECONDS: Final = 60
"""For one input; some hundredths are usual, but another process may hold the machine."""


def attempt_issues(rng: random.Random, _folder: Path) -> str:
    """Read run issues from memory."""
    data = hostile_issues(rng)
    files: Any = SimpleNamespace(sizes={ISSUES: len(data)}, read=lambda _path, _limit: data)
    try:
        issues = read_issues(files, 1)
    except DamageError as damage:
        return refusal(str(damage))
    assert all(len(issue) <= 1_000 for issue in issues)
    return "read"


def attempt_bundle(rng: random.Random, folder: Path) -> str:
    """Read a bundle from a folder, some of its files as links."""
    path = folder / "hostile.trace"
    shutil.rmtree(path, ignore_errors=True)
    links = rng.choice((0.0,) * 9 + (1.0,))
    for name, data in hostile_bundle(rng).items():
        file = path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        if rng.random() < links:
            file.replace(folder / "elsewhere")
            file.symlink_to(folder / "elsewhere")
    return read_whole(path)


def attempt_export(rng: random.Random, folder: Path) -> str:
    """Read an export from a file."""
    (folder / "hostile.xml").write_bytes(hostile_export(rng))
    return read_whole(folder / "hostile.xml")


def attempt_archive(rng: random.Random, folder: Path) -> str:
    """Read an archive from a file."""
    (folder / "hostile.zip").write_bytes(hostile_archive(rng))
    return read_whole(folder / "hostile.zip")


ATTEMPTS: Final[dict[str, Callable[[random.Random, Path], str]]] = {
    "export": attempt_export,
    "bundle": attempt_bundle,
    "issues": attempt_issues,
    "archive": attempt_archive,
}


def run(kind: str, runs: int, seconds: float, seed: int, folder: Path, first: int = 0) -> Counter[str]:
    """Try hostile inputs of a kind until either is used up. One that breaks the reader is left in `folder`."""
    outcomes: Counter[str] = Counter()
    deadline = time.monotonic() + seconds
    for number in range(first, first + runs):
        if time.monotonic() > deadline:
            break
        try:
            with time_limit(MAX_SECONDS):
                outcomes[ATTEMPTS[kind](random.Random(f"{kind} {seed} {number}"), folder)] += 1  # noqa: S311 - no secret
        except BaseException:
            sys.stderr.write(f"{kind} {number} of seed {seed} broke the reader; it is left in {folder}\n")
            raise
    return outcomes


def main() -> int:
    """Command line."""
    parser = options_of(__doc__, runs=2_000, seconds=300.0, numbered=True)
    parser.add_argument("--kind", choices=[*ATTEMPTS, "all"], default="all", help="which inputs (default: %(default)s)")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tracekit-fuzz-"))
    for kind in ATTEMPTS if options.kind == "all" else (options.kind,):
        outcomes = run(kind, options.runs, options.seconds, options.seed, folder, options.first)
        message = f"{outcomes['read']} read, {outcomes['refused']} refused, {memory_mb():.0f} MB at most so far"
        sys.stdout.write(f"{kind:<8}{message}\n")
    shutil.rmtree(folder)
    return 0 if memory_mb() < MAX_MEMORY_MB else 1


if __name__ == "__main__":
    sys.exit(main())
