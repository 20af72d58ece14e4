"""The first line of the main screen: what is open, and the verdict, what changed, or what the filter lets through.

And its status line: where one is, in words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from tracekit.comparison.latency import CHANGED, Answer, LatencyChange
from tracekit.comparison.words import arrow, number, pair_words, percent_change
from tracekit.report.formatting import moment, shorten, visible
from tracekit.tui.query import filter_words
from tracekit.tui.selection import name_of
from tracekit.tui.state import State
from tracekit.tui.text import cut, longest_that_fits
from tracekit.tui.theme import Palette
from tracekit.tui.viewport import Span, Viewport
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from tracekit.comparison.comparison import Comparison
    from tracekit.comparison.models import ModelComparison


_CLAUSE_END = "[:;.] "
_VERSUS = " → "
_NAME_WIDTH, _MODEL_WIDTH = 25, 18
"""Cells of the status line for the name of the selected event, and for that of its model."""
_MIN_NAME_WIDTH, _MIN_VERDICT_WIDTH = 8, 20
"""Cells in which a cut name, or a cut verdict, says anything."""


def title_line(state: State, width: int, palette: Palette) -> Text:
    """What is open, and the verdict, or what the filter lets through."""
    # A filter hides something everywhere below, which matters more than the verdict.
    on, verdict = state.filter.active, visible(_verdict(state))
    if on:
        verdict = f"Filter: {visible(filter_words(state.filter))}, c clears"
    room = max(width - 2, 0)
    if len(state.sessions) == 1:
        # With the name of the recording its target and duration, where all fits.
        run, cells = state.session.trace.run, room - cell_len(_claim(verdict)) - 2
        target = run.target.process.name if run.target.process is not None else None
        parts = (state.session.name, target, format_time(run.duration_ns) if run.duration_ns is not None else None)
        texts = [part for part in parts if part]
        while len(texts) > 1 and cell_len(" · ".join(texts)) > cells:
            texts.pop()
        left = cut(visible(" · ".join(texts)), room)
    else:
        # What became of the findings is said in full; names keep both ends, by which they differ.
        names = [visible(session.name.removesuffix(".trace")) for session in state.sessions]
        each = max((room - cell_len(_claim(verdict)) - len(_VERSUS) - 2) // len(names), _MIN_NAME_WIDTH)
        spare = sum(max(each - cell_len(name), 0) for name in names)
        left = cut(_VERSUS.join(shorten(name, each + spare) for name in names), room)
    if on:
        left = cut(left, max(room - cell_len(verdict) - 2, _MIN_NAME_WIDTH))
    # The verdict, else its first clauses, else its beginning.
    ends = [match.start() for match in re.finditer(_CLAUSE_END, verdict)]
    ways = [verdict, *(verdict[:end] for end in reversed(ends)), verdict]
    rest = longest_that_fits(ways, max(room - cell_len(left) - 2, 0))
    short = rest if not rest.endswith("…") or cell_len(rest) > _MIN_VERDICT_WIDTH else ""
    claim, rest = (_claim(short), short[len(_claim(short)) :]) if not on else (short, "")
    change = change_words(state.comparison) if state.comparison is not None and not on else None
    # What changed has a color where that is certain.
    colors = {Answer.IMPROVED: palette.better, Answer.REGRESSED: palette.worse}
    look = "reverse" if on else colors.get(change[1], "") if change is not None else ""
    return Text.assemble((left, "bold"), "  ", (claim, look), rest)


def _claim(verdict: str) -> str:
    return re.split(_CLAUSE_END, verdict, maxsplit=1)[0].removesuffix(".")


def _verdict(state: State) -> str:
    """Of one recording its verdict, of two what changed."""
    report = state.session.report
    if len(state.sessions) > 1 and state.comparison is not None:
        change = change_words(state.comparison)
        findings = status_counts(state.comparison)
        if change is None:
            return findings
        # What is certain comes first: at the end it may be cut.
        return f"{change[0]}; {findings}" if change[1] in CHANGED else f"{findings}; {change[0]}"
    return "running checks…" if report is None or len(state.sessions) > 1 else report.summary.verdict


def status_counts(comparison: Comparison) -> str:
    """Findings by status, in words: `1 finding fixed, 1 new`. A check counts once, however many models it is about."""
    changes = dict.fromkeys((change.status, change.id) for change in comparison.findings)
    counts = list(Counter(status for status, _ in changes).items())
    first = [f"{format_count(count, 'finding')} {status}" for status, count in counts[:1]]
    return ", ".join([*first, *(f"{count} {status}" for status, count in counts[1:])]) or "no findings in either"


def change_words(comparison: Comparison) -> tuple[str, Answer] | None:
    """What changed of the model that changed most, `Prediction 12.44 → 8.68 ms (−30%, improved)`, and the answer of the
    comparison; None where no model is on both sides.

    Where the comparison is sure of no latency, median or 95th percentile, it is the loads, `Loads 81 → 1 (1.47 s →
    17.53 ms)`; where these are the same too, the median latency, with how sure that is.
    """
    models = comparison.compared

    def whose(model: ModelComparison) -> str:
        return f" of {model.name}" if len(comparison.models) > 1 else ""

    def of_latency(name: str, model: ModelComparison, change: LatencyChange) -> tuple[str, Answer]:
        how = f"{percent_change(change.ratio)}, {change.answer}"
        return f"{name}{whose(model)} {_times(change.before_ns, change.after_ns)} ({how})", change.answer

    medians = [("Prediction", model, model.latency) for model in models if model.latency.ratio]
    tails = [("Prediction p95", model, model.p95) for model in models if model.p95.ratio]
    for latencies in (medians, tails):
        sure = [entry for entry in latencies if entry[2].answer in CHANGED]
        if sure:
            return of_latency(*max(sure, key=_size))
    loaded = [(model, answer) for model in models if (answer := _loads_answer(model)) is not None]
    if loaded:
        model, answer = max(loaded, key=lambda one: abs((one[0].load_ns.after or 0) - (one[0].load_ns.before or 0)))
        times = _times(model.load_ns.before, model.load_ns.after)
        return f"Loads{whose(model)} {pair_words(model.loads, number)} ({times})", answer
    return of_latency(*max(medians, key=_size)) if medians else None


def _size(entry: tuple[str, ModelComparison, LatencyChange]) -> float:
    return abs(math.log(entry[2].ratio or 1))


def _loads_answer(model: ModelComparison) -> Answer | None:
    """Whether a model is loaded less often, for as many predictions too; None where it is loaded alike."""
    loads, predictions = model.loads, model.predictions
    if None in (loads.before, loads.after, predictions.before, predictions.after):
        return None
    more = (loads.after or 0) - (loads.before or 0)
    more_often = (loads.after or 0) * (predictions.before or 0) - (loads.before or 0) * (predictions.after or 0)
    if more * more_often <= 0:
        # A longer recording has more of both.
        return None
    return Answer.REGRESSED if more > 0 else Answer.IMPROVED


def _times(before_ns: float | None, after_ns: float | None) -> str:
    """`12.44 → 8.68 ms`: the unit once, where it is the same."""
    before, after = format_time(before_ns or 0), format_time(after_ns or 0)
    value, unit = before.split(" ")
    return arrow(value if after.endswith(f" {unit}") else before, after)


def _edge(time_ns: int, view: Viewport) -> str:
    """An end of the view, in as many digits as distinguish it from the other end."""
    return moment(time_ns, view.span_ns // 10)


def status_line(state: State, here: Span, width: int) -> str:
    """Where one is, in words: as much as fits, beginning with what is selected, the part in view and the range.

    here: where a range would end now; see `tracekit.tui.selection.range_end`.
    """
    view = state.view
    parts = {
        "selected": "",
        "when": "",
        "edges": f"{_edge(view.start_ns, view)} – {_edge(view.end_ns, view)}",
        "span": f"{format_time(view.span_ns)} in view",
        "grouping": f"grouped by {state.grouping.removesuffix('s')}",
        "cursor": f"cursor {_edge(state.cursor_ns, view)}",
        "range": "",
    }
    event = state.selection.event
    if not state.inspector and event is not None:
        # The inspector does not say what is selected.
        row, span = state.session.row(event), state.session.span(event)
        model = row.get("model")
        named = [
            shorten(name_of(row) or "", _NAME_WIDTH),
            shorten(model, _MODEL_WIDTH) if isinstance(model, str) else "",
        ]
        named.append(format_time(span.span_ns) if "duration_ns" in row else "")
        parts["selected"] = visible(" · ".join(filter(None, named)))
        parts["when"] = f" · at {moment(span.start_ns)}"
    if state.mark is not None:
        ends = (state.mark.start_ns, state.mark.end_ns, here.start_ns, here.end_ns)
        parts["range"] = f"range {format_time(max(ends) - min(ends))}, v to finish"
    elif state.range is not None:
        parts["range"] = f"range {format_time(state.range.span_ns)}"
    for expendable in ("", "grouping", "cursor", "span", "when", "edges", "range"):
        parts.pop(expendable, None)
        words = parts["selected"] + parts.get("when", "")
        others = [part for name, part in parts.items() if name not in ("selected", "when")]
        line = "  ·  ".join(filter(None, (words, *others)))
        if cell_len(line) <= width - 2:
            break
    return line
