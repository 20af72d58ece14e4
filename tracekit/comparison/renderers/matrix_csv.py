"""A matrix as CSV."""

from __future__ import annotations

import csv
import io
from itertools import groupby

from tracekit.characters import map_strings, visible
from tracekit.comparison.matrix import FIGURES, Matrix
from tracekit.recording.writing.forms import harmless


def render_csv(matrix: Matrix) -> str:
    """A line for each model and column, values in ns, fps, shares and counts; empty: not measured."""
    text, safe = io.StringIO(), map_strings(matrix, lambda _, value: visible(value))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "label", "device", "system", "compute_units", "recordings", *FIGURES, "best"])
    for name, of_model in groupby(safe.rows, key=lambda row: row.model):
        rows = list(of_model)
        values = {row.figure: row for row in rows}
        for position, column in enumerate(safe.columns):
            known = [None if figure not in values else values[figure].values[position] for figure in FIGURES]
            if all(value is None for value in known):
                continue
            best = " ".join(row.figure for row in rows if position in row.best)
            head = (name, column.label, column.device or "", column.system or "", column.units or "")
            numbers = ("" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") for value in known)
            writer.writerow([*map(harmless, head), len(column.sources), *numbers, best])
    return text.getvalue()
