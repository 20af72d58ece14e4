"""Requests that wait for each other."""

from __future__ import annotations

from suite.chats import called_earlier
from tracekit.detectors.outcomes import Passed
from tracekit.testing import CoreAIChat, Session

ID = "queued-requests"
MS = 1_000_000


def pairs(scenario, waits_ms: list[int]) -> None:
    """Two requests each, of 1 s and 0.3 s, of which the second is asked so long before the first ends."""
    one, two = Session(scenario, index=1), Session(scenario, index=2)
    for number, wait_ms in enumerate(waits_ms):
        first = one.request((100 + 3_000 * number) * MS, prompt_ns=200 * MS, generation_ns=800 * MS)
        two.request(first.end_ns, prompt_ns=100 * MS, generation_ns=200 * MS)
        called_earlier(scenario, wait_ms * MS)


def test_the_time_until_the_other_one_ends_is_waited(scenario, judge):
    pairs(scenario, [400, 700])
    finding = judge(scenario, ID)[None]
    assert (finding.cost.ns, finding.cost.longest_wait_ns) == (1_100 * MS, 700 * MS)
    assert finding.affected.starts.tolist() == [700 * MS, 3_400 * MS]


def test_threads_tell_whose_steps_are_whose(scenario, judge):
    for thread, start in ((2, 100), (3, 150)):
        CoreAIChat(scenario, thread=thread).request(
            start * MS, prompt_tokens=50, prompt_ns=300 * MS, tokens_ns=[15 * MS] * 20
        )
    assert isinstance(judge(scenario, ID)[None], Passed)
