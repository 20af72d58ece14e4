"""Characters that steer a terminal or reorder a line, and a recording whose names are full of them."""

from __future__ import annotations

import unicodedata

from tracekit.testing import Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

HOSTILE = "\x9b31mA\u202eB\u2066C\x85D\U000e0041E\u200fF"
"""C1 introducer, bidirectional overrides, next line, a tag, a mark: all of which XML can hold."""
MS = 1_000_000


def steering(text: str) -> set[str]:
    """The characters of a text that steer."""
    return {
        each for each in text if each not in "\n\t" and unicodedata.category(each) in ("Cc", "Cf", "Co", "Zl", "Zp")
    }


def steering_scenario(name: str = HOSTILE) -> Scenario:
    """Two models that are reloaded for each prediction; `name` is part of all names."""
    scenario = Scenario(Process(f"App{name}", 412), duration_ns=2_000 * MS)
    for model in (name, f"Other{name}"):
        for k in range(30):
            scenario.load(Model(model), (30 + 40 * k) * MS, 20 * MS)
            scenario.predict(Model(model), (52 + 40 * k) * MS, 5 * MS)
    return scenario
