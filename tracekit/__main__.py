"""`python -m tracekit`."""

from __future__ import annotations

from tracekit.cli.main import run

if __name__ == "__main__":
    run()
