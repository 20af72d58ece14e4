"""Settings of a project: `tracekit.toml`, or the table `[tool.tracekit]` of `pyproject.toml`. Command line and Python
interface go before what is set here. Every mistake is an error: a setting that is misspelled and ignored would make a
gate look closed that is open."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tracekit.comparison.settings import FLOOR_KEYS, CheckSettings, Floors, Key, check_keys, parse_check, parse_floor
from tracekit.config_file import settings_in
from tracekit.detectors.expectations import LIMIT_KEY, UNIT_NUMBERS, parse_memory_limit, with_expectations
from tracekit.detectors.framework import AnyDetector, RecordingDetector
from tracekit.detectors.options import ChosenChecks, Number, check_settings, choose, configure
from tracekit.detectors.outcomes import Severity
from tracekit.detectors.pages import unknown_check
from tracekit.errors import UsageError, unknown
from tracekit.trace.runtimes.registry import ALL_OWN, Units
from tracekit.units import compute_unit

KEYS_OF_MODELS = {
    "budget": Key('"30fps"', "time that a prediction may take, or the rate; a bare number is ms; for missed-deadline"),
    "expect": Key(
        '"neural-engine"', "unit that models should run on: cpu, gpu or neural-engine; for not-on-expected-unit"
    ),
    "skip": Key('["slow-after-idle"]', "checks to skip"),
    **FLOOR_KEYS,
}
KEYS = {
    "fail-on": Key('"high"', "lowest severity at which `tracekit analyze` exits with status 1"),
    "only": Key('["cold-load"]', "checks to run, and no others"),
    "model-files": Key('["Models/Caption.mlpackage"]', "model files of recorded models; paths from here"),
    "perf-reports": Key('["Models/Caption.json"]', "performance reports of recorded models"),
    "memory-limit": Key('"3GB"', "most memory that the app may hold; for memory-peak"),
    **KEYS_OF_MODELS,
}
SIGNPOSTS = {
    "units": Key('["ProcessFrame"]', "names of the app's signposts that are its operations, and no others (globs)"),
    "skip": Key('["Heartbeat"]', "names of the app's signposts that are none (globs)"),
}
_TOP = (*KEYS, "checks", "models", "check", "signposts")
_OF_MODEL = (*KEYS_OF_MODELS, "checks")


@dataclass(frozen=True, slots=True)
class Config(ChosenChecks):
    """What a project has set. Options of recordings hold budget and expectation too."""

    path: Path | None = None
    """The file; None where nothing is set."""
    fail_on: str | None = None
    check: CheckSettings = field(default_factory=CheckSettings)
    """What `tracekit check` holds a recording against."""
    floors: Floors = field(default_factory=Floors)
    """How much the latency of each model must change to count."""
    model_files: tuple[str, ...] = ()
    """Files of the models, as `PATH` or `MODEL=PATH`; the paths lead from the current folder or are absolute."""
    perf_reports: tuple[str, ...] = ()
    """Performance reports of the models, in the same form."""
    units: Units = ALL_OWN
    """Which signposts are operations of the app."""
    model_checks: ChosenChecks = field(default_factory=ChosenChecks)
    """What is set for the checks of model files, whose ids stand in the file among those of the detectors."""


def load_config(path: Path | None) -> Config:
    """The settings in a file, the defaults without one. Raises `UsageError`, with file and key, for what is wrong."""
    if path is None:
        return Config()
    # All detectors take a second to load, and without a file nothing needs them.
    from tracekit.detectors.plugins import all_detectors
    from tracekit.report.choice import plain

    try:
        return _config(path, settings_in(path), all_detectors())
    except UsageError as error:
        # The words of a file that lies in the current folder are nobody's to trust.
        raise UsageError(plain(f"{path.name}: {error}")) from None


def _config(path: Path, table: dict[str, Any], detectors: Sequence[AnyDetector]) -> Config:
    from tracekit.detectors.model_runner import MODEL_DETECTORS

    check_keys(table, _TOP, "")
    by_id = {detector.id: detector for detector in detectors}
    of_models = {detector.id for detector in MODEL_DETECTORS}
    checks, model_checks = (_checks(table, own, by_id.keys() | of_models) for own in (by_id.keys(), of_models))
    choose(detectors, checks.only, checks.skip)
    budgets, expectations = _budget(table, ""), _expectation(table, "")
    floors = [("*", parse_floor(table, ""))]
    for pattern, where, overrides in _models(table):
        check_keys(overrides, _OF_MODEL, where)
        floors.append((pattern, parse_floor(overrides, where)))
        for name in checks.model_skip[pattern]:
            if isinstance(by_id[name], RecordingDetector):
                raise UsageError(f"'{where}skip': '{name}' applies to the whole recording; skip it for all models")
        budgets += [f"{pattern}={budget}" for budget in _budget(overrides, where)]
        expectations += [f"{pattern}={unit}" for unit in _expectation(overrides, where)]
    settings, model_settings = with_expectations(budgets, expectations, checks.settings, checks.model_settings)
    settings = {**settings, **_memory_limit(table)}
    check_settings(detectors, settings, model_settings)
    checked = parse_check(table.get("check", {}), frozenset(by_id))
    for each in (model_checks.settings, *model_checks.model_settings.values()):
        configure(MODEL_DETECTORS, each)
    return Config(
        checks.only,
        checks.skip,
        settings,
        model_settings,
        checks.model_skip,
        path,
        _fail_on(table),
        checked,
        Floors(tuple(floors)),
        _files(table, "model-files", path),
        _files(table, "perf-reports", path),
        _units(table),
        model_checks,
    )


def _checks(table: dict[str, Any], own: Set[str], ids: Set[str]) -> ChosenChecks:
    """What the file sets for its `own` of the checks with these ids. `only` leaves none out where it names none."""
    models = list(_models(table))
    return ChosenChecks(
        only=_names(table, "only", "", own, ids),
        skip=_names(table, "skip", "", own, ids),
        settings=_options(table, "", without=ids - own),
        model_settings={pattern: _options(part, where, without=ids - own) for pattern, where, part in models},
        model_skip={pattern: _names(part, "skip", where, own, ids) for pattern, where, part in models},
    )


def _models(table: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Pattern of model names, place in the file, and what is set there."""
    for pattern, part in _tables(table, "models", "").items():
        yield pattern, f'models."{pattern}".', part


def _names(table: dict[str, Any], key: str, where: str, own: Set[str], ids: Set[str]) -> tuple[str, ...]:
    """Those of the `own` ids in a list. Raises `UsageError` for any that is none of `ids`."""
    names = _texts(table, key, where, "check ids")
    for name in names:
        if name not in ids:
            raise UsageError(f"'{where}{key}': {unknown_check(name, ids)}")
    return tuple(name for name in names if name in own)


def _files(table: dict[str, Any], key: str, config: Path) -> tuple[str, ...]:
    """The files of a setting, whose paths are written as seen from the settings file."""
    files = []
    for text in _texts(table, key, "", "paths, or of MODEL=PATH"):
        model, equals, path = text.partition("=")
        files.append(f"{model}={config.parent / path}" if equals else str(config.parent / text))
    return tuple(files)


def _units(table: dict[str, Any]) -> Units:
    settings = table.get("signposts", {})
    if not isinstance(settings, dict):
        raise UsageError("'signposts': must be a table")
    check_keys(settings, SIGNPOSTS, "signposts.")
    return Units(*(tuple(_texts(settings, key, "signposts.", "names")) for key in SIGNPOSTS))


def _texts(table: dict[str, Any], key: str, where: str, what: str) -> list[str]:
    """A list of texts, none of them empty; `what` they are."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise UsageError(f"'{where}{key}': must be a list of {what}")
    return value


def _tables(table: dict[str, Any], key: str, where: str) -> dict[str, dict[str, Any]]:
    value = table.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise UsageError(f"'{where}{key}': must be a table of tables")
    return value


def _options(table: dict[str, Any], where: str, *, without: Collection[str]) -> dict[str, Number | str]:
    """Options as `detector.option` to value, of all detectors but these."""
    options: dict[str, Number | str] = {}
    for detector, values in _tables(table, "checks", where).items():
        for name, value in values.items() if detector not in without else ():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise UsageError(f"'{where}checks.{detector}.{name}': must be a number")
            options[f"{detector}.{name}"] = value
    return options


def _budget(table: dict[str, Any], where: str) -> list[str]:
    value = table.get("budget")
    if value is None:
        return []
    if isinstance(value, bool) or not isinstance(value, str | int | float) or "=" in str(value):
        raise UsageError(f'\'{where}budget\': must be a time or a rate, as 16.7, "16.7ms" or "30fps"')
    return [str(value)]


def _memory_limit(table: dict[str, Any]) -> dict[str, float]:
    value = table.get("memory-limit")
    if value is None:
        return {}
    if not isinstance(value, str):
        raise UsageError('\'memory-limit\': must be a size with its unit, as "3GB" or "512MB"')
    return {LIMIT_KEY: parse_memory_limit(value)}


def _expectation(table: dict[str, Any], where: str) -> list[str]:
    value = table.get("expect")
    if value is None:
        return []
    if not isinstance(value, str) or compute_unit(value) is None:
        raise UsageError(f"'{where}expect': must be one of {', '.join(map(repr, UNIT_NUMBERS))}")
    return [value]


def _fail_on(table: dict[str, Any]) -> str | None:
    value = table.get("fail-on")
    levels = [str(severity) for severity in Severity]
    if value is None or value in levels:
        return value
    raise UsageError(f"'fail-on': {unknown('severity', str(value), levels)}")
