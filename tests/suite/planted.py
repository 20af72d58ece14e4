"""Every problem that can be planted in a simulated app, in the order in which random apps draw from them."""

from __future__ import annotations

from suite import planted_alone, planted_together
from suite.planting import PLANTED

__all__ = ["PLANTED", "planted_alone", "planted_together"]
