"""What is worked out from a trace once, and kept with it."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

Value = TypeVar("Value")


class TraceCache:
    """Answers about one trace, by key. A copy of it is empty: it belongs to another trace, or to another process."""

    __slots__ = ("_answers",)

    def __init__(self) -> None:
        self._answers: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The answer under this key, worked out the first time it is asked for. What raises is asked again."""
        if key not in self._answers:
            self._answers[key] = compute()
        answer: Value = self._answers[key]
        return answer

    def __reduce__(self) -> tuple[type[TraceCache], tuple[()]]:
        return TraceCache, ()


class _Cached(Protocol):
    """A `Trace`, which imports this module."""

    @property
    def cache(self) -> TraceCache: ...


Owner = TypeVar("Owner", bound=_Cached)


def cached_by_trace(compute: Callable[[Owner], Value]) -> Callable[[Owner], Value]:
    """The function, called once for each trace; its answer is kept as long as the trace is."""

    @wraps(compute)
    def answer(trace: Owner) -> Value:
        return trace.cache.get(compute, lambda: compute(trace))

    return answer
