"""How fast and in how much memory an export is read, as ratios against what people use now.

    python benchmarks/read_export.py [--predictions N]

Writes one `coreml-os-signpost` export with `tracekit.testing` and reads it three ways, each in a process of its own:
tracekit (every cell typed, every reference resolved), `xml.etree.ElementTree` and lxml, both with the whole tree in
memory and a dictionary for the references, as scripts around `xctrace export` do. Prints seconds, MB of peak memory,
and both as ratios to tracekit.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from installed import environment

TRACEKIT = """
from tracekit.recording import open_recording
table, = open_recording(path).tables("coreml-os-signpost")
rows, total = table.rows, int(table.column("duration").values.sum())
"""

WITH_TREE = """
seen, rows, total = {{}}, 0, 0
for element in {parse}.iter():
    if "id" in element.attrib:
        seen[element.get("id")] = element
for row in root.iter("row"):
    cells = [seen[cell.get("ref")] if "ref" in cell.attrib else cell for cell in row]
    values = [cell.text if cell.text else cell.get("fmt") for cell in cells]
    rows, total = rows + 1, total + int(values[1])
"""

READERS = {
    "tracekit": TRACEKIT,
    "ElementTree": "import xml.etree.ElementTree as x\nroot = x.parse(path).getroot()" + WITH_TREE.format(parse="root"),
    "lxml": "import lxml.etree as x\nroot = x.parse(path, x.XMLParser(huge_tree=True)).getroot()"
    + WITH_TREE.format(parse="root"),
}

FRAME = """
import resource, sys, time
path = sys.argv[1]
begin = time.perf_counter()
{reader}
seconds = time.perf_counter() - begin
# Bytes on macOS, kB on Linux.
unit = 2**20 if sys.platform == "darwin" else 2**10
print(rows, total, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit)
"""


def write(folder: Path, predictions: int) -> None:
    """An export with one model and five rows per prediction."""
    from tracekit.testing import Model, Process, Scenario, write_export

    step = 1_000_000
    scenario = Scenario(Process("Camera", 412), duration_ns=(predictions + 1) * step)
    model = Model("Segmenter")
    for k in range(predictions):
        prediction = scenario.predict(model, k * step + k % 977, 700_000 + k % 1013)
        for n, label in enumerate(("Input Validation", "Input Copy", "CPU", "Output Transformation")):
            prediction.event(label, 1000 + 100_000 * n + k % 31, 50_000 + k % 701)
    write_export(scenario, folder, only={"coreml-os-signpost"})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--predictions", type=int, default=40_000)
    parser.add_argument("--write", type=Path, metavar="FOLDER", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write(arguments.write, arguments.predictions)
        return
    with tempfile.TemporaryDirectory() as folder:
        # Written by a process of its own: a child's peak memory starts at what its parent held when it was forked.
        writer = [sys.executable, __file__, "--predictions", str(arguments.predictions), "--write", folder]
        subprocess.run(writer, check=True)
        path = Path(folder) / "coreml-os-signpost.xml"
        size = path.stat().st_size / 2**20
        results = {}
        for name, reader in READERS.items():
            code = FRAME.format(reader=reader)
            output = subprocess.run(
                [sys.executable, "-c", code, str(path)],
                check=True,
                capture_output=True,
                text=True,
                env=environment(),
            ).stdout
            rows, total, seconds, peak = output.split()
            results[name] = (int(rows), int(total), float(seconds), int(peak))
    assert len({result[:2] for result in results.values()}) == 1, "the readers disagree"
    ours = results["tracekit"]
    print(f"{ours[0]:,} rows, {size:.0f} MB")
    print(f"{'reader':12} {'s':>7} {'MB/s':>7} {'peak MB':>8} {'time ratio':>11} {'memory ratio':>13}")
    for name, (_, _, seconds, peak) in results.items():
        ratio = f"{seconds / ours[2]:11.2f} {peak / ours[3]:13.2f}"
        print(f"{name:12} {seconds:7.2f} {size / seconds:7.0f} {peak:8,} {ratio}")


if __name__ == "__main__":
    main()
