"""How fast the frames of call stacks get their functions, as ratios.

    python benchmarks/call_stacks.py BUNDLE

Compares `Trace.samples` and `Trace.stacks` with what opening the trace takes, and with looking up the function of every
frame of every sample on its own, by bisection, names included, timed on a part and scaled up. Medians of
three, each in a process of its own, since names are kept.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from frame import measure

RUNS = 3
SETUP = """
import numpy as np
import tracekit.recording.bundle.call_stacks
from tracekit.trace.build import open_trace
"""
OPENED = "trace = open_trace(path)\n"
OURS = """
samples, stacks = trace.samples, trace.stacks
recorded = np.bincount(stacks.stack[~stacks.inlined])
result = int(recorded[samples.stack.values[samples.stack.known]].sum())
"""
PLAIN = """
import bisect
from tracekit.recording.bundle.symbol_archive import SymbolArchive
from tracekit.recording.function_names import short_name
from pathlib import Path
archives = [SymbolArchive(file.read_bytes()) for file in Path(path).glob("symbols/stores/*")]
archive = max(archives, key=lambda each: each.counts[0])
symbols = [archive.names(call) for call in range(archive.counts[0])]
starts = [start for _, _, start in symbols]
for number in range(20_000):
    place = bisect.bisect_right(starts, starts[number % len(starts)]) - 1
    short_name.__wrapped__(symbols[place][1] or symbols[place][0])
result = 20_000
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", type=Path)
    arguments = parser.parse_args()
    opened = measure(SETUP, f"{OPENED}result = 0", arguments.bundle, RUNS).cpu_s
    ours = measure(SETUP + OPENED, OURS, arguments.bundle, RUNS)
    loop = measure(SETUP, PLAIN, arguments.bundle, RUNS)
    frames, seconds, part, plain = int(ours.answer), ours.cpu_s, int(loop.answer), loop.cpu_s
    print(f"{frames:,} frames of samples in {seconds:.2f} s")
    print(f"{'opening the trace':34} {opened:7.2f} s  ratio {opened / seconds:6.2f}")
    print(f"{'frame by frame, scaled':34} {plain * frames / part:7.2f} s  ratio {plain * frames / part / seconds:6.2f}")


if __name__ == "__main__":
    main()
