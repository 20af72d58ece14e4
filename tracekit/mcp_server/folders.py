"""Which paths may be read: those in the folders that were given at the start, whatever links and `..` say."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from tracekit.errors import UsageError
from tracekit.units import format_names

LISTED = 10
"""Recordings that an error names."""
_RECORDINGS = (".trace", ".zip")

State = tuple[int, int, int]
"""Number of files, their bytes, and the time of the latest change in ns."""


class Folders:
    """The folders that were given."""

    def __init__(self, given: Sequence[str]) -> None:
        self._folders = [Path(each).resolve() for each in given]
        for path, text in zip(self._folders, given, strict=True):
            if not path.is_dir():
                raise UsageError(f"{text}: no such folder; give folders that hold recordings")

    def path_of(self, text: str) -> Path:
        """The real path of what a text names, in the first folder that has it. Raises `UsageError` for one that is not
        there, or that lies outside or leads there."""
        try:
            paths = [(folder / text).resolve() for folder in self._folders]
            inside = [path for path in paths if self.holds(path)]
            path = next((path for path in inside if path.exists()), None)
        except (OSError, ValueError, RuntimeError):
            raise UsageError(f"not a usable path; {self._offer()}") from None
        if not inside:
            raise UsageError(f"that path lies outside the folders that tracekit mcp was started with; {self._offer()}")
        if path is None:
            raise UsageError(f"no such file or folder; {self._offer()}")
        if not self._stays(path):
            raise UsageError(
                "that recording has links that lead outside the folders that tracekit mcp was started with; ask the "
                "user for a copy without them"
            )
        return path

    def holds(self, path: Path) -> bool:
        """Whether a real path lies in one of the folders."""
        return any(path.is_relative_to(folder) for folder in self._folders)

    def may_look_beside(self, path: Path) -> bool:
        """Whether model files and reports beside a recording, which are read with it, lie in the folders too."""
        # The server is there before all that reads recordings is loaded.
        from tracekit.trace.file_matching import ENDINGS, REPORT_ENDINGS

        if not self.holds(path.parent):
            return False
        beside = (entry for entry in path.parent.iterdir() if entry.name.endswith((*ENDINGS, *REPORT_ENDINGS)))
        return all(map(self._stays, beside))

    def _stays(self, path: Path) -> bool:
        """Whether all links in a folder, and the path itself, lead into the folders."""
        return all(self.holds(each.resolve()) for each in (path, *_files(path)) if each.is_symlink())

    def _offer(self) -> str:
        """What may be asked for instead."""
        entries = (entry for folder in self._folders for entry in sorted(folder.iterdir()))
        names = [entry.name for entry in entries if entry.suffix in _RECORDINGS]
        if not names:
            return "no recording lies directly in them; ask the user for the path of one in them"
        return f"recordings there: {format_names(names, LISTED)}"


def state_of(path: Path) -> State:
    """What tells whether a file, or a folder with all in it, is as it was. O(files)."""
    known = [each.lstat() for each in (path, *_files(path))]
    return len(known), sum(each.st_size for each in known), max(each.st_mtime_ns for each in known)


def _files(path: Path) -> Iterator[Path]:
    """All that lies in a folder, without following links."""
    for folder, folders, files in os.walk(path):
        yield from (Path(folder, name) for name in (*folders, *files))
