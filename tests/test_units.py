"""Numbers as people read them."""

import pytest

from tracekit.units import format_parts, format_rate


@pytest.mark.parametrize(
    ("per_second", "said", "per_second_said"),
    [
        (1_234.5, "1,234/s", "1,234"), (99.94, "99.9/s", "99.9"), (19.2, "19.2/s", "19.2"), (1, "1.0/s", "1.0"),
        (0.2, "12.0/min", "0.20"), (0.05, "3.0/min", "0.050"), (1 / 60, "1.0/min", "0.017"),
        (1 / 3_600, "1.0/h", "0.00028"), (0, "0.0/h", "0"),
    ],
)  # fmt: skip
def test_slow_rates_are_given_per_minute_unless_a_title_says_per_second(per_second, said, per_second_said):
    assert format_rate(per_second) == said
    assert format_rate(per_second, "") == per_second_said
    assert format_rate(per_second, " tokens/s") == said.replace("/", " tokens/")


def test_parts_add_up_as_they_are_shown():
    assert format_parts([12_404_000, 9_004_000, 8_494_000, 1_004_000]) == ["12.4 ms", "9.0 ms", "8.5 ms", "1.0 ms"]
    thirds = [1_000_000 / 3] * 3
    assert format_parts(thirds) == ["0.33 ms", "0.34 ms", "0.33 ms"]
    assert format_parts([600, 150]) == ["600 ns", "150 ns"]
    assert format_parts([]) == []
