"""One of tracekit's own rules by its id, without loading the others."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tracekit.detectors.framework import ListedDetector


def own_detector(rule: str) -> ListedDetector | None:
    """The rule with this id, of recordings or of model files; None where there is none."""
    for package in ("rules", "model_rules"):
        if rule in {path.stem for path in Path(__file__).with_name(package).glob("*.md")}:
            module = import_module(f"tracekit.detectors.{package}.{rule.replace('-', '_')}")
            found: ListedDetector = module.DETECTOR
            return found
    return None
