"""What `tracekit check` says: the verdict, then each thing that was checked, worst first; and what a baseline holds."""

from __future__ import annotations

import statistics
from collections import Counter
from dataclasses import fields
from functools import partial

import numpy as np

from tracekit.comparison.baseline import Baseline
from tracekit.comparison.comparison import LABELS
from tracekit.comparison.gate import Gate
from tracekit.comparison.measurements import Environment, names_of, of_model
from tracekit.comparison.non_inferiority import outlook
from tracekit.comparison.settings import Floors
from tracekit.comparison.verdict import Item, Verdict
from tracekit.documents import columns
from tracekit.render.blocks import Column, Document, Paragraph, Role, Span, items, present, table
from tracekit.units import format_count, format_time

_SEVERAL, _RARELY = 3, 0.05
_EXPLAINED = (Verdict.INCONCLUSIVE, Verdict.PASSED)
TONES = {
    Verdict.ERROR: Role.CRITICAL,
    Verdict.FAILED: Role.CRITICAL,
    Verdict.INCONCLUSIVE: Role.OPEN,
    Verdict.NOT_COUNTED: Role.DIM,
    Verdict.PASSED: Role.GOOD,
}
BOUNDS = "Upper ends of intervals of a median are one-sided 95% bounds, lower ones 99% bounds for all models together."
NEXT = (Span("tracekit analyze RECORDING", Role.CODE), "  ·  ", Span("tracekit why RECORDING", Role.CODE))
"""Where to read on about a build that failed. What was checked may be a report, whose recording lies elsewhere."""
COLUMNS: tuple[Column[Item], ...] = (
    columns.words("verdict", lambda item: Span(str(item.verdict), TONES[item.verdict])),
    columns.words("what", lambda item: Span(item.title, Role.STRONG)),
    columns.words("details", lambda item: item.text),
)


def gate_document(gate: Gate) -> Document:
    """The verdict of a check."""
    compared = gate.comparison
    notes: tuple[str, ...] = ()
    if compared is not None:
        unknown = f"A difference in what was not recorded would go unnoticed: {', '.join(compared.not_recorded)}."
        bounded = any(item.subject == "baseline" and item.value is not None for item in gate.items)
        notes = (*((BOUNDS,) if bounded else ()), *compared.notes, unknown)
    return Document(
        title="tracekit check",
        verdict=("tracekit check: ", _decided(gate) if gate.verdict in _EXPLAINED else summary(gate)),
        tone=TONES[gate.verdict],
        blocks=present(
            table("What was checked", COLUMNS, gate.items),
            items(notes),
            Paragraph(NEXT, lead="next") if gate.verdict is Verdict.FAILED else None,
        ),
    )


def one_line(gate: Gate) -> str:
    """The verdict, and the first item that decided it."""
    return f"tracekit check: {_decided(gate)}"


def _decided(gate: Gate) -> str:
    # A build also passes where nothing can be counted yet; the first item says why.
    item = next((item for item in gate.items if item.verdict is gate.verdict), next(iter(gate.items), None))
    decided = "" if item is None or item.verdict is Verdict.PASSED else f": {item.title}: {item.text}"
    return f"{summary(gate)}{decided}"


def summary(gate: Gate) -> str:
    """How many items have which verdict, the worst first; before them that of the whole, where no item has it."""
    counts = Counter(item.verdict for item in gate.items)
    words = {verdict: f"{counts[verdict]:,} {verdict}" for verdict in Verdict if counts[verdict]}
    if Verdict.ERROR in words:
        words[Verdict.ERROR] = format_count(counts[Verdict.ERROR], "error")
    lead = "" if gate.verdict in words else f"{gate.verdict}: " if words else str(gate.verdict)
    return f"{lead}{', '.join(words.values())}"


def baseline_document(baseline: Baseline, floors: Floors) -> Document:
    """Environment, predictions, median and spread of each model, and what checks against it can show."""
    environment = baseline.recordings[0].environment
    facts = [(LABELS[field.name], getattr(environment, field.name)) for field in fields(Environment)]
    count = format_count(len(baseline.recordings), "recording")
    cells: tuple[Column[str], ...] = (columns.words("model", str), columns.words("", partial(_words, baseline)))
    grid = table("Models", cells, names_of(baseline.recordings))
    title = f"{count}, method {baseline.method}, saved by tracekit {baseline.tracekit}"
    return Document(
        "Baseline",
        title,
        Role.PLAIN,
        context=tuple(Paragraph(str(value), lead=label) for label, value in facts if value is not None),
        blocks=present(grid, Paragraph(_outlook(baseline, floors))),
    )


def _outlook(baseline: Baseline, floors: Floors) -> str:
    """What checks against it can show, and what would make them show more."""
    names = names_of(baseline.recordings)
    medians = [
        np.array([value for model in of_model(baseline.recordings, name) if (value := model.quantities["p50_ns"])])
        for name in names
    ]
    one, several = (outlook(medians, [floors.of(name) for name in names], count) for count in (1, _SEVERAL))
    if one is None or several is None:
        return "One recording does not show how much recordings of one build differ; add more with --update-baseline."
    text = (
        f"Checks of one recording: smallest detectable slowdown {_percent(one.smallest)}, inconclusive in "
        f"{_percent(one.inconclusive)} of unchanged builds; of {_SEVERAL} recordings: {_percent(several.smallest)}, "
        f"{_percent(several.inconclusive)}."
    )
    if one.inconclusive < _RARELY:
        return text
    more = f"check {_SEVERAL} recordings of each build" if several.inconclusive < _RARELY else "set a larger allow"
    return f"{text} Add recordings of other days to the baseline, or {more}."


def _percent(share: float) -> str:
    return f"{share * 100:.0f}%" if share >= 0.01 else "under 1%"


def _words(baseline: Baseline, name: str) -> str:
    models = of_model(baseline.recordings, name)
    medians = [value for model in models if (value := model.quantities["p50_ns"]) is not None]
    if not medians:
        return f"no {models[0].counted if models else 'predictions'} with a known latency"
    count = sum(len(model.latency_ns) for model in models)
    basis = format_count(count, models[0].counted.removesuffix("s"))
    text = f"{basis}, median {format_time(statistics.geometric_mean(medians))}"
    spread = baseline.spread(name)
    return text if spread is None else f"{text}, recordings differ by {spread * 100:.1f}% (standard deviation)"
