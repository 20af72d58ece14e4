"""Write `docs/detectors/README.md`: the list of all checks, with a link to the page of each; and what the page of each
takes from its code.

python scripts/detector_pages.py
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.detectors.explanation import HEURISTIC, from_code
from tracekit.detectors.model_runner import MODEL_DETECTORS
from tracekit.detectors.pages import GENERATED, Pattern
from tracekit.detectors.registry import DETECTORS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.detectors.framework import ListedDetector

LIST = Path("docs/detectors/README.md")
PAGES = "../../tracekit/detectors"


def listed() -> str:
    """The list as Markdown."""
    lines = [
        "# Every check",
        "",
        "What tracekit looks for, by symptom. The page of a check says how it measures, when a finding is not a",
        "problem, and how to fix it. `tracekit explain ID` prints the same with its thresholds. How often checks are",
        "right: [accuracy](accuracy.md).",
        "",
        "Every threshold is an option; its basis says where the number comes from.",
        HEURISTIC,
        "",
        *_sections(DETECTORS, "rules"),
        "## Checks of model files",
        "",
        "`tracekit inspect` and `fix` evaluate these ([models](../inspect.md)).",
        "",
        *_rows(MODEL_DETECTORS, "model_rules"),
    ]
    return "\n".join(lines)


def _sections(checks: Sequence[ListedDetector], folder: str) -> list[str]:
    lines: list[str] = []
    for pattern in Pattern:
        found = [each for each in checks if each.page.pattern == pattern]
        if found:
            lines += [f"## {str(pattern)[0].upper()}{str(pattern)[1:]}", "", *_rows(found, folder)]
    return lines


def _rows(checks: Sequence[ListedDetector], folder: str) -> list[str]:
    rows = (
        f"| [{each.id}]({PAGES}/{folder}/{each.id}.md) | {each.page.finding_title} |"
        for each in sorted(checks, key=lambda each: list(Pattern).index(each.page.pattern))
    )
    return ["| check | finding |", "|---|---|", *rows, ""]


def generated() -> str:
    """What pages take from the code of their rules, as `tracekit.detectors.pages` reads it."""
    texts = {each.id: from_code(each) for each in (*DETECTORS, *MODEL_DETECTORS)}
    return json.dumps(texts, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    LIST.write_text(listed(), encoding="utf-8")
    GENERATED.write_text(generated(), encoding="utf-8")
