"""Values by what they have in common."""

from __future__ import annotations

from tracekit.grouping import grouped


def test_keys_and_values_keep_the_order_in_which_they_come() -> None:
    groups = grouped((len(word), word) for word in ("layer", "bus", "model", "ane"))
    assert list(groups.items()) == [(5, ["layer", "model"]), (3, ["bus", "ane"])]
    assert grouped(()) == {}
