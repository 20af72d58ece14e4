"""A process of the command line: what it leaves out, so that it starts sooner; and how it ends: exit statuses, the
command after it, and SIGTERM and SIGHUP as an exception, so that files, programs and the terminal are put in order."""

from __future__ import annotations

import dataclasses
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from types import FrameType
from typing import Any

from tracekit.signals import END_SIGNALS


class ExitStatus(IntEnum):
    """What the process returns to its caller. Scripts and CI depend on the numbers."""

    DONE = 0
    """Done; no finding at or above `--fail-on`."""
    GATE_FAILED = 1
    """A finding reached `--fail-on`."""
    UNUSABLE = 2
    """Unusable input, bad usage, or a check that failed."""
    INCONCLUSIVE = 3
    """No check could be evaluated."""
    INTERRUPTED = 130
    """Stopped with Ctrl-C (128 + SIGINT, as shells have it)."""


@dataclass(frozen=True, slots=True)
class Next:
    """What a command wants to be run after it: a command line, without the name of the program."""

    arguments: tuple[str, ...]


class Terminated(BaseException):
    """The system, or whoever started the command, wants it to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    @property
    def name(self) -> str:
        """Name of the signal."""
        return signal.Signals(self.number).name

    @property
    def status(self) -> int:
        """Exit status, as shells have it."""
        return 128 + self.number


@contextmanager
def raising_terminated() -> Iterator[None]:
    """Raise `Terminated` where one of the signals comes, unless it is ignored, as under `nohup`."""
    heeded = [number for number in END_SIGNALS if signal.getsignal(number) is signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, _raise)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)


def _raise(number: int, _frame: FrameType | None) -> None:
    raise Terminated(number)


class _CompiledLate:
    """Compiles methods of data classes when they are first called, and `__init__` when it is called often: most classes
    of a short command have few instances, and to compile it takes as long as to set the fields of a hundred."""

    def __init__(self, compile_method: Callable[..., Callable[..., Any]]) -> None:
        self._compile = compile_method

    def __call__(self, name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
        """The method, or one that takes its own place with it."""

        method: Callable[..., Any] | None = None
        fill: _Fill | None = None
        fills = _FILLS if name == "__init__" else 0

        def late(instance: object, /, *values: object, **named: object) -> Any:
            nonlocal method, fill, fills
            if method is None:
                owners = [owner for owner in type(instance).__mro__ if owner.__dict__.get(name) is late]
                if fills and owners:
                    fills -= 1
                    fill = fill or _filling(owners[0])
                    if fill(instance, values, named):
                        return None
                method = self._compile(name, *arguments, **options)
                method.__qualname__ = late.__qualname__
                for owner in owners:
                    setattr(owner, name, method)
            return method(instance, *values, **named)

        late.__name__ = name
        return late


_Fill = Callable[[Any, tuple[object, ...], dict[str, object]], bool]


def _filling(cls: type[Any]) -> _Fill:
    """What sets the fields of an instance as `__init__` of this data class does; False, with none set, where that does
    more or takes no such arguments."""
    fields = dataclasses.fields(cls)
    names = [field.name for field in fields if field.init and not field.kw_only]
    if len(names) < len(cls.__dataclass_fields__):
        return lambda *_: False
    defaults = {field.name: field.default for field in fields if field.default is not dataclasses.MISSING}
    factories = {field.name: field.default_factory for field in fields if callable(field.default_factory)}
    set_field = object.__setattr__ if cls.__dataclass_params__.frozen else setattr
    ends = hasattr(cls, "__post_init__")

    def fill(instance: Any, values: tuple[object, ...], named: dict[str, object]) -> bool:
        given = dict(zip(names, values, strict=False)) | named
        if len(given) < len(values) + len(named):
            return False
        given = defaults | given
        given |= {name: make() for name, make in factories.items() if name not in given}
        if given.keys() != cls.__dataclass_fields__.keys():
            return False
        for name, value in given.items():
            set_field(instance, name, value)
        if ends:
            instance.__post_init__()
        return True

    return fill


def lighten() -> None:
    """Let what is imported from here on do without what tracekit has no use for. For processes of our own only; those
    of a notebook are left as they are. numpy starts no threads for linear algebra, and asks Linux for no huge pages:
    most arrays are filled once, and to clear whole huge pages for them takes twice as long as what they save. Data
    classes compile a method when it is first called, which most never are: to compile it for hundreds of classes takes
    an eighth of the time of a short command. Python 3.13 compiles all of a class at once; there they are left alone."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    compile_method = getattr(dataclasses, _COMPILE, None)
    if compile_method is not None and not isinstance(compile_method, _CompiledLate):
        setattr(dataclasses, _COMPILE, _CompiledLate(compile_method))


def keep_freed_memory() -> None:
    """Let glibc keep what arrays leave for those that come, in one place for all threads: the system clears what it
    gives anew, which is a twelfth of the time of a large recording."""
    if sys.platform != "linux":
        return
    # numpy has loaded it by now.
    import ctypes

    # Other C libraries of Linux have no such function.
    set_option = getattr(ctypes.CDLL(None), "mallopt", lambda *_: None)
    # M_TRIM_THRESHOLD and M_MMAP_THRESHOLD in bytes, M_ARENA_MAX of glibc.
    for option, value in ((-1, 1 << 28), (-3, 1 << 25), (-8, 1)):
        set_option(option, value)


_FILLS = 20
"""Instances of a data class whose fields are set before its `__init__` is compiled."""
_COMPILE = "_create_fn"
"""What compiles one method of a data class, up to Python 3.12."""
