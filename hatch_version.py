"""The version of what is built: from the tag of a checkout or an archive, else what `tracekit/_version.py` says."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).parent
STATED = ROOT / "tracekit" / "_version.py"
ARCHIVED = ROOT / ".git_archival.txt"
# The nearest tag such as v0.1.0, commits since, and the commit, as `git describe --long` gives them.
_DESCRIBED = re.compile(r"v(\d+)\.(\d+)\.(\d+)(?:-(\d+)-g([0-9a-f]+))?(-dirty)?$")


def version() -> str:
    """`0.1.0` at the tag v0.1.0; three commits later `0.1.1.dev3+g1a2b3c4`, which no package index takes."""
    found = _DESCRIBED.match(_described())
    if found is None:
        return stated()
    major, minor, patch, commits, commit, changed = found.groups()
    if int(commits or 0) == 0 and not changed:
        return f"{major}.{minor}.{patch}"
    local = ".".join(part for part in (commit and f"g{commit}", changed and "dirty") if part)
    return f"{major}.{minor}.{int(patch) + 1}.dev{commits or 0}+{local}"


def stated() -> str:
    """What the file says: the release that a checkout leads to, or in a source distribution its own version."""
    (text,) = re.findall(r'^__version__ = "(.+)"$', STATED.read_text(encoding="utf-8"), re.MULTILINE)
    return str(text)


def _described() -> str:
    """What git says of this checkout, or said of the archive when it was made; empty where neither is there."""
    if (ROOT / ".git").exists():
        command = ["git", "describe", "--tags", "--long", "--dirty", "--match", "v[0-9]*"]
        try:
            result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
        except OSError:
            return ""
        return result.stdout.strip()
    return ARCHIVED.read_text(encoding="utf-8").strip() if ARCHIVED.exists() else ""
