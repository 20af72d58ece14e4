"""Work on many recordings, on all processors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import TypeVar

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_WORTH_A_POOL = 100
"""Starting further processes takes as long as some thirty recordings."""


def printed(work: Callable[[int], Iterable[str]], count: int, what: str) -> int:
    """Print what is wrong with so many, and return the exit status. `work` gives the lines of a number."""
    wrong = [line for lines in on_all_processors(work, range(count)) for line in lines]
    sys.stdout.write("".join(f"{line}\n" for line in wrong) + f"{len(wrong)} false alarms in {count} {what}\n")
    return 1 if wrong else 0


def on_all_processors(work: Callable[[Item], Answer], items: Iterable[Item]) -> list[Answer]:
    """`work` of each item, in order; few are worked on by this process alone."""
    wanted = list(items)
    if len(wanted) < _WORTH_A_POOL:
        return list(map(work, wanted))
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        return list(pool.map(work, wanted, chunksize=8))
