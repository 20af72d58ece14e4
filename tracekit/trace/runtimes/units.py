"""Which signposts are operations of the app. Imports nothing that a run needs, since settings hold it."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

_SYSTEM: Final = "com.apple."
"""Subsystems of Apple begin so: what they log is no operation of the app."""


@dataclass(frozen=True, slots=True)
class Units:
    """Which signposts are operations of the app. By default all that the target logs itself."""

    only: tuple[str, ...] = ()
    """Shell patterns of names; empty: all that the target logs outside of Apple's subsystems."""
    skip: tuple[str, ...] = ()
    """Shell patterns of names that are none."""

    def choose(self, subsystem: str, name: str) -> bool:
        """Whether signposts of a name are operations."""
        if any(fnmatchcase(name, pattern) for pattern in self.skip):
            return False
        if self.only:
            return any(fnmatchcase(name, pattern) for pattern in self.only)
        return not subsystem.startswith(_SYSTEM)


ALL_OWN: Final = Units()
"""What counts where nothing is set."""
