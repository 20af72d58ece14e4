"""What a comparison says: the verdict, the models, the findings, and what to know before relying on it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from operator import attrgetter

from tracekit.comparison import words
from tracekit.comparison.comparison import WITH_ITSELF, Comparison
from tracekit.comparison.findings import FindingChange, FindingStatus
from tracekit.comparison.latency import CHANGED, MIN_P95, Answer, LatencyChange, Reason
from tracekit.comparison.models import Basis, ModelComparison, Pair, Presence
from tracekit.documents import columns, compared_figures as figures
from tracekit.documents.launches import launches_section
from tracekit.documents.pictures import LATENCIES_OPEN
from tracekit.render import blocks
from tracekit.render.blocks import Column, Paragraph, Role, Section, Span, items, section, table
from tracekit.report.formatting import ABSENT
from tracekit.units import format_count, format_names

TONES: dict[str, Role] = {
    **dict.fromkeys((Answer.REGRESSED, FindingStatus.NEW), Role.BAD),
    **dict.fromkeys((Answer.IMPROVED, Answer.UNCHANGED, FindingStatus.FIXED), Role.GOOD),
    **dict.fromkeys((Answer.INCONCLUSIVE, FindingStatus.STILL_THERE, FindingStatus.NOT_COMPARABLE), Role.OPEN),
}
SOURCES = 6
"""Most recordings of a side that are named; how many more there are is said."""
PARTS = 4
"""Most parts of a breakdown that are given in words."""
NOTABLE = 0.01
"""Least difference of a part that is given, as a share of the latency before."""
UNNOTICED = "A difference in what was not recorded would go unnoticed."
UNFAIR_NOTE = "each can change latency on its own"
FEW_FOR_P95 = f"p95 is compared from {MIN_P95} values per side on."
UNFAIR = tuple(columns.words(name, attrgetter(name)) for name in ("what", "before", "after"))
"""Names of the fields of a difference."""
FINDINGS: tuple[Column[FindingChange], ...] = (
    columns.words("status", lambda one: Span(str(one.status), TONES[one.status])),
    columns.names("check", lambda one: one.id),
    columns.words("models", lambda one: words.finding_models(one) or columns.RECORDING, drop=1),
    columns.words("details", lambda one: figures.finding_details(one) or ABSENT),
)


def comparison_document(
    comparison: Comparison, *drawn: blocks.Block | None, models: Sequence[blocks.Figure] = ()
) -> blocks.Document:
    """The comparison; `models` and `drawn` are pictures of both sides, for pages."""
    unfair = table("Differences of the environment", UNFAIR, comparison.unfair)
    sides = (Presence.ONLY_BEFORE, Presence.ONLY_AFTER)
    names = (", ".join(model.name for model in comparison.models if model.presence is side) for side in sides)
    said = [f"{side}: {name}" for side, name in zip(sides, names, strict=True) if name]
    unmatched_models = [*said, "if a model was renamed: --rename OLD=NEW"] if len(said) == len(sides) else said
    unmatched = items(unmatched_models)
    few = (FEW_FOR_P95,) if any(map(_shows_p95_alone, comparison.compared)) else ()
    before, after = (format_names(names, SOURCES) for names in (comparison.before, comparison.after))
    how = "circular block bootstrap of the median of log latency"
    if max(len(comparison.before), len(comparison.after)) > 1:
        how = "Welch's t interval on the logarithms of the recordings' medians"
    notes = (
        *(note for note in comparison.notes if not note.startswith(WITH_ITSELF)),
        *few,
        UNNOTICED,
        f"Method {comparison.method}: {how}",
    )
    # The look of the worst answer: on medians, on percentiles that changed, and on findings.
    tails = {model.p95.answer for model in comparison.compared} & CHANGED
    tones = {TONES[answer] for answer in {model.latency.answer for model in comparison.compared} | tails}
    tones |= {TONES[change.status] for change in comparison.findings}
    if any(map(words.moved, comparison.compared)):
        tones -= {Role.GOOD}
    tone = next((tone for tone in (Role.BAD, Role.GOOD) if tone in tones), Role.OPEN)
    return blocks.Document(
        title=words.arrow(before, after),
        verdict=figures.summary(comparison),
        tone=tone,
        context=(
            *(Paragraph(cause, lead="cause") for cause in filter(None, ["; ".join(_causes(comparison))])),
            Paragraph("; ".join(_certainty(comparison)), lead="certainty"),
            Paragraph(before, lead="before"),
            Paragraph(after, lead="after"),
        ),
        blocks=blocks.present(
            section("Not a fair comparison", unfair, note=UNFAIR_NOTE, name="unfair"),
            _models(comparison.compared, " within these recordings" if _is_pair(comparison) else "", models),
            section("Models on one side", unmatched, note="not compared", name="unmatched"),
            section("Findings", table("Findings", FINDINGS, comparison.findings), name="findings"),
            launches_section(comparison.launches, quiet=True),
            *drawn,
            section("Notes", items(notes), name="notes"),
        ),
    )


def _is_pair(comparison: Comparison) -> bool:
    return len(comparison.before) == len(comparison.after) == 1


def _models(compared: Sequence[ModelComparison], of_what: str, pictures: Sequence[blocks.Figure]) -> Section | None:
    if not compared:
        return None
    every = all(model.basis is Basis.ALL for model in compared)
    # Tokens and operations are neither warm nor cold.
    warm = "median warm latency" if any(model.latency.counted == "predictions" for model in compared) else "median"
    form = figures.durations_of(compared)
    error = sum(figures.load_error(model) for model in compared)
    of_loads = figures.Figure("load time", figures.load_time(compared), form, error=error)
    totals = _differences(figures.loads_figure(compared), of_loads) if len(compared) > 1 else ""
    return section(
        "Models",
        *pictures[:1],
        items(_model(model, every) for model in compared),
        Paragraph((Span("all models", Role.STRONG), f"  {totals}")) if totals else None,
        *pictures[1:LATENCIES_OPEN],
        section("Pictures of the other models", *pictures[LATENCIES_OPEN:], folded=True),
        *(figures.figures_section(model) for model in compared),
        note=f"{'median of all predictions' if every else warm}, 95% interval of the change{of_what}",
        name="models",
    )


def _model(model: ModelComparison, every: bool) -> blocks.Entry:
    change = model.latency
    name = model.name if model.name == model.name_before else words.arrow(model.name_before, model.name)
    basis = ", also those after a load" if model.basis is Basis.ALL and not every else ""
    if model.window is not None:
        basis = words.windowed(model.window)
    if any(model.left_out):
        basis += f"; {format_count(sum(model.left_out), 'recording')} with too few to count"
    labeled = {
        "why": words.reason(change),
        "where": parts(model),
        "p95": f"{words.answer(model.p95)}, {_change_words(model.p95)}" if model.p95.wanted is None else "",
        "moved": words.moved(model),
        "also": facts(model),
        "from": words.sample_counts(change) + basis + words.inference(model.inexact),
    }
    # What is as it was has no color.
    answer = Span(words.answer(change), Role.DIM if change.answer is Answer.UNCHANGED else TONES[change.answer])
    head = (Span(name, Role.STRONG), "  ", answer, f"  {_change_words(change)}")
    return blocks.Entry(head, tuple((label, text) for label, text in labeled.items() if text))


def _change_words(change: LatencyChange) -> str:
    if change.reason is Reason.INEXACT:
        return words.latencies(change)
    interval = words.interval(change)
    numbers = f"{words.latencies(change)}, {words.percent_change(change.ratio)}"
    return f"{numbers} ({interval})" if interval else numbers


def _causes(comparison: Comparison) -> Iterator[str]:
    """What explains the change: findings that came or went, and the parts of the latency that changed most."""
    several = len(comparison.models) > 1
    for status in (FindingStatus.NEW, FindingStatus.FIXED):
        names = [
            f"{one.id}{figures.of_models(one) if several else ''}"
            for one in comparison.findings
            if one.status is status
        ]
        if names:
            yield f"{status}: {format_names(names, figures.CHANGES)}"
    changed = [one for one in comparison.compared if one.latency.answer in CHANGED and one.latency.ratio]
    if changed:
        most = max(changed, key=lambda one: abs(math.log(one.latency.ratio or 1)))
        if where := parts(most):
            yield where if len(comparison.compared) == 1 else f"{most.name}: {where}"


def _certainty(comparison: Comparison) -> Iterator[str]:
    """What the answers rest on, and what would go unnoticed."""
    before, after = len(comparison.before), len(comparison.after)
    if _is_pair(comparison):
        yield "one recording per side"
    else:
        yield f"{before} and {format_count(after, 'recording')}"
    yield from (f"a{note[1:-1]}" for note in comparison.notes if note.startswith(WITH_ITSELF))
    if comparison.inferred[0] != comparison.inferred[1]:
        yield f"Core ML recorded no events {'before' if comparison.inferred[0] else 'after'}"
    if comparison.unfair:
        yield f"not a fair comparison: {', '.join(one.what for one in comparison.unfair)}"
    yield f"not recorded: {', '.join(comparison.not_recorded)}"


def parts(model: ModelComparison) -> str:
    """Where the difference lies: the parts that changed for certain, largest first; empty where none did."""
    min_difference_ns = NOTABLE * (model.latency.before_ns or 0)
    changed = [part for part in model.parts if part.differs and abs(part.difference_ns) >= min_difference_ns]
    changed.sort(key=lambda part: -abs(part.difference_ns))
    # One unit for all, in which each can be seen.
    largest = changed[0].difference_ns if changed else 0
    seen = [part for part in changed[:PARTS] if 100 * abs(part.difference_ns) >= abs(largest)]
    return ", ".join(f"{part.part} {words.signed_duration(part.difference_ns, largest)}" for part in seen)


def facts(model: ModelComparison) -> str:
    """Loads, copies and the like that differ, and p95 where it is not compared; empty where there is none."""
    loads, *others = figures.exact_figures(model)
    if words.moved(model):
        others = [figure for figure in others if figure.form is not words.share]
    error = sum(side.load_ns for side in model.inexact)
    form = words.durations(model.resolution_ns)
    times = [figures.Figure("load time", figures.load_time([model]), form, error=figures.load_error(model))]
    for name, change in (("cold load", model.cold_load), ("cached load", model.cached_load)):
        times.append(figures.Figure(name, Pair(change.before_ns, change.after_ns), form, error=error))
    # Of a single load, its time says it once.
    durations = {time.pair: time for time in reversed(times)}.values()
    differences = _differences(loads, *reversed(durations), *others)
    p95 = f"p95 {words.latencies(model.p95)}" if _shows_p95_alone(model) else ""
    return ", ".join(filter(None, (p95, differences)))


def _shows_p95_alone(model: ModelComparison) -> bool:
    """Whether p95 is known, and too few predictions say how sure it is."""
    return model.p95.ratio is not None and model.p95.wanted is not None


def _differences(*known: figures.Figure) -> str:
    return ", ".join(figure.words for figure in known if figure.differs)
