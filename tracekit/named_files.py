"""Reading of a file that somebody named: on a command line, in a setting, or in a folder from elsewhere."""

from __future__ import annotations

import errno
import stat
from pathlib import Path


def read_file(path: Path, most: int) -> bytes:
    """All of a regular file of at most so many bytes. A pipe may wait forever, and a device have no end. Raises OSError
    for one of these, with EFBIG for a larger file, and where the file cannot be read."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with path.open("rb") as stream:
        # A file may grow, and some of the system state no size.
        data = stream.read(most + 1) if found.st_size <= most else b""
    if max(found.st_size, len(data)) > most:
        raise OSError(errno.EFBIG, f"more than {most:,} bytes", str(path))
    return data
