"""What fixing findings would bring, before and after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tracekit.documents import columns
from tracekit.render.blocks import Column, Document, Role, items, present, section, table
from tracekit.report import formatting
from tracekit.units import format_count, format_time

if TYPE_CHECKING:
    from tracekit.report.whatif import Figures, ModelChange, Replay, WhatIf


GAIN = "predicted gain: less time in Core ML (for gaps: from first to last prediction)"


@dataclass(frozen=True, slots=True)
class _Row:
    fixed: str
    change: ModelChange


def whatif_document(said: WhatIf) -> Document:
    """A row for each model that changes, then what was assumed and what is unknown."""
    rows = [_Row(_name(replay, said), change) for replay in said.replays for change in replay.models]
    shown: tuple[Column[_Row], ...] = (
        columns.words("fixed", lambda row: row.fixed, heading=True),
        columns.names("model", lambda row: row.change.model),
        _column("median", lambda figures: figures.median_ns, formatting.duration),
        _column("p95", lambda figures: figures.p95_ns, formatting.duration, drop=1),
        _column("per second", lambda figures: figures.per_second, lambda rate: f"{rate:.1f}", drop=3),
        _column("dropped frames", lambda figures: figures.dropped_frames, formatting.count, drop=2),
        columns.durations("predicted gain", lambda row: row.change.saved_ns or None),
    )
    nothing = [
        f"{_name(replay, said)}: no gain, since other work hides it." for replay in said.replays if not replay.models
    ]
    return Document(
        title=said.source,
        verdict=_verdict(said),
        tone=Role.PLAIN,
        blocks=present(
            section("Before and after", table("Before and after", shown, rows), note=GAIN),
            items(nothing),
            section("Savings unknown", items(f"{each.finding}: {each.reason}" for each in said.unknown)),
            section("Assumed", items(said.assumed, role=Role.DIM)),
        ),
    )


def _verdict(said: WhatIf) -> str:
    if not said.replays:
        return "No finding" if not said.unknown else "Savings unknown"
    last = said.replays[-1]
    count = format_count(len(last.findings), "finding")
    if not last.models:
        return f"Fixing {count} saves nothing"
    where = f" in {format_count(len(last.models), 'model')}" if len(last.models) > 1 else ""
    words = [f"saves {format_time(last.saved_ns)}{where}"] if last.saved_ns else []
    best = last.models[0]
    before, after = best.before.median_ns, best.after.median_ns
    if before is not None and after is not None and before != after:
        words.append(f"{best.model} median {format_time(before)} → {format_time(after)}")
    return f"Fixing {count}: {', '.join(words) or 'predictions run at another pace'}"


def _name(replay: Replay, said: WhatIf) -> str:
    """What is fixed, in few words."""
    if len(replay.findings) == 1:
        return replay.findings[0]
    return f"all {len(replay.findings)} together" if replay is said.replays[-1] else ", ".join(replay.findings)


def _column(
    title: str, of: Callable[[Figures], float | None], form: Callable[[Any], str], drop: int = 0
) -> Column[_Row]:
    """A figure before and after; once where it stays the same."""

    def text(row: _Row) -> str:
        before, after = of(row.change.before), of(row.change.after)
        words = [formatting.ABSENT if value is None else form(value) for value in (before, after)]
        return " → ".join(dict.fromkeys(words))

    return Column(title, text, lambda row: of(row.change.after), drop=drop)
