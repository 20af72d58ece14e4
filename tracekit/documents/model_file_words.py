"""The model files and performance reports of a report in words, the same in every readable format.

Files that are not used stand in the notes. A doubt about one that is used stands with it too, since notes may be cut.
They also answer leaves of the diagnostic tree of which recordings show few.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import NamedTuple

from tracekit.detectors.pages import Pattern
from tracekit.report.formatting import word_list
from tracekit.report.groups import with_outcome
from tracekit.report.report import ModelFileInfo, ModelFileResult, PerformanceReportInfo, Report
from tracekit.units import format_time

TITLE = "Model files and performance reports"


class FileRow(NamedTuple):
    """A file that describes a model."""

    model: str
    facts: str
    """Its name, what it is, its size, and the systems that load it."""
    card: tuple[tuple[str, str], ...]
    """Its facts in full: name and value of each; empty for a performance report."""
    sentences: tuple[str, ...]
    """A doubt that it is of this model; what it says of the interface, what else a check found in it, and the commands
    that change it; for a report, planned and timed beside recorded."""


def file_rows(report: Report) -> tuple[FileRow, ...]:
    """The files that are used, in the order in which they were given, then the performance reports."""
    rows = []
    for file in report.model_files:
        if file.model is not None:
            # Most reports know no files.
            from tracekit.model_files.fixing.remedies import ADVICE

            # How the other findings slow the model down is not measured, so they stand here alone.
            names = [check.id for check in with_outcome(file.results, "finding") if check.summary != file.interface]
            others = f"Also found in the file: {word_list(names)}; tracekit inspect says more." if names else ""
            commands = (
                f"To change the file: `{command}`. {ADVICE.get(finding, '')}".rstrip()
                for finding, command in file.commands.items()
            )
            sentences = tuple(filter(None, (file.problem, file.interface, others, *commands)))
            card = tuple((fact.name, fact.value) for fact in file.facts)
            rows.append(FileRow(file.model, f"{file.source} · {file.summary}", card, sentences))
    for entry in report.performance_reports:
        if entry.model is not None:
            sentences = tuple(filter(None, (entry.problem, entry.timed, entry.planned)))
            rows.append(FileRow(entry.model, f"{entry.source} · {entry.form}: {entry.made_on}", (), sentences))
    return tuple(rows)


MEASURED = "interface-conversion"
"""Its findings stand in those of checks that measure what the conversions cost."""


class FileAnswer(NamedTuple):
    """What the files say to one leaf."""

    there: bool | None
    """None: the files do not decide it, or do not cover every model."""
    evidence: tuple[str, ...]
    """One sentence each."""
    checks: tuple[str, ...] = ()
    """Ids of the checks behind it."""


def answer_from_files(pattern: Pattern, report: Report) -> FileAnswer | None:
    """What model files and performance reports say to a leaf; None for nothing. O(checks of the files)."""
    files = [file for file in report.model_files if file.model is not None]
    answers = [_BY_PATTERN.get(pattern, _by_checks)(file, pattern) for file in files]
    from_files = _together(answers, report, {file.model for file in files}, "model file")
    reports = [entry for entry in report.performance_reports if entry.model is not None]
    timed: list[FileAnswer | None] = []
    for entry in reports:
        there, sentences = None, list[str]()
        if pattern == Pattern.NO_COMPUTE_PLAN and entry.units:
            # A plan of another device may exist where one of the recorded device does not.
            there, sentences = False if entry.same_device else None, [f"a compute plan was made ({entry.made_on})."]
        if pattern == Pattern.SLOW_FIRST_LOAD and entry.load_ns is not None:
            sentences = [f"a load takes {format_time(entry.load_ns)} (median; {entry.made_on})."]
        if pattern == Pattern.SLOW_PREDICTIONS:
            sentences = [words for words in (entry.timed, entry.planned) if words]
        timed.append(_answer(entry, there, sentences) if sentences else None)
    from_reports = _together(timed, report, {entry.model for entry in reports}, "performance report")
    if from_files is None or from_reports is None:
        return from_files or from_reports
    # What files say of the leaves that reports speak to decides none of them.
    return FileAnswer(from_reports.there, (*from_files.evidence, *from_reports.evidence), from_files.checks)


def _together(
    each: Sequence[FileAnswer | None], report: Report, known: Collection[str | None], source: str
) -> FileAnswer | None:
    """The answers of several files; they deny something only where every model has one."""
    answers = [answer for answer in each if answer is not None]
    if not answers:
        return None
    evidence = tuple(sentence for answer in answers for sentence in answer.evidence)
    checks = tuple(dict.fromkeys(name for answer in answers for name in answer.checks))
    if any(answer.there for answer in answers):
        return FileAnswer(True, evidence, checks)
    if missing := [model.name for model in report.models if model.name not in known and model.level == "top"]:
        evidence = (*evidence, f"No {source} of {word_list(missing)}.")
    decided = not missing and all(answer.there is False for answer in answers)
    return FileAnswer(False if decided else None, evidence, checks)


def _by_checks(file: ModelFileInfo, pattern: Pattern) -> FileAnswer | None:
    """Findings of the file that belong to the leaf. What a file may cause, only a recording can show."""
    of_leaf = (check for check in file.results if check.pattern == pattern and check.id != MEASURED)
    findings = with_outcome(of_leaf, "finding")
    return _of_checks(file, None, findings) if findings else None


def _version(file: ModelFileInfo, _pattern: Pattern) -> FileAnswer | None:
    if file.loads is None:
        return None
    where = "on the system of the recording"
    words = f"loads {where}." if file.loads else f"does not load {where}; a prediction there ran another version."
    return _answer(file, not file.loads, [f"{file.systems} {words}"])


def _load(file: ModelFileInfo, pattern: Pattern) -> FileAnswer | None:
    of_leaf = [check for check in file.results if check.pattern == pattern]
    findings, passed = (with_outcome(of_leaf, outcome) for outcome in ("finding", "passed"))
    # A whole file may still fail to load, for example for lack of storage.
    return _of_checks(file, True if findings else None, findings or passed) if findings or passed else None


def _compression(technique: str) -> Callable[[ModelFileInfo, Pattern], FileAnswer | None]:
    def answer(file: ModelFileInfo, pattern: Pattern) -> FileAnswer | None:
        if file.compression is None:
            return _answer(file, None, ["the file does not list its weights."])
        if technique not in file.compression:
            return _answer(file, False, [f"no weights are {technique}."])
        by_checks = _by_checks(file, pattern) or FileAnswer(None, ())
        by_weights = _answer(file, None, [f"weights are {technique}; only its outputs show what that costs."])
        return FileAnswer(None, (*by_weights.evidence, *by_checks.evidence), by_checks.checks)

    return answer


def _conversion(file: ModelFileInfo, _pattern: Pattern) -> FileAnswer | None:
    of_layers = [check for check in file.results if check.id == "custom-layers"]
    if findings := with_outcome(of_layers, "finding"):
        return _of_checks(file, True, findings)
    passed = with_outcome(of_layers, "passed")
    return _answer(file, False, ["it was converted, without custom layers."]) if passed else None


def _precision(file: ModelFileInfo, _pattern: Pattern) -> FileAnswer | None:
    words = [check.summary for check in file.results if check.id == "float32-compute" and check.outcome != "error"]
    return _answer(file, None, [*words, file.interface]) if words else None


_BY_PATTERN: dict[Pattern, Callable[[ModelFileInfo, Pattern], FileAnswer | None]] = {
    Pattern.UNSUPPORTED_VERSION: _version,
    Pattern.OTHER_LOAD_FAILURE: _load,
    Pattern.PALETTIZATION_ACCURACY: _compression("palettized"),
    Pattern.QUANTIZATION_ACCURACY: _compression("quantized"),
    Pattern.PRUNING_ACCURACY: _compression("pruned"),
    Pattern.UNSUPPORTED_OPERATION: _conversion,
    Pattern.WRONG_OUTPUT: _precision,
}


def _answer(file: ModelFileInfo | PerformanceReportInfo, there: bool | None, sentences: Sequence[str]) -> FileAnswer:
    kind = "model file" if isinstance(file, ModelFileInfo) else "performance report"
    return FileAnswer(there, tuple(f"{file.model} ({kind}): {sentence}" for sentence in sentences))


def _of_checks(file: ModelFileInfo, there: bool | None, checks: Sequence[ModelFileResult]) -> FileAnswer:
    return _answer(file, there, [check.summary for check in checks])._replace(
        checks=tuple(check.id for check in checks)
    )
