"""What `tracekit why` says: predictions against a usual one, what makes the slowest slow, and findings about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tracekit.analysis.ledger.account import Account
from tracekit.analysis.ledger.causes import Cause
from tracekit.analysis.ledger.choice import Choice, Slower
from tracekit.analysis.ledger.explain import Tail, Why
from tracekit.analysis.ledger.usual import LEAST
from tracekit.detectors.plugins import checks_about
from tracekit.report.formatting import fix_line, moment
from tracekit.report.redact import PrivateFacts, redact_values
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from tracekit.analysis.frames.summary import LateFrame
    from tracekit.analysis.models import ModelSummary
    from tracekit.report.report import Result
    from tracekit.trace.trace import Trace

SCHEMA_VERSION = 1
AS_USUAL = 0.02
"""A prediction within this share of the usual time, or within the resolution of its call, took as long as usual."""
FAR = 1.25
"""A p95 of at least so many times the usual duration needs a reason."""


@dataclass(frozen=True, slots=True)
class ModelWhy:
    """What is said of one model."""

    model: str
    predictions: tuple[Why, ...]
    fitting: int | None
    """How many predictions take longer than asked for, of which `predictions` are the slowest; None if no time was."""
    tail: Tail | None
    """None where the slowest predictions are too few, or no slower than usual."""
    findings: tuple[dict[str, str], ...]
    """Of each prediction: id of the check whose finding is about a cause, by `Cause`; of those that occur."""
    fixes: dict[str, str]
    """First sentence of the fix of these checks, by id."""


@dataclass(frozen=True, slots=True)
class WhyReport:
    """Everything that leaves the command."""

    schema_version: int
    source: str
    models: tuple[ModelWhy, ...]
    nothing: str
    """Why no prediction is explained; empty where one is."""
    redacted: bool
    sampled: bool = True
    """Whether call stacks were recorded: without them, no calling code is known."""
    slower: Slower | None = None
    """What is slower in another model; None where nothing is, or models were chosen."""
    frame: LateFrame | None = None
    """The late frame that was asked for, which the prediction held up; None where none was, or none came late."""


def finding_about(cause: str, model: str, results: Sequence[Result], *, is_first: bool = False) -> Result | None:
    """The closest finding on a cause, in a model or the recording."""
    findings = {
        result.id: result for result in results if result.outcome == "finding" and result.model in (model, None)
    }
    return next((findings[name] for name in checks_about(Cause(cause), is_first=is_first) if name in findings), None)


def is_far(tail: Tail, resolution_ns: int) -> bool:
    """Whether the quantile is far enough from usual to need a reason: further than calls are known, too."""
    return tail.ns >= FAR * tail.usual_ns and tail.ns - tail.usual_ns > resolution_ns


def known_tails(
    models: Iterable[ModelSummary], results: Sequence[Result]
) -> Iterator[tuple[ModelSummary, Tail, Result | None]]:
    """Models whose p95 is far from usual, where something recorded shows most of why, with the finding about that."""
    for model in models:
        tail = model.tail
        if tail and is_far(tail, model.resolution_ns) and 2 * tail.parts.get(Cause.NOT_VISIBLE, 0) <= tail.extra_ns:
            yield model, tail, finding_about(next(iter(tail.parts)), model.name, results)


def model_why(
    model: str, predictions: Sequence[Why], tail: Tail | None, results: Sequence[Result], fitting: int | None = None
) -> ModelWhy:
    """What is said of a model, with the findings among the results."""
    by_part = [
        {
            str(part.cause): result
            for part in why.parts
            if part.ns > 0 and (result := finding_about(part.cause, model, results, is_first=why.is_first))
        }
        for why in predictions
    ]
    fixes = {result.id: fix_line(result.fix) for by_cause in by_part for result in by_cause.values()}
    findings = tuple({cause: result.id for cause, result in by_cause.items()} for by_cause in by_part)
    return ModelWhy(model, tuple(predictions), fitting, tail, findings, fixes)


def nothing_to_explain(
    models: Mapping[str, Account], counts: Mapping[str, int], choice: Choice, length_ns: int | None
) -> str:
    """Why a choice has no predictions: `models` are those that can be compared, `counts` predictions by model."""
    if not counts:
        return "Nothing to explain: the recording shows no predictions; `tracekit analyze` says what it shows."
    if not models:
        name = max(counts, key=lambda name: counts[name])
        return f"Nothing to explain: {name} has {format_count(counts[name], 'prediction')}; {LEAST} are needed."
    if choice.at_ns is not None:
        length = "" if length_ns is None else f"; the recording is {format_time(length_ns)} long"
        return f"Nothing to explain: no prediction is in flight at or after {moment(choice.at_ns)}{length}."
    longest = format_time(max(int(model.durations.max()) for model in models.values()))
    over = format_time(choice.over_ns or 0)
    return f"Nothing to explain: no prediction takes longer than {over}; the longest takes {longest}."


def why_report(
    trace: Trace,
    models: Iterable[ModelWhy],
    facts: PrivateFacts | None,
    *,
    functions: bool = True,
    nothing: str = "",
    slower: Slower | None = None,
    frame: LateFrame | None = None,
) -> WhyReport:
    """The report; `facts` is what is private, None to keep it. Without `functions`, code is left out."""
    kept = tuple(models)
    if not functions:
        without = {model.model: tuple(replace(why, called_from=None) for why in model.predictions) for model in kept}
        kept = tuple(replace(model, predictions=without[model.model]) for model in kept)
    source, sampled = trace.contents.source, trace.profiled is not None
    report = WhyReport(SCHEMA_VERSION, source, kept, nothing, facts is not None, sampled, slower, frame)
    return redact_values(report, facts) if facts is not None else report
