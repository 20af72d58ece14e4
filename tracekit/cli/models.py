"""Model files of a command line: which they are, what is said of one, and two beside each other."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

from tracekit.cli.forms import deliver, files_of
from tracekit.cli.process import ExitStatus
from tracekit.cli.reading import config_of
from tracekit.config import load_config
from tracekit.documents.model_file import compared_models_document
from tracekit.errors import UsageError
from tracekit.model_files.compiled import METADATA
from tracekit.model_files.facts import ModelFile
from tracekit.model_files.read import MANIFEST, MODELS, models_in, read_subject
from tracekit.report.model_report import ComparedModels, ModelReport, model_report
from tracekit.report.model_words import changes_of
from tracekit.report.serialize import to_json


def models_at(path: str) -> list[str]:
    """The path itself, or the models below a folder that is none."""
    folder = Path(path)
    if not folder.is_dir() or folder.suffix in MODELS or (folder / MANIFEST).is_file() or (folder / METADATA).is_file():
        return [path]
    return list(map(str, models_in(folder))) or [path]


def report_on(model: ModelFile, arguments: Namespace) -> ModelReport:
    """The report on a model with the options and the settings of the command."""
    project = load_config(config_of(arguments)).model_checks
    return model_report(
        model,
        arguments.system,
        arguments.chip,
        only=arguments.only or project.only,
        skip=(*(name for name in project.skipped_checks(model.name) if name not in arguments.only), *arguments.skip),
        settings=project.settings_of(model.name) | dict(arguments.settings),
        redact=arguments.redact,
    )


def compare_models(arguments: Namespace, paths: Sequence[str]) -> ExitStatus:
    """What is different in the second of two models: what a conversion or an edit changed."""
    # What inspect has options for, as it is without them.
    arguments.system, arguments.chip, arguments.redact = None, None, True
    arguments.only, arguments.skip, arguments.settings = [], [], []
    files = files_of(arguments, paths)
    models = [subject for subject in map(read_subject, paths) if isinstance(subject, ModelFile)]
    if len(models) != 2:
        raise UsageError("compare takes two models; `tracekit inspect` shows several in a table")
    before, after = (report_on(model, arguments) for model in models)
    compared = ComparedModels(before, after, changes_of(before, after))
    deliver(arguments, files, lambda _: compared_models_document(compared), {"json": lambda: to_json(compared)})
    return ExitStatus.DONE
