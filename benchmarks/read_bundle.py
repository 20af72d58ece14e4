"""How fast a trace bundle is read, as a ratio against reading the same tables from XML.

    python benchmarks/read_bundle.py BUNDLE [--schema NAME ...]

Prints how many rows of the whole bundle are decoded in a second, and the time and peak memory of `tracekit analyze`.
Then writes the XML of some tables with `tracekit export` and reads it with tracekit, `xml.etree.ElementTree` and
lxml, each in a process of its own, and prints seconds of processor time as a ratio to the native
reader. Medians of three.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from frame import measure

RUNS = 3
SCHEMAS = ("metal-gpu-intervals", "metal-gpu-state-intervals", "os-signpost", "time-profile")
"""Tables that are compared by default; the XML of a whole recording has gigabytes."""

NATIVE = """
from tracekit.recording import open_recording
recording = open_recording(path)
rows = sum(table.rows for name in names for table in recording.tables(name))
"""
WHOLE = """
from tracekit.recording import open_recording
recording = open_recording(path)
rows = 0
for name in dict.fromkeys(entry.schema for entry in recording.run.tables):
    rows += sum(table.rows for table in recording.tables(name))
"""
ANALYZE = """
from tracekit.cli.dispatch import main
import contextlib, io
with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
    rows = main(["analyze", path]) * 0
"""
TREE = """
from pathlib import Path
rows = 0
for file in sorted(Path(path).glob("*.xml")):
    root = {parse}
    seen = {{}}
    for element in root.iter():
        if "id" in element.attrib:
            seen[element.get("id")] = element
    for row in root.iter("row"):
        cells = [seen[cell.get("ref")] if "ref" in cell.attrib else cell for cell in row]
        values = [cell.text if cell.text else cell.get("fmt") for cell in cells]
        rows += 1
"""
ELEMENT_TREE = "import xml.etree.ElementTree as x" + TREE.format(parse="x.parse(file).getroot()")
LXML = "import lxml.etree as x" + TREE.format(parse="x.parse(file, x.XMLParser(huge_tree=True)).getroot()")


def measured(reader: str, path: Path, names: list[str]) -> tuple[int, float, int]:
    """Rows, seconds of processor time and peak MB of a reader in processes of its own."""
    found = measure(f"names = {names!r}", f"{reader}\nresult = rows", path, RUNS)
    return int(found.answer), found.cpu_s, found.peak_mb


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", type=Path)
    parser.add_argument("--schema", action="append")
    arguments = parser.parse_args()
    names = arguments.schema or list(SCHEMAS)
    rows, seconds, _ = measured(WHOLE, arguments.bundle, [])
    print(f"whole bundle: {rows:,} rows in {seconds:.2f} s, {rows / seconds / 1e6:.2f} million rows a second")
    _, seconds, peak = measured(ANALYZE, arguments.bundle, [])
    print(f"tracekit analyze: {seconds:.2f} s, {peak} MB")
    with tempfile.TemporaryDirectory() as folder:
        wanted = [part for name in names for part in ("--schema", name)]
        export = [sys.executable, "-m", "tracekit", "export", str(arguments.bundle), "-o", folder, "--format", "xml"]
        subprocess.run([*export, "--quiet", *wanted], check=True)
        size = sum(file.stat().st_size for file in Path(folder).glob("*.xml")) / 2**20
        readers = {"native": (NATIVE, arguments.bundle)}
        readers |= {"tracekit, XML": (NATIVE, Path(folder))}
        readers |= {"ElementTree": (ELEMENT_TREE, Path(folder)), "lxml": (LXML, Path(folder))}
        results = {name: measured(reader, path, names) for name, (reader, path) in readers.items()}
    assert len({result[0] for result in results.values()}) == 1, "the readers disagree"
    ours = results["native"]
    print(f"{ours[0]:,} rows of {', '.join(names)}; {size:.0f} MB of XML")
    print(f"{'reader':14} {'s':>7} {'peak MB':>8} {'time ratio':>11}")
    for name, (_, seconds, peak) in results.items():
        print(f"{name:14} {seconds:7.2f} {peak:8,} {seconds / ours[1]:11.2f}")


if __name__ == "__main__":
    main()
