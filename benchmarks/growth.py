"""What each step from a recording to its report costs, and how that grows with the recording.

    python benchmarks/growth.py [--predictions 10000 30000 100000] [--repeats 3] [--output results.md]

Recordings have nine intervals for each prediction. Each step runs in a process of its own; what it needs from the steps
before it is made beforehand and not counted in its time, but in its peak memory.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from frame import exponent, in_own_process, measure, report, table

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND = """
from tracekit.cli.main import main
import contextlib, io, tracekit.api, tracekit.render.text, tracekit.trace.build
"""
OPENED = "from tracekit.trace.build import open_trace\ntrace = open_trace(path)\n"
READ = """
from tracekit.recording import open_recording
import tracekit.recording.bundle.recording, tracekit.recording.export.recording
"""
ROWS = """
recording = open_recording(path)
names = dict.fromkeys(entry.schema for entry in recording.run.tables)
result = sum(table.rows for name in names for table in recording.tables(name))
"""
ATTRIBUTION = """
import attribution
hardware, events, buffer = attribution.make(4 * {predictions}, {predictions})
graphs = attribution.graph_rows(hardware, buffer)
"""
LANES = """
opened = read(path)
result = len(Lanes(timeline_lanes(opened.trace, Grouping.LANES)).lanes)
"""
ANALYZE = """
with contextlib.redirect_stdout(io.StringIO()) as out:
    main(["analyze", path])
result = len(out.getvalue())
"""
STEPS = {
    "reading a bundle": ("bundle", READ, ROWS),
    "reading its export": ("export", READ, ROWS),
    "attribution": ("bundle", ATTRIBUTION, "result = len(attribution.attribute_hardware(hardware, events, graphs))"),
    "breakdown": (
        "bundle",
        f"{OPENED}from tracekit.analysis.breakdown.partition import breakdown",
        "result = len(breakdown(trace).frame)",
    ),
    "summaries of models": (
        "bundle",
        f"{OPENED}from tracekit.analysis.models import summarize_models",
        "result = len(summarize_models(trace))",
    ),
    "what `-o x.json` measures": (
        "bundle",
        f"{OPENED}from tracekit.api import Analysis, judge\nanalysis = Analysis(trace, None, judge(trace))",
        "result = len(analysis.measured_report().measurements['models'])",
    ),
    "lanes of a page": (
        "bundle",
        f"{OPENED}from tracekit.api import Analysis, judge\nanalysis = Analysis(trace, None, judge(trace))",
        "result = len(analysis.timeline().lanes)",
    ),
    "detectors": (
        "bundle",
        f"{OPENED}from tracekit.detectors.runner import run_detectors",
        "result = len(run_detectors(trace))",
    ),
    "`analyze`, bundle": ("bundle", COMMAND, ANALYZE),
    "`analyze`, export": ("export", COMMAND, ANALYZE),
    "`view`, to the first lanes": (
        "bundle",
        "import tracekit.recording.bundle.recording\n"
        "from tracekit.lanes.lanes import Grouping\n"
        "from tracekit.tui.opening import read\n"
        "from tracekit.tui.timeline.tracks import Lanes, timeline_lanes",
        LANES,
    ),
}
"""Form of the recording, what is made beforehand, and what is measured, by step."""


def tables(sizes: Sequence[int], repeats: int) -> str:
    """A table in Markdown: seconds at each size, the power of the size with which they grow, and the largest memory."""
    found: dict[str, list[float]] = {name: [] for name in STEPS}
    peak: dict[str, int] = {}
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            paths = {"bundle": Path(folder) / f"{size}.trace", "export": Path(folder) / f"{size}"}
            for path in paths.values():
                in_own_process(f"import recordings; recordings.write_large({size}, {str(path)!r})")
            for name, (form, setup, code) in STEPS.items():
                measured = measure(setup.format(predictions=size), code, paths[form], repeats)
                found[name].append(measured.cpu_s)
                peak[name] = measured.peak_mb
    head = ["step, CPU s", *(f"{size:,} predictions" for size in sizes), "exponent", "peak MB"]
    lines = [
        [
            name,
            *(f"{second:.2f}" for second in seconds),
            f"{exponent(sizes, seconds):.2f}" if len(sizes) > 1 else "",
            f"{peak[name]:,}",
        ]
        for name, seconds in found.items()
    ]
    return f"\nFrom a recording to its report:\n\n{table(head, lines)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--predictions", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="also write the table to this file")
    arguments = parser.parse_args()
    report(tables(arguments.predictions, arguments.repeats), arguments.repeats, arguments.output)


if __name__ == "__main__":
    main()
