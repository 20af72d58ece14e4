"""Numbers as people read them."""

from __future__ import annotations

from tracekit.units import format_parts


def test_parts_add_up_as_they_are_shown():
    assert format_parts([12_404_000, 9_004_000, 8_494_000, 1_004_000]) == ["12.40 ms", "9.01 ms", "8.49 ms", "1.01 ms"]
    thirds = [1_000_000 / 3] * 3
    assert format_parts(thirds) == ["0.33 ms", "0.34 ms", "0.33 ms"]
    assert format_parts([600, 150]) == ["0.60 µs", "0.15 µs"]
    assert format_parts([]) == []
