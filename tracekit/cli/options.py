"""Every option of the command line, once: what it is called, what it takes and what help says of it, whichever commands
take it. Imports nothing that a run needs."""

from __future__ import annotations

import re
from argparse import Action, ArgumentTypeError, Namespace, _ActionsContainer
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import nextafter
from typing import Any

from tracekit.errors import UsageError, unknown
from tracekit.units import compute_unit, parse_duration

SEVERITIES = ("critical", "high", "medium", "low")
"""Worst first, as `tracekit.detectors.outcomes.Severity` has them."""
PARTS = ("findings", "models", "latency", "time", "events", "code", "coverage")
"""Parts of the report, as `tracekit.documents.report.PARTS` has them."""
READERS = ("auto", "native", "xctrace")
"""As `tracekit.recording.open.READERS` has them."""
FRAMES = ("folded", "all", "app")
"""As `tracekit.analysis.code.tree.Frames` has them."""
COMPRESSIONS = ("8-bit", "6-bit-palettes", "4-bit-palettes")
"""As `tracekit.model_files.fixing.programs.WAYS` has them."""
UNITS = {"cpu": "CPU", "gpu": "GPU", "neural-engine": "Neural Engine"}
"""Compute units as `--unit` has them, and the name of each."""
COMPUTE_UNITS = ("all", "cpuOnly", "cpuAndGPU", "cpuAndNeuralEngine")
"""What a model can be loaded for, as Core ML calls it."""
SCHEMA_KINDS = ("report", "model", "performance", "why", "fix", "replay", "history")
"""Kinds of JSON, as `tracekit.report.serialize.SCHEMAS` has them."""
TEMPLATE = "Core ML"
"""What is recorded with unless something else is asked for."""
MAIN_THREAD = "main"
"""What `--thread` calls the main thread."""
MOST_AMOUNT = 1e9
"""No count is larger."""
MOST_PREDICTIONS = 100_000
"""Of `--measure`: a day of predictions that take a second."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option; without `value`, a flag."""

    help: str
    """Fits one line of 80 cells behind the option."""
    value: str = ""
    """What help calls its value."""
    short: str = ""
    also: str = ""
    """Another name that is taken."""
    dest: str = ""
    """Name in the namespace, where it is not that of the option."""
    type: Callable[[str], Any] = str
    default: Any = None
    many: str = ""
    """`append` or `extend` where it can be given several times."""
    choices: Sequence[str] = ()
    nargs: str | None = None
    const: Any = True
    """What a flag sets, and an option whose value is left out."""

    def dest_of(self, name: str) -> str:
        """Name in the namespace."""
        return self.dest or name.replace("-", "_")

    @property
    def unset(self) -> Any:
        """Value where it is not given."""
        if self.many or self.nargs == "+":
            return []
        return False if not self.value and self.const is True else self.default

    def usage(self, name: str) -> str:
        """As help shows it."""
        value = {"?": "[{}]", "*": "[{} ...]", "+": "{} ..."}.get(self.nargs or "", "{}").format(self.value)
        return f"{self.short}, --{name} {value}".removeprefix(", ").rstrip()

    def add(self, parser: _ActionsContainer, name: str) -> Action:
        """Add it to a parser."""
        taken: dict[str, Any] = {"dest": self.dest_of(name), "default": self.unset, "help": self.help}
        if self.value:
            taken |= {"metavar": self.value, "nargs": self.nargs, "type": self.type, "action": self.many or "store"}
            if self.choices:
                taken["type"] = one_of(self.value.lower(), self.choices)
            if self.nargs == "?":
                taken["const"] = self.const
        else:
            taken |= {"action": "store_const", "const": self.const}
        names = (self.short, f"--{name}", self.also and f"--{self.also}")
        return parser.add_argument(*filter(None, names), **taken)


def refuse(arguments: Namespace, names: str, reason: str) -> None:
    """Raise `UsageError` for an option that means nothing here; `names` are those, with spaces between them."""
    for name in names.split():
        option = OPTIONS[name]
        if vars(arguments).get(option.dest_of(name), option.unset) != option.unset:
            raise UsageError(f"--{name} {reason}")


def one_of(what: str, choices: Sequence[str]) -> Callable[[str], str]:
    """The type of a value that is one of a few."""

    def convert(text: str) -> str:
        if text not in choices:
            raise unknown(what, text, choices)
        return text

    return convert


def _number(most: int, what: str) -> Callable[[str], int]:
    def convert(text: str) -> int:
        if not (text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most):
            raise ArgumentTypeError(f"expected {what}, found {text!r}")
        return int(text)

    return convert


def _between(text: str, least: float, most: float, what: str, unit: str = "") -> float:
    try:
        number = float(text.removesuffix(unit)) if text.endswith(unit) else -1.0
    except ValueError:
        number = -1.0
    if not least <= number <= most:
        raise ArgumentTypeError(f"expected {what}, found {text!r}")
    return number


def _percent(text: str) -> float:
    return _between(text, 0, 100, "a share such as 90%", "%") / 100


def _names(text: str) -> list[str]:
    """One name, or several with commas between them."""
    names = [part.strip() for part in text.split(",") if part.strip()]
    if not names:
        raise ArgumentTypeError(f"expected a name, found {text!r}")
    return names


def _parts(text: str) -> list[str]:
    return list(map(one_of("part", PARTS), _names(text)))


def _setting(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or "." not in key:
        raise UsageError(f"--set {text}: expected CHECK.OPTION=VALUE; `tracekit explain CHECK` lists the options")
    return key.strip(), value.strip()


def _unit_share(text: str) -> tuple[str, str, float | None]:
    """Pattern of models, unit, and least share of compute; None for any work at all."""
    pattern, equals, rest = text.rpartition("=")
    unit, colon, percent = rest.strip().partition(":")
    name = compute_unit(unit)
    if name is None or (equals and not pattern):
        raise UsageError(f"--unit {text}: expected [MODEL=]UNIT[:PERCENT], such as Segmenter=neural-engine:95%")
    return pattern or "*", name, _percent(percent) if colon else None


def _rename(text: str) -> tuple[str, str]:
    old, equals, new = text.partition("=")
    if not equals or not old or not new:
        raise UsageError(f"--rename {text}: expected OLD=NEW")
    return old, new


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, _, sizes = text.rpartition("=")
    parts = sizes.split("x")
    if not name or not all(part.isascii() and part.isdigit() and int(part[:10]) > 0 for part in parts):
        raise UsageError(f"--shape {text}: expected INPUT=SIZES, such as x=1x224")
    return name, tuple(int(part[:10]) for part in parts)


def _commit(text: str) -> str:
    if not re.fullmatch(r"[\w.-]{1,64}", text, re.ASCII):
        raise ArgumentTypeError(f"expected a commit, as `git rev-parse HEAD` prints it, found {text!r}")
    return text


def _time(text: str, bare: str = "s", least: int = 0, most: int = 10**18) -> int:
    """In ns, as everywhere a time is typed; a number alone is in the unit `bare`."""
    time_ns = parse_duration(text, bare)
    if time_ns is None or not least <= time_ns <= most:
        raise ArgumentTypeError(f"expected a time such as 20ms, 3s or 00:02.896, found {text!r}")
    return time_ns


def _lateness(text: str) -> int:
    """In ns per second."""
    return _time(text.removesuffix("/s"), bare="ms")


def _limit(text: str) -> float:
    """In s."""
    return _time(text, least=10**6, most=10**15) / 1e9


_amount = partial(_between, least=0, most=MOST_AMOUNT, what="a number from 0 on")
_percentile = partial(
    _between, least=nextafter(0, 1), most=nextafter(100, 0), what="a percentile above 0 and below 100"
)
_duration = partial(_time, bare="ms")

OPTIONS: dict[str, Option] = {
    # The result
    "output": Option("write to FILE; the extension sets the format", "FILE", short="-o", many="append"),
    "folder": Option("write files into DIR, which may be new", "DIR"),
    "open": Option("open the result in the browser"),
    "format": Option("output format: one of those below", "FORMAT"),
    "json": Option("same as --format json", dest="format", default=None, const="json"),
    "quiet": Option("brief result, no progress or notes", short="-q"),
    "verbose": Option("full report, plus read statistics", short="-v"),
    "rows": Option("add Core ML's rows, without names, to an archive"),
    "list": Option("list what there is, write nothing"),
    "show": Option(",".join(PARTS), "PARTS", type=_parts, many="extend"),
    "sort": Option("sort events by this column (default: sum)", "COLUMN", default="sum"),
    "force": Option("overwrite existing files"),
    "no-redact": Option("keep private data, such as names of devices", dest="redact", default=True, const=False),
    "commit": Option("commit that was recorded, for tracekit history", "ID", type=_commit),
    "app-version": Option("version of the app that was recorded", "VERSION"),
    "no-functions": Option("hide names of the app's functions", dest="functions", default=True, const=False),
    # What of a recording
    "model": Option("only models with this name (glob; repeatable)", "NAME", dest="models", many="append"),
    "process": Option("only this process", "NAME|PID"),
    "from": Option("only events from this time on: 3, 20ms, 00:02.896", "TIME", dest="start", type=_time),
    "to": Option("only events before this time", "TIME", dest="end", type=_time),
    "signpost": Option("only events in the app's signpost intervals", "NAME"),
    "run": Option("run number (default: the latest run)", "N", type=_number(10**9, "a run number, 1 or more")),
    "model-file": Option(
        "model file of a recorded model (repeatable)", "[MODEL=]FILE", dest="model_files", many="append"
    ),
    "perf-report": Option(
        "performance report of a model (repeatable)", "[MODEL=]FILE", dest="perf_reports", many="append"
    ),
    "slowest": Option("the N slowest predictions", "N", type=_number(1_000, "a number from 1 to 1,000")),
    "at": Option("the prediction in flight at this time", "TIME", type=_time),
    "frame": Option("the late frame due at this time, or the next one", "TIME", type=_time),
    "percentile": Option("the prediction at this percentile", "P", type=_percentile),
    "without": Option("replay without these findings; no CHECK: all", "CHECK", nargs="*"),
    "over": Option("predictions that take longer, such as 33ms", "TIME", type=_duration),
    # How it is read
    "reader": Option("auto, native or xctrace (default: auto)", "READER", default="auto", choices=READERS),
    "timeout": Option("xctrace time limit per table (default: 15m)", "TIME", type=_limit, default=900.0),
    "jobs": Option("recordings read at a time (default: one a core)", "N", type=_number(999, "a number of jobs")),
    "file": Option("read the query from FILE; - for standard input", "FILE", short="-f"),
    "query-timeout": Option("stop a query after so long (default: 1m)", "TIME", type=_limit, default=60.0),
    "dask": Option("read on a Dask cluster, such as tcp://host:8786", "ADDRESS"),
    # Checks
    "only": Option("run only this check (repeatable)", "CHECK", type=_names, many="extend"),
    "skip": Option("skip this check (repeatable)", "CHECK", type=_names, many="extend"),
    "set": Option("change a threshold", "CHECK.OPTION=VALUE", dest="settings", type=_setting, many="append"),
    "budget": Option("deadline: 16.7ms or 30fps; a bare number is ms", "[MODEL=]TIME", many="append"),
    "expect": Option("unit to run on: cpu, gpu or neural-engine", "[MODEL=]UNIT", many="append"),
    "memory-limit": Option("most memory of the app, such as 3GB", "SIZE"),
    "fail-on": Option("fail at: critical, high, medium or low (exit 1)", "SEVERITY", choices=SEVERITIES),
    "config": Option("config file (default: tracekit.toml, if any)", "FILE"),
    "no-config": Option("ignore config files"),
    # Comparing
    "before": Option("recordings before the change; of a lake: a condition", "PATH", nargs="+"),
    "after": Option("recordings after the change", "PATH", nargs="+"),
    "rename": Option("compare model OLD with NEW (repeatable)", "OLD=NEW", dest="renames", type=_rename, many="append"),
    "label": Option("column title; takes {device} {system} {units} {name}", "TEXT", many="append"),
    "init": Option("write tracekit.toml and a workflow, and exit"),
    "baseline": Option("baseline file (default: from the config file)", "FILE"),
    "save-baseline": Option("save the recordings as the baseline and exit"),
    "update-baseline": Option("add the recordings to the baseline and exit"),
    "show-baseline": Option("print the baseline and exit"),
    "history": Option("history file or git notes to compare with", "FILE"),
    "add-to": Option("add recordings to a history file or git notes, exit", "FILE"),
    "allow-environment-change": Option("compare even if device or system differ"),
    "allow-missing": Option("do not fail without this model (glob; repeatable)", "MODEL", many="append"),
    "allow-no-baseline": Option("pass while there is no baseline yet"),
    "p50": Option("most median latency: 16ms; a bare number is ms", "TIME", type=_duration),
    "p95": Option("most 95th percentile of latency", "TIME", type=_duration),
    "load": Option("most median cached load", "TIME", type=_duration),
    "cold-load": Option("most median cold load", "TIME", type=_duration),
    "first-load": Option("longest load that something waited for", "TIME", type=_duration),
    "loads": Option("most loads, cold and cached", "N", type=_amount),
    "copies": Option("most copies and conversions per prediction", "N", type=_amount),
    "in-flight": Option("most predictions in flight at once", "N", type=_amount),
    "late-frames": Option("most lateness of frames, such as 10ms/s", "TIME/s", type=_lateness),
    "compiled": Option("most models that are compiled for the device", "N", type=_amount),
    "neural-engine": Option("least share of compute on the Neural Engine", "PERCENT", type=_percent, also="ane"),
    # Model files
    "system": Option("oldest system to support, such as iOS16", "SYSTEM"),
    "chip": Option("chip to run on, such as M2 or A17", "CHIP"),
    "measure": Option("run the model and time it (on a Mac)"),
    "unit": Option("cpu, gpu, neural-engine; check: MODEL=UNIT:SHARE", "UNIT", type=_unit_share, many="append"),
    "units": Option("compute units of --measure (default: each)", "UNITS", choices=COMPUTE_UNITS, many="append"),
    "predictions": Option(
        "predictions of --measure (default: 50)",
        "N",
        type=_number(MOST_PREDICTIONS, f"a number from 1 to {MOST_PREDICTIONS:,}"),
        default=50,
    ),
    "shape": Option(
        "shape the app uses, as in x=1x224 (repeatable)", "INPUT=SIZES", dest="shapes", type=_shape, many="append"
    ),
    "weights": Option("8-bit (default), 6-bit-palettes or 4-bit-palettes", "WAY", choices=COMPRESSIONS),
    "all": Option("fix all that can be fixed, in the order listed", dest="every"),
    "function": Option("add this model as a function (repeatable)", "[NAME=]FILE", dest="functions", many="append"),
    # Call stacks
    "finding": Option("only samples behind the finding of this check", "CHECK"),
    "thread": Option(f"only this thread: name, id or {MAIN_THREAD}", "NAME|TID"),
    "invert": Option("begin with the innermost function"),
    "functions": Option("functions to show: folded, all or app (default: folded)", "FRAMES", choices=FRAMES),
    # Tables
    "schema": Option("only tables with this schema (repeatable)", "NAME", many="append"),
    "json-schema": Option("print the JSON Schema of this kind of output", "KIND", choices=SCHEMA_KINDS),
    # Making recordings
    "attach": Option("record a running process", "NAME|PID"),
    "all-processes": Option("record every process on the device"),
    "launch": Option("start COMMAND; write it last, after --"),
    "device": Option("device, by name or UDID; no value: pick one", "NAME|UDID", nargs="?", const=""),
    "time-limit": Option("stop after 500ms, 30s, 5m or 1h", "TIME", type=partial(_time, least=10**6)),
    "template": Option("template (default: Core ML with Hangs, Thermal State)", "NAME", default=TEMPLATE),
    "only-template": Option("record the template alone, without waiting threads"),
    "instrument": Option("add an instrument (repeatable)", "NAME", many="append"),
    "memory": Option("also record memory: adds Activity Monitor"),
    "high-frequency": Option("sample call stacks more often than every 1 ms"),
    "frames": Option("record late frames too: Hitches, Display, Run Loops"),
    "no-prompt": Option("skip xctrace's prompts (default without a terminal)"),
    "save-timeout": Option("longest wait for saving (default: 10m)", "TIME", type=_limit, default=600.0),
    "analyze": Option("then analyze the recording", dest="then", const="analyze"),
    "compare-last": Option("then say what changed since the last one", dest="then", const="watch"),
    "dry-run": Option("print what would run, and record nothing"),
    "target": Option("also check that this app can be recorded", "FILE"),
    # Of one command or of all
    "theme": Option("dark or light; kept for the next time", "THEME", choices=("dark", "light")),
    "debug": Option("show a traceback on errors"),
}

EXCLUSIVE = (
    ("at", "percentile", "over", "frame"),
    ("quiet", "verbose"),
    ("label", "rename"),
    ("format", "json"),
    ("config", "no-config"),
    ("jobs", "dask"),
    ("analyze", "compare-last"),
    ("save-baseline", "update-baseline", "show-baseline", "init"),
)
