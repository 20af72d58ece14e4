"""What each step from a recording to its report costs, and how that grows with the recording.

    python benchmarks/growth.py [--predictions ...] [--counts ...] [--repeats 3] [--output results.md]

Recordings have nine intervals for each prediction; those that grow by models, processes that draw meanwhile, or
findings have four, and as many more predictions. Each step runs in a process of its own; what it needs from the steps
before it is made beforehand and not counted in its time, but in its peak memory.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from frame import exponent, in_own_process, measure, report, table
from recordings import GROWING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMAND = """
from tracekit.cli.dispatch import main
import contextlib, io, tracekit.api, tracekit.render.text, tracekit.trace.build
"""
OPENED = "from tracekit.trace.build import open_trace\ntrace = open_trace(path)\n"
READ = """
import pandas
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
        "result = len(breakdown(trace).rows)",
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


JUDGING = ("summaries of models", "what `-o x.json` measures", "lanes of a page", "detectors", "`analyze`, bundle")
"""Steps that are measured by models, processes and findings too: those that look at each."""


def tables(sizes: Sequence[int], counts: Sequence[int], repeats: int) -> str:
    """Tables in Markdown: seconds at each size, the power of the size with which they grow, and the largest memory."""
    parts = []
    with tempfile.TemporaryDirectory() as folder:

        def large(size: int) -> dict[str, Path]:
            paths = {"bundle": Path(folder) / f"{size}.trace", "export": Path(folder) / f"{size}"}
            for path in paths.values():
                in_own_process(f"import recordings; recordings.write_large({size}, {str(path)!r})")
            return paths

        rows = _table("predictions", sizes, large, list(STEPS), repeats)
        parts.append(f"\nFrom a recording to its report:\n\n{rows}")
        for what in GROWING:

            def growing(count: int, what: str = what) -> dict[str, Path]:
                path = Path(folder) / f"{what}-{count}.trace"
                in_own_process(f"import recordings; recordings.write_growing({what!r}, {count}, {str(path)!r})")
                return {"bundle": path}

            parts.append(f"\nBy {what}:\n\n{_table(what, counts, growing, JUDGING, repeats)}")
    return "".join(parts)


def _table(
    what: str, sizes: Sequence[int], write: Callable[[int], dict[str, Path]], steps: Sequence[str], repeats: int
) -> str:
    """One of them; `write` gives the paths of the recording of a size by form."""
    found: dict[str, list[float]] = {name: [] for name in steps}
    peak: dict[str, int] = {}
    for size in sizes:
        paths = write(size)
        for name in steps:
            form, setup, code = STEPS[name]
            measured = measure(setup.format(predictions=size), code, paths[form], repeats)
            found[name].append(measured.cpu_s)
            peak[name] = measured.peak_mb
    lines = [
        [
            name,
            *(f"{second:.2f}" for second in seconds),
            f"{exponent(sizes, seconds):.2f}" if len(sizes) > 1 else "",
            f"{peak[name]:,}",
        ]
        for name, seconds in found.items()
    ]
    return table(["step, CPU s", *(f"{size:,} {what}" for size in sizes), "exponent", "peak MB"], lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--predictions", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--counts", type=int, nargs="+", default=[10, 40, 160], help="of models, processes, findings")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    text = tables(arguments.predictions, arguments.counts, arguments.repeats)
    report(text, arguments.repeats, arguments.output)


if __name__ == "__main__":
    main()
