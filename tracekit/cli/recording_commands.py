"""Commands on one recording: their names, their arguments, and what runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.cli import arguments as shared
from tracekit.cli.arguments import Command
from tracekit.errors import unknown
from tracekit.render.forms import REPORT_FORMS

if TYPE_CHECKING:
    from argparse import ArgumentParser, _ArgumentGroup

SEVERITIES = ("critical", "high", "medium", "low")
"""Worst first, as `tracekit.detectors.outcomes.Severity` has them."""
COLUMNS = ("count", "sum", "elapsed", "mean", "min", "p50", "p90", "p95", "p99", "max", "stdev")
"""Columns that the report shows, as `tracekit.analysis.aggregation.SORT_COLUMNS` has them."""
PARTS = ("findings", "models", "time", "events", "code", "coverage")
"""Parts of the report, as `tracekit.documents.report.PARTS` has them."""
TABLE_FORMATS = ("csv", "jsonl", "parquet", "xml")
"""As `tracekit.recording.writing.FORMATS` has them."""
VIEWERS = ("perfetto", "chrome")
"""Formats of timelines, as `tracekit.report.viewers.registry.VIEWERS` has them."""
MAIN_THREAD = "main"
"""What `stacks --thread` calls the main thread."""


def _analyze(parser: ArgumentParser) -> None:
    """In the order of the way through it: input, checks, output."""
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="+",
        help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either; - for standard input; several "
        "recordings get one line each",
    )
    read = parser.add_argument_group("input")
    shared.add_run(read)
    shared.add_models(read)
    shared.add_process(read)
    shared.add_model_files(read)
    shared.add_reader(read)
    shared.add_jobs(read)
    _analyze_checks(parser.add_argument_group("checks"))
    _analyze_output(parser.add_argument_group("output"))


def _analyze_checks(group: _ArgumentGroup) -> None:
    shared.add_checks(group)
    shared.add_repeatable(
        group,
        "--budget",
        "[MODEL=]TIME",
        "deadline for each prediction: 16.7ms, 33.3 (milliseconds) or 30fps (repeatable)",
    )
    shared.add_repeatable(
        group, "--expect", "[MODEL=]UNIT", "compute unit a model should run on: ane, gpu or cpu (repeatable)"
    )
    shared.add_config(group)
    group.add_argument(
        "--fail-on", choices=SEVERITIES, help="exit with status 1 if any finding has this severity or worse"
    )


def _analyze_output(group: _ArgumentGroup) -> None:
    shared.add_format(group, REPORT_FORMS)
    shared.add_outputs(
        group,
        "write the report to FILE (.html, .md, .txt or .json) and print the summary; for several recordings, a folder "
        "(repeatable)",
    )
    group.add_argument(
        "--show", type=_parts, metavar="PARTS", help=f"print only these parts, in full: {','.join(PARTS)}"
    )
    group.add_argument(
        "--sort", default="sum", metavar="COLUMN", help=f"sort events by: {', '.join(COLUMNS)} (default: sum)"
    )
    shared.add_redaction(group)
    loudness = group.add_mutually_exclusive_group()
    shared.add_quiet(loudness, "print only the summary line; suppress progress and notes")
    loudness.add_argument("-v", "--verbose", action="store_true", help="full report, plus read statistics on stderr")


def _parts(text: str) -> tuple[str, ...]:
    """Type of `--show`."""
    names = tuple(part.strip() for part in text.split(",") if part.strip())
    for name in names:
        if name not in PARTS:
            raise unknown("part", name, PARTS)
    return names


ANALYZE = Command(
    "analyze",
    "find performance problems in a recording",
    "Analyze a recording and report findings with estimated savings, evidence and fixes.",
    _analyze,
    "tracekit.cli.analyze:run",
)


def _view(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path", metavar="PATH", help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either"
    )
    parser.add_argument("other", metavar="OTHER", nargs="?", help="a second recording to compare with")
    parser.add_argument("--theme", choices=("dark", "light"), help="colors; kept for the next time, as T keeps them")
    chosen = parser.add_argument_group("input")
    shared.add_run(chosen)
    shared.add_models(chosen)
    shared.add_process(chosen)
    shared.add_reader(chosen)
    shared.add_model_files(chosen)
    shared.add_config(parser)


VIEW = Command(
    "view",
    "browse a recording in the terminal",
    "Browse a recording in the terminal: zoom the lanes, step through evidence, compare two runs. Press ? for all "
    "keys.",
    _view,
    "tracekit.cli.view:run",
)


def _bugreport(parser: ArgumentParser) -> None:
    shared.add_paths(parser)
    shared.add_run(parser)
    shared.add_models(parser)
    shared.add_process(parser)
    shared.add_reader(parser)
    shared.add_config(parser)
    parser.add_argument("-o", "--output", metavar="FILE", help="the archive to write, for example findings.zip")
    parser.add_argument("--list", action="store_true", help="show what the archive would contain, and write nothing")
    shared.add_redaction(parser)
    shared.add_quiet(parser)


BUGREPORT = Command(
    "bugreport",
    "write a report to attach to an issue",
    "Write one zip archive with the report as Markdown (short enough for an issue), HTML and JSON, the rows behind "
    "the findings as CSV, and a manifest with hashes and what was redacted. The recording itself is not included, "
    "only its SHA-256. --list shows what would leave this machine before anything is written.",
    _bugreport,
    "tracekit.cli.bugreport:run",
)


def _diagnose(parser: ArgumentParser) -> None:
    shared.add_paths(parser)
    shared.add_models(parser)
    shared.add_model_files(parser)
    shared.add_reader(parser)
    shared.add_config(parser)
    shared.add_form(parser, REPORT_FORMS)
    shared.add_no_redact(parser, "include private data")


DIAGNOSE = Command(
    "diagnose",
    "go through the symptoms of a slow or failing model",
    "Go through the symptoms of a Core ML problem one by one (loading, performance, memory, accuracy, conversion): "
    "what this recording shows of each, and what to check elsewhere.",
    _diagnose,
    "tracekit.cli.diagnose:run",
)


def _stacks(parser: ArgumentParser) -> None:
    shared.add_paths(parser)
    shared.add_run(parser)
    shared.add_reader(parser)
    parser.add_argument("--range", type=_range, metavar="START..END", help="only samples in these seconds of the run")
    parser.add_argument("--model", metavar="NAME", help="only samples inside calls of this model")
    parser.add_argument("--finding", metavar="ID", help="only samples behind the finding of this check")
    parser.add_argument(
        "--thread",
        metavar="NAME|TID",
        help=f"only threads whose name contains NAME; '{MAIN_THREAD}' is the main thread",
    )
    parser.add_argument("--invert", action="store_true", help="begin with the innermost function")
    parser.add_argument("--app-only", action="store_true", help="leave out frames of the system")
    parser.add_argument(
        "--format",
        choices=("text", "collapsed", "speedscope"),
        default="text",
        help="output format (default: text); collapsed and speedscope are for flame graph tools",
    )
    shared.add_no_redact(parser, "keep the names of other processes")
    shared.add_quiet(parser, "no progress or notes")


@shared.named("range")
def _range(text: str) -> tuple[int, int]:
    """Type of `--range`: `1.5..2.25` in seconds, either end may be left out; in ns. Raises `ValueError`."""
    first, dots, last = text.partition("..")
    if not dots:
        raise ValueError(text)
    start, end = (float(part) if part else default for part, default in ((first, 0.0), (last, 1e9)))
    if not 0 <= start < end:
        raise ValueError(text)
    return round(start * 1e9), round(end * 1e9)


STACKS = Command(
    "stacks",
    "show what threads were running, as a call tree",
    "Show which functions the running threads were in, with the samples and the share of each, for all of a "
    "recording or a part of it. Waiting threads are not sampled: samples measure CPU time, not elapsed time.",
    _stacks,
    "tracekit.cli.stacks:run",
)


def _tables(parser: ArgumentParser) -> None:
    shared.add_paths(parser)
    shared.add_reader(parser)
    shared.add_text_or_json(parser)


TABLES = Command(
    "tables",
    "list the tables of a recording",
    "List every table of every run of a recording, with its state (rows, no rows, missing, unreadable), row count, "
    "columns and attributes.",
    _tables,
    "tracekit.cli.tables:run",
)


def _export(parser: ArgumentParser) -> None:
    parser.add_argument(
        "path",
        metavar="PATH",
        nargs="+",
        help="a .trace bundle or 'xctrace export' XML, or a folder or zip of either; - for stdin",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR|FILE",
        required=True,
        help=f"output folder, must be new or empty; with --format {' or '.join(VIEWERS)}, the output file",
    )
    parser.add_argument(
        "--format",
        choices=(*TABLE_FORMATS, *VIEWERS),
        default="csv",
        help="output format (default: csv); perfetto and chrome write the timeline for other viewers; parquet needs "
        "pyarrow, perfetto the package perfetto",
    )
    parser.add_argument(
        "--open", action="store_true", help="then open the file in the Perfetto UI, in a browser on this machine"
    )
    shared.add_repeatable(
        parser,
        "--schema",
        "NAME",
        "export only tables with this schema (repeatable; default: all with rows, for xml also those without)",
    )
    shared.add_run(parser)
    shared.add_reader(parser)
    parser.add_argument(
        "--force", action="store_true", help="overwrite existing files; DIR must not contain other tables"
    )
    shared.add_no_redact(
        parser, "keep device names, arguments and other private data in the list of tables or in the timeline"
    )
    shared.add_quiet(parser)


EXPORT = Command(
    "export",
    "export tables (CSV, JSON Lines, Parquet, XML) or the timeline (Perfetto, Chrome)",
    "Export the tables of one run to a folder, one file per table. csv, jsonl and parquet come with a tables.json "
    "that describes each file; xml has the format of 'xctrace export', with a toc.xml, and tracekit can read it "
    "again. The list of tables is redacted unless --no-redact is given; cells are always written as recorded. In "
    "csv, cells that a spreadsheet would treat as formulas are prefixed with an apostrophe. "
    "perfetto and chrome write one file instead: timeline and findings for other trace viewers, redacted like a "
    "report.",
    _export,
    "tracekit.cli.export:run",
)
