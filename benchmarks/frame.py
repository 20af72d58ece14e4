"""What the benchmarks share: a process for each measurement, medians, tables."""

from __future__ import annotations

import compileall
import math
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import tracekit

if TYPE_CHECKING:
    from collections.abc import Sequence

TIMED = """
import gc, sys, time
# As the command line has it.
gc.set_threshold(300_000, 20, 20)
sys.path.append({own!r})
from frame import peak_mb
path = sys.argv[1]
{setup}
begin = time.perf_counter(), time.process_time()
{code}
seconds = time.perf_counter() - begin[0], time.process_time() - begin[1]
print(result, *seconds, peak_mb(), sep=chr(9))
"""
"""A process that is measured: `code` reads `path` and leaves its answer in `result`; what `setup` does is free."""
OWN = str(Path(__file__).parent)
LONG_S = 10.0
"""What takes so long is measured once: chance makes no difference there."""


@dataclass(frozen=True)
class Measurement:
    """Medians of several runs."""

    answer: str
    wall_s: float
    cpu_s: float
    peak_mb: int


@cache
def environment() -> dict[str, str]:
    """Environment of a process that is measured: tracekit as an installed package runs, with its modules compiled once.
    Some test machines keep Python from storing bytecode."""
    compileall.compile_dir(Path(tracekit.__file__).parent, quiet=1)
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(setup: str, code: str, path: Path, repeats: int) -> Measurement:
    """Run Python code in processes of its own."""
    return _repeated([sys.executable, "-c", TIMED.format(own=OWN, setup=setup, code=code), str(path)], repeats)


def _repeated(command: Sequence[str], repeats: int) -> Measurement:
    """Medians of what a command prints; of once where that takes long."""
    rows: list[list[str]] = []
    while len(rows) < repeats and (not rows or float(rows[0][1]) < LONG_S):
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=environment())
        # A program that prints nothing has an empty first column.
        rows.append(done.stdout.strip("\r\n").split("\t"))
    return _medians(rows)


def peak_mb() -> int:
    """The most memory that this process has had."""
    import resource

    # Bytes on macOS, kB on Linux.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def available_mb() -> int | None:
    """Memory that a process can have now; None where that is not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        # Not Linux: all of it.
        names = "SC_PHYS_PAGES", "SC_PAGE_SIZE"
        known = all(name in getattr(os, "sysconf_names", {}) for name in names)
        return math.prod(map(os.sysconf, names)) // 2**20 if known else None
    return next(int(line.split()[1]) // 2**10 for line in lines if line.startswith("MemAvailable:"))


def in_own_process(code: str) -> None:
    """Run Python code that has modules of this folder: a child's peak memory begins at what its parent held."""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=OWN, env=environment())


def measure_program(command: Sequence[str], repeats: int) -> Measurement:
    """Run another program."""
    # A process in between, whose only child it is: its usage is that of the program.
    code = (
        "import resource, subprocess, sys, time\n"
        "begin = time.perf_counter()\n"
        "answer = subprocess.run(sys.argv[1:], check=True, capture_output=True, text=True).stdout\n"
        "seconds = time.perf_counter() - begin\n"
        "usage = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "unit = 2**20 if sys.platform == 'darwin' else 2**10\n"
        "print(' '.join(answer.split()), seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // unit, sep=chr(9))"
    )
    return _repeated([sys.executable, "-c", code, *command], repeats)


def _medians(rows: list[list[str]]) -> Measurement:
    wall, cpu, peak = (statistics.median(float(row[place]) for row in rows) for place in (1, 2, 3))
    return Measurement(rows[0][0], wall, cpu, int(peak))


def exponent(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """The power of the size with which time grows, fitted by least squares on logarithms."""
    x, y = [math.log(size) for size in sizes], [math.log(second) for second in seconds]
    return statistics.linear_regression(x, y).slope


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def machine() -> str:
    """What the figures depend on."""
    import numpy as np
    import pandas as pd
    from lxml import etree

    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    versions = (
        f"Python {platform.python_version()}, numpy {np.__version__}, pandas {pd.__version__}, "
        f"lxml {'.'.join(map(str, etree.LXML_VERSION[:3]))}"
    )
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{load}; {versions}"


def report(text: str, repeats: int, output: Path | None) -> None:
    """Print tables behind what they depend on, and write them to a file where one is given."""
    often = f"medians of {repeats}, of one from {LONG_S:.0f} s on" if repeats > 1 else "of one run"
    text = f"{machine()}; {often}; CPU s is processor time.\n{text}"
    print(text, end="")
    if output:
        output.write_text(text, encoding="utf-8")
