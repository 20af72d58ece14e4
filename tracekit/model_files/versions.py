"""Which systems load which specification version, and what needs which.

Sources: `mlmodel/format/Model.proto` of coremltools 9.0 (table of versions); the compiler's `availability` (visionOS).
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from tracekit.errors import UsageError
from tracekit.model_files.facts import FeatureKind, Kind, ModelFile

NEWEST = 10
"""Highest specification version that tracekit knows. iOS 27 and macOS 27 brought no new one."""
NEWEST_SYSTEM = 27
"""Highest version that a system has."""


@dataclass(frozen=True, slots=True)
class Release:
    """The systems that first load a specification version."""

    version: int
    ios: str
    """Also the version of iPadOS, tvOS and Mac Catalyst."""
    macos: str
    watchos: str
    visionos: str | None

    @property
    def words(self) -> str:
        """For sentences: `iOS 16, macOS 13`."""
        return f"iOS {self.ios}, macOS {self.macos}"


RELEASES = (
    Release(1, "11", "10.13", "4", None),
    Release(2, "11.2", "10.13.2", "4.2", None),
    Release(3, "12", "10.14", "5", None),
    Release(4, "13", "10.15", "6", None),
    Release(5, "14", "11", "7", None),
    Release(6, "15", "12", "8", None),
    Release(7, "16", "13", "9", "1"),
    Release(8, "17", "14", "10", "1"),
    Release(9, "18", "15", "11", "2"),
    Release(10, "26", "26", "26", "26"),
)

_SYSTEMS = {
    "ios": ("iOS", "ios"),
    "ipados": ("iPadOS", "ios"),
    "tvos": ("tvOS", "ios"),
    "maccatalyst": ("Mac Catalyst", "ios"),
    "macos": ("macOS", "macos"),
    "watchos": ("watchOS", "watchos"),
    "visionos": ("visionOS", "visionos"),
}
_TARGET = re.compile(r"([A-Za-z]+)[ -]?(\d{1,3}(?:\.\d{1,3}){0,2})")


@dataclass(frozen=True, slots=True)
class Target:
    """A system that a model shall load on."""

    system: str
    release: str
    version: int
    """Highest specification version that loads there; 0 where none does."""

    @property
    def words(self) -> str:
        """`iOS 16`."""
        return f"{self.system} {self.release}"


def parse_target(text: str) -> Target:
    """A target as `--system` takes it: `iOS16`, `macOS 13`. Raises `UsageError`."""
    match = _TARGET.fullmatch(text.strip())
    if match is None or match[1].lower() not in _SYSTEMS:
        names = ", ".join(name for name, _ in _SYSTEMS.values())
        raise UsageError(f"--system {text[:60]}: expected a system and its version, such as iOS16 (systems: {names})")
    system, field = _SYSTEMS[match[1].lower()]
    requested = _number(match[2])
    version = 0
    for release in RELEASES:
        first: str | None = getattr(release, field)
        if first is not None and _number(first) <= requested:
            version = release.version
    if requested[0] > NEWEST_SYSTEM and version == NEWEST:
        known = ", ".join(
            f"{name} {getattr(RELEASES[0], field) or 1} to {NEWEST_SYSTEM}" for name, field in _SYSTEMS.values()
        )
        raise UsageError(f"--system {text[:60]}: no such system (known: {known})")
    return Target(system, match[2], version)


def recorded_target(platform: str | None, version: str | None) -> Target | None:
    """The system of a recording, whose version may be followed by a build: `18.5 (22F76)`; None for one that is not
    known."""
    with suppress(UsageError):
        return parse_target(f"{platform} {(version or '').partition(' (')[0]}")
    return None


def release_of(version: int) -> Release | None:
    """The release that first loads a specification version; None for versions that are not known."""
    return RELEASES[version - 1] if 1 <= version <= NEWEST else None


def opset_name(name: str) -> str:
    """The opset of a function as specifications name it: `CoreML6` for the `ios16` or `Ios16` of compiled models. One
    that is not known stays as it is. Source: `_OPSET` of coremltools."""
    system, number = name[:3].lower(), name[3:]
    versions = (release.version for release in RELEASES if system == "ios" and release.ios == number)
    return next((f"CoreML{version - 1}" for version in versions), name)


def deployment_target(version: int) -> str:
    """The argument for `ct.convert`, whose oldest ML program is one for iOS 15."""
    release = RELEASES[min(max(version, 6), NEWEST) - 1]
    return f"ct.target.iOS{release.ios}"


def _number(text: str) -> tuple[int, ...]:
    """A version for comparison: `13` and `13.0` are equal."""
    parts = [int(part) for part in text.split(".")]
    return (*parts, 0, 0)[:3]


_GRANULAR = ("per block", "per group")


@dataclass(frozen=True, slots=True)
class Need:
    """A part of a model that older systems do not have."""

    words: str
    """For sentences: `Float16 inputs or outputs`."""
    version: int


def needs_of(model: ModelFile) -> tuple[Need, ...]:
    """What the interface, the form and the weights need, the newest first."""
    features = [feature for function in model.functions for feature in function.features]
    passed = {feature.element for feature in features if feature.kind is not FeatureKind.STATE}
    tensors = model.weights.tensors or ()
    compressed = [weight for weight in tensors if weight.technique and model.kind == Kind.ML_PROGRAM]
    newer = [weight for weight in compressed if len(weight.technique) > 1 or weight.granularity in _GRANULAR]
    needs = {
        Need("the ML program format", 6): any(part.kind == Kind.ML_PROGRAM for part in model.parts),
        Need("Float16 inputs or outputs", 7): "Float16" in passed,
        Need("Int8 inputs or outputs", 10): any(feature.element == "Int8" for feature in features),
        Need("states", 9): any(feature.kind is FeatureKind.STATE for feature in features),
        Need("several functions", 9): len(model.functions) > 1,
        Need("weights compressed per block, per group or in two ways", 9): bool(newer),
        Need("compressed weights", 7): len(newer) < len(compressed),
    }
    return tuple(sorted((need for need, has in needs.items() if has), key=lambda need: -need.version))
