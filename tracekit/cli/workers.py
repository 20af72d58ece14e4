"""Work on many recordings by several processes of this machine, or by the workers of a Dask cluster. Results come in
the order of the items, so that it makes no difference who worked, and an item whose process dies costs no other."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import closing, contextmanager, suppress
from queue import SimpleQueue
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any, BinaryIO, TypeVar, cast

from tracekit._version import __version__
from tracekit.cli.process import Terminated, lighten, raising_terminated
from tracekit.errors import TracekitError, import_extra, refusals, words_of

Item = TypeVar("Item")
Result = TypeVar("Result")

AHEAD = 4
"""Items for each worker that are sent before a result is taken: enough to keep it busy, and few enough to hold."""
END_S = 2.0
"""How long what was begun, such as a temporary file, may take to be put in order."""
CONNECT_S = 10
"""Longest wait for the scheduler of a cluster."""
_NO_SCHEDULER = "what answers there is no scheduler"


class _Process:
    """A process that inherits no thread and no open file of this one, and hears no Ctrl-C. It imports from the folders
    that this one imports from, and never from the current one, where a recording may lie, and what came with it."""

    def __init__(self) -> None:
        own = [flag for flag, is_on in (("-E", sys.flags.ignore_environment), ("-s", sys.flags.no_user_site)) if is_on]
        folders = ascii([folder for folder in sys.path if folder])
        code = f"import sys; sys.path[:] = {folders}; from tracekit.cli.workers import serve; serve()"
        command = [sys.executable, "-P", *own, "-c", code]
        pipe = subprocess.PIPE
        with refusals("start another process"):
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, start_new_session=True)  # noqa: S603
        self._orders, self.answers = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)

    def begin(self, work: Callable[[Any], Any], item: Any) -> None:
        order = pickle.dumps((work, item))
        with suppress(BrokenPipeError):
            pickle.dump(order, self._orders)
            self._orders.flush()

    def let_go(self) -> None:
        """Ask it to end, by closing its pipes."""
        for pipe in (self._orders, self.answers):
            with suppress(BrokenPipeError):
                pipe.close()

    def end(self) -> None:
        """Wait for its end, and bring it about where it does not come."""
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class _Workers:
    """Processes of this machine, started as they are needed."""

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self._work = work
        self._all: list[_Process] = []
        self._idle: list[_Process] = []
        self._at_work = DefaultSelector()

    def close(self) -> None:
        self._at_work.close()
        for process in self._all:
            process.let_go()
        for process in self._all:
            process.end()

    @property
    def busy(self) -> int:
        return len(self._at_work.get_map())

    def begin(self, numbered: tuple[int, Any]) -> None:
        if not self._idle:
            self._idle.append(_Process())
            self._all.append(self._idle[-1])
        process = self._idle.pop()
        self._at_work.register(process.answers, EVENT_READ, (process, numbered))
        process.begin(self._work, numbered[1])

    def next_answer(self) -> tuple[tuple[int, Any], tuple[Any] | None]:
        """The next item that is done with its result, None where its process died. Raises what the work raised."""
        key, _ = self._at_work.select()[0]
        process, numbered = key.data
        self._at_work.unregister(process.answers)
        try:
            result, failure = pickle.load(process.answers)  # noqa: S301 - from a process of ours
        except (EOFError, OSError, pickle.UnpicklingError):
            return numbered, None
        self._idle.append(process)
        if failure is not None:
            words, where = failure
            error = RuntimeError(words)
            error.add_note(where)
            raise error
        return numbered, (result,)


def in_processes(work: Callable[[Item], Result], items: Sequence[Item], jobs: int) -> Iterator[Result | None]:
    """The results of `work`, by up to `jobs` processes, which end where this one does. An item whose process dies is
    done again with all memory to itself; None for one whose process dies once more."""
    waiting, died = deque(enumerate(items)), deque[tuple[int, Item]]()
    results: dict[int, Result | None] = {}
    retried = set[int]()
    with closing(_Workers(work)) as workers:
        for number in range(len(items)):
            while number not in results:
                while waiting and not died and workers.busy < jobs:
                    workers.begin(waiting.popleft())
                if died and not workers.busy:
                    workers.begin(died.popleft())
                (done, item), answer = workers.next_answer()
                if answer is not None:
                    results[done] = answer[0]
                elif done in retried:
                    results[done] = None
                else:
                    retried.add(done)
                    died.append((done, item))
            yield results.pop(number)


def serve() -> None:
    """Answer each pickled `(work, item)` of standard input with a pickled `(result, None)`, or `(None, (words,
    traceback))` where the work failed. Ends at once where standard input ends."""
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    # What a plug-in reads or prints is no part of that.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    lighten()
    with suppress(Terminated, BrokenPipeError), raising_terminated():
        waiting = SimpleQueue[bytes]()
        threading.Thread(target=_receive, args=(orders, waiting), daemon=True).start()
        while True:
            try:
                work, item = pickle.loads(waiting.get())  # noqa: S301 - likewise
                answer = pickle.dumps((work(item), None))
            except Exception as error:
                answer = pickle.dumps((None, (words_of(error), traceback.format_exc())))
            answers.write(answer)
            answers.flush()
    sys.stderr.flush()
    # There is nothing left to put in order, and the reading thread cannot be woken.
    os._exit(0)


def _receive(orders: BinaryIO, waiting: SimpleQueue[bytes]) -> None:
    """Hand over what comes. At the end, end this process, whatever it is busy with."""
    with suppress(EOFError, OSError, pickle.UnpicklingError):
        while True:
            waiting.put(pickle.load(orders))  # noqa: S301 - from the process that started this one
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)
    time.sleep(END_S)
    os._exit(1)


def on_cluster(work: Callable[[Item], Result], items: Sequence[Item], address: str) -> Iterator[Result | None]:
    """The results of `work`, by the workers of the Dask cluster at `address`, which need tracekit of the same version
    and the files under the same paths; None for an item whose workers died. Raises `UsageError` without Dask,
    `TracekitError` without the cluster."""
    distributed = import_extra("distributed", "dask", "--dask needs Dask")
    connected = Future[Any]()

    def connect() -> None:
        try:
            connected.set_result(distributed.Client(address, timeout=CONNECT_S, set_as_default=False))
        except Exception as error:  # Dask takes whatever answers there for a scheduler
            connected.set_exception(error)

    # Dask waits without end for a server that accepts and says nothing.
    threading.Thread(target=connect, daemon=True).start()
    try:
        client = connected.result(2 * CONNECT_S)
    except Exception as error:
        why = words_of(error) if isinstance(error, OSError | ValueError) and str(error) else _NO_SCHEDULER
        raise TracekitError(f"cannot reach a Dask scheduler at {address}: {why}") from None
    try:
        with _silent_log(), client:
            try:
                versions = client.run(lambda: __version__)
            except ImportError:
                versions = {"worker": None}
            if not versions:
                raise TracekitError(f"the Dask cluster at {address} has no worker")
            for other in versions.values():
                if other != __version__:
                    raise TracekitError(
                        f"a Dask worker has {other or 'no'} tracekit; install tracekit {__version__} there"
                    )
            room = AHEAD * sum(client.nthreads().values())
            waiting, running = deque(items), deque[Any]()
            while waiting or running:
                while waiting and len(running) < room:
                    running.append(client.submit(work, waiting.popleft(), pure=False))
                try:
                    yield running.popleft().result()
                except distributed.KilledWorker:
                    yield None
    except (CancelledError, OSError):
        raise TracekitError(
            f"the Dask scheduler at {address} has gone; start it again, then run this command again"
        ) from None


@contextmanager
def _silent_log() -> Iterator[None]:
    """Keep from standard error what Dask logs of a connection that breaks: a traceback for each attempt to mend it."""
    before = logging.root.manager.disable
    logging.disable()
    try:
        yield
    finally:
        logging.disable(before)
