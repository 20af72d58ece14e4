"""Answers about latencies: what they rest on, how often they are wrong, and what changes nothing."""

from dataclasses import replace

import numpy as np
import pytest

from support.analyses import kept_trace
from support.choice import sweep_rest
from support.simulated_latencies import (
    DEPENDENT,
    NOISY,
    NOTHING_CHANGED,
    RUNS_DIFFER,
    SLOWER,
    TWO_LEVELS,
    Case,
    answers,
    covered,
    latencies,
)
from tracekit.comparison.latency import Answer, Reason, compare_latency, compare_p95
from tracekit.comparison.settings import Floor


@pytest.fixture
def pairs(request):
    """Pairs of recordings of each case: as many as docs/error-rates.md has only with `--every-case`."""
    return 200 if request.config.getoption("--every-case") else 20


def drawn(count, seed=0, *, scale=1.0, **options):
    return latencies(Case("", **options), count, np.random.default_rng(seed), scale)


@pytest.mark.turns(3)
@pytest.mark.parametrize("count", [12, 20, 50, 100, 500])
@pytest.mark.parametrize("case", sweep_rest(*NOTHING_CHANGED, *TWO_LEVELS), ids=lambda case: case.name)
def test_a_build_that_did_not_change_is_hardly_ever_called_changed(case, count, pairs):
    if count == 500 and pairs < 200:
        pytest.skip("takes minutes: run with --every-case")
    found = answers(case, count, pairs)
    # 20 of 200 pairs, and as much more of a few pairs as chance has.
    assert found[Answer.REGRESSED] + found[Answer.IMPROVED] <= pairs // 10 + (pairs < 200) * 2


@pytest.mark.parametrize("case", sweep_rest(*TWO_LEVELS), ids=lambda case: case.name)
@pytest.mark.parametrize("scale", sweep_rest(1.0, 1.1))
def test_intervals_of_what_goes_between_levels_contain_the_change(case, scale, pairs):
    # 90%, and as many fewer as chance has: without doubts about levels they are 73% to 82%.
    assert covered(replace(case, scale=scale), 100, pairs) >= 0.9 - (pairs < 200) * 0.1


@pytest.mark.sweep
def test_recordings_of_one_build_that_differ_are_called_changed_at_times(pairs):
    found = answers(RUNS_DIFFER, 100, pairs)
    # The limit of one pair of recordings: 36 of 200.
    assert found[Answer.REGRESSED] + found[Answer.IMPROVED] <= 0.18 * pairs + (pairs < 200) * 2


@pytest.mark.parametrize(("case", "least"), sweep_rest((SLOWER, 0.75), (NOISY, 0.3)))
def test_a_slowdown_of_a_tenth_is_found(case, least, pairs):
    assert answers(case, 100, pairs)[Answer.REGRESSED] >= least * pairs


@pytest.mark.sweep
def test_a_slowdown_is_hardly_ever_called_an_improvement(pairs):
    assert answers(DEPENDENT, 100, pairs)[Answer.IMPROVED] <= 0.05 * pairs


def test_ten_per_cent_are_found_with_their_interval():
    change = compare_latency([drawn(200)], [drawn(200, 1, scale=1.1)])
    assert change.answer is Answer.REGRESSED
    assert change.low < 1.1 < change.high
    assert change.ratio == pytest.approx(1.1, abs=0.03)
    assert change.predictions == ((200,), (200,))


def test_sides_mirror_each_other_and_another_unit_changes_nothing():
    one, other = drawn(100), drawn(100, 1, scale=1.2)
    there, back = compare_latency([one], [other]), compare_latency([other], [one])
    assert (there.answer, back.answer) == (Answer.REGRESSED, Answer.IMPROVED)
    assert (there.low, there.high) == (pytest.approx(1 / back.high), pytest.approx(1 / back.low))
    scaled = compare_latency([one * 1000], [other * 1000])
    assert (scaled.answer, scaled.low) == (there.answer, pytest.approx(there.low))
    assert compare_latency([drawn(100)], [drawn(100, 1, scale=1.2)]) == there


def test_a_recording_against_itself_never_changed():
    for count in (5, 20, 100, 500):
        change = compare_latency([drawn(count)], [drawn(count)])
        assert change.answer in (Answer.UNCHANGED, Answer.INCONCLUSIVE)


@pytest.mark.sweep
@pytest.mark.corpus
def test_two_halves_of_a_real_recording_are_not_called_changed(corpus):
    trace = kept_trace(corpus / "bundles" / "fp16_w8_60s_all.trace")
    durations = trace.hardware.duration_ns
    assert len(durations) > 20_000
    # Real durations on the GPU: no recording of the corpus holds the latencies of many predictions.
    for part in (durations, durations[:4_000]):
        half = len(part) // 2
        assert compare_latency([part[:half]], [part[half:]]).answer in (Answer.UNCHANGED, Answer.INCONCLUSIVE)


def test_eleven_predictions_are_too_few():
    change = compare_latency([drawn(11)], [drawn(100)])
    assert (change.answer, change.reason) == (Answer.INCONCLUSIVE, Reason.FEW)


def test_predictions_that_depend_on_each_other_are_worth_fewer():
    change = compare_latency([drawn(30, phi=0.95)], [drawn(30, 1, phi=0.95)])
    assert change.reason is Reason.FEW
    assert min(change.effective) < 16
    assert change.wanted > 30


def test_a_side_without_predictions_gives_no_answer():
    nothing = np.zeros(0, np.int64)
    change = compare_latency([nothing], [drawn(50)])
    assert (change.reason, change.before_ns, change.ratio) == (Reason.MISSING, None, None)
    assert compare_latency([], [drawn(50), drawn(50)]).reason is Reason.MISSING


def test_a_few_slow_predictions_are_no_doubt_about_a_change_of_all():
    """1,499 predictions, of which 60 in a row are a third slower, against as many that are all 12% slower."""
    before, after = drawn(1499, spread=0.02), drawn(1499, 1, scale=1.12, spread=0.02)
    before[700:760] = before[700:760] * 4 // 3
    assert compare_latency([before], [after]).answer is Answer.REGRESSED


@pytest.mark.parametrize(("at", "doubted"), [(slice(20), False), (slice(1479, None), False), (slice(500), True)])
def test_a_part_is_doubted_only_if_it_is_long_enough_to_explain_a_change(at, doubted):
    """Of 1,499 predictions that are 12% slower, some at either end are as before."""
    for seed in range(2):
        before, after = drawn(1499, seed), drawn(1499, 10 + seed, scale=1.12)
        after[at] = after[at] / 1.12
        assert (compare_latency([before], [after]).reason is Reason.NOT_STEADY) is doubted


def test_a_change_that_one_side_shows_for_a_while_is_not_steady_in_several_either():
    steady = [drawn(100, seed, spread=0.02) for seed in range(3)]
    stepping = [
        np.concatenate([drawn(40, seed, spread=0.02), drawn(60, seed, scale=1.2, spread=0.02)]) for seed in (3, 4, 5)
    ]
    for sides in ((steady, stepping), (stepping, steady)):
        change = compare_latency(*sides)
        assert (change.answer, change.reason) == (Answer.INCONCLUSIVE, Reason.NOT_STEADY)


def test_latencies_that_swing_in_each_recording_hide_no_change_of_several():
    """By a fifth, in 90 predictions: a third of a recording is at the level of the other side, in each of them."""
    generator = np.random.default_rng(1)
    swinging = Case("", spread=0.03, beat=0.1, period=90)
    sides = [[latencies(swinging, 100, generator, scale) for _ in range(3)] for scale in (1.0, 1.1)]
    assert compare_latency(*sides).answer is Answer.REGRESSED
    assert compare_latency(*(side[:1] for side in sides)).answer is Answer.INCONCLUSIVE


@pytest.mark.parametrize(("spread", "answer"), [(0.05, Answer.REGRESSED), (0.2, Answer.INCONCLUSIVE)])
def test_medians_of_three_that_agree_by_chance_are_no_surer_than_their_predictions(spread, answer):
    # The median of 50 values is off by 1.25 spreads / sqrt(50): with 20%, six such medians tell 8% apart, not 6%.
    generator = np.random.default_rng(4)
    drawn = [generator.normal(0, spread, 50) for _ in range(6)]
    logs = [one - np.median(one) + np.log(1 + 0.06 * (at >= 3) + 0.001 * (at % 3)) for at, one in enumerate(drawn)]
    sides = [(1e7 * np.exp(one)).astype(np.int64) for one in logs]
    change = compare_latency(sides[:3], sides[3:])
    assert (change.answer, change.reason is Reason.WIDE) == (answer, answer is Answer.INCONCLUSIVE)
    assert change.low <= 1 < change.ratio < change.high or answer is Answer.REGRESSED


@pytest.mark.parametrize(("scale", "reason"), [(1.2, Reason.SHORT), (2.5, None)])
def test_a_short_recording_shows_large_changes_alone(scale, reason):
    change = compare_latency([drawn(20, phi=0.0, spread=0.02)], [drawn(20, 1, scale=scale, phi=0.0, spread=0.02)])
    assert change.reason is reason
    assert change.wanted == (50 if reason else None)


def test_a_recording_that_steps_by_as_much_is_not_steady():
    stepping = np.concatenate([drawn(60), drawn(200, 1, scale=1.3)])
    change = compare_latency([drawn(200, 2)], [stepping])
    assert (change.answer, change.reason) == (Answer.INCONCLUSIVE, Reason.NOT_STEADY)


def test_latencies_around_two_values_give_no_answer():
    generator = np.random.default_rng(3)
    fast, slow = drawn(200, spread=0.02), drawn(200, 1, scale=2.0, spread=0.02)
    mostly_fast = np.where(generator.random(200) < 0.35, slow, fast)
    mostly_slow = np.where(generator.random(200) < 0.65, slow, fast)
    change = compare_latency([mostly_fast], [mostly_slow])
    assert (change.answer, change.reason) == (Answer.INCONCLUSIVE, Reason.MODES)


@pytest.mark.parametrize("recordings", sweep_rest(1, 3))
def test_the_interval_that_is_given_is_the_one_that_decides(recordings):
    """Of 60 pairs, from equal to 52% slower, some of them with levels of their own."""
    seen = set()
    for seed in range(60):
        scale, levels = 1 + 0.02 * (seed % 27), TWO_LEVELS[0] if seed % 3 == 0 else Case("", runs=0.02)
        drawn_for = [latencies(levels, 60, np.random.default_rng((seed, one)), 1.0) for one in range(2 * recordings)]
        sides = drawn_for[:recordings], [values * scale for values in drawn_for[recordings:]]
        change = compare_latency(*sides)
        seen.add(change.answer)
        excluded = change.low > 1 or change.high < 1
        if change.answer in (Answer.REGRESSED, Answer.IMPROVED):
            assert excluded
        elif change.answer is Answer.UNCHANGED:
            assert 1 / (1 + change.floor) < change.low < change.high < 1 + change.floor
        else:
            assert not excluded or change.reason is Reason.SMALL
    assert seen >= {Answer.REGRESSED, Answer.INCONCLUSIVE}


def test_half_a_microsecond_of_a_short_prediction_does_not_count_unless_the_floor_says_so():
    before, after = drawn(300) // 100, drawn(300, 1, scale=1.2) // 100
    assert compare_latency([before], [after]).answer is Answer.UNCHANGED
    assert compare_latency([before], [after], floor=Floor(0.05, 0)).answer is Answer.REGRESSED
    # Without a floor nothing shows that nothing changed.
    change = compare_latency([drawn(300)], [drawn(300)], floor=Floor(0, 0))
    assert (change.answer, change.reason, change.ratio) == (Answer.INCONCLUSIVE, Reason.WIDE, 1)


def test_equal_durations_are_exact():
    change = compare_latency([np.full(50, 10_000_000)], [np.full(50, 12_000_000)])
    assert (change.answer, change.low, change.high) == (Answer.REGRESSED, pytest.approx(1.2), pytest.approx(1.2))


def test_three_recordings_a_side_are_the_sample():
    before = [drawn(50, seed, scale=1 + 0.01 * seed) for seed in range(3)]
    after = [drawn(50, seed + 3, scale=1.2 + 0.01 * seed) for seed in range(3)]
    change = compare_latency(before, after)
    assert change.answer is Answer.REGRESSED
    assert change.predictions == ((50,) * 3,) * 2
    assert change.effective is None


def test_recordings_that_differ_by_more_than_the_change_hide_it():
    # Within each recording nothing varies; only the recordings tell how much of this is chance.
    before = [np.full(100, 10_000_000), np.full(100, 11_500_000), np.full(100, 9_000_000)]
    after = [np.full(100, 11_000_000), np.full(100, 12_000_000), np.full(100, 9_900_000)]
    assert compare_latency(before, after).answer is Answer.INCONCLUSIVE


def test_one_recording_is_held_against_the_spread_of_several():
    # mean +- t(4) s sqrt(1 + 1/5), s = 0.0158 in logarithms and t = 2.776: 4.8% to either side.
    before = [np.full(50, round(10_000_000 * 1.01**step)) for step in (-2, -1, 0, 1, 2)]
    inside = compare_latency(before, [np.full(50, 10_400_000)], floor=Floor(0.01, 0))
    outside = compare_latency(before, [np.full(50, 10_600_000)], floor=Floor(0.01, 0))
    assert (inside.answer, outside.answer) == (Answer.INCONCLUSIVE, Answer.REGRESSED)


def test_a_95th_percentile_needs_three_hundred_predictions():
    few = compare_p95([drawn(299)], [drawn(300, 1)])
    assert (few.reason, few.low) == (Reason.FEW, None)
    assert few.before_ns == pytest.approx(np.quantile(drawn(299), 0.95), rel=0.01)
    assert compare_p95([drawn(19)], [drawn(300, 1)]).before_ns is None
    slower = compare_p95([drawn(400)], [drawn(400, 1, scale=1.5)])
    assert slower.answer is Answer.REGRESSED
    assert slower.low < 1.5 < slower.high


def test_a_95th_percentile_of_several_recordings_is_held_against_their_spread():
    def slow_tail(seed, factor):
        values = drawn(400, seed, spread=0.01)
        values[::10] = values[::10] * factor
        return values

    before, after = ([slow_tail(seed, factor) for seed in range(3)] for factor in (1.5, 2.0))
    change = compare_p95(before, after)
    # A tenth of the predictions is slow, so the 95th percentile lies among them: 2.0 / 1.5.
    assert change.answer is Answer.REGRESSED
    assert change.ratio == pytest.approx(4 / 3, rel=0.02)
    assert (len(change.predictions[0]), change.effective) == (3, None)
    assert compare_latency(before, after).answer is Answer.UNCHANGED
    # Recordings of one build whose tails differ as much hide it.
    mixed = [slow_tail(0, 1.3), slow_tail(1, 2.2), slow_tail(2, 1.6)]
    assert compare_p95(mixed, after).answer is Answer.INCONCLUSIVE


def test_a_95th_percentile_of_predictions_that_depend_on_each_other_gives_no_answer():
    before, after = (drawn(300, seed, scale=scale, phi=0.999) for seed, scale in ((0, 1.0), (1, 3.0)))
    change = compare_p95([before], [after])
    assert min(change.effective) < 16
    assert change.reason is Reason.FEW


def test_a_change_names_the_share_that_counts():
    # 5%, and 50 µs where that is more: 50 µs of 200 µs are 25%.
    for unit, share in ((1, 0.05), (50, 0.25)):
        values = np.full(50, 10_000_000 // unit)
        assert compare_latency([values], [values]).floor == pytest.approx(share)


@pytest.mark.parametrize("drift", [0.0, 0.05, 0.2])
def test_a_few_long_predictions_ask_for_no_hours(drift):
    """Twelve of 4.3 s a side, 0.3% apart, as they were or ever slower: 3,000 of them would take hours."""
    generator = np.random.default_rng(0)
    sides = [
        (4.3e9 * level * (1 + drift * np.arange(12) / 12 + 0.002 * generator.standard_normal(12))).astype(np.int64)
        for level in (1.0, 1.003)
    ]
    change = compare_latency(sides[:1], sides[1:])
    assert change.reason is Reason.FEW
    assert min(change.effective) >= 1
    # Where twelve are worth one, 192 are worth sixteen; where they are worth 3.7, 52 are.
    assert change.wanted == (200 if drift else 52)


def test_one_recording_per_side_says_nothing_of_what_two_of_one_build_may_differ_by():
    change = compare_latency([drawn(400)], [drawn(400, 1, scale=1.06)])
    assert (change.answer, change.reason, change.wanted) == (Answer.INCONCLUSIVE, Reason.RUNS, None)
    assert change.low < 1 < change.high


def several(count, spread, seed):
    """So many recordings a side of one build, whose levels differ by so much."""
    levels = 1e7 * np.exp(spread * np.random.default_rng(seed).standard_normal((2, count)))
    return compare_latency(*([np.full(40, round(level)) for level in side] for side in levels))


@pytest.mark.parametrize(("count", "spread", "wanted"), [(2, 0.05, 3), (4, 0.5, None)])
def test_more_recordings_are_asked_for_where_they_would_tell(count, spread, wanted):
    change = several(count, spread, 5)
    assert (change.reason, change.wanted) == (Reason.WIDE, wanted)


def test_as_many_recordings_as_are_asked_for_settle_it():
    wanted = [each for seed in range(60) if (each := several(4, 0.02, seed).wanted) is not None]
    assert len(wanted) >= 10
    settled = [several(int(np.median(wanted)), 0.02, seed).answer is not Answer.INCONCLUSIVE for seed in range(60)]
    assert np.mean(settled) > 0.6
