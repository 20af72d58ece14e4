"""Which checks are run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tracekit.errors import UsageError, unknown_check

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from tracekit.detectors.framework import Metadata

    Chosen = TypeVar("Chosen", bound=Metadata[Any])


def choose(detectors: Sequence[Chosen], only: Collection[str], skip: Collection[str]) -> tuple[Chosen, ...]:
    """The detectors named in `only` (all where it is empty) less those in `skip`. Raises `UsageError` for others."""
    ids = [detector.id for detector in detectors]
    for name in (*only, *skip):
        if name not in ids:
            raise unknown_check(name, ids)
    chosen = tuple(d for d in detectors if (not only or d.id in only) and d.id not in skip)
    if not chosen:
        raise UsageError("no check is left to run: all of them are skipped")
    return chosen
