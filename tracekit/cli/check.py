"""`tracekit check PATH...`: the gate. Limits, findings and a baseline, which it also makes and shows."""

from __future__ import annotations

import datetime as dt
import os
from argparse import Namespace
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from os.path import realpath, relpath
from pathlib import Path

from tracekit.cli.commands import GITHUB
from tracekit.cli.forms import check_output, deliver, files_of, form_of, print_document, write_file
from tracekit.cli.measuring import all_measurements, measure_all
from tracekit.cli.options import refuse
from tracekit.cli.output import emit, narrate, tell
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import config_of, is_baseline, recordings_in
from tracekit.cli.requests import request_from
from tracekit.comparison.baseline import baseline_of, check_anchor, load_baseline, to_text
from tracekit.comparison.gate import Allowed, Gate, RanOn, check, gate_of, history_items
from tracekit.comparison.history import history_of, recorded_of
from tracekit.comparison.history_file import REF, read_history
from tracekit.comparison.measurements import Measurements
from tracekit.comparison.renderers.verdicts import render_junit, render_sarif, workflow_commands
from tracekit.comparison.settings import ANY_WORK, CHECK_KEYS, NAMES, SHARES, Limit, line_of
from tracekit.comparison.verdict import Item, Verdict
from tracekit.config import Config
from tracekit.documents.brief import brief_gate
from tracekit.documents.gate import baseline_document, gate_document, one_line
from tracekit.errors import TracekitError, UsageError, words_of
from tracekit.recording.sources import digest_of
from tracekit.render.markdown import markdown_of
from tracekit.report.choice import plain
from tracekit.report.serialize import to_json
from tracekit.request import Request

SUMMARY_BYTES = 900_000
"""GitHub drops a whole step summary above 1 MiB (actions/runner `FileCommandManager.cs`)."""

_NAMED = "the baseline, so it is not checked as a recording"
_UNNAMED = "a baseline: not checked as a recording, and compared with only where --baseline or `baseline =` names it"

STATUS = {
    "passed": ExitStatus.DONE,
    "failed": ExitStatus.GATE_FAILED,
    "error": ExitStatus.UNUSABLE,
    "inconclusive": ExitStatus.INCONCLUSIVE,
}


def run(arguments: Namespace) -> ExitStatus:
    """Check, write every output whatever the verdict, and exit with it; or make or show the baseline."""
    if arguments.init:
        from tracekit.cli import new_settings

        return new_settings.run(arguments)
    config = config_of(arguments)
    if arguments.show_baseline or arguments.save_baseline or arguments.update_baseline:
        return _run_baseline(arguments, config)
    if not arguments.path:
        raise UsageError("missing PATH, as in: tracekit check run.trace (see 'tracekit check --help')")
    files = files_of(arguments, arguments.path)
    if "sarif" in (form_of(arguments), *files.values()) and config is None:
        raise UsageError("SARIF output needs a tracekit.toml to point to; run `tracekit check --init`")
    try:
        gate = _gate(arguments, config)
    except Exception as error:
        # What is wrong with tracekit itself is no reason to leave a job without its files.
        words = f"internal error ({words_of(error).splitlines()[0]})"
        _write(gate_of([_problem("tracekit", words)]), arguments, files, config)
        raise
    _write(gate, arguments, files, config)
    return STATUS[gate.verdict]


def _gate(arguments: Namespace, config: Path | None) -> Gate:
    """The verdict. What cannot be read is part of it, so that every output is written then, too."""
    try:
        request = request_from(arguments, config=config)
    except TracekitError as error:
        return gate_of([_problem("config", str(error))])
    recordings, problems = _readable_and_others(arguments, request)
    problems += _history_items(arguments, request, recordings)
    settings, baseline, missing = request.settings, None, False
    try:
        path = _baseline_path(arguments, settings)
        missing = path is not None and arguments.allow_no_baseline and not path.exists()
        baseline = None if path is None or missing else load_baseline(path)
    except TracekitError as error:
        problems.append(_problem("baseline", str(error)))
    try:
        typed = ((name, vars(arguments).get(name.replace("-", "_"))) for name in NAMES)
        given = [Limit("*", name, value) for name, value in typed if value is not None]
        given += [Limit(each, unit, ANY_WORK if share is None else share) for each, unit, share in arguments.unit]
        names = {limit.name for limit in given}
        late = settings.check.late_frames if arguments.late_frames is None else arguments.late_frames
        compiled = settings.check.compiled if arguments.compiled is None else arguments.compiled
        limits = (*(limit for limit in settings.check.limits if limit.name not in names), *given)
        gate = check(
            recordings,
            replace(settings.check, limits=limits, late_frames=late, compiled=compiled),
            baseline,
            today=dt.datetime.now(tz=dt.UTC).date(),
            allowed=Allowed(arguments.allow_environment_change, tuple(arguments.allow_missing), missing),
            renames=dict(arguments.renames),
            floors=settings.floors,
            problems=problems,
        )
    except TracekitError as error:
        return gate_of([_problem("input", str(error))])
    if not any(limit.name in SHARES for limit in limits):
        return gate
    files = [file.rpartition("=")[2] for file in (*request.model_files, *settings.model_files)]
    hashes = _hashes(arguments.path)
    ran_on = tuple(
        RanOn(model.name, one.source, hashes.get(one.source), one.identity, one.environment, one.commit, model.where)
        for one in recordings
        for model in one.models
        if model.where is not None
    )
    return replace(gate, ran_on=ran_on, model_files=_hashes(files))


def _hashes(paths: Sequence[str]) -> dict[str, str]:
    """SHA-256 of what lies there, by name; without what cannot be read."""
    known = {}
    for path in paths:
        with suppress(TracekitError, OSError):
            if (digest := digest_of([path])) is not None:
                known[Path(path).name] = digest.sha256
    return known


def _readable_and_others(arguments: Namespace, request: Request) -> tuple[list[Measurements], list[Item]]:
    try:
        given, baseline = recordings_in(*arguments.path), _baseline_path(arguments, request.settings)
        # `perf/*.json` may also bring along baselines, which are none of the build; where nothing else is given they
        # stay, and are refused. `realpath` also takes links that lead back to themselves.
        named = [path for path in given if baseline is not None and realpath(path) == realpath(baseline)]
        unnamed = [path for path in given if path not in named and is_baseline(path)]
        others = [path for path in given if path not in (*named, *unnamed)]
        for path in (*named, *unnamed) if others else ():
            narrate(f"tracekit: {Path(path).name} is {_NAMED if path in named else _UNNAMED}")
        everything = measure_all(others or given, arguments, request, real=True)
    except TracekitError as error:
        return [], [_problem("input", str(error))]
    recordings = [entry.measurements for entry in everything if entry.measurements is not None]
    for recording in recordings:
        if recording.limited:
            narrate(f"tracekit: {recording.source}: {recording.limited}")
    return recordings, [
        replace(_problem("input", problem), verdict=Verdict.INCONCLUSIVE if entry.inconclusive else Verdict.ERROR)
        for entry in everything
        for problem in entry.problems
    ]


def _history_items(arguments: Namespace, request: Request, recordings: Sequence[Measurements]) -> list[Item]:
    """Items about the history, in which the recordings are the newest build."""
    name = arguments.history or _beside(request.settings, request.settings.check.history)
    if name is None:
        return []
    try:
        earlier, broken = read_history(name)
    except TracekitError as error:
        return [_problem("history", str(error))]
    newest = [recorded_of(recording, dt.datetime.now(tz=dt.UTC).timestamp()) for recording in recordings]
    items = history_items(history_of(earlier, newest), newest, request.settings.floors)
    return [*(_problem("history", problem) for problem in broken), *items]


def _problem(subject: str, text: str) -> Item:
    """An item about what cannot be used. What leaves the machine names no user."""
    words = plain(text)
    setting = (subject,) if subject in CHECK_KEYS else ()
    return Item(Verdict.ERROR, subject, None, words, words, setting)


def _baseline_path(arguments: Namespace, settings: Config) -> Path | None:
    name = arguments.baseline or _beside(settings, settings.check.baseline)
    return None if name is None else Path(name)


def _beside(settings: Config, name: str | None) -> str | None:
    """The path of a file that the settings name, which is relative to theirs; git notes have none."""
    if name is None or settings.path is None or name.startswith(REF):
        return name
    return str(settings.path.parent / name)


def _write(gate: Gate, arguments: Namespace, files: Mapping[Path, str], config: Path | None) -> None:
    """Write all outputs, also behind one that fails. Raises the first `TracekitError` at the end."""
    cached_line = cache(line_of)

    def line(item: Item) -> int:
        return 1 if config is None else cached_line(config, item.setting)

    for_github = form_of(arguments) == GITHUB
    failures = _write_for_runner(gate) if for_github else []
    if for_github:
        emit(workflow_commands(gate, _in_repository(config), line), commands=True)
    data = {
        "json": lambda: to_json(gate),
        "brief": lambda: brief_gate(gate, gate_document(gate)),
        "junit": lambda: render_junit(gate, "tracekit check"),
        "sarif": lambda: render_sarif(gate, _in_repository(config) or "tracekit.toml", line),
    }
    shown = Namespace(**vars(arguments) | ({"format": None} if for_github else {}))
    deliver(shown, files, lambda _: gate_document(gate), data, brief=one_line(gate), whole=not shown.quiet)
    if failures:
        raise failures[0]


def _in_repository(config: Path | None) -> str | None:
    """The file of settings as a path in the repository, with `/`; None where it is outside."""
    if config is None:
        return None
    path = config.resolve()
    workspace = os.environ.get("GITHUB_WORKSPACE")
    roots = [Path(workspace).resolve()] if workspace else []
    roots += [folder for folder in path.parents if (folder / ".git").exists()]
    return next((path.relative_to(root).as_posix() for root in roots if path.is_relative_to(root)), None)


def _write_for_runner(gate: Gate) -> list[TracekitError]:
    """Step summary and outputs, added to the files that the runner names. Returns what went wrong."""
    texts = {
        "GITHUB_STEP_SUMMARY": markdown_of(gate_document(gate), max_bytes=SUMMARY_BYTES),
        "GITHUB_OUTPUT": f"verdict={gate.verdict}\nexit-code={int(STATUS[gate.verdict])}\n",
    }
    failures = []
    for variable, text in texts.items():
        if name := os.environ.get(variable):
            try:
                with Path(name).open("a", encoding="utf-8", errors="backslashreplace") as file:
                    file.write(text)
            except OSError as error:
                failures.append(TracekitError(f"cannot write {variable}: {error.strerror or error}"))
    return failures


def _run_baseline(arguments: Namespace, config: Path | None) -> ExitStatus:
    """Print, make or extend a baseline: the recordings that later ones are checked against."""
    request = request_from(arguments, config=config)
    path, floors = _baseline_path(arguments, request.settings), request.settings.floors
    if path is None:
        raise UsageError("no baseline is named; add --baseline FILE, or `baseline` under [check] in tracekit.toml")
    refuse(arguments, "output open format json", "is for checks, not for making or showing a baseline")
    if arguments.show_baseline:
        if arguments.path:
            raise UsageError("--show-baseline takes no recordings")
        print_document(baseline_document(load_baseline(path), floors))
        return ExitStatus.DONE
    if not arguments.path:
        raise UsageError("missing recordings of the build for the baseline: A.trace B.trace C.trace")
    check_output(path, arguments.path)
    if arguments.save_baseline and path.exists():
        raise UsageError(f"{path} exists; add to it with --update-baseline, or delete it first")
    earlier = load_baseline(path) if arguments.update_baseline else None
    measured = all_measurements(measure_all(recordings_in(*arguments.path), arguments, request, real=True))
    if earlier is not None:
        check_anchor(earlier, measured, floors, path)
    baseline = baseline_of(measured, earlier)
    write_file(path, to_text(baseline))
    print_document(baseline_document(baseline, floors))
    tell(arguments, f"wrote {path}")
    set_before = _beside(request.settings, request.settings.check.baseline)
    if set_before is None or realpath(set_before) != realpath(path):
        file = config or Path("tracekit.toml")
        setting = f'baseline = "{Path(relpath(path, file.parent)).as_posix()}"'
        section = "tool.tracekit.check" if file.name == "pyproject.toml" else "check"
        tell(arguments, f"next: set {setting} under [{section}] in {relpath(file)}, to compare with it")
    return ExitStatus.DONE
