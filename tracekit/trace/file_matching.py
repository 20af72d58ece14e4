"""Joins a recording with model files and performance reports: which of them is of which of its models.

A recording calls a model by the name of its compiled folder, without the ending. A model file is therefore matched by
its own name, and a report by the model that it names. Where that leaves a doubt, the doubt is reported, and a file is
used only where one model and one file are left.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from tracekit.errors import TracekitError, UsageError, words_of
from tracekit.trace.trace import Joined, Match, Trace
from tracekit.units import format_names

if TYPE_CHECKING:
    from tracekit.model_files.facts import ModelFile
    from tracekit.model_files.performance.facts import PerformanceReport
    from tracekit.recording.open import Paths

MODEL_FILE, PERF_REPORT = "--model-file", "--perf-report"

ENDINGS = (".mlpackage", ".mlmodel", ".mlmodelc")
"""Of model files that are looked for beside a recording. A source says more than what is compiled from it."""

REPORT_ENDINGS = (".json", "-all.json")
"""Of reports that are looked for beside a recording. `tracekit inspect --measure` writes one for each choice of compute
units, of which `all` is what apps get that choose none."""

Text = Sequence[str]
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class _Given:
    path: Path
    model: str | None
    """The model that it was given for; None: by name."""
    name: str
    """The name that is compared with those of models."""


class _Matched(NamedTuple):
    """A file, and the model that it is used for, if any."""

    path: Path
    model: str | None
    match: Match | None
    problem: str


def join_files(
    trace: Trace, recording: Paths, files: tuple[Text, Text] = ((), ()), reports: tuple[Text, Text] = ((), ())
) -> Trace:
    """The trace with the model files and performance reports of its models; the same trace without any.

    `files` and `reports` each hold what the user gave now, and what the settings name: paths, or `MODEL=PATH`. What is
    given goes before the settings, and both before what lies beside the recording with the name of a model. Model files
    are read where they are used. Raises `TracekitError` for one that is given and cannot be read; what is wrong with
    others is their `problem`.
    """
    names = sorted(trace.models.name)
    model_files: list[Joined[ModelFile]] = []
    for strict, texts in zip((True, False), files, strict=True):
        entries = [_parse(text) for text in dict.fromkeys(texts)]
        matched = _matches(entries, names, _without(names, model_files))
        model_files += [_joined_file(entry, strict=strict) for entry in matched]
    beside = _beside(recording, _without(names, model_files), ENDINGS)
    model_files += [_joined_file(_Matched(path, name, Match.NAME, ""), strict=False) for name, path in beside]
    joined_reports = _joined_reports(recording, names, reports)
    if not model_files and not joined_reports:
        return trace
    return replace(trace, model_files=tuple(model_files), performance_reports=tuple(joined_reports))


def check_given(files: Iterable[str], reports: Iterable[str] = ()) -> None:
    """Before a long read: raise `UsageError` for a path to nothing, `UnreadableModel` for no performance report."""
    for flag, texts in ((MODEL_FILE, files), (PERF_REPORT, reports)):
        for text in texts:
            path = _parse(text).path
            if not os.path.exists(path):  # noqa: PTH110 - also for what is no path
                raise UsageError(f"{flag} {text}: no such file or folder")
            if flag == PERF_REPORT:
                _load_report(path)


def _parse(text: str) -> _Given:
    """A path, or a model and a path. A path that is there is one, whatever is in its name."""
    model, equals, path = text.partition("=")
    if equals and model and path and not os.path.exists(text):  # noqa: PTH110 - also for what is no path
        return _Given(Path(path), model, Path(path).stem)
    return _Given(Path(text), None, Path(_name(Path(text))).stem)


def _without(names: Sequence[str], files: Iterable[Joined[Any]]) -> list[str]:
    taken = {entry.model for entry in files}
    return [name for name in names if name not in taken]


def _matches(entries: Sequence[_Given], names: Sequence[str], open_names: Sequence[str]) -> list[_Matched]:
    """Each file with its model, in their order; without those for models that have a file from elsewhere."""
    matches = [_match(entry, names) for entry in entries]
    by_model: defaultdict[str, list[int]] = defaultdict(list)
    for index, (model, _, _) in enumerate(matches):
        if model is not None:
            by_model[model].append(index)
    matched = []
    for index, (entry, (model, match, problem)) in enumerate(zip(entries, matches, strict=True)):
        if model is None or match is None:
            matched.append(_Matched(entry.path, None, None, problem))
            continue
        ways = {matches[other][1] for other in by_model[model]}
        closest = next(way for way in Match if way in ways)
        best = [other for other in by_model[model] if matches[other][1] is closest]
        if index not in best:
            other = _name(entries[best[0]].path)
            matched.append(_Matched(entry.path, None, None, f"Not used: {other} describes {model} by a closer name."))
        elif len(best) > 1:
            several = f"Not used: {len(best)} files could describe {model}; choose one as {model}=PATH."
            matched.append(_Matched(entry.path, None, None, several))
        elif model in open_names:
            matched.append(_Matched(entry.path, model, match, problem))
    return matched


def _match(entry: _Given, names: Sequence[str]) -> tuple[str | None, Match | None, str]:
    """The model that a file is of, how that is known, and what is to be said of it."""
    recorded = f"the recording has {format_names(names)}" if names else "the recording names no model"
    if entry.model is not None:
        if entry.model in names:
            return entry.model, Match.GIVEN, ""
        return None, None, f"Not used: no model is called {entry.model}; {recorded}."
    if entry.name in names:
        return entry.name, Match.NAME, ""
    # Without what is often changed in a name.
    plain = {name: re.sub(r"[\W_]+", "", name).casefold() for name in (*names, entry.name)}
    alike = [name for name in names if plain[name] and plain[name] == plain[entry.name]]
    if len(alike) == 1:
        return alike[0], Match.SIMILAR, f"Used for {alike[0]}, whose name is only similar: check that it is this model."
    if alike:
        return None, None, f"Not used: it could be of {format_names(alike)}; choose one as MODEL=PATH."
    hint = f"; if it is of one of them, give it as {names[0]}=PATH" if names else ""
    return None, None, f"Not used: no model has its name; {recorded}{hint}."


def _name(path: Path) -> str:
    return path.name if path.name not in ("", "..") else path.resolve().name


def _joined_file(matched: _Matched, *, strict: bool) -> Joined[ModelFile]:
    source, model = _name(matched.path), matched.model
    if model is None:
        return Joined(source, None, None, None, matched.problem)
    # It takes a second, and most recordings come alone.
    from tracekit.model_files.read import read_model

    facts, reason = _read(matched.path, read_model, strict=strict)
    if facts is None:
        return Joined(source, None, None, None, f"Not used for {model}: {reason}.")
    return Joined(source, model, matched.match, facts, matched.problem)


def _joined_reports(
    recording: Paths, names: Sequence[str], texts: tuple[Text, Text]
) -> list[Joined[PerformanceReport]]:
    """Performance reports with their models, if they are used. Those that are given and cannot be read raise."""
    reports: list[Joined[PerformanceReport]] = []
    for strict, group in zip((True, False), texts, strict=True):
        read: dict[Path, PerformanceReport] = {}
        entries = []
        for given in map(_parse, dict.fromkeys(group)):
            report, reason = _read(given.path, _load_report, strict=strict)
            if report is None:
                reports.append(Joined(_name(given.path), None, None, None, f"Not used: {reason}."))
                continue
            read[given.path] = report
            entries.append(replace(given, name=report.name))
        for path, model, match, problem in _matches(entries, names, _without(names, reports)):
            report = read[path] if model else None
            doubt = _other_model(report, path, model) if match is Match.GIVEN else ""
            reports.append(Joined(_name(path), model, match, report, problem or doubt))
    for name, path in _beside(recording, _without(names, reports), REPORT_ENDINGS):
        from tracekit.model_files.performance.read import report_in
        from tracekit.model_files.untrusted import MAX_TEXT_BYTES, read_bytes

        # Other JSON of that name, which nobody called a report, is none.
        try:
            report = report_in(read_bytes(path, MAX_TEXT_BYTES), path) if path.is_file() else None
        except TracekitError as error:
            reports.append(Joined(path.name, None, None, None, f"Not used for {name}: {error}."))
            continue
        if report is not None:
            problem = _other_model(report, path, name)
            reports.append(Joined(path.name, name, Match.SIMILAR if problem else Match.NAME, report, problem))
    return reports


def _other_model(report: PerformanceReport | None, path: Path, model: str | None) -> str:
    """What to say where a report names another model than it is used for; empty where it does not."""
    # One that names no model goes by the name of its file.
    if report is None or model is None or report.name in (model, path.stem):
        return ""
    return f"Used for {model}, although it names {report.name}: check that it is this model."


def _load_report(path: Path) -> PerformanceReport:
    from tracekit.model_files.performance.read import load_performance_report

    return load_performance_report(path)


def _read(path: Path, read: Callable[[Path], Result], *, strict: bool) -> tuple[Result | None, str]:
    """What is in a file, or why that is not known; it must not end the analysis. `strict`: raises `TracekitError`."""
    if not os.path.exists(path):  # noqa: PTH110 - also for what is no path
        return None, "no such file or folder"
    try:
        return read(path), ""
    except TracekitError as error:
        if strict:
            raise
        return None, str(error)
    except Exception as error:  # a model that breaks tracekit must not cost the recording
        return None, f"internal error ({words_of(error).splitlines()[0]})"


def _beside(recording: Paths, names: Sequence[str], endings: Sequence[str]) -> list[tuple[str, Path]]:
    """Files in the folder of the recording that have the name of a model."""
    paths = [recording] if isinstance(recording, str | Path) else list(recording)
    folders = dict.fromkeys(Path(path).absolute().parent for path in paths if str(path) != "-")
    files = []
    for name in names:
        # The name of a model comes from the recording, and must not lead elsewhere.
        if Path(name).name != name or "\\" in name:
            continue
        candidates = (folder / f"{name}{ending}" for folder in folders for ending in endings)
        path = next((path for path in candidates if os.path.exists(path)), None)  # noqa: PTH110 - also for long names
        if path is not None:
            files.append((name, path))
    return files
