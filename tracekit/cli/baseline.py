"""`tracekit baseline save|update|show`: the recordings that later ones are checked against."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.command import Command, ExitStatus
from tracekit.cli.inputs import add_reader_arguments, add_worker_arguments
from tracekit.cli.measuring import all_measurements, measure_all, recordings_in
from tracekit.cli.project import add_config_arguments, config_of
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from tracekit.compare.settings import Floors


def add_arguments(parser: ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "action", choices=("save", "update", "show"), help="create a baseline, add recordings to one, or print one"
    )
    parser.add_argument("file", metavar="FILE", help="the baseline, for example perf/baseline.json")
    parser.add_argument("path", metavar="PATH", nargs="*", help="recordings of the build, three or more")
    add_reader_arguments(parser)
    add_worker_arguments(parser)
    add_config_arguments(parser)


def run(arguments: Namespace) -> ExitStatus:
    """Do what the action says."""
    from tracekit.cli.output import emit, narrate
    from tracekit.cli.reports import check_output, write_report
    from tracekit.compare.baseline import baseline_of, load_baseline, to_text
    from tracekit.compare.renderers.baseline import render_baseline

    path, floors = Path(arguments.file), _floors(arguments)
    if arguments.action == "show":
        if arguments.path:
            raise UsageError("baseline show takes only FILE, no recordings")
        emit(render_baseline(load_baseline(path), floors))
        return ExitStatus.DONE
    if not arguments.path:
        raise UsageError(
            f"missing recordings; usage: tracekit baseline {arguments.action} {path} A.trace B.trace C.trace"
        )
    check_output(path, arguments.path)
    if arguments.action == "save" and path.exists():
        raise UsageError(f"{path} exists; add to it with 'tracekit baseline update', or delete it first")
    earlier = load_baseline(path) if arguments.action == "update" else None
    measured = measure_all(recordings_in(*arguments.path), arguments, config_of(arguments))
    baseline = baseline_of(all_measurements(measured), earlier)
    write_report(path, to_text(baseline))
    emit(render_baseline(baseline, floors))
    if len(baseline.recordings) < 3:
        narrate("tracekit: fewer than three recordings cannot show how much recordings of one build differ")
    return ExitStatus.DONE


def _floors(arguments: Namespace) -> Floors:
    from tracekit.config import load_config
    from tracekit.detectors.plugins import all_detectors

    config = config_of(arguments)
    return load_config(config, all_detectors()).floors


COMMAND = Command(
    name="baseline",
    summary="save recordings to check later ones against",
    description=(
        "Keep the measurements of up to ten recordings of one kind of device in a small JSON file, with which "
        "'tracekit check' compares. The file holds no paths, names of people or serial numbers."
    ),
    add_arguments=add_arguments,
    run=run,
)
