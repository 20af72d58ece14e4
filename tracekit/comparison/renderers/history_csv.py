"""A history as CSV."""

from __future__ import annotations

import csv
import io

from tracekit.characters import map_strings, visible
from tracekit.comparison.history import FIGURES, History
from tracekit.recording.writing.forms import harmless


def render_history_csv(history: History) -> str:
    """A line for each model and build, values in ns, per second, shares and counts; empty: not recorded. The last
    column names the figures that changed with the build: of a drift, the one in which it ends."""
    text, safe = io.StringIO(), map_strings(history, lambda _, value: visible(value))
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["model", "device", "system", "time", "commit", "recordings", *FIGURES, "changed"])
    for series in safe.series:
        values = {trend.figure: trend.values for trend in series.trends}
        changed: dict[int, list[str]] = {}
        for trend in series.trends:
            for change in trend.changes:
                changed.setdefault(change.first_after, []).append(trend.figure)
        head = [harmless(fact or "") for fact in (series.model, series.device, series.system)]
        for at, build in enumerate(series.builds):
            known = (None if name not in values else values[name][at] for name in FIGURES)
            numbers = ("" if value is None else f"{value:.6f}".rstrip("0").rstrip(".") for value in known)
            facts = (build.time, harmless(build.commit or ""), build.recordings)
            writer.writerow([*head, *facts, *numbers, " ".join(changed.get(at, ()))])
    return text.getvalue()
