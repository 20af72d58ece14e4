"""`tracekit mcp [FOLDER...]`: answers agents over standard input and output, until the input ends."""

from __future__ import annotations

import os
import signal
from argparse import Namespace
from contextlib import redirect_stdout
from typing import TYPE_CHECKING

from tracekit.cli.output import narrate, standard_output
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import config_of
from tracekit.errors import TracekitError, docs_page, import_extra
from tracekit.signals import END_SIGNALS

if TYPE_CHECKING:
    from tracekit.mcp_server.answers import Recordings


def run(arguments: Namespace) -> ExitStatus:
    """Serve."""
    import_extra("mcp", "mcp", "tracekit mcp needs the package mcp")
    from tracekit.mcp_server.folders import Folders
    from tracekit.mcp_server.server import server_of

    folders = Folders(arguments.path or ["."])

    def make() -> Recordings:
        # All that reads recordings is loaded with it.
        from tracekit.mcp_server.answers import Recordings
        from tracekit.request import request_of

        # xctrace writes what it exports into a folder.
        return Recordings(folders, request_of(config=config_of(arguments), reader="native"))

    if (stream := standard_output()) is None:
        raise TracekitError("standard output is closed; agents start tracekit mcp with pipes")
    if stream.isatty():
        narrate(f"tracekit: an agent starts this, see {docs_page('agents.md')}. Ctrl-C ends it")
    handlers = {number: signal.getsignal(number) for number in END_SIGNALS}
    heeded = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    for number in heeded:
        # Nothing is to be put in order, and the thread that reads the input cannot be woken.
        signal.signal(number, lambda number, _: os._exit(128 + number))
    try:
        with redirect_stdout(stream):
            server_of(make).run()
    finally:
        for number, handler in heeded.items():
            signal.signal(number, handler)
    return ExitStatus.DONE
