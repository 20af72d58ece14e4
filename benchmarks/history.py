"""`tracekit history` and `check --history` on a file of many builds and models: time and peak memory.

python benchmarks/history.py [--builds 10000] [--models 20] [--repeats 3]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from tracekit.comparison.history import Recorded
from tracekit.comparison.history_file import line_of

FORMS = ("text", "markdown", "html", "csv", "json")


def write(path: Path, builds: int, models: int) -> None:
    """A history of an app whose first model is slower by a tenth from two thirds on."""
    generator = np.random.default_rng(1)
    first = datetime(2020, 1, 1, tzinfo=UTC)
    with path.open("w") as file:
        for build in range(builds):
            figures = {}
            for model in range(models):
                scale = 1.1 if model == 0 and build > builds * 2 // 3 else 1.0
                p50, p95, load = 8e6 * scale * np.exp(generator.normal(size=3) * 0.01) * (1, 1.1, 2.5)
                rate = round(30 + generator.normal() * 0.1, 3)
                figures[f"Model{model}"] = (
                    round(p50),
                    round(p95),
                    None,
                    None,
                    round(load),
                    None,
                    rate,
                    1.0,
                    0.0,
                    0.0,
                    0,
                )
            began = (first + timedelta(hours=6 * build)).isoformat(timespec="seconds")
            name = f"{build:040x}"
            file.write(line_of(Recorded(began, name, name, "iPhone 14 Pro", "iOS 18.5 (22F76)", figures, {})))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--builds", type=int, default=10_000)
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "history.jsonl")
        write(path, arguments.builds, arguments.models)
        print(f"{arguments.builds:,} builds of {arguments.models} models, {path.stat().st_size / 1e6:.0f} MB\n")
        print("| form | s | CPU s | peak MB |\n|---|--:|--:|--:|")
        for form in FORMS:
            best = None
            for _ in range(arguments.repeats):
                began = time.perf_counter()
                command = [sys.executable, "-m", "tracekit", "history", str(path), "--format", form]
                with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
                    _, status, used = os.wait4(process.pid, 0)
                    process.returncode = status
                assert status == 0
                one = (time.perf_counter() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1e3)
                best = one if best is None else min(best, one)
            print(f"| {form} | {best[0]:.1f} | {best[1]:.1f} | {best[2]:.0f} |")


if __name__ == "__main__":
    main()
