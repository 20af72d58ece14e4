"""How fast the terminal UI opens a large recording and moves over it.

    python benchmarks/view.py [--predictions N] [--bundle BUNDLE]

Writes a bundle of N predictions of four models (nine intervals each), unless one is given, and opens it at 200 x 50:

- with `tracekit view` on a pseudo-terminal: seconds from the start of the process until the lanes are on screen, the
  best of three;
- in a process of its own without a terminal: seconds until the findings are on screen; ms for a zoom or pan, median and
  95th percentile, for drawing the timeline alone (wall clock) and for all that the app does from the key to the
  finished screen (processor time, since the harness waits in between); and the peak memory.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from frame import environment, in_own_process

RUNS = 3
SIZE = (200, 50)
LANE = b"Neural Engine"
"""On screen as soon as lanes are."""
KEYS = ("w", "w", "d", "w", "d", "d", "w", "w", "a", "w", "w", "w", "d", "s", "a", "s", "s", "s", "s", "s", "s", "s")

MEASURE = """
import sys, time
start = float(sys.argv[2])
import asyncio, resource, statistics, sys
from tracekit.tui.app import ViewApp
from tracekit.tui.opening import Request
from tracekit.tui.timeline.widget import Timeline

async def main():
    app = ViewApp(Request((sys.argv[1],)))
    async with app.run_test(size={size}) as pilot:
        while not app.is_open:
            if app.failure:
                sys.exit(app.failure)
            await asyncio.sleep(0.01)
        await pilot.pause()
        longest = 0.0
        while app.state.session.report is None:
            before = time.perf_counter()
            await asyncio.sleep(0.005)
            longest = max(longest, time.perf_counter() - before - 0.005)
        await pilot.pause()
        print(f"findings after {{time.time() - start:.2f}} s, {{time.process_time():.2f}} s of processor time")
        print(f"the UI waited {{longest * 1000:.0f}} ms at most")
        painter = app.browse.query_one(Timeline).renderer
        own, whole = [], []
        for key in {keys!r}:
            before = time.process_time()
            await pilot.press(key)
            await pilot.pause()
            whole.append(time.process_time() - before)
            painter._pictures.clear()
            before = time.perf_counter()
            for y in range(len(painter.arrangement.lines)):
                painter.line(y)
            own.append(time.perf_counter() - before)
        for name, times in (("timeline", own), ("app", whole)):
            ranked = sorted(times)
            p95 = ranked[int(len(ranked) * 0.95)]
            print(f"{{name}}: median {{statistics.median(ranked) * 1000:.1f}} ms, p95 {{p95 * 1000:.1f}} ms")
    rows = sum(len(lane.events) for lane in painter.lanes if lane.events is not None)
    print(f"{{rows:,}} intervals; peak {{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}} MB")

asyncio.run(main())
"""


def first_screen(bundle: Path, env: dict[str, str]) -> float:
    """Seconds from the start of `tracekit view` until lanes are on a terminal."""
    ours, its = pty.openpty()
    columns, rows = SIZE
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    begin = time.perf_counter()
    command = [sys.executable, "-m", "tracekit", "view", str(bundle)]
    env = env | {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": str(rows)}
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=env, start_new_session=True)
    shown = b""
    while LANE not in shown:
        shown += os.read(ours, 65536)
    seconds = time.perf_counter() - begin
    process.kill()
    process.wait()
    os.close(ours)
    os.close(its)
    return seconds


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure the terminal UI.")
    arguments.add_argument("--predictions", type=int, default=111_200)
    arguments.add_argument("--bundle", type=Path)
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundle = options.bundle or Path(folder) / "large.trace"
        if options.bundle is None:
            in_own_process(f"import recordings; recordings.write_large({options.predictions}, {str(bundle)!r})")
        env = environment()
        print(f"lanes after {min(first_screen(bundle, env) for _ in range(RUNS)):.2f} s")
        script = MEASURE.format(keys=KEYS, size=SIZE)
        subprocess.run([sys.executable, "-c", script, str(bundle), str(time.time())], check=True, env=env)


if __name__ == "__main__":
    main()
