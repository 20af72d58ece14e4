from statistics import mean, median, pstdev

import pytest

from tracekit.testing.rng import CLOCK_STEP_NS, Draws, on_clock


def test_a_seed_fixes_the_stream_for_good():
    draws = Draws(0xDEADBEAF)
    # From numpy's published test vectors for PCG64 (pcg64-testset-1.csv), which it promises never to change.
    words = [0x60D24054E17A0698, 0xD5E79D89856E4F12, 0xD254972FE64BD782]
    assert [draws.integer(0, 2**64 - 1) for _ in words] == words


def test_durations_scatter_round_the_median_with_a_longer_right_tail():
    draws = Draws(1)
    drawn = [draws.around(10_000_000, 200) for _ in range(4_000)]
    assert median(drawn) == pytest.approx(10_000_000, rel=0.02)
    assert pstdev(drawn) == pytest.approx(2_040_000, rel=0.06)
    assert mean(drawn) > median(drawn)
    assert max(drawn) - 10_000_000 > 10_000_000 - min(drawn)


def test_durations_stand_on_the_clock_and_add_up():
    drawn = Draws(3).durations(373, 6_405_200_000)
    assert len(drawn) == 373
    assert sum(drawn) == on_clock(6_405_200_000)
    assert all(duration > 0 and duration % CLOCK_STEP_NS == 0 for duration in drawn)
    assert len(set(drawn)) > 300
    with pytest.raises(ValueError, match="cannot be split into 9 durations"):
        Draws(3).durations(9, 1_000)


def test_chances_and_choices_follow_their_odds():
    draws = Draws(5)
    assert sum(draws.chance(250) for _ in range(4_000)) == pytest.approx(1_000, rel=0.1)
    assert {draws.choice("abc") for _ in range(60)} == set("abc")
    assert {draws.integer(2, 4) for _ in range(60)} == {2, 3, 4}


def test_a_shuffle_keeps_all_items_and_no_place_is_favored():
    draws = Draws(6)
    shuffles = [draws.permutation("abcd") for _ in range(2_400)]
    assert {tuple(sorted(items)) for items in shuffles} == {tuple("abcd")}
    counts = [sum(items[index] == letter for items in shuffles) for index in range(4) for letter in "abcd"]
    assert all(500 < count < 700 for count in counts)
