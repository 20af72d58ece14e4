"""What servers of agents read."""

from __future__ import annotations

from pathlib import Path

from tracekit.mcp_server.answers import Recordings
from tracekit.mcp_server.folders import Folders
from tracekit.request import request_of


def recordings_in(*folders: Path) -> Recordings:
    return Recordings(Folders([str(folder) for folder in folders]), request_of(reader="native"))
