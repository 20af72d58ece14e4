"""Work on many recordings by several processes of this machine, or by the workers of a Dask cluster.

Results come in the order of the items, so that it makes no difference who did the work, and one item whose process
dies costs no other.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, TypeVar

from tracekit.cli.startup import lighten
from tracekit.errors import TracekitError, UsageError, words_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import ProcessPoolExecutor

    from distributed import Client

Item = TypeVar("Item")
Result = TypeVar("Result")

PROCESS_DIED = "the process that read it died, as when memory runs out"
"""Why there is no result for an item that `lost` is asked about."""
AHEAD = 4
"""Items for each worker that are sent before a result is taken: enough to keep it busy, and few enough to hold."""
CONNECT_S = 10
"""Longest wait for the scheduler of a cluster."""


def in_processes(
    work: Callable[[Item], Result], items: Sequence[Item], jobs: int, lost: Callable[[Item], Result]
) -> Iterator[Result]:
    """The results of `work`, by up to `jobs` processes. `lost` gives that of an item whose process dies.

    A process that dies ends its pool. What was at work then is done again, each item on its own, to find the one.
    """
    from concurrent.futures.process import BrokenProcessPool

    done = 0
    while done < len(items):
        with _pool(min(jobs, len(items) - done)) as pool:
            try:
                for future in [pool.submit(work, item) for item in items[done:]]:
                    yield future.result()
                    done += 1
            except BrokenProcessPool:
                pass
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        suspects = items[done : done + jobs]
        for item in suspects:
            yield _alone(work, item, lost)
        done += len(suspects)


def _alone(work: Callable[[Item], Result], item: Item, lost: Callable[[Item], Result]) -> Result:
    from concurrent.futures.process import BrokenProcessPool

    with _pool(1) as pool:
        try:
            return pool.submit(work, item).result()
        except BrokenProcessPool:
            return lost(item)


def _pool(jobs: int) -> ProcessPoolExecutor:
    """Processes that start afresh, so that they inherit no thread and no open file of this one."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    return ProcessPoolExecutor(jobs, get_context("spawn"), lighten)


def on_cluster(
    work: Callable[[Item], Result], items: Sequence[Item], address: str, lost: Callable[[Item], Result]
) -> Iterator[Result]:
    """The results of `work`, by the workers of the Dask cluster at `address`, which need tracekit of the same version
    and the files under the same paths. Raises `UsageError` without Dask, and `TracekitError` without the cluster."""
    from tracekit._version import __version__

    try:
        from distributed import Client, KilledWorker
    except ImportError:
        raise UsageError("--dask needs Dask: pip install 'coreml-tracekit[dask]'") from None
    try:
        client = Client(address, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise TracekitError(f"cannot reach a Dask scheduler at {address}: {words_of(error)}") from None
    with client:
        room = AHEAD * _threads(client, address, __version__)
        waiting, running = deque(items), deque[tuple[Item, Any]]()
        while waiting or running:
            while waiting and len(running) < room:
                item = waiting.popleft()
                running.append((item, client.submit(work, item, pure=False)))
            item, future = running.popleft()
            try:
                yield future.result()
            except KilledWorker:
                yield lost(item)


def _threads(client: Client, address: str, version: str) -> int:
    """How many threads the cluster has. Raises `TracekitError` where it has none, or another tracekit."""
    try:
        versions = client.run(_version)
    except ImportError:
        versions = {"worker": None}
    if not versions:
        raise TracekitError(f"the Dask cluster at {address} has no worker")
    for other in versions.values():
        if other != version:
            raise TracekitError(f"a Dask worker has {other or 'no'} tracekit; install tracekit {version} there")
    return sum(client.nthreads().values())


def _version() -> str:
    """The version of tracekit on a worker."""
    from tracekit._version import __version__

    return __version__
