"""Measure tracekit as an installed package runs: with its modules compiled once, not each time."""

from __future__ import annotations

import compileall
import os
from pathlib import Path

import tracekit


def environment() -> dict[str, str]:
    """Environment for a process that is measured. Some test machines keep Python from storing bytecode."""
    compileall.compile_dir(Path(tracekit.__file__).parent, quiet=1)
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
