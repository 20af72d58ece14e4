"""How long all detectors take on a large recording that has been read.

    python benchmarks/detectors.py [--predictions N] [--bundle BUNDLE]

Writes a bundle of N predictions of four models, unless one is given, reads it, and judges it in a process of its own.
Prints the time of all detectors together with what they share, its ratio to the time of reading the bundle, the peak
memory after each, and the detectors that take longest by themselves.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame import in_own_process, peak_mb

if TYPE_CHECKING:
    from tracekit.detectors.framework import AnyDetector
    from tracekit.detectors.outcomes import Outcome

SHOWN = 8
"""Detectors listed, the slowest first."""


def judge(bundle: Path) -> None:
    """Read and judge the bundle, and print how long it took."""
    import tracekit
    from tracekit.detectors.registry import DETECTORS
    from tracekit.detectors.runner import run_detectors

    started = time.perf_counter()
    trace = tracekit.open_trace(bundle)
    read = time.perf_counter() - started
    rows = sum(map(len, (trace.activity, trace.data, trace.compute, trace.hardware)))
    print(f"{rows:,} events; reading: {read:.2f} s, peak {peak_mb()} MB")
    started = time.perf_counter()
    judgments = run_detectors(trace)
    judged = time.perf_counter() - started
    print(
        f"{len(DETECTORS)} detectors, {len(judgments)} answers; judging: {judged:.2f} s, {judged / read:.2f} times as "
        f"long as reading, peak {peak_mb()} MB"
    )
    spent = dict.fromkeys((detector.id for detector in DETECTORS), 0.0)

    def timed(detector: AnyDetector) -> AnyDetector:
        def detect(seen: Any, options: Any) -> Outcome:
            started = time.perf_counter()
            try:
                return detector.detect(seen, options)
            finally:
                spent[detector.id] += time.perf_counter() - started

        return replace(detector, detect=detect)

    # Once more: what detectors share is kept with the trace by now, so that this is the time of each by itself.
    run_detectors(trace, detectors=[timed(detector) for detector in DETECTORS])
    for name in sorted(spent, key=spent.__getitem__, reverse=True)[:SHOWN]:
        print(f"  {spent[name] * 1000:7.0f} ms  {name}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--predictions", type=int, default=100_000)
    parser.add_argument("--bundle", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundle = options.bundle or Path(folder) / "large.trace"
        if options.bundle is None:
            in_own_process(f"import recordings; recordings.write_large({options.predictions}, {str(bundle)!r})")
        in_own_process(f"import detectors, pathlib; detectors.judge(pathlib.Path({str(bundle.resolve())!r}))")


if __name__ == "__main__":
    main()
