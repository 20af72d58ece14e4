"""How fast and in how much memory exports are read, side by side with what people use now.

    python benchmarks/read_export.py [--rows 10000 100000 1000000] [--repeats 3] [--output results.md]

Each reader runs in a process of its own and must find the same rows and the same sum of durations. All resolve every
reference; tracekit and the C++ program also type every cell, and keep it. Both keep texts as UTF-8: where a column has
many, the compiled reader makes Python strings of them when the column is first asked for. It is measured without that,
and once more with every text of every column asked for. Ratios are of processor time, which other
programs on the machine disturb least. ElementTree with the whole tree is left out where memory is short: at a million
rows it takes 8.4 GB.

The largest table alone takes five minutes:

    python benchmarks/read_export.py --rows 1000000 --shapes metal-gpu-intervals
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from export_files import SHAPES
from frame import Measurement, available_mb, exponent, in_own_process, measure, measure_program, report, table

if TYPE_CHECKING:
    from collections.abc import Sequence

SETUP = """
import pandas
from tracekit.recording import open_recording
from tracekit.recording.export import loading, recording
"""
TRACEKIT = """
opened = open_recording(path)
(read,) = opened.tables(opened.run.tables[0].schema)
result = read.rows, int(read.cells[1].values.sum()) if read.has("duration") else 0
"""
EVERY_TEXT = f"{TRACEKIT}sum(len(cells.values) for cells in read.cells)\n"
ROWS = """
    cells = [seen[cell.get("ref")] if "ref" in cell.attrib else cell for cell in row]
    values = [cell{text} if cell{text} else cell{shown} for cell in cells]
    rows += 1
    total += int(values[1]) if cells[1]{tag} == "duration" else 0
"""
WITH_TREE = (
    """
root = x.parse(path).getroot()
seen, rows, total = {}, 0, 0
for element in root.iter():
    if "id" in element.attrib:
        seen[element.get("id")] = element
for row in root.iter("row"):
"""
    + ROWS.format(text=".text", shown='.get("fmt")', tag=".tag")
    + "\nresult = rows, total"
)
ITERPARSE = """
seen, rows, total = {}, 0, 0
for _, element in x.iterparse(path, events=("end",)):
    identity = element.get("id")
    if identity is not None:
        seen[identity] = element.tag, element.text or element.get("fmt")
    if element.tag == "row":
        own = [(cell.tag, cell.text or cell.get("fmt")) for cell in element]
        cells = [seen.get(cell.get("ref"), mine) for cell, mine in zip(element, own)]
        rows += 1
        total += int(cells[1][1]) if cells[1][0] == "duration" else 0
        element.clear()
        {drop}
result = rows, total
"""
TREE = "ElementTree, whole tree, ids"
TREE_BYTES = 12
"""Memory that a tree takes at most, in bytes of its file: 10 to 11 were measured."""
LXML, ELEMENT_TREE = "import lxml.etree as x", "import xml.etree.ElementTree as x"
READERS = {
    "tracekit, compiled": (f"{SETUP}assert loading.scanned is not None", TRACEKIT),
    "tracekit, compiled, every text": (f"{SETUP}assert loading.scanned is not None", EVERY_TEXT),
    "tracekit, strict": (f"{SETUP}loading.scanned = None", TRACEKIT),
    "lxml iterparse, ids": (
        LXML,
        ITERPARSE.replace("{drop}", "while element.getprevious() is not None: del element.getparent()[0]"),
    ),
    "ElementTree iterparse, ids": (ELEMENT_TREE, ITERPARSE.replace("{drop}", "pass")),
    TREE: (ELEMENT_TREE, WITH_TREE),
}
"""What is imported before and what is measured, by reader."""
EXPAT = "expat in C++"


def program(folder: Path) -> Path | None:
    """The C++ program, where it can be built."""
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        return None
    target = folder / "expat_reader"
    source = Path(__file__).with_name("expat_reader.cpp")
    built = subprocess.run([compiler, "-O3", "-std=c++17", str(source), "-lexpat", "-o", str(target)], check=False)
    return target if built.returncode == 0 else None


def measured(path: Path, repeats: int, expat: Path | None, without: str) -> dict[str, Measurement]:
    """All readers on one file, one after the other, but that one."""
    found = {name: measure(*each, path, repeats) for name, each in READERS.items() if name != without}
    if expat is not None:
        found[EXPAT] = measure_program([str(expat), str(path)], repeats)
    numbers = (each.answer.strip("()").replace(",", " ").split() for each in found.values())
    answers = {tuple(map(int, words[:2])) for words in numbers}
    assert len(answers) == 1, f"the readers disagree: {answers}"
    return found


def short_of_memory(path: Path) -> str:
    """Why the file cannot be read into a tree; empty where it can."""
    needed, available = TREE_BYTES * path.stat().st_size // 2**20, available_mb()
    if available is None or available > needed:
        return ""
    return f"\n{TREE}: not run, since it may take {needed:,} MB of memory, and {available:,} MB are available.\n"


def lines_of(found: dict[str, Measurement], size: int) -> list[list[str]]:
    """A line of the table for each reader."""
    ours = found["tracekit, compiled"]
    return [
        [
            name,
            f"{each.cpu_s:.2f}",
            f"{each.wall_s:.2f}",
            f"{size / 1e6 / each.cpu_s:,.0f}",
            f"{each.peak_mb:,}",
            f"{each.cpu_s / ours.cpu_s:.1f}",
        ]
        for name, each in found.items()
    ]


def tables(row_counts: Sequence[int], shapes: Sequence[str], repeats: int) -> str:
    """A table in Markdown for each shape and size, and how the readers grow."""
    text = ""
    with tempfile.TemporaryDirectory() as folder:
        expat = program(Path(folder))
        for shape in shapes:
            times: dict[str, dict[int, float]] = {}
            for rows in sorted(row_counts, reverse=True):
                path = Path(folder) / "export.xml"
                in_own_process(
                    f"import export_files as e, pathlib; e.write_export({shape!r}, {rows}, pathlib.Path({str(path)!r}))"
                )
                size, missing = path.stat().st_size, short_of_memory(path)
                found = measured(path, repeats, expat, without=TREE if missing else "")
                for name, each in found.items():
                    times.setdefault(name, {})[rows] = each.cpu_s
                text += f"\n`{shape}`, {rows:,} rows, {size / 1e6:,.0f} MB:\n\n"
                text += table(["reader", "CPU s", "wall s", "MB/s", "peak MB", "ratio"], lines_of(found, size))
                text += missing
            grown = [
                f"{name} {exponent(list(each), list(each.values())):.2f}"
                for name, each in times.items()
                if len(each) > 1
            ]
            text += f"\nGrowth: {', '.join(grown)}.\n" if grown else ""
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    report(tables(arguments.rows, arguments.shapes, arguments.repeats), arguments.repeats, arguments.output)


if __name__ == "__main__":
    main()
