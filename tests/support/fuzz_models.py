"""Damages model files and inspects them: each must be inspected or refused with a sentence, soon and in little memory.

    python tests/support/fuzz_models.py --runs 1000 --seed 1 FOLDER...

FOLDER holds models, such as the corpus; without one, models are built. Each damaged model depends on the seed and its
number alone: `--first 4711 --runs 1` makes one again.
"""

from __future__ import annotations

import json
import random
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import jsonschema

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from support.fuzz_export import memory_mb, options_of, time_limit
from support.models import build
from tracekit.documents.model_file import model_file_document
from tracekit.model_files.read import read_model
from tracekit.model_files.untrusted import UnreadableModel
from tracekit.render.forms import FORMS, render
from tracekit.report.model_report import model_report
from tracekit.report.serialize import schema_text, to_json

MAX_MEMORY_MB = 700
"""The most that any of these inputs takes, the interpreter included; the largest has 2 MB."""
MAX_SECONDS = 20
CORPUS = Path(__file__).resolve().parents[3] / "shared" / "corpus" / "models"
SCHEMA = jsonschema.Draft202012Validator(json.loads(schema_text("model")))
KINDS = ("bits", "bytes", "cut", "grow", "repeat", "empty", "lost", "swap", "huge numbers")


def models_in(folders: list[Path]) -> list[Path]:
    """Models in these folders."""
    return sorted(path for folder in folders for path in folder.glob("*.ml*"))


def damaged(model: Path, folder: Path, chance: random.Random) -> tuple[Path, str]:
    """A damaged copy of a model, and what was done to it."""
    copy = folder / model.name
    if model.is_dir():
        shutil.copytree(model, copy)
        files = sorted(path for path in copy.rglob("*") if path.is_file())
    else:
        shutil.copy(model, copy)
        files = [copy]
    path = chance.choice(files)
    kind = chance.choice(KINDS)
    if kind == "lost":
        path.unlink()
    elif kind == "swap":
        shutil.copy(chance.choice(files), path.with_name("copied"))
        path.with_name("copied").replace(path)
    else:
        path.write_bytes(_changed(path.read_bytes(), kind, chance))
    return copy, f"{kind} in {path.relative_to(folder)}"


def _changed(data: bytes, kind: str, chance: random.Random) -> bytes:
    changed = bytearray(data)
    if not changed or kind == "empty":
        return b""
    # Most of a model is weights; what describes them stands at the beginning.
    end = min(len(changed), chance.choice((64, 4096, len(changed))))
    offset = chance.randrange(end)
    length = chance.randrange(1, 65)
    if kind == "bits":
        for _ in range(chance.randrange(1, 20)):
            changed[chance.randrange(end)] ^= 1 << chance.randrange(8)
    elif kind == "bytes":
        changed[offset : offset + length] = chance.randbytes(length)
    elif kind == "cut":
        del changed[offset:]
    elif kind == "grow":
        changed[offset:offset] = chance.randbytes(length)
    elif kind == "repeat":
        changed[offset:offset] = changed[offset : offset + length] * chance.randrange(2, 2000)
    elif kind == "huge numbers":
        changed[offset : offset + 9] = chance.choice((b"\xff" * 9, b"\xff" * 8 + b"\x7f", b"\x00" * 9, b"9" * 9))
    return bytes(changed)


def inspect(path: Path) -> str:
    """Read, check and write in every format. `read` or `refused`; raises AssertionError for a reader at fault."""
    try:
        with time_limit(MAX_SECONDS):
            model = read_model(path)
            report = model_report(model, "iOS16")
            for text in (render(model_file_document(report), form, width=80) for form in FORMS):
                assert text.endswith("\n")
            SCHEMA.validate(json.loads(to_json(report)))
    except UnreadableModel as error:
        sentence = str(error)
        assert sentence, "no reason"
        assert "\n" not in sentence, "more than one sentence"
        assert len(sentence) < 500, "a long sentence"
        return "refused"
    failed = [check.summary for check in report.results if check.outcome == "error"]
    assert not failed, failed
    return "read"


def run(models: list[Path], seed: int, first: int, runs: int) -> Counter[str]:
    """What became of the damaged models. Raises AssertionError that names the one at fault."""
    counts: Counter[str] = Counter()
    for number in range(first, first + runs):
        chance = random.Random(f"{seed} {number}")  # noqa: S311 - no secret
        with tempfile.TemporaryDirectory() as folder:
            path, what = damaged(chance.choice(models), Path(folder), chance)
            try:
                counts[inspect(path)] += 1
            except Exception as error:
                raise AssertionError(f"--seed {seed} --first {number}: {what}: {error!r}") from error
    return counts


def main() -> None:
    """As the docstring of the module says."""
    parser = options_of(__doc__, runs=1_000, numbered=True)
    parser.add_argument("folders", nargs="*", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        folders = arguments.folders or ([CORPUS] if CORPUS.is_dir() else [])
        if not folders:
            build(Path(folder) / "models")
            folders = [Path(folder) / "models"]
        counts = run(models_in(folders), arguments.seed, arguments.first, arguments.runs)
    memory = memory_mb()
    sys.stdout.write(f"models: {dict(counts)}, at most {memory:.0f} MB\n")
    if memory > MAX_MEMORY_MB:
        sys.exit(f"more than {MAX_MEMORY_MB} MB")


if __name__ == "__main__":
    main()
