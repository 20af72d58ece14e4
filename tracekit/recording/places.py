"""Where a file can be written, and whether it would be part of a recording."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from tracekit.errors import UsageError
from tracekit.recording import archives
from tracekit.recording.sources import BUNDLE_SUFFIX, STANDARD_INPUT, is_bundle, is_xml

_MODELS = (".mlpackage", ".mlmodelc")


def check_usable(path: Path) -> None:
    """Raise `UsageError` for a path to write that nothing can be at: a name that is too long, a link that leads back to
    itself, and for one inside a model, which a file more or less would destroy."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot write {path}: {getattr(error, 'strerror', None) or error}") from None
    # Also where it does not exist yet: a model may be about to be written there.
    if any(folder.suffix.lower() in _MODELS for folder in (*path.absolute().parents, *path.resolve().parents)):
        raise UsageError(f"cannot write {path}: it is inside a model; choose another file")


def is_part_of_recording(target: Path, paths: Sequence[str | Path]) -> bool:
    """Whether writing a file would change a recording: one inside any trace bundle, or one that the paths mean, be it
    through links. Raises OSError."""
    path = target.resolve()
    if any(folder.suffix.lower() == BUNDLE_SUFFIX and folder.is_dir() for folder in path.parents):
        return True
    for source in _sources(paths):
        if source.is_dir() and path.is_relative_to(source) and (is_bundle(source) or _is_export(path)):
            return True
        if source.is_file() and path.exists() and path.samefile(source):
            return True
    # A second name of a file that lies in one of the folders.
    return path.is_file() and path.stat().st_nlink > 1 and _is_export(path)


def would_be_replaced(folder: Path, paths: Sequence[str | Path]) -> bool:
    """Whether a folder holds a file that the paths mean, or lies in a bundle or is a folder among them."""
    resolved = folder.resolve()
    if any(above.suffix.lower() == BUNDLE_SUFFIX and above.is_dir() for above in (resolved, *resolved.parents)):
        return True
    named = [Path(path) for path in paths if str(path) != STANDARD_INPUT]
    files = [path for path in named if path.is_file()]
    return any(resolved == source for source in _sources(paths)) or any(
        resolved in (path.parent.resolve(), path.resolve().parent) for path in files
    )


def _sources(paths: Iterable[str | Path]) -> list[Path]:
    return [Path(path).resolve() for path in paths if str(path) != STANDARD_INPUT]


def _is_export(path: Path) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        beginning = stream.read(512)
    return beginning.startswith(archives.MAGIC) or is_xml(beginning)
