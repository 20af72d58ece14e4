"""`python -m tracekit`."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    # `-m` looks in the current folder first, where a recording may lie, and what came with it. A checkout may stay.
    if not sys.flags.safe_path and sys.path[0] != __file__.rpartition("/tracekit/")[0]:
        del sys.path[0]
    from tracekit.cli.main import run

    run()
