"""Runs code of other packages so that nothing it raises, and nothing it does to a trace, reaches the rest."""

from __future__ import annotations

import copyreg
import io
import pickle
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import FrameType, MappingProxyType
from typing import Any, TypeVar

from tracekit.errors import words_of
from tracekit.trace.samples import SampleSource
from tracekit.trace.trace import Joined, Trace

Result = TypeVar("Result")


class ForeignCodeFailed(Exception):  # noqa: N818 - a failure of others, reported as one
    """Code of another package raised something, be it an exit; the text says what."""


def run_foreign(code: Callable[[], Result]) -> Result:
    """What code of another package returns. Raises `ForeignCodeFailed` for whatever it raises, and lets through only
    what a signal such as Ctrl-C raised meanwhile, even where the code swallowed it."""
    with _collect_signals() as raised:
        try:
            result = code()
        except BaseException as error:
            if raised:
                raise raised[0] from None
            raise ForeignCodeFailed(words_of(error)) from error
        if raised:
            raise raised[0]
        return result


@contextmanager
def _collect_signals() -> Iterator[list[BaseException]]:
    """The exceptions that handlers of signals raise meanwhile. Only the main thread is ever interrupted by them."""
    # Commands that only list checks load this module, and run no code of others.
    from tracekit.signals import END_SIGNALS

    raised: list[BaseException] = []
    if threading.current_thread() is not threading.main_thread():
        yield raised
        return
    handlers: dict[int, Callable[[int, FrameType | None], object]] = {
        number: handler for number in END_SIGNALS if callable(handler := signal.getsignal(number))
    }

    def note(number: int, frame: FrameType | None) -> None:
        try:
            handlers[number](number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    for number in handlers:
        signal.signal(number, note)
    try:
        yield raised
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


class _Pickler(pickle.Pickler):
    """Copies neither where samples are read from, again for each trace, nor facts of files, which nobody can change."""

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        self.shared: list[SampleSource | Joined[Any]] = []

    def persistent_id(self, obj: object) -> int | None:
        if not isinstance(obj, SampleSource | Joined):
            return None
        self.shared.append(obj)
        return len(self.shared) - 1


class _Unpickler(pickle.Unpickler):
    shared: Sequence[SampleSource | Joined[Any]] = ()

    def persistent_load(self, pid: Any) -> SampleSource | Joined[Any]:
        shared: SampleSource | Joined[Any] = self.shared[pid]
        return shared


def copy_of(trace: Trace) -> Trace:
    """The same trace in memory of its own, down to the last cell: whoever changes it changes no number but its own.

    O(rows), as fast as memory is copied: buffers are not pickled, but copied once each.
    """
    buffers: list[pickle.PickleBuffer] = []
    stream = io.BytesIO()
    pickler = _Pickler(stream, protocol=5, buffer_callback=buffers.append)
    # Attributes of tables are read-only views of dicts.
    pickler.dispatch_table = copyreg.dispatch_table | {MappingProxyType: lambda view: (_freeze, (dict(view),))}
    pickler.dump(trace)
    unpickler = _Unpickler(io.BytesIO(stream.getbuffer()), buffers=[bytearray(buffer.raw()) for buffer in buffers])
    unpickler.shared = pickler.shared
    copied: Trace = unpickler.load()
    return copied


def _freeze(content: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(content)
