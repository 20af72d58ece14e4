"""What a check of a build can say, of the whole and of each thing that was checked."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What a check of a build says, and each of its items. In the order in which they decide."""

    ERROR = "error"
    """It cannot be said whether the build is good: something that must be there is not."""
    FAILED = "failed"
    INCONCLUSIVE = "inconclusive"
    """There was too little to measure."""
    NOT_COUNTED = "not counted"
    """Of an item alone: seen, said, and allowed by a setting or an option, or unknown to the baseline."""
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that was checked."""

    verdict: Verdict
    subject: str
    """What was checked: a limit, `baseline`, `environment`, `findings`, `suppression`, `settings`, `input` or
    `tracekit`."""
    model: str | None
    text: str
    """What was measured and what is allowed, in one sentence without a full stop."""
    about: str | None = None
    """Distinguishes items with one subject and model: a finding as `CHECK:MODEL`, what differs in the environment."""
    setting: tuple[str | int, ...] = ()
    """Keys below the table `check` that lead to the setting that was checked; empty where none did."""
    value: float | None = None
    """What was measured for a limit: ns, a count or a share."""
    allowed: float | None = None
    """The limit, in the same unit."""

    @property
    def title(self) -> str:
        """Model and what was checked of it."""
        if self.setting[:1] == ("findings",) and len(self.setting) > 1:
            return f"{self.about} findings"
        return f"{self.model} {self.subject}" if self.model else self.subject
