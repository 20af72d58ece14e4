"""Recordings into a lake by a cluster of Dask on this machine, with a worker killed on the way: is all there, once?

python benchmarks/fleet.py [--recordings 2000] [--broken 20] [--workers 4]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.testing import Model, Process, Scenario, write_bundle

if TYPE_CHECKING:
    from distributed import LocalCluster

MS = 1_000_000
PREDICTIONS = 5


def lasts(number: int) -> int:
    """How long each prediction of a recording takes, in ns: no other's takes as long."""
    return 10 * MS + number * 10_000


def write(number: int, *, folder: Path, broken: int) -> None:
    """A recording of an app with process id `number`: a load and predictions. The first `broken` ones are cut off."""
    made = Scenario(Process("App", number), duration_ns=2_000 * MS)
    made.load(Model("Net"), 0, 10 * MS)
    for place in range(PREDICTIONS):
        made.predict(Model("Net"), (20 + 100 * place) * MS, lasts(number)).neural_engine(MS, 2 * MS)
    path = write_bundle(made, folder / f"{number}.trace")
    if number < broken:
        tables = next(path.rglob("tables.plist"))
        tables.write_bytes(tables.read_bytes()[:50])


@dataclass(frozen=True, slots=True)
class Filled:
    """What became of a folder of recordings."""

    status: int
    said: str
    killed: list[int]
    """Process id of the worker that was killed."""
    seconds: float


def add(lake: Path, folder: Path, cluster: LocalCluster, after: int) -> Filled:
    """Add a folder by a cluster, of which a worker is killed when `after` recordings are in the lake."""
    killed: list[int] = []
    began = time.perf_counter()
    command = [sys.executable, "-m", "tracekit", "lake", "add", str(lake), str(folder), "--no-config"]
    command += ["--dask", cluster.scheduler_address]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:

        def kill() -> None:
            while process.poll() is None and sum(1 for _ in (lake / "runs").glob("*")) < after:
                time.sleep(0.005)
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

        killer = threading.Thread(target=kill)
        killer.start()
        _, said = process.communicate()
        killer.join()
    return Filled(process.returncode, said, killed, time.perf_counter() - began)


def check(status: int, said: str, numbers: Sequence[int], broken: int, ask: Callable[[str], list[list[int]]]) -> None:
    """Raise `AssertionError` unless each recording that can be read is there once, and the others are named. `ask`
    gives the rows of a query."""
    *lines, last = said.splitlines()
    skipped = sorted(int(name) for line in lines for name in re.findall(r": skipped: .*?(\d+)\.trace", line))
    assert (status, skipped) == (2, [number for number in numbers if number < broken]), said
    whole = [number for number in numbers if number >= broken]
    assert last.startswith(f"tracekit: added {len(whole):,} recordings "), last
    assert last.endswith(f"({broken} skipped)"), last
    rows = ask("select duration_ns, count(*) from predictions group by all order by all")
    assert rows == [[lasts(number), PREDICTIONS] for number in whole]
    assert ask("select count(*), count(distinct run_id) from runs") == [[len(whole), len(whole)]]


def asked(lake: Path, query: str) -> list[list[int]]:
    """Rows of a query."""
    command = [sys.executable, "-m", "tracekit", "sql", str(lake), query, "--json"]
    answer = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    rows: list[list[int]] = json.loads(answer.stdout)["rows"]
    return rows


def main() -> None:
    from distributed import LocalCluster

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recordings", type=int, default=2_000)
    parser.add_argument("--broken", type=int, default=20)
    parser.add_argument("--workers", type=int, default=4)
    arguments = parser.parse_args()
    numbers = range(arguments.recordings)
    with tempfile.TemporaryDirectory() as name:
        folder, lake = Path(name, "runs"), Path(name, "lake")
        folder.mkdir()
        began = time.perf_counter()
        with ProcessPoolExecutor() as pool:
            list(pool.map(partial(write, folder=folder, broken=arguments.broken), numbers, chunksize=20))
        print(f"{len(numbers):,} recordings written in {time.perf_counter() - began:.0f} s", flush=True)
        with LocalCluster(n_workers=arguments.workers, threads_per_worker=1, dashboard_address=":0") as cluster:
            filled = add(lake, folder, cluster, after=len(numbers) // 2)
        print(f"added by {arguments.workers} workers, one of which was killed, in {filled.seconds:.0f} s", flush=True)
        print(filled.said.splitlines()[-1])
        assert filled.killed
        check(filled.status, filled.said, numbers, arguments.broken, partial(asked, lake))
        print(f"each of {len(numbers) - arguments.broken:,} is there once, and the {arguments.broken} broken are named")


if __name__ == "__main__":
    main()
