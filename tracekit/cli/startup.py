"""What a process of the command line leaves out, so that it starts sooner, and what it lets go of."""

from __future__ import annotations

import dataclasses
import gc
import os
import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import ModuleSpec
from typing import Any


def lighten() -> None:
    """Let what is imported from here on do without what tracekit has no use for. For processes of our own only; those
    of a notebook are left as they are.

    numpy starts no threads for linear algebra, and asks Linux for no huge pages: most arrays are filled once, and to
    clear whole huge pages for them takes twice as long as what they save. pandas starts as where pyarrow is not
    installed: a fourth sooner, and frames of tracekit are made and searched no slower. Whoever else imports pyarrow
    gets it. Data classes compile a method when it is first called, which most never are: to compile it for hundreds of
    classes takes an eighth of the time of a short command. Python 3.13 compiles all of a class at once; there they are
    left alone.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ.setdefault("NUMPY_MADVISE_HUGEPAGE", "0")
    if "pandas" not in sys.modules:
        sys.meta_path.insert(0, _NotForPandas())
    compile_method = getattr(dataclasses, _COMPILE, None)
    if compile_method is not None and not isinstance(compile_method, _CompiledLate):
        setattr(dataclasses, _COMPILE, _CompiledLate(compile_method))


def let_go_of_recording() -> None:
    """Free what the last of many recordings left. Its parts refer to each other, and processes of the command line look
    for such objects too seldom to find them in time. What was there before is not looked through again."""
    gc.collect(1)


_COMPILE = "_create_fn"
"""What compiles one method of a data class, up to Python 3.12."""


class _CompiledLate:
    """Compiles methods of data classes when they are first called."""

    def __init__(self, compile_method: Callable[..., Callable[..., Any]]) -> None:
        self._compile = compile_method

    def __call__(self, name: str, *arguments: Any, **options: Any) -> Callable[..., Any]:
        """The method, or one that takes its own place with it."""

        @cache
        def method() -> Callable[..., Any]:
            return self._compile(name, *arguments, **options)

        def late(instance: object, /, *values: object, **named: object) -> Any:
            for each in type(instance).__mro__:
                if each.__dict__.get(name) is late:
                    method().__qualname__ = late.__qualname__
                    setattr(each, name, method())
            return method()(instance, *values, **named)

        late.__name__ = name
        return late


class _NotForPandas:
    """A finder of modules that refuses pyarrow while pandas is imported."""

    def find_spec(self, fullname: str, *_: object) -> ModuleSpec | None:
        """Leave every other module to the finders after it. Raises `ModuleNotFoundError`."""
        if fullname == "pyarrow":
            pandas = sys.modules.get("pandas")
            if getattr(getattr(pandas, "__spec__", None), "_initializing", False):
                raise ModuleNotFoundError("tracekit has no use for it in pandas", name=fullname)
        return None
