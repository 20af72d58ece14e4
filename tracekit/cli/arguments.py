"""What a command is on the command line, and the arguments that several share. Imports nothing that a run needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tracekit.errors import UsageError
from tracekit.render.forms import ENDINGS

if TYPE_CHECKING:
    from argparse import ArgumentParser, _ActionsContainer
    from collections.abc import Sequence

Type = TypeVar("Type", bound=Callable[[str], Any])

READERS = ("auto", "native", "xctrace")
"""As `tracekit.recording.xctrace.reader_selection.READERS` has them."""


@dataclass(frozen=True, slots=True)
class Command:
    """One word after `tracekit`."""

    name: str
    summary: str
    """One line for the list of commands."""
    description: str
    """What `tracekit NAME --help` says first."""
    add_arguments: Callable[[ArgumentParser], None]
    runs: str
    """`module:function`, imported when the command runs. The function takes the arguments, does the work, and returns
    an `ExitStatus`, or the `Next` command line; it raises `TracekitError` for what the user can mend."""


def add_repeatable(parser: _ActionsContainer, flag: str, name: str, text: str, **more: Any) -> None:
    """A flag that can be given several times. name: of its value; text: its help."""
    parser.add_argument(flag, action="append", default=[], metavar=name, help=text, **more)


def add_paths(parser: ArgumentParser) -> None:
    """`PATH...`."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="+",
        help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either; - for standard input",
    )


def add_run(parser: _ActionsContainer) -> None:
    """`--run`."""
    parser.add_argument("--run", type=_run_number, metavar="N", help="run number (default: the latest run)")


def add_models(parser: _ActionsContainer) -> None:
    """`--model`."""
    add_repeatable(parser, "--model", "NAME", "show only models matching NAME (glob; repeatable)", dest="models")


def add_model_files(parser: _ActionsContainer) -> None:
    """`--model-file` and `--perf-report`."""
    add_repeatable(
        parser,
        "--model-file",
        "[MODEL=]PATH",
        "model file (.mlpackage, .mlmodel, .mlmodelc) of a recorded model, matched by name; also found beside the "
        "recording (repeatable)",
        dest="model_files",
    )
    add_repeatable(
        parser,
        "--perf-report",
        "[MODEL=]PATH",
        "performance report (.json) of a recorded model, used in the same way (repeatable)",
        dest="perf_reports",
    )


def add_process(parser: _ActionsContainer) -> None:
    """`--process`."""
    parser.add_argument("--process", metavar="NAME|PID", help="show only this process")


def add_reader(parser: _ActionsContainer) -> None:
    """`--reader` and `--timeout`."""
    parser.add_argument(
        "--reader",
        choices=READERS,
        default="auto",
        help="how to read .trace bundles: native parser, xctrace, or auto (native, falling back to xctrace where "
        "available; the default)",
    )
    parser.add_argument(
        "--timeout",
        type=seconds,
        default=900.0,
        metavar="SECONDS",
        help="time limit for each table that xctrace exports (default: 900)",
    )


def add_jobs(parser: _ActionsContainer) -> None:
    """`--jobs`."""
    parser.add_argument(
        "--jobs", type=_jobs, default=1, metavar="N", help="recordings to read in parallel (default: 1)"
    )


def add_workers(parser: ArgumentParser) -> None:
    """`--jobs` and `--dask`, of which one excludes the other."""
    workers = parser.add_mutually_exclusive_group()
    add_jobs(workers)
    workers.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="read recordings on a Dask cluster, such as tcp://host:8786, whose workers see the same files",
    )


def add_config(parser: _ActionsContainer) -> None:
    """`--config` and `--no-config`, of which one excludes the other."""
    project = parser.add_mutually_exclusive_group()
    project.add_argument("--config", metavar="FILE", help="config file (default: tracekit.toml or pyproject.toml)")
    project.add_argument("--no-config", action="store_true", help="ignore config files")


def add_checks(parser: _ActionsContainer) -> None:
    """`--only`, `--skip` and `--set`."""
    parser.add_argument(
        "--only", type=_names, action="extend", default=[], metavar="ID", help="run only this check (repeatable)"
    )
    parser.add_argument(
        "--skip", type=_names, action="extend", default=[], metavar="ID", help="skip this check (repeatable)"
    )
    add_repeatable(
        parser,
        "--set",
        "CHECK.OPTION=VALUE",
        "change an option of a check (repeatable); list them with 'tracekit detectors'",
        dest="settings",
        type=_setting,
    )


def add_text_or_json(parser: _ActionsContainer) -> None:
    """`--format` of commands that print text or JSON and write no file."""
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")


def add_format(
    parser: _ActionsContainer,
    forms: Sequence[str],
    text: str = "output format (default: text)",
    name: str | None = None,
) -> None:
    """`--format`, and `--json` for short. text: its help. name: of its value; None: the forms themselves."""
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--format", choices=(*forms, "md"), metavar=name, help=text)
    form.add_argument("--json", action="store_const", const="json", dest="format", help="same as --format json")


def add_form(parser: _ActionsContainer, forms: Sequence[str], printed_only: Sequence[str] = ()) -> None:
    """`--format`, `--json` and `-o` as `cli/forms.py` takes them. No file is written in forms that are
    `printed_only`."""
    add_format(parser, (*forms, *printed_only), "what to print (default: text)", "FORMAT")
    endings = " ".join(ENDINGS[name][0] for name in forms)
    add_outputs(parser, f"also write a file, by its ending: {endings} (repeatable)")


def add_outputs(parser: _ActionsContainer, text: str) -> None:
    """`-o`, for any number of files; text: its help."""
    parser.add_argument("-o", "--output", action="append", default=[], metavar="FILE", help=text)


def add_no_redact(parser: _ActionsContainer, text: str) -> None:
    """`--no-redact`; text: its help."""
    parser.add_argument("--no-redact", dest="redact", action="store_false", help=text)


def add_redaction(parser: _ActionsContainer) -> None:
    """`--no-redact` and `--no-functions`."""
    add_no_redact(parser, "include private data, such as device names and arguments")
    parser.add_argument(
        "--no-functions", dest="functions", action="store_false", help="hide names of the app's functions and files"
    )


def add_quiet(parser: _ActionsContainer, text: str = "suppress progress and notes") -> None:
    """`-q`; text: its help."""
    parser.add_argument("-q", "--quiet", action="store_true", help=text)


def add_part(parser: _ActionsContainer) -> None:
    """`--from`, `--to` and `--signpost`."""
    parser.add_argument(
        "--from", type=_moment, dest="start", metavar="SECONDS", help="only predictions starting from this time on"
    )
    parser.add_argument(
        "--to", type=_moment, dest="end", metavar="SECONDS", help="only predictions starting before this time"
    )
    parser.add_argument(
        "--signpost", metavar="NAME", help="only predictions starting within signpost intervals of the app"
    )


def add_renames(parser: _ActionsContainer, text: str) -> None:
    """`--rename`; text: its help."""
    add_repeatable(parser, "--rename", "OLD=NEW", text, dest="renames", type=_rename)


def named(name: str) -> Callable[[Type], Type]:
    """Names a type of arguments as argparse is to name it: "invalid run number value: 'x'"."""

    def with_name(convert: Type) -> Type:
        convert.__name__ = name
        return convert

    return with_name


@named("run number")
def _run_number(text: str) -> int:
    return _from_one_on(text)


@named("number of jobs")
def _jobs(text: str) -> int:
    return _from_one_on(text)


def _from_one_on(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


@named("time in seconds")
def _moment(text: str) -> int:
    """Seconds since the start of the run, in ns."""
    moment = float(text)
    if not 0 <= moment <= 1e9:
        raise ValueError(text)
    return round(moment * 1e9)


@named("number of seconds")
def seconds(text: str) -> float:
    """A time limit. Raises `ValueError`."""
    number = float(text)
    if not 0 < number < 1e6:
        raise ValueError(text)
    return number


def _names(text: str) -> list[str]:
    """One name, or several with commas between them."""
    return [part.strip() for part in text.split(",") if part.strip()]


def _setting(text: str) -> tuple[str, str]:
    """One `--set`. Raises `UsageError`."""
    key, equals, value = text.partition("=")
    if not equals or "." not in key:
        raise UsageError(f"--set {text}: expected CHECK.OPTION=VALUE; list options with `tracekit detectors`")
    return key.strip(), value.strip()


def _rename(text: str) -> tuple[str, str]:
    """One `--rename`. Raises `UsageError`."""
    old, equals, new = text.partition("=")
    if not equals or not old or not new:
        raise UsageError(f"--rename {text}: write OLD=NEW")
    return old, new
