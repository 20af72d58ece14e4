"""The largest part of a slow prediction names what made it slow, and parts add up to the nanosecond."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suite.processes import on_all_processors
from suite.slow_predictions import PLANTS, Answer, add_samples, answered, answered_in_apps, made, preempted, table
from support.handover import trace_of
from tracekit.analysis.ledger.account import ledger
from tracekit.analysis.ledger.causes import Cause, Known
from tracekit.analysis.ledger.explain import why
from tracekit.columns import constant
from tracekit.trace.samples import Samples, SampleSource

PLANTED, APPS = 5, 12
"""Of each planted cause, and random apps, in an ordinary run: some 60 slow predictions."""
EVERY_PLANTED, EVERY_APP = 185, 400
"""With `--every-case`: some 2,000."""
RIGHT, SILENT, SIZED = 0.97, 0.1, 0.95


def assert_good(answers: list[Answer]) -> None:
    wrong = "\n".join(f"{answer.seed}: {answer.story} {answer.complaint}" for answer in answers if not answer.right)
    said = f"{table(answers)}\n{wrong}"
    silent = sum(answer.abstains for answer in answers)
    assert not [answer for answer in answers if answer.complaint], said
    assert sum(answer.right for answer in answers) >= RIGHT * (len(answers) - silent), said
    assert silent <= SILENT * len(answers), said


@pytest.mark.turns(4)
@pytest.mark.parametrize("number", range(len(PLANTS)), ids=lambda number: list(PLANTS)[number].__name__)
def test_the_largest_part_names_what_was_planted(request, number):
    count = EVERY_PLANTED if request.config.getoption("--every-case") else PLANTED
    answers = on_all_processors(answered, [number + len(PLANTS) * each for each in range(count)])
    assert_good(answers)
    wrong = [(answer.seed, answer.story, answer.size_ns, answer.found_ns) for answer in answers if not answer.sized]
    assert len(wrong) <= (1 - SIZED) * count, wrong


def test_the_largest_part_names_what_the_simulation_knows(request):
    count = EVERY_APP if request.config.getoption("--every-case") else APPS
    answers = [each for some in on_all_processors(answered_in_apps, range(count)) for each in some]
    assert len(answers) >= count / 2
    assert_good(answers)


@pytest.mark.parametrize("number", range(len(PLANTS)))
def test_a_planted_prediction_is_slow_beyond_doubt(number):
    """What was planted is there: the call takes longer by most of what was drawn."""
    slow, _ = made(number)
    assert slow.slow is not None
    others = [call.duration_ns for call in slow.simulation.calls if call.model == slow.model and call is not slow.slow]
    assert slow.slow.duration_ns >= sorted(others)[len(others) // 2] + slow.extra_ns // 3


class Fixed(SampleSource):
    """Samples that are there already."""

    def __init__(self, samples: Samples) -> None:
        self.samples = samples

    def read(self, *_: object) -> Samples:
        return self.samples


@pytest.mark.parametrize(
    ("state", "cause"),
    [("Preempted", Cause.SHARED_CPU), ("Runnable", Cause.SHARED_CPU), ("Blocked", Cause.BLOCKED)],
)
def test_states_of_waiting_threads_say_whether_others_had_the_cores(state: str, cause: Cause) -> None:
    """However many other threads run meanwhile."""
    slow, _ = made(list(PLANTS).index(preempted) + len(PLANTS))
    add_samples(slow)
    trace, call = trace_of(slow.simulation.recorded.finish()), slow.slow
    assert trace.sampled is not None
    assert call is not None
    rows = trace.sampled.samples
    times = np.arange(call.end_ns - slow.extra_ns, call.end_ns, trace.sampled.period_ns)
    own = int(np.flatnonzero(rows.time_ns >= call.start_ns)[0])
    waiting = replace(rows.take(np.full(len(times), own)), time_ns=times, state=constant(state, len(times)))
    trace = replace(trace, sample_source=Fixed(replace(trace.sampled, waiting=waiting)))
    account = ledger(trace)[slow.model.base]
    at = int(np.flatnonzero(account.calls.start_ns == call.start_ns)[0])
    assert account.ns[cause][at] == pytest.approx(slow.extra_ns, rel=0.1)
    explained = why(trace, int(account.calls.id[at]))
    assert explained is not None
    known = {part.cause: part.known for part in explained.parts}
    assert known[cause] == (Known.STATES if cause == Cause.SHARED_CPU else Known.COINCIDENCE)
