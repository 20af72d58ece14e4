"""Questions to a lake of many predictions: time, memory, and how far the sketched percentile is off.

python benchmarks/lake_rows.py LAKE [--recordings 1000] [--rows 100000]

LAKE is made if it is not there, and takes recordings that it lacks: the same call with more of them grows it.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from tracekit import open_trace
from tracekit.api import Analysis, judge
from tracekit.query.database import RecordingViews
from tracekit.query.lake import add_to_lake, holds, make_lake
from tracekit.query.views import VIEWS, Source
from tracekit.testing import Model, Process, Scenario, write_export

DEVICES = 8
SIGMA = 0.4
"""Spread of the logarithms of durations: p95 is 1.9 times the median."""
Z95 = 1.6449
"""The 95th percentile of a normal distribution."""
QUESTIONS = {
    "`count(*)`": "select count(*) from predictions",
    "`approx_quantile(duration_ns, 0.95)` by device": (
        "select device_model, approx_quantile(duration_ns, 0.95) from predictions group by all order by all"
    ),
    "`pct(duration_ns, 0.95)` by device, exact": (
        "select device_model, pct(duration_ns, 0.95) from predictions group by all order by all"
    ),
    "`pct` of one of eight devices": (
        "select device_model, pct(duration_ns, 0.95) from predictions where device_model = 'Phone 3' group by all"
    ),
}


def median_of(device: int) -> float:
    """What predictions of a device take, in ns."""
    return 8e6 * (1 + device / 4)


def fill(lake: Path, recordings: int, rows: int) -> None:
    """Let a lake have so many recordings of so many predictions each: one that is read, with its predictions drawn
    again for each."""
    make_lake(lake)
    small = Scenario(Process("App", 7), duration_ns=2_000_000_000)
    small.load(Model("Net"), 0, 10_000_000)
    small.predict(Model("Net"), 20_000_000, 10_000_000)
    write_export(small, lake / ".adding" / "one")
    trace = open_trace(lake / ".adding" / "one")
    report = judge(trace)
    measured = Analysis(trace, None, report).measured_report()
    made = RecordingViews(Source(trace, lambda: report), lambda _: {}).rows(
        [name for name in VIEWS if name != "recording"]
    )
    first = np.zeros(rows, np.int64)
    one = {
        name: cells[first] if isinstance(cells, np.ndarray) else cells.take(first)
        for name, cells in made["predictions"].items()
    }

    class Drawn(RecordingViews):
        def rows(self, names):  # noqa: ARG002
            return made | {"predictions": drawn}

    for number in range(recordings):
        run_id = f"{number:032x}"
        if holds(lake, run_id):
            continue
        generator = np.random.default_rng(number)
        device = number % DEVICES
        durations = (median_of(device) * np.exp(SIGMA * generator.normal(size=rows))).astype(np.int64)
        starts = np.cumsum(durations + 1_000_000) - durations
        ends = starts + durations
        bounds = {"start_min_ns": starts, "start_max_ns": starts, "end_min_ns": ends, "end_max_ns": ends}
        times = {"start_ns": starts, "end_ns": ends, "duration_ns": durations, **bounds}
        drawn = one | {"id": np.arange(rows), "source_row": np.arange(rows)} | times
        facts = replace(measured.recording, device_model=f"Phone {device}")
        views = Drawn(Source(trace, lambda: report), lambda _: {})
        add_to_lake(lake, run_id, views, replace(measured, recording=facts))


def asked(lake: Path, query: str) -> tuple[str, float, float, float]:
    """The answer as CSV, with seconds, CPU seconds and peak MB of the command."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "tracekit", "sql", str(lake), query, "--format", "csv", "--query-timeout", "600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        answer = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = status
    assert status == 0
    return answer, time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3


def values(answer: str) -> dict[str, float]:
    """The percentile of each device."""
    return {name: float(number) for name, number in (line.split(",") for line in answer.splitlines()[1:])}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("lake", type=Path)
    parser.add_argument("--recordings", type=int, default=1_000)
    parser.add_argument("--rows", type=int, default=100_000)
    arguments = parser.parse_args()
    # A command that is started begins with the peak memory of the process that starts it.
    filling = get_context("spawn").Process(target=fill, args=(arguments.lake, arguments.recordings, arguments.rows))
    filling.start()
    filling.join()
    assert filling.exitcode == 0
    size = sum(path.stat().st_size for path in (arguments.lake / "predictions").rglob("*.parquet"))
    count = arguments.recordings * arguments.rows
    print(f"{count:,} predictions, {size / 1e9:.2f} GB, {size / count:.1f} bytes each\n")
    print("| query | s | CPU s | peak MB |\n|---|--:|--:|--:|")
    answers = {}
    for words, query in QUESTIONS.items():
        answers[words], *used = asked(arguments.lake, query)
        print("| {} | {:.1f} | {:.1f} | {:.0f} |".format(words, *used), flush=True)
    counted, sketched, exact, one = answers.values()
    assert counted.splitlines()[1] == str(count)
    assert values(one) == {"Phone 3": values(exact)["Phone 3"]}
    off = [abs(values(sketched)[name] / number - 1) for name, number in values(exact).items()]
    true = [
        abs(number / (median_of(int(name.split()[1])) * np.exp(Z95 * SIGMA)) - 1)
        for name, number in values(exact).items()
    ]
    print(
        f"\nThe sketch is off by at most {max(off):.2%}; the exact one differs from what was drawn by {max(true):.2%}."
    )


if __name__ == "__main__":
    main()
