"""What must hold of every labeled recording, whatever is in it: a filter shows less and changes nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from suite.frame import Case, CaseKey, Recorded, complaints_in, read_back
from tracekit.detectors.runner import run_detectors
from tracekit.report.build import build_report
from tracekit.report.choice import choose_shown, shown_judgments
from tracekit.report.groups import results_from
from tracekit.report.report import Report, Result
from tracekit.trace.filter import Shown, everything, only_range
from tracekit.trace.trace import Trace

Answers = Mapping[tuple[str, str | None], list[tuple[object, ...]]]
"""By detector and model; several where one detector says several things of a model."""
Settings = Mapping[str, str | int | float]

ELSEWHERE = "The finding is about models that are not shown."


def filter_complaints(keys: Iterable[CaseKey]) -> list[str]:
    """What filters change in these labeled cases, one line each."""
    return complaints_in(keys, _of_case)


def _of_case(case: Case, recorded: Recorded) -> list[str]:
    return changed_by_filters(read_back(recorded, bundle=case.bundle), case.settings or {})


def changed_by_filters(trace: Trace, settings: Settings) -> list[str]:
    """What a filter by each model, and one that leaves everything, change in the report of a trace."""
    judgments = run_detectors(trace, settings=settings)

    def report(shown: Shown | None) -> Report:
        checks = results_from(shown_judgments(judgments, trace, shown))
        return build_report(trace, checks, shown=shown, redact=False)

    unfiltered = report(None)
    wrong = []
    for name in sorted({check.model for check in unfiltered.results if check.model is not None}):
        part = report(choose_shown(trace, models=[name]))
        wrong += [f"--model {name}: {line}" for line in _changed_by_model(unfiltered, part, name)]
    part = report(_all_of(trace))
    if _answers(part) != _answers(unfiltered):
        wrong.append("the target from start to end: other answers than of the recording")
    if part.models != unfiltered.models:
        wrong.append("the target from start to end: other models than of the recording")
    return wrong


def _all_of(trace: Trace) -> Shown:
    """Everything, said in another way: the target, from the first row to the last."""
    target = trace.run.target.process
    shown = None if target is None else choose_shown(trace, process=target.name)
    start = min((int(rows.start_ns[0]) for rows in (trace.activity, trace.hardware) if len(rows)), default=0)
    return only_range(shown or everything(trace), trace, min(start, 0), 1 << 62)


def _changed_by_model(whole: Report, part: Report, name: str) -> list[str]:
    """What is said of a model, or of the recording, other than without a filter."""
    before, after = _answers(whole), _answers(part)
    wrong = [
        f"{detector} says {after.get((detector, model))}, without the filter {answer}"
        for (detector, model), answer in before.items()
        if model == name and after.get((detector, model)) != answer
    ]
    wrong += [f"{detector} is about {model}" for detector, model in after if model not in (name, None)]
    wrong += [
        f"{key[0]} says {answer} of the recording"
        for key, answer in after.items()
        if key[1] is None and answer != before.get(key) and not _is_elsewhere(whole, key[0], name, answer)
    ]
    if [model for model in part.models if model.name == name] != [
        model for model in whole.models if model.name == name
    ]:
        wrong.append("its facts are others")
    rows = [[row for row in report.aggregation if row.model == name] for report in (part, whole)]
    if rows[0] != rows[1]:
        wrong.append("its events are others")
    return wrong


def _is_elsewhere(whole: Report, detector: str, name: str, answer: list[tuple[object, ...]]) -> bool:
    """Whether a finding about the recording is rightly said to be about other models."""
    about = {
        entry.model
        for check in whole.results
        if check.id == detector and check.model is None and check.outcome == "finding"
        for entry in check.evidence
    }
    return bool(about) and name not in about and answer[0][:2] == ("not_applicable", ELSEWHERE)


def _answers(report: Report) -> Answers:
    answers: dict[tuple[str, str | None], list[tuple[object, ...]]] = {}
    for check in report.results:
        answers.setdefault((check.id, check.model), []).append(_answer(check))
    return answers


def _answer(check: Result) -> tuple[object, ...]:
    """All that a check says, without what ranks it among the other findings of the report."""
    return (
        check.outcome,
        check.summary,
        check.severity,
        check.metrics,
        check.cost,
        check.evidence,
        check.evidence_total,
        check.record,
        check.caveats,
    )
