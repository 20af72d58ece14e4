"""Write `docs/detectors/`: one page per check, as `tracekit explain` prints it, and a list of all.

python scripts/detector_pages.py [DIR]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.detectors.model_registry import MODEL_DETECTORS
from tracekit.detectors.page import HEURISTIC, page_markdown
from tracekit.detectors.registry import DETECTORS

if TYPE_CHECKING:
    from tracekit.detectors.framework import ListedDetector

CHECKS = (*DETECTORS, *MODEL_DETECTORS)


def pages() -> dict[str, str]:
    """Text of every generated page by file name."""
    listed = [
        "# Detectors",
        "",
        "What tracekit checks. Each page explains how it is measured, when a finding is not a problem, and the fix.",
        "`tracekit explain ID` prints the page. Accuracy on labeled recordings: [accuracy.md](accuracy.md).",
        "",
        "Every threshold is an option, and its basis says where the number comes from.",
        HEURISTIC,
        "",
        "| check | finding | symptom |",
        "|---|---|---|",
        *(_row(entry) for entry in DETECTORS),
        "",
        "Checks of model files ([inspect.md](../inspect.md)):",
        "",
        "| check | finding | symptom |",
        "|---|---|---|",
        *(_row(entry) for entry in MODEL_DETECTORS),
        "",
    ]
    return {"README.md": "\n".join(listed)} | {f"{entry.id}.md": page_markdown(entry) for entry in CHECKS}


def _row(entry: ListedDetector) -> str:
    return f"| [{entry.id}]({entry.id}.md) | {entry.finding_title} | {entry.pattern} |"


def main() -> None:
    """Write the pages."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/detectors")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
