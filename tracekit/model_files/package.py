"""Packages (`.mlpackage`): the manifest says where the specification and the weights lie."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from tracekit.model_files.failures import UnreadableModel, read_bytes, shown

MANIFEST = "Manifest.json"
_LARGEST = 1024 * 1024
"""Bytes of a manifest."""


def specification_in(package: Path) -> Path:
    """The file with the specification. Raises `UnreadableModel` where the manifest leads to none."""
    manifest = package / MANIFEST
    if not manifest.is_file():
        raise UnreadableModel(f"{shown(package)} has no 'Manifest.json'; it is incomplete, copy the whole folder")
    try:
        document = json.loads(read_bytes(manifest, _LARGEST))
        entries = document["itemInfoEntries"]
        entry = entries[document["rootModelIdentifier"]]
        name = entry["path"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UnreadableModel(f"'Manifest.json' in {shown(package)} is damaged: it names no specification") from None
    parts = PurePosixPath(name).parts if isinstance(name, str) and isinstance(entries, Mapping) else ()
    if not parts or ".." in parts or PurePosixPath(name).is_absolute():
        raise UnreadableModel(f"'Manifest.json' in {shown(package)} leads out of the package")
    path = package.joinpath("Data", *parts)
    if not path.is_file():
        raise UnreadableModel(
            f"{shown(package)} has no specification: {shown(path)}, which its manifest names, is missing"
        )
    return path
