"""What is said of slow predictions: one sentence for each, its parts, and what makes the slowest ones of a model."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from tracekit.analysis.ledger.causes import NAMES, PREPARING, Cause, Known
from tracekit.analysis.ledger.choice import Slower
from tracekit.analysis.ledger.explain import Blocker, Part, Tail, Why
from tracekit.detectors.fixes import Fix, fix_of
from tracekit.detectors.plugins import all_detectors
from tracekit.documents.columns import words
from tracekit.documents.frames import frame_words, stages_of
from tracekit.render.blocks import (
    Block,
    Column,
    Document,
    Figure,
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
from tracekit.report.formatting import ABSENT, command, moment, word_list
from tracekit.report.why import AS_USUAL, ModelWhy, WhyReport, is_far
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_count, format_error, format_time

SMALL = 0.01
"""Parts of less than this share of the difference, or a tenth of it of the prediction, share a line."""
WORTH = 0.1
"""Parts of at least this share of the difference are in the sentence, up to two, and in that of a tail, up to three."""
KNOWN = {
    Known.ROWS: "recorded rows",
    Known.SAMPLES: "call stacks",
    Known.STATES: "thread states",
    Known.ORDER: "order of submission",
    Known.COINCIDENCE: "coincidence in time",
    Known.PATTERN: "pattern over predictions",
    Known.REST: ABSENT,
}
UNITS = {str(device): name for device, name in DEVICE_NAMES.items()}
UNSAMPLED = "not recorded (Time Profiler)"
LAYERS = {**UNITS, "data": "copies and conversions", "rest": "rest"}


class Row(NamedTuple):
    """A part, of which prediction, and the check that has a finding about it."""

    why: Why
    part: Part
    finding: str


def why_document(
    report: WhyReport, path: str = "", pictures: Mapping[int, Figure] = {}, lanes: Block | None = None
) -> Document:
    """What is said of each prediction, then of the slowest ones of its model; `path` is that of the recording. A page
    has `pictures` by prediction, and `lanes`."""
    explained = [pair for model in report.models for pair in zip(model.predictions, model.findings, strict=True)]
    finding = worst_finding(*explained[0]) if explained else None
    can_be_replayed = any(isinstance(fix_of(detector), Fix) for detector in all_detectors() if detector.id == finding)
    replayed = f"{command('why', path or report.source)} --without {finding}"
    if report.frame is not None:
        verdict = frame_words(report.frame)
    elif len(explained) <= 1:
        verdict = next((sentence(why) for model in report.models for why in model.predictions), report.nothing)
    else:
        verdict = "; ".join(
            f"{format_count(len(model.predictions), 'slowest prediction')} of {model.model}, usual "
            + format_time(model.predictions[0].usual_ns, model.predictions[0].resolution_ns)
            for model in report.models
        )
    several = len(explained) > 1 or report.frame is not None
    return Document(
        title=report.source,
        verdict=verdict,
        tone=Role.PLAIN,
        blocks=present(
            *(stages_of(report.frame) if report.frame is not None else ()),
            *(block for model in report.models for block in _blocks(model, report.sampled, pictures, several=several)),
            Paragraph(slower_words(report.slower), Role.DIM) if report.slower else None,
            Paragraph(Span(replayed, Role.CODE), lead="savings") if can_be_replayed else None,
            lanes,
        ),
        closing=f"details: tracekit explain {finding}" if finding else "",
    )


def brief_document(report: WhyReport) -> Document:
    """One sentence for the late frame, and for each prediction."""
    said = [frame_words(report.frame)] if report.frame is not None else []
    said += [sentence(why) for model in report.models for why in model.predictions]
    first, *others = said or [report.nothing]
    return Document(report.source, first, Role.PLAIN, blocks=tuple(map(Paragraph, others)))


def _blocks(model: ModelWhy, sampled: bool, pictures: Mapping[int, Figure], *, several: bool) -> Iterator[Block | None]:
    """The predictions of one model, each below its sentence unless the verdict is that; its tail; each fix."""
    fix = None
    for why, findings in zip(model.predictions, model.findings, strict=True):
        large = large_parts(why)
        rows = [Row(why, part, findings.get(part.cause, "")) for part in large]
        check = worst_finding(why, findings)
        fix = Paragraph(model.fixes[check], lead=f"fix ({check})") if check in model.fixes else None
        # A part is a share of the difference where none is longer than usual and another shorter.
        shares = all(0 <= part.ns / (why.extra_ns or 1) < 1.005 for part in large)
        left_out = {"share": not shares, "finding": not any(row.finding for row in rows)}
        columns = [column for column in COLUMNS if not left_out.get(column.title)]
        facts = (
            *(caller(why) if sampled else (f"called from: {UNSAMPLED}",)),
            f"{why.in_flight} in flight",
            *((f"inferred from call stacks, {format_error(why.resolution_ns)}",) if why.resolution_ns else ()),
            f"{why.table} row {why.row}",
        )
        about = present(
            pictures.get(why.prediction),
            table(f"Why {why.model} at {moment(why.start_ns)}", columns, rows),
            Paragraph(small, Role.DIM) if (small := _small(why, large)) else None,
            Paragraph(join(facts, "; "), Role.DIM),
        )
        head = Paragraph(Span(sentence(why), Role.STRONG)) if several else None
        yield from (section(moment(why.start_ns), head, *about, fix, has_names=True),) if several else about
    if model.predictions:
        yield Paragraph(usual_sentence(model.predictions[0]), Role.DIM)
    if model.fitting is not None and model.fitting > len(model.predictions):
        fitting = format_count(model.fitting, "prediction")
        yield Paragraph(f"{len(model.predictions)} of {fitting} (--slowest N for more)", Role.DIM)
    resolution = max((why.resolution_ns for why in model.predictions), default=0)
    if model.tail is not None and is_far(model.tail, resolution):
        time, level = format_time(model.tail.ns, resolution), f"p{model.tail.level * 100:g}"
        yield Paragraph(f"{time}, {tail_words(model.tail, resolution)}", lead=level)
    yield fix if not several else None


def worst_finding(why: Why, findings: Mapping[str, str]) -> str | None:
    """The check whose finding is about the largest part that has one."""
    return next((findings[part.cause] for part in why.parts if part.cause in findings), None)


def large_parts(why: Why) -> list[Part]:
    """Parts that are worth a line."""
    least = SMALL * max(abs(why.extra_ns), why.duration_ns // 10)
    return [part for part in why.parts if abs(part.ns) >= least or part.low_ns != part.high_ns]


def why_facts(why: Why) -> Iterator[tuple[str, str]]:
    """Each part that matters: how long, and what it is due to. Then what is usual."""
    for part in large_parts(why):
        yield f"{_sign(part.ns)}{_amount(why, part)}", part_words(why, part)
    yield "usual", usual_sentence(why).removeprefix("usual: ")


def _sign(ns: int) -> str:
    return "−" if ns < 0 else "+"


def sentence(why: Why) -> str:
    """`Net at 1.204 s: 97.5 ms instead of the usual 12.8 ms: 84.7 ms queued for the Neural Engine behind ...`"""
    time = partial(format_time, resolution_ns=why.resolution_ns)
    head, usual = f"{why.model} at {moment(why.start_ns)}: {time(why.duration_ns)}", time(why.usual_ns)
    if abs(why.extra_ns) <= max(AS_USUAL * why.usual_ns, why.resolution_ns):
        return f"{head}, as usual ({usual})"
    if why.extra_ns < 0:
        head += f", {time(-why.extra_ns)} less than usual"
    else:
        head += f" instead of the usual {usual}"
    large = [part for part in why.parts if part.ns * why.extra_ns > 0 and abs(part.ns) >= WORTH * abs(why.extra_ns)]
    large.sort(key=lambda part: -abs(part.ns))
    reasons = word_list(f"{_amount(why, part)} {part_words(why, part)}" for part in large[:2])
    return f"{head}: {reasons}" if reasons else head


def _amount(why: Why, part: Part) -> str:
    """How long, or a range, with the unit once if it is the same; without a sign."""
    time = partial(format_time, resolution_ns=why.resolution_ns)
    if part.low_ns == part.high_ns:
        return time(abs(part.ns))
    low, high = time(part.low_ns), time(part.high_ns)
    return f"{low.removesuffix(high[high.index(' ') :])} to {high}"


def part_words(why: Why, part: Part) -> str:
    """What a part is due to, with what it waited for."""
    less = part.ns < 0
    # Where it is known how long that took, it is a part of its own.
    timed = any(each.cause == Cause.PIPELINES for each in why.parts)
    compiled = f" ({format_count(why.pipelines, 'Metal pipeline')} compiled during it)"
    match part.cause:
        case Cause.WORK:
            more = {unit: -why.more.get(unit, 0) if less else why.more.get(unit, 0) for unit in UNITS}
            unit = UNITS[max(more, key=lambda name: more[name])]
            # Of what only samples show, no unit may have done the most.
            on = f" on the {unit}" if 2 * max(more.values()) >= abs(part.ns) else ""
            return f"{'less' if less else 'more'} work of its own{on}"
        case Cause.UNIT:
            usual = UNITS[max(UNITS, key=lambda name: why.usual.get(name, 0))]
            unit = UNITS[max(UNITS, key=lambda name: why.usual.get(name, 0) + why.more.get(name, 0))]
            return f"for running on the {unit} instead of the {usual}"
        case Cause.COPIES:
            return f"{'less' if less else 'more'} for copies and conversions of inputs and outputs"
        case Cause.HEAT:
            return f"for the same work in thermal state {why.thermal}"
        case Cause.CLOCK:
            return f"for the same work in a {'faster' if less else 'slower'} performance state of the GPU"
        case Cause.PIPELINES:
            return f"compiling Metal pipelines{f' ({why.pipelines:,} of them)' if why.pipelines else ''}"
        case Cause.SPECIALIZING:
            return why.specializing or "specialization"
        case Cause.FIRST:
            return f"as the first prediction after its load{compiled if why.pipelines and not timed else ''}"
        case Cause.LEVEL if why.level_ns is not None:
            return f"for the same work, which has taken longer since {moment(why.level_ns)}"
        case Cause.QUEUED_OWN | Cause.QUEUED_MODELS | Cause.QUEUED_PROCESSES:
            return queue_words(part.behind, part.cause)
        case Cause.SHARED_CPU if part.behind:
            return f"more with the {queue_words(part.behind, part.cause)}"
        case cause:
            return _WORDS.get(cause, NAMES[cause])


_WORDS = {
    Cause.SHARED_CPU: "while other work of the app used the CPU",
    Cause.PAUSE: "as the first prediction after a gap",
    Cause.SHAPE: "as the first prediction with this amount of work",
    Cause.GROWTH: "for its place in a sequence whose predictions take longer and longer",
    Cause.BLOCKED: "in which its thread did not run",
}


def queue_words(behind: tuple[Blocker, ...], cause: Cause) -> str:
    """For which unit it was queued and behind whom, or who shared it; the name of the cause where that is not known."""
    if not behind:
        return NAMES[cause]
    first, more = behind[0], f" and {len(behind) - 1} more" if len(behind) > 1 else ""
    if cause == Cause.SHARED_CPU:
        return f"CPU shared with {first.model}{more}"
    if cause == Cause.QUEUED_OWN:
        count = format_count(first.predictions, "earlier prediction") if first.predictions else "earlier predictions"
        who = f"{count} of {first.model}"
    elif cause == Cause.QUEUED_MODELS:
        who = first.model or "the app's own drawing"
    else:
        who = " of ".join(filter(None, (first.model, first.process or "another process")))
    return f"queued for the {UNITS[first.unit]} behind {who}{more}"


def _line(row: Row) -> Line:
    text, part = part_words(row.why, row.part), row.part
    if not part.behind:
        return text
    first = part.behind[0]
    return text, f"; first: {moment(first.first_ns)}, ", Span(first.table, Role.CODE), f" row {first.row}"


def _share(row: Row) -> str:
    """Of the difference: a range where the part is one."""
    low, high = (ns / (row.why.extra_ns or 1) for ns in (row.part.low_ns, row.part.high_ns))
    return f"{low:.0%}" if low == high else f"{100 * low:.0f} to {high:.0%}"


COLUMNS: tuple[Column[Row], ...] = (
    Column("time", lambda row: f"{_sign(row.part.ns)}{_amount(row.why, row.part)}", lambda row: row.part.ns),
    Column("share", _share, lambda row: row.part.ns / (row.why.extra_ns or 1), drop=2),
    words("why", _line),
    words("known from", lambda row: KNOWN[row.part.known], drop=1),
    words("finding", lambda row: Span(row.finding, Role.CODE) if row.finding else ""),
)


def _small(why: Why, large: Sequence[Part]) -> str:
    """Parts too small for a line of their own, on one; empty where there are none, or none that the call carries."""
    small = [part for part in why.parts if part not in large]
    ns = sum(part.ns for part in small)
    names = word_list(NAMES[part.cause] for part in small)
    if abs(ns) < why.resolution_ns or not small:
        return ""
    return f"other parts together {_sign(ns)}{format_time(abs(ns), why.resolution_ns)} ({names})"


def caller(why: Why) -> Iterator[str]:
    """`called from StyleView.apply (StyleView.swift:42), main thread`; nothing where it is not known."""
    site = why.called_from
    if site is not None and site.function is not None:
        yield f"called from {place(site)}{f', {THREADS[site.thread]}' if site.thread in THREADS else ''}"


def usual_sentence(why: Why) -> str:
    """What a usual prediction takes, of what, and how that is known."""
    time = partial(format_time, resolution_ns=why.resolution_ns)
    layers = LAYERS | ({Device.CPU: "CPU time of its thread"} if why.resolution_ns else {})
    parts = sorted(why.usual.items(), key=lambda part: -part[1])
    large = ", ".join(f"{layers[name]} {time(ns)}" for name, ns in parts if abs(ns) >= SMALL * why.usual_ns)
    compared = format_count(why.compared, "prediction" if why.is_cold else "warm prediction")
    cold = ", none of which is warm," if why.is_cold else ""
    prepared = " or specialization" if any(part.cause in PREPARING for part in why.parts) else ""
    return f"usual: {time(why.usual_ns)} ({large}), the median of {compared}{cold} without time in queues{prepared}"


def slower_words(slower: Slower) -> str:
    """`slower in another model: Watercolor, 8.5 ms (--model Watercolor)`."""
    time = format_time(slower.duration_ns, slower.resolution_ns)
    return f"slower in another model: {slower.model}, {time} (--model {shlex.quote(slower.model)})"


def tail_words(tail: Tail, resolution_ns: int = 0) -> str:
    """What the slowest predictions take beyond a usual one:
    `usual 12.0 ms; of the extra, 83% is queued for the Neural Engine behind Net, 11% heat, 6% other`. Where the
    resolution of calls carries no percent, at most which cause is most of it."""
    longer = {cause: ns for cause, ns in tail.parts.items() if ns > 0}
    total = sum(longer.values())
    usual, error = f"usual {format_time(tail.usual_ns, resolution_ns)}", resolution_ns * tail.count
    if 100 * error > total:
        most = next((NAMES[Cause(cause)] for cause, ns in longer.items() if 2 * ns > total + error), "")
        return f"{usual}{most and f'; most of the extra is {most}'}"
    large = [cause for cause, ns in longer.items() if ns >= WORTH * total][:3]
    sizes = [longer[cause] for cause in large]
    shares = whole_percents([*sizes, total - sum(sizes)])
    behind = (replace(tail.behind, predictions=0),) if tail.behind else ()
    queues = [queue_words(() if number else behind, Cause(cause)) for number, cause in enumerate(large)]
    (share, first), *others = zip(shares, [*queues, "other"], strict=True)
    if share == 100:
        return f"{usual}; all of the extra is {first}"
    rest = "".join(f", {share}% {what}" for share, what in others if share)
    return f"{usual}; of the extra, {share}% is {first}{rest}"


def whole_percents(sizes: Sequence[int]) -> list[int]:
    """Shares in whole percent that add up to 100: the largest remainders are rounded up. `sizes` are not all 0."""
    total = sum(sizes)
    shares = [100 * size // total for size in sizes]
    by_remainder = sorted(range(len(sizes)), key=lambda at: -(100 * sizes[at] % total))
    for at in by_remainder[: 100 - sum(shares)]:
        shares[at] += 1
    return shares
