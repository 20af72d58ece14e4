"""The list of checks: a line each, by what they are about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tracekit.detectors.framework import ListedDetector, ModelFileDetector
from tracekit.detectors.options import option_infos
from tracekit.detectors.pages import Pattern
from tracekit.documents.columns import words
from tracekit.render.blocks import Column, Document, Role, present, table

APP, RECORDING, MODEL_FILE = "The app", "The recording itself", "A model file (tracekit inspect)"


def checks_document(detectors: Sequence[ListedDetector]) -> Document:
    """Id and finding of each check, those of recordings first."""
    finding: Column[ListedDetector] = words("finding", lambda each: each.page.finding_title)
    columns = (words("about", _about, heading=True), words("check", _name), finding)
    rows = sorted(detectors, key=lambda each: (APP, RECORDING, MODEL_FILE).index(_about(each)))
    blocks = present(table("Checks", columns, rows))
    return Document("Checks", "", Role.PLAIN, blocks=blocks, closing="its page and thresholds: tracekit explain CHECK")


def _about(detector: ListedDetector) -> str:
    if isinstance(detector, ModelFileDetector):
        return MODEL_FILE
    return RECORDING if detector.page.pattern == Pattern.RECORDING else APP


def _name(detector: ListedDetector) -> str:
    return f"{detector.id} (from {detector.package})" if detector.package else detector.id


def facts_of(detector: ListedDetector) -> dict[str, Any]:
    """One check as JSON."""
    return {
        "id": detector.id,
        "title": detector.page.title,
        "finding_title": detector.page.finding_title,
        "package": detector.package,
        "pattern": str(detector.page.pattern),
        "needs": list(detector.needs),
        "uses": list(detector.uses),
        "options": [
            {"name": info.name, "default": info.default, "unit": info.unit, "basis": info.basis}
            for info in option_infos(detector)
        ],
    }
