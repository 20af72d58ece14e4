"""Measurements of the recordings of a command line, for commands that compare."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli.inputs import xctrace_options

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence
    from pathlib import Path

    from tracekit.compare.measurements import Measurements


def measured(paths: Sequence[str], arguments: Namespace, config: Path | None) -> list[Measurements]:
    """Measurements of each path, in their order. Raises `TracekitError` for one that cannot be read."""
    from tracekit.api import judge
    from tracekit.cli.progress import showing_progress
    from tracekit.compare.measurements import measure
    from tracekit.report.choice import shown_of
    from tracekit.trace.open import open_trace

    measurements = []
    for path in paths:
        with showing_progress() as progress:
            trace = open_trace(path, reader=arguments.reader, xctrace=xctrace_options(arguments), progress=progress)
        shown = shown_of(trace, models=getattr(arguments, "model", ()))
        measurements.append(measure(trace, judge(trace, shown=shown, config=config), shown))
    return measurements
