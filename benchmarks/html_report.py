"""How fast the HTML report of a large recording is, in headless Chromium.

    .venv/bin/python benchmarks/html_report.py [--intervals 1000000] [--keep report.html]

Needs Chromium, and `npm ci` in web/. The lanes are made up: bursts of predictions with their parts on every lane.
The report around them is that of a sample. Prints, against the targets, when the page is readable, when its lanes are
drawn, how long a zoom or pan takes from the key to the end of drawing, and the most memory that the page held. Takes
half a minute; on a machine that is busy with something else the times say little.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from tracekit.api import analysis_of
from tracekit.documents.report import report_file
from tracekit.lanes.categories import Category
from tracekit.report.timeline import CALL, DrawnLane, Marked, Timeline

ROOT = Path(__file__).parents[1]
MODELS = 4

MOST_LOADING_MS, MOST_REDRAWING_MS, MOST_MEMORY_MB = 1500, 50, 400
"""Targets for a million intervals on two processors."""


def timeline(intervals: int) -> Timeline:
    """Lanes with so many intervals in all: a prediction with parts of nine kinds on four lanes, again and again."""
    rng = np.random.default_rng(1)
    calls = intervals // 10
    starts = np.cumsum(rng.integers(400_000, 3_000_000, calls))
    lengths = rng.integers(200_000, 390_000, calls)
    model = rng.integers(0, MODELS, calls)
    texts = [f"Model{number}" for number in range(MODELS)] + [f"Event {number}" for number in range(10)]
    data = [(Category.INPUT_COPY, 0.02, 0.1), (Category.CAST, 0.1, 0.2), (Category.OUTPUT, 0.85, 0.99)]
    compute = [(Category.ANE, 0.2, 0.5), (Category.CPU, 0.5, 0.6), (Category.ANE, 0.6, 0.84)]
    kinds = [
        ("activity", "Activity", "Core ML", [(Category.PREDICTION, 0.0, 1.0)]),
        ("data", "Data", "Core ML", data),
        ("compute", "Compute", "Core ML", compute),
        ("neural-engine", "Neural Engine", "Hardware", [(Category.ANE, 0.25, 0.48), (Category.ANE, 0.65, 0.82)]),
        ("gpu other", "GPU · others", "Hardware", [(Category.FOREIGN, 0.4, 1.3)]),
    ]
    lanes, event = [], MODELS
    for identity, title, section, parts in kinds:
        columns = []
        for category, low, high in parts:
            first = starts + (lengths * low).astype(np.int64)
            last = starts + (lengths * high).astype(np.int64)
            columns.append((first, last, np.full(calls, category), np.full(calls, event), model))
            event += 1
        first, last, category, label, of_model = (np.concatenate(each) for each in zip(*columns, strict=True))
        order = np.argsort(first, kind="stable")
        flags = np.full(len(order), CALL if identity == "activity" else 0)
        call = np.tile(np.arange(calls), len(parts))
        values = (first, last, category, label, np.zeros(len(order), np.int64), of_model)
        columns = [each[order] for each in values]
        lanes.append(DrawnLane(identity, title, section, "", False, *columns, flags, call[order], 2))
    return Timeline(0, int(starts[-1]) + 10_000_000, tuple(lanes), tuple(texts), ())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--intervals", type=int, default=1_000_000)
    parser.add_argument("--keep", type=Path, help="write the page to this file and leave it there")
    arguments = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None or not (ROOT / "web/node_modules").is_dir():
        raise SystemExit("needs Chromium, and `npm ci` in web/")
    report = analysis_of(ROOT / "sample_traces/style_transfer_reload.trace").report
    lanes = timeline(arguments.intervals)
    # The first finding has every row of a lane as its evidence, the others none.
    data = lanes.lanes[1]
    none = np.empty(0, np.int64)
    marks = Marked(data.starts, data.ends, np.ones(len(data.starts), np.int64), np.arange(len(data.starts)))
    lanes = replace(lanes, evidence=(marks, *(Marked(none, none, none, none),) * (len(report.results) - 1)))
    begin = time.perf_counter()
    page = report_file(report, "html", lanes)
    spent = time.perf_counter() - begin
    with tempfile.TemporaryDirectory() as folder:
        file = (arguments.keep or Path(folder) / "report.html").resolve()
        file.write_text(page, "utf-8")
        command = ["node", str(ROOT / "web/test/measure.mjs"), chromium, str(file)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    load = f"load of the machine {os.getloadavg()[0]:.1f}"
    print(f"{lanes.rows:,} intervals, {len(page) / 1e6:.1f} MB, written in {spent:.2f} s; {load}")
    loads = f"the slowest of {len(found['drawn'])} loads"
    print(f"readable after   {max(found['painted']):6,.0f} ms, {loads}")
    print(f"lanes drawn after{max(found['drawn']):6,.0f} ms, {loads}{against(max(found['drawn']), MOST_LOADING_MS)}")
    moves = f"p95 of zooms and pans; median {found['median']:.0f} ms, longest {found['longest']:.0f} ms"
    print(f"redrawn within   {found['p95']:6,.0f} ms, {moves}{against(found['p95'], MOST_REDRAWING_MS)}")
    print(f"memory           {max(found['memory']):6,.0f} MB at most{against(max(found['memory']), MOST_MEMORY_MB)}")


def against(value: float, most: float) -> str:
    return f" (target {most:,}: {'met' if value < most else 'MISSED'})"


if __name__ == "__main__":
    main()
