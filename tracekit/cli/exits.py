"""Exit statuses of the command line. They are an interface: scripts and CI depend on them."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the process returns to its caller."""

    DONE = 0
    """Done; no finding at or above `--fail-on`."""
    GATE_FAILED = 1
    """A finding reached `--fail-on`."""
    UNUSABLE = 2
    """Unusable input, bad usage, or a check that failed."""
    INCONCLUSIVE = 3
    """No check could be evaluated."""
    INTERRUPTED = 130
    """Stopped with Ctrl-C (128 + SIGINT, as shells have it)."""
