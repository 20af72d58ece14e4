"""`tracekit inspect MODEL --measure`: time a model with Core ML for each choice of compute units, on a Mac."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from tracekit.cli.forms import check_output, deliver, write_file
from tracekit.cli.options import COMPUTE_UNITS, refuse
from tracekit.cli.output import tell
from tracekit.cli.process import ExitStatus
from tracekit.comparison.matrix import matrix, source_of_report
from tracekit.comparison.renderers.tables import render_csv
from tracekit.documents.matrix import matrix_document
from tracekit.errors import TracekitError
from tracekit.model_files.profiling import core_ml
from tracekit.model_files.profiling.measure import profile
from tracekit.report.choice import plain
from tracekit.report.performance import inspected_performance
from tracekit.report.serialize import to_json


def measure(arguments: Namespace, given: str, outputs: dict[Path, str]) -> ExitStatus:
    """Run the model, write a report for each choice, and show them side by side."""
    refuse(arguments, "system chip unit only skip set", "is for the file, which --measure does not judge")
    runtime = core_ml.runtime()
    path, folder = Path(given), Path(arguments.folder or ".")
    choices = tuple(dict.fromkeys(arguments.units)) or COMPUTE_UNITS
    files = {choice: folder / f"{path.stem}-{choice}.json" for choice in choices}
    for file in files.values():
        check_output(file, [given])
    profiled = profile(
        path,
        runtime,
        choices=choices,
        predictions=arguments.predictions,
        on_choice=lambda choice: tell(arguments, f"running {path.name} with {choice}"),
    )
    for choice, report in profiled.reports:
        write_file(files[choice], to_json(inspected_performance(report)))
        tell(arguments, f"wrote {files[choice]}")
    if not profiled.reports:
        raise TracekitError("; ".join(profiled.failures))
    sources = [source_of_report(report) for _, report in profiled.reports]
    notes = [plain(failure) for failure in profiled.failures]
    table = matrix(sources, [choice for choice, _ in profiled.reports], notes)
    data = {"json": lambda: to_json(table), "csv": lambda: render_csv(table)}
    deliver(arguments, outputs, lambda form: matrix_document(table, form), data)
    return ExitStatus.UNUSABLE if profiled.failures else ExitStatus.DONE
