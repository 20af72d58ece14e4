"""The first line of the main screen: what is open, and the verdict, what changed, or what the filter lets through."""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.text import Text

from tracekit.compare.latency import Answer
from tracekit.compare.renderers.words import percent_change
from tracekit.report.formatting import shorten, visible
from tracekit.tui.query import filter_words
from tracekit.tui.text import cut
from tracekit.units import format_count, format_duration

if TYPE_CHECKING:
    from tracekit.compare.comparison import Comparison
    from tracekit.compare.models import ModelComparison
    from tracekit.tui.state import Session, State
    from tracekit.tui.theme import Palette


def title_line(state: State, width: int, palette: Palette) -> Text:
    """What is open, and the verdict, or what the filter lets through."""
    # A filter hides something everywhere below, which matters more than the verdict.
    on, verdict = state.filter.active, visible(_verdict(state))
    if on:
        verdict = f"Filter: {visible(filter_words(state.filter))}, c clears"
    room = max(width - 2, 0)
    if len(state.sessions) == 1:
        left = cut(visible(_name(state.session, room - cell_len(_claim(verdict)) - 2)), room)
    else:
        # What became of the findings is said in full; names keep both ends, by which they differ.
        names = [visible(session.name.removesuffix(".trace")) for session in state.sessions]
        each = max((room - cell_len(_claim(verdict)) - len(_VERSUS) - 2) // len(names), _MIN_NAME_WIDTH)
        spare = sum(max(each - cell_len(name), 0) for name in names)
        left = cut(_VERSUS.join(shorten(name, each + spare) for name in names), room)
    if on:
        left = cut(left, max(room - cell_len(verdict) - 2, _MIN_NAME_WIDTH))
    rest = _as_much_as_fits(verdict, max(room - cell_len(left) - 2, 0))
    shown = rest if not rest.endswith("…") or cell_len(rest) > _MIN_VERDICT_WIDTH else ""
    claim, rest = (_claim(shown), shown[len(_claim(shown)) :]) if not on else (shown, "")
    look = "reverse" if on else _color(state, palette) or "dim"
    return Text.assemble((left, "bold"), "  ", (claim, look), (rest, "dim"))


def _as_much_as_fits(verdict: str, room: int) -> str:
    """The verdict, else its first clause, else its beginning."""
    claim = _claim(verdict)
    return verdict if cell_len(verdict) <= room else claim if cell_len(claim) <= room else cut(verdict, room)


def _claim(verdict: str) -> str:
    return re.split("[:;.] ", verdict, maxsplit=1)[0].removesuffix(".")


_VERSUS = " → "
_MIN_NAME_WIDTH, _MIN_VERDICT_WIDTH = 8, 20
"""Cells in which a cut name, or a cut verdict, says anything."""


def _verdict(state: State) -> str:
    """Of one recording its verdict, of two what changed."""
    report = state.session.report
    if len(state.sessions) > 1 and state.comparison is not None:
        change = change_words(state.comparison)
        findings = status_counts(state.comparison)
        if change is None:
            return findings
        # What is certain comes first: at the end it may be cut.
        return f"{change[0]}; {findings}" if change[1] in _CERTAIN else f"{findings}; {change[0]}"
    return "running checks…" if report is None or len(state.sessions) > 1 else report.summary.verdict


_CERTAIN = (Answer.IMPROVED, Answer.REGRESSED)


def _color(state: State, palette: Palette) -> str | None:
    """The color of what changed, where that is certain."""
    change = change_words(state.comparison) if state.comparison is not None else None
    colors = {Answer.IMPROVED: palette.better, Answer.REGRESSED: palette.worse}
    return colors.get(change[1]) if change is not None else None


def _name(session: Session, room: int) -> str:
    """Name of the recording, and with it its target and duration where all fits."""
    run = session.trace.run
    target = run.target.process.name if run.target.process is not None else None
    parts = (session.name, target, format_duration(run.duration_ns) if run.duration_ns is not None else None)
    known = [part for part in parts if part]
    while len(known) > 1 and cell_len(" · ".join(known)) > room:
        known.pop()
    return " · ".join(known)


def status_counts(comparison: Comparison) -> str:
    """Findings by status, in words: `1 finding fixed, 1 new`. A check counts once, however many models it is about."""
    changes = dict.fromkeys((change.status, change.id) for change in comparison.findings)
    counts = list(Counter(status for status, _ in changes).items())
    first = [f"{format_count(count, 'finding')} {status}" for status, count in counts[:1]]
    return ", ".join([*first, *(f"{count} {status}" for status, count in counts[1:])]) or "no findings in either"


def changed_most(comparison: Comparison) -> ModelComparison | None:
    """The model whose latency changed most: of those for which that is certain, else of all on both sides."""
    known = [model for model in comparison.models if model.latency.ratio]
    sure = [model for model in known if model.latency.answer in (Answer.REGRESSED, Answer.IMPROVED)]
    return max(sure or known, key=lambda model: abs(math.log(model.latency.ratio or 1)), default=None)


def change_words(comparison: Comparison) -> tuple[str, Answer] | None:
    """The latency of the model that changed most, `Prediction 12.44 → 8.68 ms (−30%, improved)`, and the answer of the
    comparison; None where there is no such model."""
    model = changed_most(comparison)
    if model is None:
        return None
    change = model.latency
    before, after = format_duration(change.before_ns or 0), format_duration(change.after_ns or 0)
    if before.split(" ")[-1] == after.split(" ")[-1]:
        before = before.split(" ")[0]
    whose = f" of {model.name}" if len(comparison.models) > 1 else ""
    return f"Prediction{whose} {before} → {after} ({percent_change(change.ratio)}, {change.answer})", change.answer
