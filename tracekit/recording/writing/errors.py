"""What can keep a table from being written."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UnwritableTable(Exception):  # noqa: N818 - the table is at fault, not the program
    """The form cannot hold this table."""

    reason: str
