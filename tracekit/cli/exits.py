"""Exit statuses of the command line. They are an interface: scripts and CI depend on them."""

from __future__ import annotations

from enum import IntEnum


class ExitStatus(IntEnum):
    """What the process tells its caller."""

    DONE = 0
    """The command did what it was asked, and nothing reached `--fail-on`."""
    GATE_FAILED = 1
    """The report is complete, and a finding reached `--fail-on`."""
    UNUSABLE = 2
    """Unusable input, bad usage, a detector that failed, or a recording in which nothing could be judged."""
    INTERRUPTED = 130
    """Stopped with Ctrl-C (128 + SIGINT, as shells have it)."""
