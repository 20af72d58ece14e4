"""Work on many recordings, on all processors."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_WORTH_A_POOL = 100
"""Starting further processes takes as long as some thirty recordings."""


def on_all_processors(work: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
    """`work` of each item, in order; few are worked on by this process alone."""
    wanted = list(items)
    if len(wanted) < _WORTH_A_POOL:
        return list(map(work, wanted))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return list(pool.map(work, wanted, chunksize=8))
