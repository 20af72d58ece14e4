"""Detectors of other packages, found through the entry point group `tracekit.detectors`.

An entry point names a `Detector`, a `RecordingDetector`, or a list or tuple of them. One that cannot be loaded becomes
a detector that fails, so that the analysis goes on, the report shows it and the exit status says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from tracekit.detectors.framework import AnyDetector, Detector, RecordingDetector
from tracekit.detectors.options import option_infos
from tracekit.detectors.patterns import Pattern
from tracekit.detectors.registry import DETECTORS
from tracekit.trace.instruments.catalogue import INSTRUMENTS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from tracekit.detectors.outcomes import Outcome
    from tracekit.trace.model import Trace

GROUP = "tracekit.detectors"
"""Entry point group."""

_ID = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
_INSTRUMENTS = tuple(instrument.name for instrument in INSTRUMENTS)


@cache
def all_detectors() -> tuple[AnyDetector, ...]:
    """tracekit's own detectors, then those of installed packages by package and name. Searches the packages once."""
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry), entry.name))
    detectors = list(DETECTORS)
    for entry in found:
        detectors += _loaded(entry, {detector.id for detector in detectors})
    return tuple(detectors)


def _loaded(entry: EntryPoint, taken: set[str]) -> list[AnyDetector]:
    """The detectors behind an entry point, or one that fails with the reason why there are none."""
    try:
        value = entry.load()
        listed = list(value) if isinstance(value, Iterable) else [value]
        for detector in listed:
            if not isinstance(detector, Detector | RecordingDetector):
                raise TypeError(f"'{entry.value}' holds an object of type {type(detector).__name__}, no detector")
            if detector.id in taken:
                raise ValueError(f"there is a detector '{detector.id}' already")
            _check(detector)
            taken.add(detector.id)
        return [replace(detector, package=_package(entry)) for detector in listed]
    except (Exception, SystemExit) as error:
        return [_broken(entry, f"the plug-in cannot be loaded ({type(error).__name__}: {error})")]


def _check(detector: AnyDetector) -> None:
    """Raise TypeError or ValueError for a detector that could not be listed, configured or run."""
    if not isinstance(detector.id, str) or not _ID.fullmatch(detector.id):
        raise ValueError(f"the id {detector.id!r} is not in kebab case")
    if not isinstance(detector.pattern, Pattern):
        raise TypeError(f"the pattern of '{detector.id}' is no Pattern")
    if not callable(detector.detect):
        raise TypeError(f"'{detector.id}' has nothing to call")
    for name in (*detector.needs, *detector.uses):
        if name not in _INSTRUMENTS:
            raise ValueError(f"'{detector.id}' looks at '{name}', which is none of: {', '.join(_INSTRUMENTS)}")
    detector.options()
    for info in option_infos(detector):
        if isinstance(info.default, bool) or not isinstance(info.default, int | float):
            raise TypeError(f"the option '{info.name}' of '{detector.id}' is no number")


def _package(entry: EntryPoint) -> str:
    return "" if entry.dist is None else entry.dist.name


@dataclass(frozen=True, slots=True)
class _NoOptions:
    """A plug-in that cannot be loaded has none."""


def _broken(entry: EntryPoint, reason: str) -> AnyDetector:
    """A detector that fails with the reason."""

    def fail(_trace: Trace, _options: _NoOptions) -> Outcome:
        raise RuntimeError(f"{reason}; repair or uninstall the package '{_package(entry)}'")

    return RecordingDetector(
        id=f"{_package(entry)}:{entry.name}",
        title="The plug-in can be loaded",
        finding_title="The plug-in cannot be loaded",
        pattern=Pattern.RECORDING,
        description="",
        why="A detector that is installed did not run.",
        fix="",
        references=(),
        options=_NoOptions,
        package=_package(entry),
        detect=fail,
    )
