"""Walks the diagnostic tree of Core ML with what a report knows, and asks for what a recording cannot show.

A leaf is never answered with "no" where a recording shows it in part only: what was not seen may still be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from tracekit.detectors.pages import Pattern
from tracekit.detectors.registry import DETECTORS
from tracekit.documents.model_file_words import answer_from_files
from tracekit.report.formatting import end_reason, file_problems, moment
from tracekit.report.groups import count_checks, outcome_by_check, with_outcome
from tracekit.report.report import Report, Result
from tracekit.trace.instruments.catalogue import CORE_ML
from tracekit.units import format_bytes, format_count, format_estimate, format_names


class Answer(StrEnum):
    """What the recording says to a leaf of the tree."""

    SEEN = "seen"
    """A finding belongs to it."""
    NOT_SEEN = "not seen"
    """Checks looked for it, as far as a recording shows it, and found nothing."""
    OPEN = "not evaluated"
    """Most checks could not look: the recording lacks what is needed, or no recording shows it."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A pattern of the tree, and where else to look for it."""

    pattern: Pattern
    ask: str
    """What to check outside the recording."""
    shows: str = ""
    """What a recording can show of it; empty for nothing."""
    rests_on: str = ""
    """The check without which nothing is said."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A question that a developer starts with."""

    title: str
    facts: Callable[[Report], tuple[str, ...]]
    leaves: tuple[Leaf, ...]


@dataclass(frozen=True, slots=True)
class LeafAnswer:
    """The answer to one leaf."""

    pattern: str
    answer: Answer
    evidence: tuple[str, ...]
    """What was seen, or why it could not be, one sentence each."""
    checks: tuple[str, ...]
    """Ids of the checks behind the answer."""
    ask: str
    """What to check elsewhere."""


@dataclass(frozen=True, slots=True)
class BranchAnswer:
    """The answers to one branch."""

    title: str
    facts: tuple[str, ...]
    """What the recording says to the branch as a whole."""
    leaves: tuple[LeafAnswer, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The tree, answered."""

    source: str
    verdict: str
    recording: tuple[str, ...]
    """What is wrong with the recording or with model files, one sentence each: it limits every answer."""
    branches: tuple[BranchAnswer, ...]


def diagnose(report: Report) -> Diagnosis:
    """The tree with what the report knows."""
    return Diagnosis(
        source=report.recording.source,
        verdict=report.summary.verdict,
        recording=(
            *(
                check.summary
                for check in report.results
                if check.pattern == Pattern.RECORDING and check.outcome in ("finding", "error")
            ),
            *file_problems(report.model_files, report.performance_reports),
        ),
        branches=tuple(
            BranchAnswer(branch.title, branch.facts(report), tuple(_answer_of(leaf, report) for leaf in branch.leaves))
            for branch in (TREE if report.requests else TREE[:-1])
        ),
    )


def _answer_of(leaf: Leaf, report: Report) -> LeafAnswer:
    """What the recording answers, or where no recording could, what model files do."""
    answer, from_files = _answer(leaf, report.results), answer_from_files(leaf.pattern, report)
    if from_files is None:
        return answer
    if leaf.shows:
        return replace(answer, evidence=(*answer.evidence, *from_files.evidence))
    by_files = {True: Answer.SEEN, False: Answer.NOT_SEEN, None: Answer.OPEN}[from_files.there]
    return LeafAnswer(str(leaf.pattern), by_files, from_files.evidence, from_files.checks, leaf.ask)


def _answer(leaf: Leaf, checks: Sequence[Result]) -> LeafAnswer:
    of_leaf = [check for check in checks if check.pattern == leaf.pattern]
    if findings := with_outcome(of_leaf, "finding"):
        return _leaf_answer(leaf, Answer.SEEN, map(_about, findings), findings)
    outcomes, totals = outcome_by_check(of_leaf), count_checks(of_leaf)
    unanswered = [check for check in of_leaf if outcomes[check.id] == check.outcome]
    not_evaluated = [*with_outcome(unanswered, "not_evaluated"), *with_outcome(unanswered, "error")]
    reasons = dict.fromkeys(f"{check.summary} {check.record}" for check in not_evaluated)
    ran = {check.id for check in of_leaf}
    of_core_ml = [
        detector.id for detector in DETECTORS if detector.page.pattern == leaf.pattern and CORE_ML in detector.needs
    ]
    unseen, left_out = totals.not_evaluated + totals.errors, len({*of_core_ml} - ran)
    if totals.passed:
        never = leaf.rests_on in {check.id for check in not_evaluated}
        answer = Answer.NOT_SEEN if unseen + left_out <= totals.passed and not never else Answer.OPEN
        counts = [f"{format_count(totals.passed, 'check')} passed"]
        counts += [f"{unseen} not evaluated"] if unseen else []
        counts += [f"{format_count(left_out, 'Core ML check')} not run"] if left_out else []
        looked_for = f"Recordings show {leaf.shows}: {', '.join(counts)}."
        return _leaf_answer(leaf, answer, [looked_for, *reasons], [*with_outcome(of_leaf, "passed"), *not_evaluated])
    if not_evaluated:
        return _leaf_answer(leaf, Answer.OPEN, reasons, not_evaluated)
    why = "tracekit has no check for this yet."
    if not leaf.shows:
        why = "Not visible in recordings."
    elif any(detector.page.pattern == leaf.pattern for detector in DETECTORS):
        why = "No check for this was run."
    return _leaf_answer(leaf, Answer.OPEN, dict.fromkeys(map(_about, of_leaf)) or [why], of_leaf)


def _about(check: Result) -> str:
    return f"{check.model}: {check.summary}" if check.model else check.summary


def _leaf_answer(leaf: Leaf, answer: Answer, evidence: Iterable[str], checks: Sequence[Result]) -> LeafAnswer:
    sentences = tuple(sentence.strip() for sentence in evidence)
    return LeafAnswer(str(leaf.pattern), answer, sentences, tuple(dict.fromkeys(c.id for c in checks)), leaf.ask)


def _loads_evidence(report: Report) -> tuple[str, ...]:
    """Models that predicted did load; the table holds no row for a load that failed."""
    worked = [model.name for model in report.models if model.predictions]
    system = " ".join(filter(None, (report.recording.platform, report.recording.os_version)))
    models, they = format_count(len(worked), "model"), "it" if len(worked) == 1 else "they"
    return (
        *((f"{models} ran ({format_names(worked)}), so {they} loaded successfully.",) if worked else ()),
        *((f"System: {system}.",) if system else ()),
        *(f"Model file {file.source}: {file.summary}." for file in report.model_files if file.model),
        "Failed loads are not recorded.",
    )


def _speed_evidence(report: Report) -> tuple[str, ...]:
    savings = report.summary.savings_ns
    return (f"Estimated savings, all fixes combined: up to {format_estimate(savings)}.",) if savings else ()


def _memory(report: Report) -> tuple[str, ...]:
    end, levels = report.recording.end_reason, () if report.memory is None else report.memory.levels
    names = {"footprint": "Highest footprint of the app", "gpu": "Most that it allocated of Metal"}
    peaks = (f"{names[level.kind]}: {format_bytes(level.peak_bytes)}, at {moment(level.peak_ns)}." for level in levels)
    return (*peaks, *((f"End of the recording: {end_reason(end)}.",) if end else ()))


def _nothing(_report: Report) -> tuple[str, ...]:
    """Outputs are in no table."""
    return ("Recordings contain timings, not inputs or outputs.",)


TREE: tuple[Branch, ...] = (
    Branch(
        "1 The model does not load",
        _loads_evidence,
        (
            Leaf(
                Pattern.UNSUPPORTED_VERSION,
                "The model's specification version against the system it runs on: 4 needs iOS 13, 5 iOS 14, 6 iOS 15, "
                "7 iOS 16, 8 iOS 17, 9 iOS 18, 10 iOS 26. In coremltools: `model.get_spec().specificationVersion`.",
            ),
            Leaf(
                Pattern.NO_COMPUTE_PLAN,
                "The error of `MLModel.load(contentsOf:configuration:)`, and the devices that `MLComputePlan` lists "
                "for each operation.",
            ),
            Leaf(
                Pattern.OTHER_LOAD_FAILURE,
                "The error of the load, whether the compiled model is complete and where the app looks for it, and "
                "free storage.",
            ),
        ),
    ),
    Branch(
        "2 It is slow",
        _speed_evidence,
        (
            Leaf(
                Pattern.SLOW_FIRST_LOAD,
                "Whether an app or system update dropped the cache, or it was dropped because storage ran low.",
                "loads, cold loads, compilations and first predictions",
            ),
            Leaf(
                Pattern.SLOW_PREDICTIONS,
                "Precision, size and flexible shapes of the model, and its performance report in Xcode.",
                "where the time of each prediction goes: compute units, copies and queueing",
            ),
            Leaf(
                Pattern.SLOW_ON_ONE_DEVICE,
                "Recordings of the same feature on each device, compared with `tracekit view A B`.",
                "which compute unit the work ran on",
            ),
        ),
    ),
    Branch(
        "3 It uses too much memory",
        _memory,
        (
            Leaf(
                Pattern.MEMORY_GROWS,
                "Memory use, with the Allocations and VM Tracker instruments.",
                "instances, models that are loaded and not used, and the footprint where it was recorded",
                "memory-growth",
            ),
            Leaf(
                Pattern.OUT_OF_MEMORY_ON_LOAD,
                "Size and bit width of the weights, and how much memory the app may use on that device.",
                "repeated loads, and how the recording ended",
            ),
        ),
    ),
    Branch(
        "4 Accuracy dropped after compression",
        _nothing,
        tuple(
            Leaf(pattern, f"The outputs against those of the uncompressed model; try {remedy}.")
            for pattern, remedy in (
                (Pattern.PALETTIZATION_ACCURACY, "more bits or finer groups"),
                (Pattern.QUANTIZATION_ACCURACY, "per-block scales, or skip sensitive layers"),
                (Pattern.PRUNING_ACCURACY, "less sparsity, or train after pruning"),
            )
        ),
    ),
    Branch(
        "5 It cannot be converted, or its results are wrong",
        _nothing,
        (
            Leaf(Pattern.UNSUPPORTED_OPERATION, "The log of the conversion, which names the operation."),
            Leaf(
                Pattern.WRONG_OUTPUT,
                "The outputs against the source model on the same input: normalization, layout and precision first.",
            ),
        ),
    ),
    Branch(
        "6 A language model does not answer",
        lambda _: (),
        (
            Leaf(
                Pattern.FAILED_REQUESTS,
                "The error that a request throws; with Foundation Models, `SystemLanguageModel.default.availability`.",
                "errors of requests, and how full the context window is",
            ),
        ),
    ),
)
"""Branches and leaves in the order of the guide; the last one is about language models."""
