"""`tracekit check --init [RECORDING]`: a file of settings with a line for every key, and a workflow."""

from __future__ import annotations

import json
import math
import os
from argparse import Namespace
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tracekit.characters import visible
from tracekit.cli.forms import check_output, write_file
from tracekit.cli.measuring import all_measurements, measure_all
from tracekit.cli.options import refuse
from tracekit.cli.output import emit, narrate
from tracekit.cli.process import ExitStatus
from tracekit.cli.requests import request_from
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.settings import CHECK_KEYS, FINDINGS, LIMITS, NUMBERS, SHARES, SUPPRESSION, TIMES, Key
from tracekit.comparison.verdict import Figure, figures_of
from tracekit.config import KEYS, KEYS_OF_MODELS, SIGNPOSTS
from tracekit.config_file import FILE, find_config
from tracekit.detectors.options import option_infos
from tracekit.detectors.plugins import listed_detectors
from tracekit.errors import UsageError, docs_page
from tracekit.report.formatting import command
from tracekit.units import format_count, format_time

WORKFLOW = Path(".github", "workflows", "tracekit.yml")
HEADROOMS = {"p50": 0.25, "p95": 0.25, "load": 1.0, "cold-load": 1.0, "first-load": 1.0, **dict.fromkeys(SHARES, 0.25)}
"""What a limit leaves between itself and what was measured, as a share. Heuristic: recordings of one build differ less;
how long a load takes depends on what else the disk is asked for."""
KEPT = ("p95", "load", "loads")
"""Limits that are set where they were measured: most recordings hold what they are about."""
MODELS = 20
"""Most models that get limits: the busiest ones."""
NOT_SET = "is for checks; --init only writes files"
TOML_HEAD = f"""\
# Settings of tracekit: {docs_page("configuration.md")}
# Remove the # to set a value. Each line shows the default, or an example.
"""


def run(arguments: Namespace) -> ExitStatus:
    """Write the settings into the current folder, and the workflow where that is the top of a repository."""
    refuse(arguments, "baseline save-baseline update-baseline show-baseline history output open format json", NOT_SET)
    if len(arguments.path) > 1:
        raise UsageError(f"--init takes one recording, found {len(arguments.path)}")
    settings, given, has_workflow = Path(FILE), next(iter(arguments.path), None), os.path.lexists(".git")
    if not arguments.force:
        for path in (settings, *([WORKFLOW] if has_workflow else [])):
            if os.path.lexists(path):
                raise UsageError(f"{path} exists; --force replaces it")
        other = find_config(Path.cwd())
        if other is not None and other.parent == Path.cwd().resolve():
            raise UsageError(f"{other.name} has settings, which {FILE} would hide; --force writes it all the same")
    check_output(settings, [given] if given else [])
    recording = None
    if given:
        # By the defaults, as the new file leaves them.
        request = request_from(arguments, config=None)
        (measured,) = all_measurements(measure_all([given], arguments, request, real=True))
        if not any(model.predictions for model in measured.models):
            raise UsageError(f"{measured.source} contains no predictions, so no limit follows from it")
        recording = replace(measured, source=visible(measured.source))
    write_file(settings, "\n".join(_settings(recording)) + "\n")
    what = "all settings commented out" if recording is None else f"limits and allowed findings from {recording.source}"
    emit(f"wrote {settings}: {what}\n")
    if has_workflow:
        write_file(WORKFLOW, Path(__file__).with_name("workflow.yml").read_text("utf-8"))
        emit(
            f"wrote {WORKFLOW}: checks the reports in perf/ on each push; "
            "it only warns until you remove its line `warn-only: true`\n"
        )
    else:
        emit("no workflow: this folder is not the top of a Git repository; there, --init writes one\n")
    for severity, ids in _found(recording).items() if recording is not None else ():
        count = format_count(len(ids), f"{severity} finding")
        narrate(f"tracekit: {FILE} allows {count} ({', '.join(ids)}); set {severity} = 0 once fixed")
    then = ["tracekit check --init --force RECORDING, to derive limits"]
    if given:
        then = [command("check", given)]
        then += [f"{command('analyze', given)} -o perf/run.json, then commit perf/"] if has_workflow else []
    emit("".join(f"next: {visible(line)}\n" for line in then))
    return ExitStatus.DONE


def _settings(recording: Measurements | None) -> Iterator[str]:
    yield TOML_HEAD
    yield from _comment_lines(KEYS)
    yield '\n#[models."Caption*"]  # for models whose names match'
    yield from _comment_lines(KEYS_OF_MODELS)
    yield f"\n#[signposts]  # those of the app itself: {docs_page('runtimes.md')}"
    yield from _comment_lines(SIGNPOSTS)
    yield "\n[check]  # what `tracekit check` checks recordings against"
    yield from _comment_lines(CHECK_KEYS)
    yield from _findings(recording)
    if recording is None:
        yield '\n#[check.limits."*"]  # for models whose names match'
        yield from _comment_lines(LIMITS)
    else:
        models = figures_of([recording])
        for model in models[:MODELS]:
            # TOML has the escapes of JSON, but none in two halves.
            quoted = json.dumps(model.model, ensure_ascii=False)
            name = "".join(character if character.isprintable() else f"\\U{ord(character):08x}" for character in quoted)
            yield f"\n[check.limits.{name}]"
            for limit, key in LIMITS.items():
                measured = model.figures.get(limit)
                if measured is not None and not measured.value and limit in (*TIMES, "loads"):
                    measured = None
                basis = f"{key.about}: {model.said(limit, measured)} in {recording.source}"
                # A limit of 0 is none.
                if measured is None or measured.at_least or (limit in SHARES and not measured.low):
                    yield f"#{limit} = {key.example}  # {basis}"
                else:
                    headroom = f"{HEADROOMS[limit]:.0%} headroom" if limit in HEADROOMS else "no headroom"
                    yield f"{'' if limit in KEPT else '#'}{limit} = {_value(limit, measured)}  # {basis}; {headroom}"
        if len(models) > MODELS:
            yield f"\n# {format_count(len(models) - MODELS, 'more model')} in {recording.source}: no limits"
    yield "\n#[[check.suppress]]  # a known finding, for a time"
    yield from _comment_lines(SUPPRESSION)
    yield "\n# Thresholds of checks with their defaults; `tracekit explain CHECK` says where each number comes from."
    for detector in listed_detectors():
        infos = option_infos(detector)
        yield from (f"#[checks.{detector.id}]",) if infos else ()
        yield from (f"#{info.name} = {info.default!r}  # {info.unit}" for info in infos)


def _comment_lines(keys: Mapping[str, Key]) -> Iterator[str]:
    for name, key in keys.items():
        yield f"#{name} = {key.example}  # {key.about}"


def _findings(recording: Measurements | None) -> Iterator[str]:
    """What is found is allowed; low severity is not counted, since it may be about a recording alone."""
    if recording is None:
        yield "\n#[check.findings]  # findings allowed"
        yield from _comment_lines(FINDINGS)
        return
    yield f"\n[check.findings]  # findings allowed: those in {recording.source}"
    for severity in FINDINGS:
        ids = _found(recording).get(severity, ())
        named = f"  # {', '.join(ids)}" if ids else ""
        yield f"{'#' if severity == 'low' else ''}{severity} = {len(ids)}{named}"


def _found(recording: Measurements) -> dict[str, list[str]]:
    """Checks that found something, by severity; those without are left out."""
    found = {(one.severity, one.id) for one in recording.checks if one.outcome == "finding"}
    return {severity: ids for severity in FINDINGS if (ids := sorted(id_ for level, id_ in found if level == severity))}


def _value(limit: str, measured: Figure) -> str:
    """A limit that what was measured keeps, as it is written."""
    if limit in NUMBERS:
        return str(math.ceil(measured.value))
    if limit in SHARES:
        return f"{math.floor((measured.low or 0) / (1 + HEADROOMS[limit]) * 100) / 100}"
    return f'"{format_time(measured.value * (1 + HEADROOMS[limit])).replace(",", "")}"'
