"""Answers about a trace or its samples, worked out once and kept with it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import Any, Protocol, TypeVar

Value = TypeVar("Value")


class Cache:
    """Answers about one thing, by key. A copy of it is empty: it belongs to another thing, or to another process."""

    __slots__ = ("_answers",)

    def __init__(self) -> None:
        self._answers: dict[Hashable, Any] = {}

    def get(self, key: Hashable, compute: Callable[[], Value]) -> Value:
        """The answer under this key, worked out the first time it is asked for. What raises is asked again."""
        if key not in self._answers:
            self._answers[key] = compute()
        answer: Value = self._answers[key]
        return answer

    def __reduce__(self) -> tuple[type[Cache], tuple[()]]:
        return Cache, ()


class _Keeper(Protocol):
    """Keeps answers about itself."""

    @property
    def cache(self) -> Cache: ...


Keeper = TypeVar("Keeper", bound=_Keeper)


def cached(compute: Callable[[Keeper], Value]) -> Callable[[Keeper], Value]:
    """The function, called once for each trace, or once for its samples; its answer is kept as long as they are."""

    @wraps(compute)
    def answer(keeper: Keeper) -> Value:
        return keeper.cache.get(compute, lambda: compute(keeper))

    return answer
