"""Model files and performance reports beside a recording, and the models that they are of."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracekit.model_files import ModelFile
    from tracekit.model_files.performance import PerformanceReport


class Match(StrEnum):
    """How a file came to describe a model."""

    GIVEN = "as given"
    NAME = "same name"
    SIMILAR = "similar name"


@dataclass(frozen=True, slots=True)
class JoinedFile:
    """A model file that was given or found, and the model of the recording that it describes."""

    source: str
    """Name of the file or folder, without the way to it."""
    model: str | None
    """Base name; None where it is used for none."""
    match: Match | None
    """None where it is used for none."""
    file: ModelFile | None
    """Its facts; None where it is not used, or cannot be read."""
    problem: str = ""
    """Why it is not used, or why that is in doubt, in one sentence."""


@dataclass(frozen=True, slots=True)
class JoinedReport:
    """A performance report that was given or found, and the model of the recording that it is of."""

    source: str
    """Name of the file, without the way to it."""
    model: str | None
    """Base name; None where it is used for none."""
    match: Match | None
    """None where it is used for none."""
    report: PerformanceReport | None
    """What it says; None where it is not used, or cannot be read."""
    problem: str = ""
    """Why it is not used, or why that is in doubt, in one sentence."""
