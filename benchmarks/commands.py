"""What commands take a user: processor time and memory of whole processes, as installed.

    python benchmarks/commands.py [--predictions 500000] [--recordings 100] [--bundle BUNDLE] [--repeats 3]

One recording of five models, in both forms of a recording and as an export whose attributes are in another order and
without `fmt`; two sets of recordings of a few hundred predictions; a sample; and a real bundle, if one is given.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from frame import in_own_process, measure_program, report, table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ("captions_concurrent", "style_transfer_reload")
FEW = 300
"""Predictions of each of the recordings that are compared."""


def rewritten(export: Path, folder: Path) -> Path:
    """A copy of an export whose elements have no `fmt`, and their other attributes the other way round."""
    folder.mkdir()
    for path in export.iterdir():
        # Line by line: what this process holds would count as the memory of those that it starts.
        with path.open(encoding="utf-8") as lines, (folder / path.name).open("w", encoding="utf-8") as file:
            for line in lines:
                text = re.sub(r' fmt="[^"]*"', "", line)
                file.write(re.sub(r'<([\w-]+) id="(\d+)"((?: [\w-]+="[^"]*")+)', r'<\1\3 id="\2"', text))
    return folder


def commands(folder: Path, predictions: int, recordings: int, bundle: Path | None) -> Iterator[tuple[str, list[str]]]:
    """What is measured: a title and the arguments of `tracekit`."""
    whole, export = folder / "usual.trace", folder / "usual"
    in_own_process(f"import recordings; recordings.write_usual({predictions}, {str(whole)!r}, {str(export)!r})")
    yield f"`analyze`, {predictions:,} predictions, bundle", ["analyze", str(whole)]
    yield "the same, export", ["analyze", str(export)]
    yield "the same, export not written as `xctrace` does", ["analyze", str(rewritten(export, folder / "other"))]
    yield "`analyze -o x.json`, export", ["analyze", str(export), "-o", str(folder / "x.json")]
    yield "`why`, bundle", ["why", str(whole)]
    sides = [folder / side for side in ("before", "after")]
    for side in sides:
        in_own_process(f"import recordings; recordings.write_many({recordings}, {FEW}, {str(side)!r})")
    compare = ["compare", *map(str, sides), "--jobs", "1"]
    yield f"`compare`, {recordings} and {recordings} recordings of {FEW} predictions", compare
    for sample in SAMPLES:
        yield f"`analyze`, sample `{sample}`", ["analyze", str(ROOT / "sample_traces" / f"{sample}.trace")]
    if bundle is not None:
        yield f"`analyze`, {bundle.name}", ["analyze", str(bundle)]


def tables(predictions: int, recordings: int, bundle: Path | None, repeats: int) -> str:
    """A table in Markdown."""
    lines: list[Sequence[str]] = []
    with tempfile.TemporaryDirectory() as folder:
        pandas = measure_program([sys.executable, "-c", "import pandas"], repeats)
        lines.append(["importing pandas", f"{pandas.cpu_s:.2f}", f"{pandas.wall_s:.2f}", f"{pandas.peak_mb:,}"])
        for title, arguments in commands(Path(folder), predictions, recordings, bundle):
            measured = measure_program([sys.executable, "-m", "tracekit", *arguments], repeats)
            lines.append([title, f"{measured.cpu_s:.2f}", f"{measured.wall_s:.2f}", f"{measured.peak_mb:,}"])
    return f"\nWhole commands:\n\n{table(['command', 'CPU s', 'wall s', 'peak MB'], lines)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--predictions", type=int, default=500_000)
    parser.add_argument("--recordings", type=int, default=100)
    parser.add_argument("--bundle", type=Path, help="a real bundle")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    text = tables(arguments.predictions, arguments.recordings, arguments.bundle, arguments.repeats)
    report(text, arguments.repeats, arguments.output)


if __name__ == "__main__":
    main()
