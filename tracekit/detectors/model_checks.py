"""Which checks of model files a project runs, and with which options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tracekit.detectors.options import matches

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tracekit.detectors.options import ModelSettings, Number, Settings


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

    def skipped(self, model: str) -> tuple[str, ...]:
        """Checks that are left out for a model."""
        return (
            *self.skip,
            *(name for pattern, names in self.model_skip.items() if matches(model, pattern) for name in names),
        )

    def settings_of(self, model: str) -> dict[str, str | Number]:
        """Options for a model. Where several patterns match, a later one wins."""
        merged = dict(self.settings)
        for pattern, overrides in self.model_settings.items():
            if matches(model, pattern):
                merged |= overrides
        return merged
