"""What is said of slow predictions: one sentence for each, its parts, and what makes the slowest ones of a model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from tracekit.analysis.why.explain import Blocker, Known, Part, Tail, Why
from tracekit.analysis.why.parts import Cause
from tracekit.documents.columns import numbers, words
from tracekit.render.blocks import (
    Block,
    Column,
    Document,
    Line,
    Paragraph,
    Role,
    Span,
    join,
    present,
    section,
    table,
)
from tracekit.report.call_sites import THREADS, place
from tracekit.report.formatting import ABSENT, moment, word_list
from tracekit.report.why import main_cause
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_count, format_error, format_percent, format_time

if TYPE_CHECKING:
    from tracekit.report.why import LinkedFinding, ModelWhy, WhyReport

SMALL = 0.01
"""Parts of less than this share of the difference, or of the prediction, stand in one row."""
KNOWN = {
    Known.ROWS: "recorded rows",
    Known.ORDER: "order of submission",
    Known.COINCIDENCE: "happened meanwhile",
    Known.SAMPLES: "call stacks",
    Known.REST: ABSENT,
}
NOTHING = "Nothing to explain: no prediction fits, or its model has too few to compare."
SHORT = {
    Cause.QUEUED_OWN: "queued behind predictions of this model",
    Cause.QUEUED_MODELS: "queued behind other work of the app",
    Cause.QUEUED_PROCESSES: "queued behind other processes",
    Cause.WORK: "longer work of its own",
    Cause.CLOCK: "slower clock",
    Cause.UNIT: "another compute unit",
    Cause.COPIES: "copies and conversions",
    Cause.SPECIALIZATION: "specialization",
    Cause.BLOCKED: "blocked thread",
    Cause.NOT_VISIBLE: "not visible in the recording",
}
LAYERS = {
    "ane": "Neural Engine",
    "gpu": "GPU",
    "cpu": "CPU",
    "data": "copies and conversions",
    "specializing": "specialization",
    "rest": "rest",
}
UNITS = {Device.ANE.value: "ane", Device.GPU.value: "gpu", Device.CPU.value: "cpu"}


@dataclass(frozen=True, slots=True)
class Row:
    """A part, or the small ones together."""

    ns: int
    words: Line
    share: float
    known: str
    finding: str
    bounds: tuple[int, int] | None = None
    resolution_ns: int = 0


def why_document(report: WhyReport) -> Document:
    """What is said of each prediction, then of the slowest ones of its model."""
    alone = sum(len(model.predictions) for model in report.models) == 1
    first = next((model for model in report.models if model.predictions), None)
    worst = first.predictions[0] if first else None
    cause = _main(worst) if worst else None
    linked = first.finding(cause) if first and cause else None
    return Document(
        title=report.source,
        verdict=sentence(worst) if worst else NOTHING,
        tone=Role.PLAIN,
        blocks=present(*(block for model in report.models for block in _blocks(model, None if alone else worst))),
        closing=f"details: tracekit explain {linked.id}" if linked else "",
    )


def _main(why: Why) -> Cause | None:
    return main_cause((part.cause, part.ns) for part in why.parts)


def _blocks(model: ModelWhy, said: Why | None) -> Iterator[Block | None]:
    """The predictions of one model, then its tail and the fix. The verdict has `said` one; None: there is no other."""
    for why in model.predictions:
        grid = table(f"Why {why.model} at {moment(why.start_ns)}", COLUMNS, rows_of(model, why))
        about = Paragraph(join(_about(why), "; "), Role.DIM)
        if said is None:
            yield from (grid, about)
        else:
            head = None if why is said else Paragraph(Span(sentence(why), Role.STRONG))
            yield section(moment(why.start_ns), head, grid, about)
    if not model.predictions:
        return
    worst = model.predictions[0]
    yield Paragraph(usual_sentence(worst), Role.DIM)
    if model.tail is not None:
        yield Paragraph(tail_sentence(model.tail), lead=f"p{model.tail.level * 100:g}")
    cause = _main(worst)
    linked = model.finding(cause) if cause else None
    if linked and linked.fix:
        yield Paragraph(linked.fix, lead="fix")


def sentence(why: Why) -> str:
    """`Net at 00:01.204: 97.5 ms instead of the usual 12.8 ms: 84.7 ms queued for ...`"""
    time = partial(format_time, resolution_ns=why.resolution_ns)
    head = f"{why.model} at {moment(why.start_ns)}: {time(why.duration_ns)} instead of the usual {time(why.usual_ns)}"
    if abs(why.extra_ns) < SMALL * why.usual_ns:
        return f"{head}, as fast as usual"
    large = [part for part in why.parts if part.ns * why.extra_ns > 0 and abs(part.ns) >= 0.1 * abs(why.extra_ns)]
    large.sort(key=lambda part: -abs(part.ns))
    said = [f"{_amount(part, why)} {part_words(why, part)}" for part in large[:2]]
    return f"{head}: {word_list(said)}" if said else head


def _amount(part: Part, why: Why) -> str:
    time = partial(format_time, resolution_ns=why.resolution_ns)
    if part.low_ns != part.high_ns:
        return f"{time(part.low_ns)} to {time(part.high_ns)}"
    return time(abs(part.ns))


def part_words(why: Why, part: Part) -> str:
    """What a part is due to, with what it waited for."""
    less = part.ns < 0
    match part.cause:
        case Cause.QUEUED_OWN | Cause.QUEUED_MODELS | Cause.QUEUED_PROCESSES:
            return _queued(part)
        case Cause.WORK:
            unit = _most(why, less=less)
            longer = f"{'less' if less else 'more'} work of its own{f' on the {unit}' if unit else ''}"
            return f"{longer}, as the first prediction after its load" if why.is_first and not less else longer
        case Cause.CLOCK:
            state = f" (thermal state {why.thermal})" if why.thermal else " (GPU performance state)"
            return f"for the same work at {'a faster' if less else 'a slower'} clock{state}"
        case Cause.UNIT:
            unit = _most(why, less=False)
            usual = max(("ane", "gpu", "cpu"), key=lambda name: why.usual.get(name, 0))
            return f"for running on the {unit} instead of the {LAYERS[usual]}"
        case Cause.SPECIALIZATION:
            compiled = format_count(why.pipelines, "Metal pipeline") if why.pipelines else ""
            return f"{'less ' if less else ''}specialization{compiled and f' ({compiled} compiled meanwhile)'}"
        case Cause.BLOCKED:
            return "while its thread did not run, or shared the CPU"
        case Cause.COPIES:
            return f"{'fewer' if less else 'more'} copies and conversions of inputs and outputs"
        case _:
            return "not visible in the recording"


def _most(why: Why, *, less: bool) -> str:
    """The compute unit with the largest difference."""
    more = {name: (-1 if less else 1) * why.more.get(name, 0) for name in ("ane", "gpu", "cpu")}
    name = max(more, key=lambda each: more[each])
    return LAYERS[name] if more[name] > 0 else ""


def _queued(part: Part) -> str:
    if not part.behind:
        return SHORT[part.cause]
    first = part.behind[0]
    more = f" and {len(part.behind) - 1} more" if len(part.behind) > 1 else ""
    return f"queued for the {DEVICE_NAMES[Device(first.unit)]} behind {blocker_words(first, part.cause)}{more}"


def blocker_words(blocker: Blocker, cause: Cause) -> str:
    """Whose work it was."""
    if cause == Cause.QUEUED_OWN:
        count = format_count(blocker.predictions, "earlier prediction") if blocker.predictions else "predictions"
        return f"{count} of {blocker.model}"
    if cause == Cause.QUEUED_MODELS:
        return blocker.model or "the app's own drawing"
    if blocker.process:
        return f"{blocker.model} of {blocker.process}" if blocker.model else blocker.process
    return f"{blocker.model}, of another process" if blocker.model else "another process"


def rows_of(model: ModelWhy, why: Why) -> list[Row]:
    """Its parts; those too small to matter in one row, so that all add up."""

    def linked(cause: Cause) -> str:
        finding: LinkedFinding | None = model.finding(cause)
        return finding.id if finding else ""

    least = SMALL * max(abs(why.extra_ns), why.duration_ns // 10)
    large = [part for part in why.parts if abs(part.ns) >= least or part.low_ns != part.high_ns]
    small = [part for part in why.parts if part not in large]
    extra = why.extra_ns or 1
    rows = [
        Row(
            part.ns,
            _part_line(why, part),
            part.ns / extra,
            KNOWN[part.known],
            linked(part.cause) if part.ns > 0 else "",
            (part.low_ns, part.high_ns) if part.low_ns != part.high_ns else None,
            why.resolution_ns,
        )
        for part in large
    ]
    if small:
        names = word_list(SHORT[part.cause] for part in small)
        ns = sum(part.ns for part in small)
        rows.append(Row(ns, f"{names}: no difference", ns / extra, ABSENT, "", None, why.resolution_ns))
    return rows


def _part_line(why: Why, part: Part) -> Line:
    """The words, and where the work begins that it waited for."""
    said = part_words(why, part).removeprefix("for ")
    if not part.behind:
        return said
    first = part.behind[0]
    return said, f"; first: {moment(first.first_ns)}, ", Span(first.table, Role.CODE), f" row {first.row}"


def _time(row: Row) -> str:
    if row.bounds:
        return f"{format_time(row.bounds[0])} to {format_time(row.bounds[1])}"
    sign = "+" if row.ns > 0 else "−" if row.ns < 0 else ""
    return f"{sign}{format_time(abs(row.ns), row.resolution_ns)}"


def _share(share: float) -> str:
    return ABSENT if abs(share) < 0.005 else f"{share:.0%}"


COLUMNS: tuple[Column[Row], ...] = (
    Column("time", _time, lambda row: row.ns),
    numbers("share", lambda row: row.share, _share, drop=2),
    words("why", lambda row: row.words),
    words("known from", lambda row: row.known, drop=1),
    words("finding", lambda row: Span(row.finding, Role.CODE, link=f"#finding-{row.finding}") if row.finding else ""),
)


def _about(why: Why) -> Iterator[Line]:
    """Who called, and what else was in flight."""
    site = why.called_from
    if site is not None and site.function is not None:
        thread = f", {THREADS[site.thread]}" if site.thread in THREADS else ""
        yield f"called from {place(site)}{thread}"
    yield f"{format_count(why.in_flight, 'prediction')} of {why.model} in flight"
    if why.resolution_ns:
        yield f"from call stacks, {format_error(why.resolution_ns)}"
    yield f"{why.table} row {why.row}"


def usual_sentence(why: Why) -> str:
    """What a usual prediction takes, of what, and how that is known."""
    time = partial(format_time, resolution_ns=why.resolution_ns)
    parts = sorted(why.usual.items(), key=lambda part: -part[1])
    layers = LAYERS | ({"cpu": "CPU time of its thread"} if why.resolution_ns else {})
    large = [f"{layers[name]} {time(ns)}" for name, ns in parts if abs(ns) >= SMALL * why.usual_ns]
    return (
        f"usual: {time(why.usual_ns)} ({', '.join(large)}); median of {why.compared:,} {why.population}, "
        "time in queues left out"
    )


def tail_sentence(tail: Tail) -> str:
    """`95.3 ms: 100% queued behind ...`, of the time beyond usual ones."""
    causes = [(cause, ns / tail.extra_ns) for cause, ns in tail.parts if ns >= 0.05 * tail.extra_ns]
    said = [f"{format_percent(min(share, 1.0))} {_cause_words(tail, cause)}" for cause, share in causes[:3]]
    slowest = format_count(tail.count, "prediction takes", "predictions take")
    return f"{format_time(tail.ns)}: {', '.join(said)} (of what {slowest} beyond the usual)"


def _cause_words(tail: Tail, cause: Cause) -> str:
    if tail.behind is None or cause != tail.parts[0][0]:
        return SHORT[cause]
    unit = DEVICE_NAMES[Device(tail.behind.unit)]
    who = "earlier predictions" if cause == Cause.QUEUED_OWN else blocker_words(tail.behind, cause)
    return f"queued for the {unit} behind {who}"
