"""Writers: a recording as files of other forms, one file a table."""

from __future__ import annotations

from tracekit.recording.writing.folder import WrittenFolder, write_folder
from tracekit.recording.writing.forms import FORMATS

__all__ = ["FORMATS", "WrittenFolder", "write_folder"]
