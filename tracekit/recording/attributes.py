"""Attributes that distinguish tables of one schema, as a table of contents writes them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_ITEMS = re.compile(r'"([^"]*)"|(\S+)')


def matches(attributes: Mapping[str, str], wanted: Mapping[str, str]) -> bool:
    """Whether the attributes contain all the wanted ones.

    An attribute that is a list (`subsystem="&quot;com.apple.coreml&quot;"`) contains each of its items.
    """
    return all(_contains(attributes.get(name), value) for name, value in wanted.items())


def _contains(written: str | None, wanted: str) -> bool:
    """Whether an attribute is the wanted value or a list that holds it: items stand apart, quoted or bare."""
    if written is None:
        return False
    return written == wanted or any(wanted in (quoted, bare) for quoted, bare in _ITEMS.findall(written) if wanted)
