"""A verdict with an item of each kind, for the tests of its renderers."""

from __future__ import annotations

from dataclasses import replace

from tracekit.comparison.gate import Gate
from tracekit.comparison.verdict import Figure, Item, ModelFigures, Verdict

P50 = ("limits", "Net*", "p50")
GATE = Gate(
    Verdict.FAILED,
    (
        Item(Verdict.FAILED, "p50", "Net", "12.00 ms, allowed: at most 10.00 ms", None, P50, 12e6, 10e6),
        Item(
            Verdict.FAILED, "findings", "Net", "cold-load:Net is new since the baseline", "cold-load:Net", ("baseline",)
        ),
        Item(
            Verdict.INCONCLUSIVE, "cold-load", "Net", "no cold load was recorded", None, ("limits", "Net*", "cold-load")
        ),
        Item(
            Verdict.NOT_COUNTED,
            "suppression",
            None,
            "shape-switching does not count (later)",
            "shape-switching",
            ("suppress", 0),
        ),
        Item(Verdict.PASSED, "copies", "Net", "2, allowed: at most 2", None, ("limits", "Net*", "copies"), 2, 2),
    ),
    None,
    (
        ModelFigures(
            "Net",
            "predictions",
            {
                "p50": Figure(12e6, 11.5e6, 12.5e6, 100, 1),
                "copies": Figure(2, None, None, None, 1),
                "neural-engine": Figure(0.75, 0.7, 0.8, None, 3),
            },
        ),
    ),
)


def hostile(text: str) -> Gate:
    """A verdict whose model and sentence are this text."""
    item = replace(GATE.items[0], model=text, text=text)
    return replace(GATE, items=(item,), models=(replace(GATE.models[0], model=text),))
