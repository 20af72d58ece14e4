"""Everything in one run: readers of exports side by side, then each step from a recording to its report.

python benchmarks/run.py [--rows ...] [--predictions ...] [--repeats 3] [--output results.md]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import growth
import read_export
from export_files import SHAPES
from frame import report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 100_000, 1_000_000], help="of the exports")
    parser.add_argument("--predictions", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--output", type=Path, help="also write the tables to this file")
    arguments = parser.parse_args()
    readers = read_export.tables(arguments.rows, list(SHAPES), arguments.repeats)
    report(readers + growth.tables(arguments.predictions, arguments.repeats), arguments.repeats, arguments.output)


if __name__ == "__main__":
    main()
