"""How fast the frames of call stacks get their functions, as ratios.

    python benchmarks/call_stacks.py BUNDLE

Compares `Trace.samples` and `Trace.stacks` with what opening the trace takes, and with looking up the function of every
frame of every sample on its own, by bisection, names included, timed on a part and scaled up. The best of three counts;
each in a process of its own, since names are kept.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from installed import environment

RUNS = 3
FRAME = """
import sys, time
import tracekit.recording.bundle.call_stacks
from tracekit.trace.open import open_trace
path = sys.argv[1]
begin = time.perf_counter()
trace = open_trace(path)
opened = time.perf_counter() - begin
begin = time.perf_counter()
{work}
seconds = time.perf_counter() - begin
print(frames(), opened, seconds)
"""
OURS = """
samples, stacks = trace.samples, trace.stacks
def frames():
    recorded = stacks[~stacks["inlined"]].groupby("stack").size()
    return int(recorded[samples["stack"].dropna()].sum())
"""
PLAIN = """
import bisect
from tracekit.recording.bundle.symbol_archive import SymbolArchive
from tracekit.recording.function_names.short import short_name
from pathlib import Path
archives = [SymbolArchive(file.read_bytes()) for file in Path(path).glob("symbols/stores/*")]
archive = max(archives, key=lambda each: each.counts[0])
symbols = [archive.names(call) for call in range(archive.counts[0])]
starts = [start for _, _, start in symbols]
for number in range(20_000):
    place = bisect.bisect_right(starts, starts[number % len(starts)]) - 1
    short_name.__wrapped__(symbols[place][1] or symbols[place][0])
def frames():
    return 20_000
"""


def measured(work: str, bundle: Path) -> tuple[int, float, float]:
    """Frames, and least seconds of opening and of the work."""
    results = []
    for _ in range(RUNS):
        command = [sys.executable, "-c", FRAME.format(work=work), str(bundle)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
        frames, opened, seconds = done.stdout.split()
        results.append((int(frames), float(opened), float(seconds)))
    return results[0][0], min(each[1] for each in results), min(each[2] for each in results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bundle", type=Path)
    arguments = parser.parse_args()
    frames, opened, seconds = measured(OURS, arguments.bundle)
    part, _, plain = measured(PLAIN, arguments.bundle)
    print(f"{frames:,} frames of samples in {seconds:.2f} s")
    print(f"{'opening the trace':34} {opened:7.2f} s  ratio {opened / seconds:6.2f}")
    print(f"{'frame by frame, scaled':34} {plain * frames / part:7.2f} s  ratio {plain * frames / part / seconds:6.2f}")


if __name__ == "__main__":
    main()
