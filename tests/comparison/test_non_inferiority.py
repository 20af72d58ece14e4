"""What is allowed passes, what is slower fails, and a baseline says what it can show."""

import math

import numpy as np
import pytest

from support.choice import sweep_rest
from support.simulated_latencies import WARM_UP, Case, gate, latencies, of_unequal_lengths
from tracekit.comparison.latency import Answer, Reason
from tracekit.comparison.non_inferiority import (
    Compared,
    _digamma,
    _inverse_trigamma,
    _trigamma,
    hold,
    moderated_variances,
    outlook,
)
from tracekit.comparison.sampling import t_quantile
from tracekit.comparison.settings import Floor

SIDES = (3, 3)


@pytest.fixture
def times(request):
    """Builds of each case: as many as docs/error-rates.md has only with `--every-case`."""
    return 200 if request.config.getoption("--every-case") else 30


def held(before, after, **options):
    (found,) = hold([Compared((before, after), Floor(), is_fair=True, **options)])
    return found


def constant(*medians_ns):
    """Recordings of 60 predictions with these medians."""
    return [np.full(60, median, np.int64) + np.arange(60) % 3 - 1 for median in medians_ns]


@pytest.mark.parametrize("models", sweep_rest(1, 20))
def test_the_same_build_passes_and_one_slower_than_allowed_fails(models, times):
    spreads = (0.02,) * models
    builds = times if models == 1 else times // 2
    (passed, failed), (missed, caught) = gate(spreads, (1.0, 1.21), SIDES, builds)
    assert (passed >= 0.95, failed) == (True, 0)
    assert (missed, caught >= 0.95) == (0, True)


def test_a_build_that_is_slower_by_what_can_be_seen_hardly_ever_passes(times):
    generator, passed, count = np.random.default_rng(4), 0, 10 * times
    for _ in range(count):
        before, after = (1e7 * np.exp(generator.normal(0, 0.03, 3)) for _ in range(2))
        # How far recordings differ, and so what can be seen, stays as it is.
        seen = held(constant(*before), constant(*after)).seen
        passed += held(constant(*before), constant(*(after * (1 + seen)))).passed is True
    # 5%, and three standard errors of so many draws.
    assert passed / count <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / count)


def test_an_interval_below_what_is_allowed_passes_however_wide():
    found = held(constant(9_900_000, 10_000_000, 10_100_000), constant(8_900_000, 9_400_000, 9_900_000))
    assert found.passed
    assert found.low < -0.06 < found.change + 0.01
    assert 0 < found.high < 0.1


def test_the_interval_that_is_given_is_the_one_that_decides():
    """Of 20 models, each of 3 against 3 recordings that differ by 2% or 20%, and none to 40% slower."""
    generator = np.random.default_rng(7)
    models = []
    for index in range(20):
        sides = [
            1e7 * scale * np.exp(generator.normal(0, 0.2 if index % 3 else 0.02, 3))
            for scale in (1.0, 1 + 0.02 * index)
        ]
        models.append(Compared([constant(*side) for side in sides], Floor(), is_fair=True))
    said = hold(models)
    assert {each.passed for each in said} == {True, False, None}
    for each in said:
        is_near = each.seen < math.expm1(math.log1p(4 * each.allowed))
        assert (each.passed is True) == (each.high < each.allowed or (each.low < 0 and is_near))
        assert (each.passed is False) == (each.change >= each.allowed and each.low > 0)


def test_between_passing_and_failing_it_cannot_be_told():
    found = held(constant(8_500_000, 10_000_000, 11_500_000), constant(9_300_000, 10_800_000, 12_300_000))
    assert (found.passed, found.reason) == (None, Reason.WIDE)


@pytest.mark.parametrize(("options", "reason"), [
    ({"is_fair": False}, Reason.UNEQUAL),
    ({"is_fair": False, "slower": 1.5}, Reason.UNEQUAL),
    ({"error_ns": 6_000_000}, Reason.INEXACT),
])  # fmt: skip
def test_what_cannot_be_compared_neither_passes_nor_fails(options, reason):
    slower = options.pop("slower", 1.0)
    sides = [constant(10_000_000 * scale, 10_050_000 * scale) for scale in (1.0, slower)]
    (found,) = hold([Compared(sides, Floor(), **{"is_fair": True} | options)])
    assert (found.passed, found.reason) == (None, reason)


def test_one_recording_a_side_is_judged_by_its_own_predictions():
    one, other = (latencies(Case(""), 200, np.random.default_rng(seed)) for seed in (0, 1))
    assert held([one], [other]).passed
    assert held([one], [other * 5 // 4]).passed is False
    # Too short to tell a change from another clock.
    short = held([one[:20]], [other[:20] * 5 // 4])
    assert (short.passed, short.reason) == (None, Reason.SHORT)


def test_a_model_with_one_recording_a_side_is_no_surer_than_those_with_several():
    """Its predictions agree to the ns, and recordings of two other models differ by 5%."""
    others = [Compared([constant(*(ns * np.exp(each))) for each in ((-0.05, 0.0, 0.05),) * 2], Floor(), is_fair=True)
              for ns in (8e6, 9e6)]  # fmt: skip
    one = Compared([constant(10_000_000), constant(11_200_000)], Floor(), is_fair=True)
    alone, beside = hold([one])[0], hold([one, *others])[0]
    assert alone.passed is False
    assert (beside.passed, beside.reason) == (None, Reason.WIDE)
    # t of 8 degrees of freedom at 0.01 / 3, times 0.05 sqrt(2), in logarithms.
    width = t_quantile(1 - 0.01 / 3, 8) * 0.05 * math.sqrt(2)
    assert math.log1p(beside.low) == pytest.approx(math.log(1.12) - width, abs=0.01)


def test_polygamma_functions_have_their_known_values():
    assert _digamma(1) == pytest.approx(-0.5772156649015329, rel=1e-5)
    assert _trigamma(1) == pytest.approx(math.pi**2 / 6, rel=1e-5)
    assert _trigamma(0.5) == pytest.approx(math.pi**2 / 2, rel=1e-5)
    assert _inverse_trigamma(_trigamma(3.7)) == pytest.approx(3.7, rel=1e-6)
    # It falls as 1 / x.
    assert _trigamma(1e5) == pytest.approx(1e-5, rel=1e-4)


def test_variances_that_chance_explains_are_one_and_others_keep_what_is_theirs():
    generator = np.random.default_rng(0)
    degrees = np.full(40, 4.0)
    alike = generator.chisquare(4, 40) * 4e-4
    variances, joint = moderated_variances(alike, degrees)
    assert np.ptp(variances) < 0.5 * np.ptp(alike / degrees)
    assert (joint > 3 * degrees).all()
    apart = alike * np.repeat((1.0, 100.0), 20)
    variances, joint = moderated_variances(apart, degrees)
    assert variances[20:].mean() > 10 * variances[:20].mean()
    assert (joint < 3 * degrees).all()
    assert moderated_variances(alike[:1], degrees[:1])[1] == 4


@pytest.mark.sweep
def test_a_baseline_says_how_often_a_build_that_did_not_change_cannot_be_told(times):
    generator = np.random.default_rng(5)
    expected, open_checks, count = 0.0, 0, 10 * times
    for _ in range(count):
        logs = generator.normal(0, 0.04, 6)
        medians = 1e7 * np.exp(logs)
        expected += outlook([medians[:5]], [Floor()], 1).inconclusive / count
        open_checks += held(constant(*medians[:5]), constant(medians[5])).passed is None
    assert open_checks / count == pytest.approx(expected, abs=0.08)
    assert outlook([np.array([1e7])], [Floor()], 1) is None


def test_of_many_models_a_slowdown_must_be_larger_to_be_seen():
    """Each is held by a lower end of Bonferroni's."""
    medians, floor = 1e7 * np.exp(np.linspace(-0.08, 0.08, 10)), Floor()
    one, many = (outlook([medians] * count, [floor] * count, 3) for count in (2, 20))
    assert many.smallest > one.smallest > floor.allow


@pytest.mark.parametrize("recordings", [1, 3])
@pytest.mark.parametrize("counts", [(600, 40), (1000, 50)])
def test_longer_recordings_are_not_faster_since_they_are_warmer(recordings, counts, times):
    said = of_unequal_lengths(WARM_UP, counts, times // 2, recordings=recordings)
    assert said[Answer.IMPROVED] + said[Answer.REGRESSED] <= 1
