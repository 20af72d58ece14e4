"""How fast the terminal UI opens a large recording and moves over it.

    python benchmarks/view.py [--predictions N] [--bundle BUNDLE] [--repaint]

Writes a bundle of N predictions of four models (nine intervals each), unless one is given, and opens it at 200 x 50:

- with `tracekit view` on a pseudo-terminal: seconds from the start of the process until the lanes are on screen, and
  until the findings are, the best of three each;
- with `--repaint`, on such a terminal: bytes that each of some keys writes, and beside them how many cells it changes,
  counted in a process without a terminal;
- in a process without a terminal that is set up as that of the command line: the longest that the UI had to wait until
  the findings were on screen; ms for a zoom or pan, median and 95th percentile, for drawing the timeline alone (wall
  clock) and for all that the app does from the key to the finished screen (processor time, since the harness waits in
  between); and the peak memory.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from frame import environment, in_own_process

if TYPE_CHECKING:
    from collections.abc import Iterator

RUNS = 3
SIZE = (200, 50)
LANE = b"Neural Engine"
"""On screen as soon as lanes are."""
DONE = b"outcome"
"""A heading of the list of findings, on screen as soon as they are."""
KEYS = ("w", "w", "d", "w", "d", "d", "w", "w", "a", "w", "w", "w", "d", "s", "a", "s", "s", "s", "s", "s", "s", "s")

QUIET_S = 0.5
"""A key is done when nothing was written for so long."""
REPAINTED = ("1", "down", "down", "up", "4", "down", "pagedown", "2", "down", "n", "n", "w", "d", "s", "escape")
"""Keys whose bytes are counted: rows of three lists, steps from event to event, zoom and pan."""
SEQUENCES = {"down": b"\x1b[B", "up": b"\x1b[A", "pagedown": b"\x1b[6~", "escape": b"\x1b"}

CELLS = """
import asyncio, sys
from itertools import chain
from textual._context import visible_screen_stack
from tracekit.tui.app import ViewApp
from tracekit.tui.opening import Viewed

def cells(app):
    visible_screen_stack.set(app._background_screens)
    return [
        [(character, segment.style) for segment in strip for character in segment.text]
        for strip in app.screen._compositor.render_strips()
    ]

async def main():
    app = ViewApp(Viewed((sys.argv[1],)))
    async with app.run_test(size={size}) as pilot:
        while not app.is_open or app.state.session.report is None:
            await asyncio.sleep(0.01)
        await app.workers.wait_for_complete()
        await pilot.pause()
        before = cells(app)
        for key in {keys!r}:
            await pilot.press(key)
            await app.workers.wait_for_complete()
            await pilot.pause(0.1)
            after = cells(app)
            print(sum(a != b for a, b in zip(chain(*before), chain(*after))))
            before = after

asyncio.run(main())
"""

MEASURE = """
import asyncio, gc, resource, statistics, sys, time
from tracekit.cli.process import keep_freed_memory, lighten
gc.set_threshold(300_000, 20, 20)
lighten()
from tracekit.tui.app import ViewApp, _look_for_garbage_briefly
from tracekit.tui.opening import Viewed
from tracekit.tui.timeline.widget import Timeline

async def main():
    keep_freed_memory()
    app = ViewApp(Viewed((sys.argv[1],)), at_first_picture=_look_for_garbage_briefly)
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
        print(f"the UI waited {{longest * 1000:.0f}} ms at most")
        painter = app.browse.query_one(Timeline).renderer
        own, whole = [], []
        for key in {keys!r}:
            before = time.process_time()
            await pilot.press(key)
            await pilot.pause()
            whole.append(time.process_time() - before)
            painter._pictured = None
            before = time.perf_counter()
            for y in range(len(painter.arrangement.lines)):
                painter.line(y)
            own.append(time.perf_counter() - before)
        for name, times in (("timeline", own), ("app", whole)):
            ranked = sorted(times)
            p95 = ranked[int(len(ranked) * 0.95)]
            print(f"{{name}}: median {{statistics.median(ranked) * 1000:.1f}} ms, p95 {{p95 * 1000:.1f}} ms")
    rows = sum(len(lane.events) for lane in painter.lanes.lanes if lane.events is not None)
    print(f"{{rows:,}} intervals; peak {{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f}} MB")

asyncio.run(main())
"""


@contextmanager
def on_terminal(bundle: Path, env: dict[str, str]) -> Iterator[int]:
    """`tracekit view` on a terminal: its other end."""
    ours, its = pty.openpty()
    columns, rows = SIZE
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    command = [sys.executable, "-m", "tracekit", "view", str(bundle)]
    env = env | {"TERM": "xterm-256color", "COLORTERM": "truecolor", "COLUMNS": str(columns), "LINES": str(rows)}
    process = subprocess.Popen(command, stdin=its, stdout=its, stderr=its, env=env, start_new_session=True)
    try:
        yield ours
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(its)


def opening(bundle: Path, env: dict[str, str]) -> tuple[float, ...]:
    """Seconds from the start of `tracekit view` until lanes are on a terminal, and until findings are."""
    begin = time.perf_counter()
    with on_terminal(bundle, env) as terminal:
        return tuple(shown - begin for shown in until_shown(terminal, LANE, DONE))


def until_shown(terminal: int, *words: bytes) -> list[float]:
    """Read until all of these were written, in this order: when each was."""
    written, times = b"", []
    for each in words:
        while each not in written:
            written += os.read(terminal, 65536)
        times.append(time.perf_counter())
    return times


def until_quiet(terminal: int) -> int:
    """Bytes written until nothing more comes."""
    count = 0
    while select.select([terminal], [], [], QUIET_S)[0]:
        count += len(os.read(terminal, 65536))
    return count


def repainted(bundle: Path, env: dict[str, str]) -> None:
    """Print for each key the bytes that it writes and the cells that it changes."""
    with on_terminal(bundle, env) as terminal:
        until_shown(terminal, LANE, DONE)
        until_quiet(terminal)
        written = []
        for key in REPAINTED:
            os.write(terminal, SEQUENCES.get(key, key.encode()))
            written.append(until_quiet(terminal))
    script = CELLS.format(size=SIZE, keys=REPAINTED)
    command = [sys.executable, "-c", script, str(bundle)]
    changed = subprocess.run(command, check=True, env=env, capture_output=True, text=True).stdout.split()
    for key, size, cells in zip(REPAINTED, written, changed, strict=True):
        print(f"{key:>9}: {size:>7,} bytes for {int(cells):>6,} cells")


def main() -> None:
    arguments = argparse.ArgumentParser(description="Measure the terminal UI.")
    arguments.add_argument("--predictions", type=int, default=111_200)
    arguments.add_argument("--bundle", type=Path)
    arguments.add_argument("--repaint", action="store_true", help="count the bytes that keys write, and nothing else")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bundle = options.bundle or Path(folder) / "large.trace"
        if options.bundle is None:
            in_own_process(f"import recordings; recordings.write_large({options.predictions}, {str(bundle)!r})")
        env = environment()
        if options.repaint:
            repainted(bundle, env)
            return
        lanes, findings = map(min, zip(*(opening(bundle, env) for _ in range(RUNS)), strict=True))
        print(f"lanes after {lanes:.2f} s, findings after {findings:.2f} s")
        script = MEASURE.format(keys=KEYS, size=SIZE)
        subprocess.run([sys.executable, "-c", script, str(bundle)], check=True, env=env)


if __name__ == "__main__":
    main()
