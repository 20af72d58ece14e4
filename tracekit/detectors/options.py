"""Which detectors are run, and their thresholds: typed, with a default, a unit and the reason for the number."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast, dataclass_transform

from tracekit.detectors.pages import unknown_check
from tracekit.errors import UsageError, unknown

if TYPE_CHECKING:
    from tracekit.detectors.framework import ListedDetector, Metadata

    Chosen = TypeVar("Chosen", bound=Metadata[Any])

Number = int | float
Settings = Mapping[str, str | Number]
"""Values by `detector.option`."""
ModelSettings = Mapping[str, Settings]
"""Settings by shell pattern of base names (case-sensitive; a name is also a pattern for itself)."""


@dataclass(frozen=True, slots=True)
class OptionInfo:
    """A threshold as users see it."""

    name: str
    default: Number
    unit: str
    basis: str
    """One sentence: where the number comes from."""
    minimum: Number
    maximum: Number


_YEAR_S = 31_536_000
_MAX_TIMES: dict[str, Number] = {"s": _YEAR_S, "ms": _YEAR_S * 1_000, "µs": _YEAR_S * 1_000_000}
"""Times of a year, far beyond any recording, in the units that options have: in ns they still fit int64."""
_MAX_NUMBER = 1_000_000_000
"""More than a recording can hold of anything."""


def option(
    default: Number, unit: str, basis: str, *, minimum: Number | None = None, maximum: Number | None = None
) -> Any:
    """Field of an options dataclass: a number of the default's type, with unit and basis.

    It may be set to `minimum` to `maximum`. Where they are not given, whole numbers count something and begin at 1,
    others at 0; a share ends at 1, a time at a year, and all else at a billion.
    """
    smallest = minimum if minimum is not None else int(isinstance(default, int))
    greatest = 1 if unit.startswith("share") else _MAX_TIMES.get(unit, _MAX_NUMBER)
    largest = maximum if maximum is not None else greatest
    return field(default=default, metadata={"unit": unit, "basis": basis, "minimum": smallest, "maximum": largest})


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Options:
    """Thresholds of a check: a subclass is a frozen dataclass, and each field is made by `option`."""

    def __init_subclass__(cls) -> None:
        # Else each gets its signature as text, which takes longer to write than all else of it.
        cls.__doc__ = cls.__doc__ or "Thresholds of the check."
        dataclass(frozen=True, init=hasattr(cls, "__post_init__"))(cls)

    # Else each has one compiled, which takes longer than the class.
    def __init__(self, **values: Number) -> None:
        if strangers := values.keys() - getattr(self, "__dataclass_fields__", {}).keys():
            raise TypeError(f"{type(self).__qualname__} has no option '{min(strangers)}'")
        vars(self).update(values)  # the class holds the defaults


def option_infos(detector: ListedDetector) -> tuple[OptionInfo, ...]:
    """The options of a detector in the order of its dataclass."""
    return tuple(
        OptionInfo(
            name=entry.name,
            default=cast("Number", entry.default),
            unit=entry.metadata["unit"],
            basis=entry.metadata["basis"],
            minimum=entry.metadata["minimum"],
            maximum=entry.metadata["maximum"],
        )
        for entry in fields(detector.options)
    )


def configure(detectors: Sequence[ListedDetector], settings: Settings) -> dict[str, Any]:
    """Options of every detector by id, with `settings` (`detector.option` to value) applied to the defaults.

    Raises `UsageError` for an unknown detector or option, and for a value that does not fit.
    """
    configured: dict[str, Any] = {detector.id: _make_options(detector, detector.options) for detector in detectors}
    by_id = {detector.id: detector for detector in detectors}
    for key, value in settings.items():
        detector_id, _, name = key.partition(".")
        if detector_id not in by_id:
            raise UsageError(f"'{key}': {unknown_check(detector_id, by_id)}")
        infos = {info.name: info for info in option_infos(by_id[detector_id])}
        if name not in infos:
            raise UsageError(f"'{key}': {unknown('option', name, infos)}")
        number = _number(key, value, infos[name])
        detector, so_far = by_id[detector_id], configured[detector_id]
        configured[detector_id] = _make_options(detector, partial(replace, so_far, **{name: number}))
    return configured


def _make_options(detector: ListedDetector, make: Callable[[], Any]) -> Any:
    """Options of a detector. Raises `UsageError` where the code of a plug-in refuses the values."""
    if not detector.package:
        return make()
    from tracekit.detectors.foreign import ForeignCodeFailed, run_foreign

    try:
        return run_foreign(make)
    except ForeignCodeFailed as error:
        raise UsageError(f"'{detector.id}' of the package {detector.package} refuses its options: {error}") from None


def merge_settings(first: ModelSettings, second: ModelSettings) -> ModelSettings:
    """Both settings per pattern; where a pattern stands in both, what `second` sets wins, and it counts as later."""
    together = {pattern: overrides for pattern, overrides in first.items() if pattern not in second}
    return together | {pattern: {**first.get(pattern, {}), **overrides} for pattern, overrides in second.items()}


def with_values(
    key: str, values: Iterable[tuple[str | None, Number]], settings: Settings, model_settings: ModelSettings
) -> tuple[Settings, ModelSettings]:
    """Both kinds of settings with values of the option `key` on top, each for the models of a pattern or for all
    (None). A later value outweighs an earlier one."""
    general, special = dict(settings), dict(model_settings)
    for pattern, value in values:
        if pattern is None:
            general[key] = value
        else:
            # Of several patterns that match, the last one counts.
            special[pattern] = {**special.pop(pattern, {}), key: value}
    return general, special


def check_settings(detectors: Sequence[ListedDetector], settings: Settings, model_settings: ModelSettings) -> None:
    """Raise `UsageError` for settings that `configure` refuses, or that ask for a model what is of the recording."""
    # The module of the framework needs no options, so that this does not close a circle.
    from tracekit.detectors.framework import RecordingDetector

    configure(detectors, settings)
    of_recording = {detector.id for detector in detectors if isinstance(detector, RecordingDetector)}
    for pattern, overrides in model_settings.items():
        configure(detectors, overrides)
        for key in overrides:
            if key.partition(".")[0] in of_recording:
                raise UsageError(f"'{key}': applies to the whole recording, so it cannot be set for '{pattern}' alone")


def matches(model: str, pattern: str) -> bool:
    """Whether a base name is meant by a shell pattern; a name is also a pattern for itself, even with brackets."""
    return model == pattern or fnmatchcase(model, pattern)


def choose(detectors: Sequence[Chosen], only: Collection[str], skip: Collection[str]) -> tuple[Chosen, ...]:
    """The detectors named in `only` (all where it is empty) less those in `skip`. Raises `UsageError` for others."""
    ids = [detector.id for detector in detectors]
    for name in (*only, *skip):
        if name not in ids:
            raise unknown_check(name, ids)
    chosen = tuple(d for d in detectors if (not only or d.id in only) and d.id not in skip)
    if not chosen:
        raise UsageError("no check is left to run: all of them are skipped")
    return chosen


@dataclass(frozen=True, slots=True)
class ChosenChecks:
    """What a project sets for the checks of recordings, or for those of model files."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)
    """Options for all models."""
    model_settings: ModelSettings = field(default_factory=dict)
    """Options by pattern of model names."""
    model_skip: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Checks left out, by pattern of model names."""

    def skipped_checks(self, model: str) -> tuple[str, ...]:
        """Checks that are left out for a model, also by every pattern that matches it."""
        return (*self.skip, *(name for key, names in self.model_skip.items() if matches(model, key) for name in names))

    def settings_of(self, model: str) -> dict[str, str | Number]:
        """Options for a model, with those of every pattern that matches it on top; of several, a later one wins."""
        merged = dict(self.settings)
        for pattern, overrides in self.model_settings.items():
            if matches(model, pattern):
                merged |= overrides
        return merged


UNWRITABLE = 10**sys.int_info.default_max_str_digits
"""Whole numbers from here on Python refuses to write as text, in a message for example."""


def _number(key: str, value: str | Number, info: OptionInfo) -> Number:
    """`value` as a number of the option's type and range."""
    wanted = type(info.default)
    words = "a whole number" if wanted is int else "a number"
    if isinstance(value, int) and abs(value) >= UNWRITABLE:
        raise UsageError(f"'{key}': the value must be {words} ({info.unit}), and has too many digits")
    try:
        number = wanted(value)
        fits = not isinstance(value, bool) and number == float(value) and math.isfinite(number)
    except (TypeError, ValueError, OverflowError):
        fits = False
    if not fits:
        raise UsageError(f"'{key}={value}': the value must be {words} ({info.unit})")
    if not info.minimum <= number <= info.maximum:
        raise UsageError(f"'{key}={value}': the value must be {info.minimum:,} to {info.maximum:,} ({info.unit})")
    return number
