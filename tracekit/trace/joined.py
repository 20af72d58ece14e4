"""Joins a recording with model files: which file describes which of its models.

A recording calls a model by the name of its compiled folder, without the ending. A file is therefore matched by its own
name. Where that leaves a doubt, the doubt is told, and a file is used only where one model and one file are left.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.errors import TracekitError, UsageError, words_of
from tracekit.trace.model_file import JoinedFile, Match

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tracekit.recording.open import Paths
    from tracekit.trace.trace import Trace

ENDINGS = (".mlpackage", ".mlmodel", ".mlmodelc")
"""Of files that are looked for beside a recording. A source says more than what is compiled from it."""

LISTED = 3
"""Names that a sentence lists."""


@dataclass(frozen=True, slots=True)
class _Given:
    path: Path
    model: str | None
    """The model that it was given for; None: by name."""


def joined(trace: Trace, recording: Paths, *given: Sequence[str]) -> Trace:
    """The trace with the model files that describe its models; the same trace where there are none.

    Each of `given` holds paths, or `MODEL=PATH`; what stands in an earlier one goes before. A file beside the recording
    with the very name of a model is used where no other one is. Files are read where they are used. No file makes this
    fail: what is wrong with one is its `problem`.
    """
    names = sorted(map(str, trace.models["name"]))
    files: list[JoinedFile] = []
    for texts in given:
        open_names = _without_file(names, files)
        files += _matched([_given(text) for text in dict.fromkeys(texts)], names, open_names)
    files += [_read(path, name, Match.NAME) for name, path in _beside(recording, _without_file(names, files))]
    return replace(trace, model_files=tuple(files)) if files else trace


def check_given(texts: Iterable[str]) -> None:
    """Raise `UsageError` for a path that leads nowhere."""
    for text in texts:
        path = _given(text).path
        if not os.path.exists(path):  # noqa: PTH110 - also for what is no path
            raise UsageError(f"--model-file {text}: no such file or folder")


def _given(text: str) -> _Given:
    """A path, or a model and a path. A path that is there is one, whatever is in its name."""
    model, equals, path = text.partition("=")
    if equals and model and path and not os.path.exists(text):  # noqa: PTH110 - also for what is no path
        return _Given(Path(path), model)
    return _Given(Path(text), None)


def _without_file(names: Sequence[str], files: Iterable[JoinedFile]) -> list[str]:
    taken = {entry.model for entry in files}
    return [name for name in names if name not in taken]


def _matched(entries: Sequence[_Given], names: Sequence[str], open_names: Sequence[str]) -> list[JoinedFile]:
    """Each file with its model, in their order; without those for models that have a file from elsewhere."""
    matches = [_match(entry, names) for entry in entries]
    by_model: defaultdict[str, list[int]] = defaultdict(list)
    for index, (model, _, _) in enumerate(matches):
        if model is not None:
            by_model[model].append(index)
    files = []
    for index, (entry, (model, match, problem)) in enumerate(zip(entries, matches, strict=True)):
        if model is None or match is None:
            files.append(_unused(entry.path, problem))
            continue
        best = [other for other in by_model[model] if matches[other][1] is _best(matches, by_model[model])]
        if index not in best:
            other = _name(entries[best[0]].path)
            files.append(_unused(entry.path, f"Not used: {other} describes {model} by a closer name."))
        elif len(best) > 1:
            files.append(
                _unused(entry.path, f"Not used: {len(best)} files could describe {model}; choose one as {model}=PATH.")
            )
        elif model in open_names:
            files.append(_read(entry.path, model, match, problem))
    return files


def _best(matches: Sequence[tuple[str | None, Match | None, str]], indices: Iterable[int]) -> Match:
    ways = {matches[index][1] for index in indices}
    return next(match for match in Match if match in ways)


def _match(entry: _Given, names: Sequence[str]) -> tuple[str | None, Match | None, str]:
    """The model that a file is of, how that is known, and what is to be said of it."""
    recorded = f"the recording has {_listed(names)}" if names else "the recording names no model"
    if entry.model is not None:
        if entry.model in names:
            return entry.model, Match.GIVEN, ""
        return None, None, f"Not used: no model is called {entry.model}; {recorded}."
    stem = Path(_name(entry.path)).stem
    if stem in names:
        return stem, Match.NAME, ""
    alike = [name for name in names if _plain(name) and _plain(name) == _plain(stem)]
    if len(alike) == 1:
        return alike[0], Match.SIMILAR, f"Used for {alike[0]}, whose name is only similar: check that it is this model."
    if alike:
        return None, None, f"Not used: it could be of {_listed(alike)}; choose one as MODEL=PATH."
    hint = f"; if it is of one of them, give it as {names[0]}=PATH" if names else ""
    return None, None, f"Not used: no model has its name; {recorded}{hint}."


def _plain(name: str) -> str:
    """A name without what is often changed in it."""
    return re.sub(r"[\W_]+", "", name).casefold()


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return ", ".join(names[:LISTED]) + more


def _name(path: Path) -> str:
    return path.name if path.name not in ("", "..") else path.resolve().name


def _read(path: Path, model: str, match: Match, problem: str = "") -> JoinedFile:
    """The facts of a file. It must not end the analysis, whatever is in it."""
    # It takes a second, and most recordings come alone.
    from tracekit.model_files import read_model

    if not os.path.exists(path):  # noqa: PTH110 - also for what is no path
        return _unused(path, f"Not used for {model}: no such file or folder.")
    try:
        return JoinedFile(_name(path), model, match, read_model(path), problem)
    except TracekitError as error:
        reason = str(error)
    except Exception as error:  # a model that breaks tracekit must not cost the recording
        reason = f"internal error ({words_of(error).splitlines()[0]})"
    return _unused(path, f"Not used for {model}: {reason}.")


def _unused(path: Path, problem: str) -> JoinedFile:
    return JoinedFile(_name(path), None, None, None, problem)


def _beside(recording: Paths, names: Sequence[str]) -> list[tuple[str, Path]]:
    """Model files in the folder of the recording that have the name of a model."""
    paths = [recording] if isinstance(recording, str | Path) else list(recording)
    folders = dict.fromkeys(Path(path).absolute().parent for path in paths if str(path) != "-")
    files = []
    for name in names:
        # The name of a model comes from the recording, and must not lead elsewhere.
        if Path(name).name != name or "\\" in name:
            continue
        candidates = (folder / f"{name}{ending}" for folder in folders for ending in ENDINGS)
        path = next((path for path in candidates if os.path.exists(path)), None)  # noqa: PTH110 - also for long names
        if path is not None:
            files.append((name, path))
    return files
