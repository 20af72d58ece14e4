"""Writers: a recording as files of other forms, one file a table."""

from __future__ import annotations

from tracekit.recording.writing.folder import FORMATS, WrittenFolder, write_folder

__all__ = ["FORMATS", "WrittenFolder", "write_folder"]
