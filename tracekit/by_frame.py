"""What is worked out from a frame that does not change, kept as long as it: checks ask for the same again and again,
and a column of few rows costs pandas more than what is done with it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_KEPT: dict[int, tuple[weakref.ref[pd.DataFrame], dict[object, Any]]] = {}


def unchanging(frame: pd.DataFrame) -> pd.DataFrame:
    """The frame, which nothing changes from now on. Of any other frame, and of its copies, nothing is kept."""
    key = id(frame)
    if key not in _KEPT:
        _KEPT[key] = weakref.ref(frame, lambda _: _KEPT.pop(key)), {}
    return frame


def kept_of(frame: object) -> dict[object, Any]:
    """What is kept of this frame and no other that is like it, by key; empty at first, and always if it may change."""
    key = id(frame)
    return _KEPT[key][1] if key in _KEPT else {}
