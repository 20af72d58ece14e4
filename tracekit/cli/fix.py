"""`tracekit fix MODEL FINDING…`: write a model again without what was found in it."""

from __future__ import annotations

import re
import shlex
import tempfile
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tracekit.cli.forms import check_folder, check_output, deliver, files_of
from tracekit.cli.options import COMPRESSIONS, refuse
from tracekit.cli.output import tell
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import check_model, config_of
from tracekit.config import load_config
from tracekit.detectors.options import Settings
from tracekit.detectors.pages import unknown_check
from tracekit.documents.model_file import model_fix_document, offers_document
from tracekit.errors import TracekitError, UsageError, refusals
from tracekit.grouping import grouped
from tracekit.model_files.facts import Kind, ModelFile
from tracekit.model_files.fixing import remedies
from tracekit.model_files.fixing.programs import Wanted
from tracekit.model_files.profiling.core_ml import coremltools
from tracekit.model_files.profiling.measure import compare_outputs
from tracekit.model_files.read import read_model
from tracekit.recording.writing.files import check_folder as check_unused, make_folder, staging_folder
from tracekit.report.formatting import command
from tracekit.report.model_fix import Change, ModelFix, apply, findings_of, join, model_fix, offers_of
from tracekit.report.serialize import to_json
from tracekit.signals import uninterrupted

MODELS = (".mlpackage", ".mlmodel")
_STRANGE = re.compile(r"\W+|^(?=\d)", re.ASCII)


def run(arguments: Namespace) -> ExitStatus:
    """Fix what is named, or say what could be."""
    source = arguments.path
    check_model(source)
    if source.endswith(".zip"):
        raise UsageError(f"{Path(source).name} is an archive; unpack it, and fix the model in it")
    model = read_model(source)
    remedies.check_fixable(model)
    project = load_config(config_of(arguments)).model_checks
    settings = project.settings_of(model.name) | dict(arguments.settings)
    targets = [Path(path) for path in arguments.output if path.endswith(MODELS)]
    arguments.output = [path for path in arguments.output if not path.endswith(MODELS)]
    files = files_of(arguments, [source])
    checks = (*remedies.REMEDIES, *remedies.UNFIXABLE)
    if arguments.every:
        if arguments.findings:
            raise UsageError("pass either findings or --all, not both")
        arguments.findings = remedies.fixable(findings_of(model, settings), model, shapes=bool(arguments.shapes))
        if not arguments.findings:
            raise TracekitError(
                f"{model.source} has no finding that --all can fix; `{command('fix', source)}` says why"
            )
    typed = {remedies.RECORDED.get(name, name): name for name in arguments.findings}
    for name in typed:
        if name not in checks:
            raise unknown_check(name, (*checks, *remedies.RECORDED))
    # They are fixed in the order of the table.
    typed = {name: typed[name] for name in checks if name in typed}
    for option, finding in (("shape", remedies.SHAPES), ("weights", remedies.WEIGHTS)):
        if finding not in typed:
            refuse(arguments, option, f"is for {finding}; add that finding")
    if not arguments.findings and not arguments.functions:
        if targets:
            raise UsageError(f"name what to fix; `tracekit fix {source}` lists it")
        fix = ModelFix(source=model.source, offers=offers_of(model, source, settings))
        deliver(arguments, files, lambda _: offers_document(fix), {"json": lambda: to_json(fix)})
        return ExitStatus.DONE
    if len(targets) != 1:
        raise UsageError("give one model to write, as in: -o Fixed.mlpackage")
    (target,) = targets
    if model.kind == Kind.ML_PROGRAM and target.suffix != ".mlpackage":
        raise UsageError(f"cannot write {target}: an ML program must end in .mlpackage")
    functions = _functions(source, arguments.functions)
    return _write_fixed(arguments, model, functions, target, typed, settings, files)


def _write_fixed(
    arguments: Namespace,
    model: ModelFile,
    functions: dict[str, Path],
    target: Path,
    typed: dict[str, str],
    settings: Settings,
    files: dict[Path, str],
) -> ExitStatus:
    """Write a model again without some findings, and say what changed. `typed` is what the user called each of them."""
    source, findings = arguments.path, list(typed)
    sources = [source, *map(str, [*functions.values()][1:])]
    _check_target(target, sources, force=arguments.force)
    models = {name: model if str(path) == source else read_model(path) for name, path in functions.items()}
    for function in models.values() if len(models) > 1 else ():
        remedies.check_function(function)
    before = {name for function in models.values() for name in findings_of(function, settings)}
    for finding in findings:
        # A step can bring it.
        if finding not in before and not (finding == remedies.INTERFACE and remedies.HALF in findings):
            origin = f" (from '{typed[finding]}')" if typed[finding] != finding else ""
            has = f"has no finding '{finding}'{origin}; `{command('fix', source)}` lists its findings"
            raise TracekitError(f"{model.source} {has}")
    remedies.check_fixable_in(findings, models.values())
    shapes = grouped(dict.fromkeys(arguments.shapes))
    if remedies.SHAPES in findings:
        remedies.check_shapes(model, shapes)
    wanted = Wanted(shapes, arguments.weights or COMPRESSIONS[0])
    with refusals(f"write {target}"):
        make_folder(target.parent)
        with staging_folder(target.parent) as stage, _temporary_files_in(stage):
            tools, path, after, changes = coremltools(), Path(source), model, list[Change]()
            gone: dict[str, str] = {}
            for number, finding in enumerate([""] * (len(functions) > 1) + findings):
                if finding in gone:
                    changes.append(Change(finding, f"fixed by `{gone[finding]}`", ()))
                    continue
                tell(arguments, f"working on {finding or 'one package'}")
                written = stage / f"{number}" / target.name
                written.parent.mkdir()
                if finding:
                    change, after = apply(finding, after, path, written, wanted, settings, tools)
                else:
                    change, after = join(functions, models, written, tools)
                path = written
                changes.append(change)
                gone = {name: gone.get(name, change.finding) for name in before - findings_of(after, settings).keys()}
            compared = compare_outputs((model, Path(source)), (after, path))
            _publish(path, target, stage)
    tell(arguments, f"wrote {target}")
    fix = model_fix(model, after, tuple(changes), before, settings, compared)
    further = [name for name in fix.new_findings if remedies.fix_command(name, after, str(target))]
    options = [("--function", name) for name in arguments.functions]
    options += [("--shape", f"{name}={'x'.join(map(str, sizes))}") for name, sizes in arguments.shapes]
    options += [("--weights", arguments.weights)] if arguments.weights else []
    words = [source, *arguments.findings, *further, *(word for option in options for word in option)]
    again = f"tracekit fix {shlex.join(words)} -o {shlex.quote(str(target))} --force" if further else ""
    data = {"json": lambda: to_json(fix)}
    deliver(arguments, files, lambda _: model_fix_document(fix, sources, str(target), again), data)
    return ExitStatus.DONE


def _functions(source: str, given: Sequence[str]) -> dict[str, Path]:
    """Models by function, the source first; a name that is not given is that of the file. Raises `UsageError`."""
    models: dict[str, Path] = {}
    for name, path in (("", source), *(function.rpartition("=")[::2] for function in given)):
        function = name or _STRANGE.sub("_", Path(path).stem)
        if not path:
            raise UsageError(f"--function {name}=: expected [NAME=]FILE")
        if not function.isidentifier():
            raise UsageError(f"--function {name}={path}: '{function}' is not a valid function name")
        if function in models:
            raise UsageError(f"--function: {path} needs a name of its own, as in: --function encode={path}")
        models[function] = Path(path)
    return models


def _check_target(target: Path, sources: Sequence[str], *, force: bool) -> None:
    """Raise `UsageError` for a path that the model cannot be written to: no model that is read may change."""
    for source in map(Path.resolve, map(Path, sources)):
        if target.resolve().is_relative_to(source) or source.is_relative_to(target.resolve()):
            raise UsageError(f"cannot write {target}: {source.name} stays as it is; choose another name")
    if target.suffix == MODELS[0]:
        check_folder(target, sources)
        check_unused(target, force)
        if target.is_dir() and any(target.iterdir()) and not (target / "Manifest.json").is_file():
            raise UsageError(f"cannot write {target}: the folder there is no model; choose another name")
    else:
        check_output(target, sources)


@contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Let coremltools, which leaves its own behind, make them in a folder that is removed, on the disk of the model."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _publish(written: Path, target: Path, stage: Path) -> None:
    """Put the model in its place, whole. Where a folder is replaced, no moment is without either: the old one stays
    beside it, under a name that speaks, until the new one stands. Raises `OSError`."""
    if not target.is_dir():
        written.replace(target)
        return
    with uninterrupted():
        beside = Path(tempfile.mkdtemp(prefix=f"{target.stem}-replaced-", dir=target.parent))
        try:
            target.rename(beside / target.name)
            written.rename(target)
        except BaseException:
            with suppress(FileNotFoundError):
                (beside / target.name).rename(target)
            beside.rmdir()
            raise
        beside.rename(stage / "replaced")
