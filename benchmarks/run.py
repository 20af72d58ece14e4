"""Everything in one run: readers of exports side by side, each step from a recording to its report, and commands.

python benchmarks/run.py [--bundle BUNDLE] [--repeats 3] [--output results.md]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import commands
import growth
import read_export
from export_files import SHAPES
from frame import report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="of the exports")
    parser.add_argument("--predictions", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--counts", type=int, nargs="+", default=[10, 40, 160], help="of models, processes, findings")
    parser.add_argument("--largest", type=int, default=500_000, help="predictions of the recording that commands read")
    parser.add_argument("--recordings", type=int, default=100, help="on each side of a comparison")
    parser.add_argument("--bundle", type=Path, help="a real bundle")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    text = commands.tables(arguments.largest, arguments.recordings, arguments.bundle, arguments.repeats)
    text += read_export.tables(arguments.rows, list(SHAPES), arguments.repeats)
    text += growth.tables(arguments.predictions, arguments.counts, arguments.repeats)
    report(text, arguments.repeats, arguments.output)


if __name__ == "__main__":
    main()
