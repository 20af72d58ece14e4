"""Values of JSON that others wrote. What has the wrong type counts as absent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def parse_json(text: str | bytes) -> object:
    """What JSON holds; None for what is not complete JSON."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def mapping(value: object) -> Mapping[str, Any]:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def entries(value: object) -> list[Any]:
    """A JSON list; an empty one for anything else."""
    return value if isinstance(value, list) else []


def words(value: object) -> str:
    """A text; empty for anything else."""
    return value if isinstance(value, str) else ""


def whole_number(value: object) -> int | None:
    """A whole number, also one written as text."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 2**63 else None
    return int(value) if isinstance(value, str) and len(value) < 19 and value.lstrip("-").isdecimal() else None
