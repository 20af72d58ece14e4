"""Prints what the changelog says of a version, and fails where that is nothing: `notes.py v0.1.0 CHANGELOG.md`."""

from __future__ import annotations

import re
import sys
from pathlib import Path


def notes(version: str, changelog: str) -> str:
    """The section of the version, without its heading. Raises `LookupError` where there is none, or nothing in it."""
    sections = re.split(r"^## (.*)\n", changelog, flags=re.MULTILINE)
    for heading, text in zip(sections[1::2], sections[2::2], strict=True):
        if heading.split()[0] == version.removeprefix("v") and text.strip():
            return text.strip() + "\n"
    raise LookupError(f"the changelog says nothing of {version}")


if __name__ == "__main__":
    print(notes(sys.argv[1], Path(sys.argv[2]).read_text(encoding="utf-8")), end="")
