"""Settings of a project: `tracekit.toml`, or the table `[tool.tracekit]` of `pyproject.toml`.

    fail-on = "high"
    budget = "30fps"
    expect = "ane"
    skip = ["pipeline-gaps"]
    model-files = ["Models/Caption.mlpackage"]
    perf-reports = ["Models/Caption.json"]

    [detectors.excess-data-copies]
    copy_share = 0.2

    [models."Caption*"]
    budget = "16.7ms"
    skip = ["shape-switching"]

    [models."Caption*".detectors.latency-jitter]
    min_predictions = 50

Command line and Python interface go before what is set here. Every mistake is an error: a setting that is misspelt and
ignored would make a gate look closed that is open.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tracekit.compare.floors import KEYS as FLOOR_KEYS
from tracekit.compare.floors import Floors, parse_floor
from tracekit.compare.limits import CheckSettings, parse_check
from tracekit.detectors.budgets import with_budgets
from tracekit.detectors.expectations import UNITS, with_expectations
from tracekit.detectors.framework import RecordingDetector
from tracekit.detectors.options import UNWRITABLE, check_settings
from tracekit.detectors.outcomes import Severity
from tracekit.detectors.selection import choose
from tracekit.errors import UsageError, unknown, unknown_check

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from tracekit.detectors.framework import AnyDetector
    from tracekit.detectors.options import ModelSettings, Number, Settings

FILE = "tracekit.toml"
PYPROJECT = "pyproject.toml"

_TOP = (
    *("only", "skip", "budget", "expect", "fail-on", "model-files", "perf-reports", "detectors", "models", "check"),
    *FLOOR_KEYS,
)
_OF_MODEL = ("skip", "budget", "expect", "detectors", *FLOOR_KEYS)
_LARGEST = 1 << 18
"""Bytes of a settings file; a larger one is something else."""

_DEEPEST = 32
"""Parts of a dotted key; settings need seven at most. A parser takes the square of them, both in time and in memory."""

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_TOO_DEEP = re.compile(rf"""(?<![\w"'\\-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{{_DEEPEST}}}""")
"""A dotted key with more parts than `_DEEPEST`. It is sought from no quote behind a backslash on: many of them in one
text would make the search quadratic."""


@dataclass(frozen=True, slots=True)
class Config:
    """What a project has set."""

    path: Path | None = None
    """The file; None where nothing is set."""
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)
    """Options for all models, budget and expectation among them."""
    model_settings: ModelSettings = field(default_factory=dict)
    """Options by pattern of base names."""
    model_skip: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Detectors left out, by pattern of base names."""
    fail_on: str | None = None
    check: CheckSettings = field(default_factory=CheckSettings)
    """What `tracekit check` holds a recording against."""
    floors: Floors = field(default_factory=Floors)
    """How much the latency of each model must change to count."""
    model_files: tuple[str, ...] = ()
    """Files of the models, as `PATH` or `MODEL=PATH`; the paths lead from the current folder or are absolute."""
    perf_reports: tuple[str, ...] = ()
    """Performance reports of the models, in the same form."""


def find_config(folder: Path) -> Path | None:
    """The settings file that holds for a folder: in it, or in the nearest one above it that has one.

    The search ends at the top of a repository. `tracekit.toml` goes before a `pyproject.toml` beside it; one without
    `[tool.tracekit]` is none.
    """
    for directory in (folder.resolve(), *folder.resolve().parents):
        try:
            # A link that leads nowhere is found too: what is set must not be missed in silence.
            if (directory / FILE).is_file() or (directory / FILE).is_symlink():
                return directory / FILE
            if (directory / PYPROJECT).is_file() and _may_hold_settings(directory / PYPROJECT):
                return directory / PYPROJECT
            if (directory / ".git").exists():
                break
        except PermissionError:
            # A folder that may only be passed through: nothing in it is meant for this user.
            continue
    return None


def _may_hold_settings(project: Path) -> bool:
    """Whether a `pyproject.toml` has settings, however they are written, or cannot be read to the end."""
    try:
        data = _bytes(project)
        if b"tracekit" not in data:
            return False
        tool = _parsed(data).get("tool", {})
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(tool, dict) and "tracekit" in tool


def load_config(path: Path | None, detectors: Sequence[AnyDetector]) -> Config:
    """The settings in a file, the defaults without one. Raises `UsageError`, with file and key, for what is wrong."""
    if path is None:
        return Config()
    try:
        return _config(path, _table(path), detectors)
    except UsageError as error:
        # The words of a file that lies in the current folder are nobody's to trust.
        from tracekit.report.choice import plain

        raise UsageError(plain(f"{path.name}: {error}")) from None


def _bytes(path: Path) -> bytes:
    """What a file holds, up to one byte beyond the largest file of settings. Raises OSError."""
    with path.open("rb") as file:
        return file.read(_LARGEST + 1)


def _parsed(data: bytes) -> dict[str, Any]:
    """The TOML document in these bytes. Raises ValueError or RecursionError for others."""
    import tomllib

    text = data.decode("utf-8")
    deep = _TOO_DEEP.search(text)
    if deep is not None:
        line = text.count("\n", 0, deep.start()) + 1
        raise ValueError(f"a key with more than {_DEEPEST} parts (at line {line})")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:
        # Python refuses to read a decimal number of several thousand digits, and says so in words for programmers.
        raise ValueError("a number of too many digits") from None


def _table(path: Path) -> dict[str, Any]:
    """The table of settings in a file."""
    try:
        data = _bytes(path)
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror or error}") from None
    if len(data) > _LARGEST:
        raise UsageError("is too large for a configuration file")
    try:
        document = _parsed(data)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is not valid TOML: {error}") from None
    settings: Any = document
    if path.name == PYPROJECT:
        tool = document.get("tool", {})
        settings = tool.get("tracekit") if isinstance(tool, dict) else None
    if not isinstance(settings, dict):
        raise UsageError("has no table [tool.tracekit]")
    _check_integers(settings, "")
    return settings


def _check_integers(value: object, key: str) -> None:
    """Raise `UsageError` for a number, in whatever base, that Python refuses to write as text in a message."""
    if isinstance(value, dict):
        for name, item in value.items():
            _check_integers(item, f"{key}.{name}" if key else name)
    elif isinstance(value, list):
        for item in value:
            _check_integers(item, key)
    elif isinstance(value, int) and abs(value) >= UNWRITABLE:
        raise UsageError(f"'{key}': the number has too many digits")


def _config(path: Path, table: dict[str, Any], detectors: Sequence[AnyDetector]) -> Config:
    _known_keys(table, _TOP, "")
    only, skip = _names(table, "only", ""), _names(table, "skip", "")
    choose(detectors, only, skip)
    settings: Settings = _options(table, "")
    model_settings: ModelSettings = {}
    model_skip: dict[str, tuple[str, ...]] = {}
    budgets, expectations = _budget(table, ""), _expectation(table, "")
    floors = [("*", parse_floor(table, ""))]
    for pattern, overrides in _tables(table, "models", "").items():
        where = f'models."{pattern}".'
        _known_keys(overrides, _OF_MODEL, where)
        model_settings = {**model_settings, pattern: _options(overrides, where)}
        model_skip[pattern] = _names(overrides, "skip", where)
        floors.append((pattern, parse_floor(overrides, where)))
        _check_ids(detectors, model_skip[pattern], where)
        budgets += [f"{pattern}={budget}" for budget in _budget(overrides, where)]
        expectations += [f"{pattern}={unit}" for unit in _expectation(overrides, where)]
    settings, model_settings = with_budgets(budgets, settings, model_settings)
    settings, model_settings = with_expectations(expectations, settings, model_settings)
    check_settings(detectors, settings, model_settings)
    checked = parse_check(table.get("check", {}), frozenset(detector.id for detector in detectors))
    return Config(
        path,
        only,
        skip,
        settings,
        model_settings,
        model_skip,
        _fail_on(table),
        checked,
        Floors(tuple(floors)),
        _files(table, "model-files", path),
        _files(table, "perf-reports", path),
    )


def _known_keys(table: dict[str, Any], keys: Collection[str], where: str) -> None:
    for key in table:
        if key not in keys:
            raise UsageError(f"'{where}{key}': {unknown('setting', key, keys)}")


def _names(table: dict[str, Any], key: str, where: str) -> tuple[str, ...]:
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"'{where}{key}': must be a list of check ids")
    return tuple(value)


def _files(table: dict[str, Any], key: str, config: Path) -> tuple[str, ...]:
    """The files of a setting, whose paths are written as seen from the settings file."""
    value = table.get(key, [])
    if not isinstance(value, list) or not all(isinstance(text, str) and text for text in value):
        raise UsageError(f"'{key}': must be a list of paths, or of MODEL=PATH")
    files = []
    for text in value:
        model, equals, path = text.partition("=")
        files.append(f"{model}={config.parent / path}" if equals else str(config.parent / text))
    return tuple(files)


def _check_ids(detectors: Sequence[AnyDetector], names: Sequence[str], where: str) -> None:
    by_id = {detector.id: detector for detector in detectors}
    for name in names:
        if name not in by_id:
            raise UsageError(f"'{where}skip': {unknown_check(name, by_id)}")
        if isinstance(by_id[name], RecordingDetector):
            raise UsageError(f"'{where}skip': '{name}' applies to the whole recording; skip it for all models")


def _tables(table: dict[str, Any], key: str, where: str) -> dict[str, dict[str, Any]]:
    value = table.get(key, {})
    if not isinstance(value, dict) or not all(isinstance(item, dict) for item in value.values()):
        raise UsageError(f"'{where}{key}': must be a table of tables")
    return value


def _options(table: dict[str, Any], where: str) -> dict[str, Number | str]:
    """Options as `detector.option` to value."""
    options: dict[str, Number | str] = {}
    for detector, values in _tables(table, "detectors", where).items():
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise UsageError(f"'{where}detectors.{detector}.{name}': must be a number")
            options[f"{detector}.{name}"] = value
    return options


def _budget(table: dict[str, Any], where: str) -> list[str]:
    value = table.get("budget")
    if value is None:
        return []
    if isinstance(value, bool) or not isinstance(value, str | int | float) or "=" in str(value):
        raise UsageError(f'\'{where}budget\': must be a time or a rate, as 16.7, "16.7ms" or "30fps"')
    return [str(value)]


def _expectation(table: dict[str, Any], where: str) -> list[str]:
    value = table.get("expect")
    if value is None:
        return []
    if not isinstance(value, str) or value not in UNITS:
        raise UsageError(f"'{where}expect': must be one of {', '.join(map(repr, UNITS))}")
    return [value]


def _fail_on(table: dict[str, Any]) -> str | None:
    value = table.get("fail-on")
    levels = [str(severity) for severity in Severity]
    if value is None or value in levels:
        return value
    raise UsageError(f"'fail-on': {unknown('severity', str(value), levels)}")
