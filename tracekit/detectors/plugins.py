"""Detectors of other packages, found through the entry point group `tracekit.detectors`.

An entry point names a `Detector`, a `RecordingDetector`, or a list or tuple of them. One that cannot be loaded becomes
a detector that fails, so that the analysis goes on, the report shows it and the exit status says so.
"""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tracekit.analysis.ledger.causes import Cause
from tracekit.detectors.checking import check_texts
from tracekit.detectors.foreign import ForeignCodeFailed, run_foreign
from tracekit.detectors.framework import AnyDetector, Detector, ListedDetector, NoOptions, RecordingDetector
from tracekit.detectors.options import option_infos
from tracekit.detectors.outcomes import Outcome
from tracekit.detectors.pages import Page, Pattern, Reference
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.views import RecordingView
from tracekit.trace.instruments.catalogue import INSTRUMENTS

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "tracekit.detectors"
"""Entry point group."""

_ID = re.compile("[a-z0-9]+(-[a-z0-9]+)*")
_INSTRUMENTS = tuple(instrument.name for instrument in INSTRUMENTS)


@cache
def all_detectors() -> tuple[AnyDetector, ...]:
    """tracekit's own detectors, then those of installed packages by package and name. Searches the packages once."""
    detectors = list(DETECTORS)
    entries: list[EntryPoint] = []
    if _may_have_entry_points():
        from importlib.metadata import entry_points

        entries = sorted(entry_points(group=GROUP), key=lambda entry: (_package(entry), entry.name))
    for entry in entries:
        detectors += _load_detectors(entry, {detector.id for detector in (*detectors, *_of_models())})
    return tuple(detectors)


def checks_about(cause: Cause, *, is_first: bool) -> list[str]:
    """Ids of the checks whose finding is about a cause, the closest first; those of first predictions only for one."""
    about = [
        (detector.causes.index(cause), detector.id)
        for detector in all_detectors()
        if cause in detector.causes and (is_first or Cause.FIRST not in detector.causes)
    ]
    return [name for _, name in sorted(about, key=lambda place: place[0])]


def listed_detectors() -> tuple[ListedDetector, ...]:
    """The same, and the checks of model files."""
    return (*all_detectors(), *_of_models())


def _of_models() -> tuple[ListedDetector, ...]:
    # The analysis of a recording needs none of what they import.
    from tracekit.detectors.model_runner import MODEL_DETECTORS

    return MODEL_DETECTORS


def _may_have_entry_points() -> bool:
    """False where no installed package names the group. `importlib.metadata` says so too, but to import it takes longer
    than to look at the files of a hundred packages."""
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return True
    return any(map(_may_name_group, dict.fromkeys(sys.path)))


def _may_name_group(folder: str) -> bool:
    """Whether a package in a folder of the import path names the group, or may: in an archive, say."""
    try:
        packages = [at for at in os.scandir(folder or ".") if at.name.lower().endswith((".dist-info", "egg-info"))]
        stated = [Path(at.path, "entry_points.txt") for at in packages]
        return any(GROUP.encode() in path.read_bytes() for path in stated if path.is_file())
    except FileNotFoundError:
        return False
    except OSError:
        return True


def _load_detectors(entry: EntryPoint, taken: set[str]) -> list[AnyDetector]:
    """The detectors behind an entry point, or one that fails with the reason why there are none."""

    def load() -> list[AnyDetector]:
        value = entry.load()
        listed = list(value) if isinstance(value, Iterable) else [value]
        ids = set(taken)
        detectors = []
        for each in listed:
            if not isinstance(each, Detector | RecordingDetector):
                raise TypeError(f"'{entry.value}' contains an object of type {type(each).__name__}, not a detector")
            detector = _plain_detector(each, _package(entry))
            if detector.id in ids:
                raise ValueError(f"a check '{detector.id}' already exists")
            ids.add(detector.id)
            detectors.append(detector)
        return detectors

    try:
        return run_foreign(load)
    except ForeignCodeFailed as error:
        return [_failing_detector(entry, f"the plug-in cannot be loaded ({error})")]


_TEXTS = ("title", "finding_title", "description", "why", "fix")
_LISTS = ("needs", "uses", "caused_by")


def _plain_detector(detector: AnyDetector, package: str) -> AnyDetector:
    """The detector with what it says of itself as plain texts and tuples, which no code of its package can change any
    more. Raises TypeError or ValueError for one that could not be listed, configured or run."""
    check_texts(detector, ("id",))
    check_texts(detector.page, _TEXTS)
    page = Page(
        **{name: str.__str__(getattr(detector.page, name)) for name in _TEXTS},
        pattern=detector.page.pattern,
        references=tuple(Reference(_text(entry.title), _text(entry.url)) for entry in detector.page.references),
    )
    lists = {name: tuple(map(_text, getattr(detector, name))) for name in _LISTS}
    kind: Any = RecordingDetector if isinstance(detector, RecordingDetector) else Detector
    copied: AnyDetector = kind(
        id=str.__str__(detector.id),
        page=page,
        **lists,
        origins=tuple(detector.origins),
        causes=tuple(map(Cause, detector.causes)),
        joins=bool(detector.joins),
        counts=bool(detector.counts),
        on_evidence=bool(detector.on_evidence),
        options=detector.options,
        asks=tuple(detector.asks),
        detect=detector.detect,
        package=package,
    )
    _check(copied)
    return copied


def _text(value: object) -> str:
    """A text as nothing more than that."""
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is of type {type(value).__name__}, not text")
    return str.__str__(value)


def _check(detector: AnyDetector) -> None:
    """Raise TypeError or ValueError for a detector that could not be listed, configured or run."""
    if not _ID.fullmatch(detector.id):
        raise ValueError(f"the id {detector.id!r} is not in kebab case")
    if not isinstance(detector.page.pattern, Pattern):
        raise TypeError(f"the pattern of '{detector.id}' is not a Pattern")
    if not callable(detector.detect):
        raise TypeError(f"'{detector.id}' has no function to call")
    for name in (*detector.needs, *detector.uses):
        if name not in _INSTRUMENTS:
            raise ValueError(f"'{detector.id}' looks at '{name}', which is none of: {', '.join(_INSTRUMENTS)}")
    detector.options()
    for info in option_infos(detector):
        check_texts(info, ("name", "unit", "basis"))
        for number in (info.default, info.minimum, info.maximum):
            if isinstance(number, bool) or not isinstance(number, int | float):
                raise TypeError(f"the option '{info.name}' of '{detector.id}' is not a number")
            if not math.isfinite(number):
                raise ValueError(f"the option '{info.name}' of '{detector.id}' is not a finite number")


def _package(entry: EntryPoint) -> str:
    return "" if entry.dist is None else entry.dist.name


def _failing_detector(entry: EntryPoint, reason: str) -> AnyDetector:
    """A detector that fails with the reason."""

    def fail(_view: RecordingView, _options: NoOptions) -> Outcome:
        raise RuntimeError(f"{reason}; repair or uninstall the package '{_package(entry)}'")

    return RecordingDetector(
        id=f"{_package(entry)}:{entry.name}",
        page=Page(
            title="The plug-in can be loaded",
            finding_title="The plug-in cannot be loaded",
            pattern=Pattern.RECORDING,
            why="An installed check did not run.",
        ),
        options=NoOptions,
        package=_package(entry),
        detect=fail,
    )
