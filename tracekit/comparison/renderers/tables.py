"""A history and a matrix as CSV. Empty: not recorded, or not measured."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from itertools import groupby

from tracekit.characters import map_strings, visible
from tracekit.comparison import history as following, matrix as listing
from tracekit.grouping import grouped
from tracekit.recording.writing.forms import harmless

Lines = list[Sequence[object]]


def render_history_csv(history: following.History) -> str:
    """A line for each model and build, values in ns, per second, shares and counts. The last column names the figures
    that changed with the build: of a drift, the one in which it ends."""
    lines: Lines = [("model", "device", "system", "time", "commit", "recordings", *following.FIGURES, "changed")]
    for series in map_strings(history, lambda _, value: visible(value)).series:
        values = {trend.figure: trend.values for trend in series.trends}
        changed = grouped((change.first_after, trend.figure) for trend in series.trends for change in trend.changes)
        head = _texts(series.model, series.device, series.system)
        for at, build in enumerate(series.builds):
            numbers = _numbers(values[name][at] if name in values else None for name in following.FIGURES)
            facts = (build.time, *_texts(build.commit), build.recordings)
            lines.append((*head, *facts, *numbers, " ".join(changed.get(at, ()))))
    return _written(lines)


def render_csv(matrix: listing.Matrix) -> str:
    """A line for each model and column, values in ns, fps, shares and counts."""
    lines: Lines = [("model", "label", "device", "system", "compute_units", "recordings", *listing.FIGURES, "best")]
    safe = map_strings(matrix, lambda _, value: visible(value))
    for name, of_model in groupby(safe.rows, key=lambda row: row.model):
        rows = {row.figure: row for row in of_model}
        for at, column in enumerate(safe.columns):
            numbers = _numbers(rows[figure].values[at] if figure in rows else None for figure in listing.FIGURES)
            best = " ".join(row.figure for row in rows.values() if at in row.best)
            if any(numbers):
                head = _texts(name, column.label, column.device, column.system, column.units)
                lines.append((*head, len(column.sources), *numbers, best))
    return _written(lines)


def _texts(*texts: str | None) -> list[str]:
    return [harmless(text or "") for text in texts]


def _numbers(values: Iterable[float | None]) -> list[str]:
    return ["" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") for value in values]


def _written(lines: Lines) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
