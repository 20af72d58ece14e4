"""Which checks are run, and which of them a project runs on model files, with which options."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from tracekit.detectors.options import ModelSettings, Number, Settings, model_skips, settings_of_model
from tracekit.detectors.pages import unknown_check
from tracekit.errors import UsageError

if TYPE_CHECKING:
    from tracekit.detectors.framework import Metadata

    Chosen = TypeVar("Chosen", bound=Metadata[Any])


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
class ModelChecks:
    """What a project sets for the checks of model files."""

    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    settings: Settings = field(default_factory=dict)
    """Options for all models."""
    model_settings: ModelSettings = field(default_factory=dict)
    """Options by pattern of model names."""
    model_skip: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Checks left out, by pattern of model names."""

    def skipped_checks(self, model: str) -> tuple[str, ...]:
        """Checks that are left out for a model."""
        return (*self.skip, *model_skips(self.model_skip, model))

    def settings_of(self, model: str) -> dict[str, str | Number]:
        """Options for a model."""
        return settings_of_model(self.settings, self.model_settings, model)
