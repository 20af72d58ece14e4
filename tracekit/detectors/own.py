"""Pages of tracekit's own rules as `tracekit explain` prints them, without loading a rule and what it computes with."""

from __future__ import annotations

import json
from pathlib import Path

from tracekit.detectors.pages import page_text, parse_page

GENERATED = Path(__file__).with_name("generated.json")
"""What a page takes from the code of its rule, by id: `folder`, `needs`, `thresholds`. `make docs` writes it."""


def own_page(rule: str) -> str | None:
    """The page of the rule with this id, of recordings or of model files, as Markdown; None where there is none."""
    facts = json.loads(GENERATED.read_text("utf-8")).get(rule)
    if facts is None:
        return None
    page = parse_page((GENERATED.parent / facts["folder"] / f"{rule}.md").read_text("utf-8"))
    return page_text(rule, page, facts["needs"], facts["thresholds"])
