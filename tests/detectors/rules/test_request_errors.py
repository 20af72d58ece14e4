"""Errors and refusals."""

from __future__ import annotations

from support.handover import trace_of
from tracekit.detectors.runner import run_detectors
from tracekit.testing import CoreAIChat, Session

ID = "request-errors"
MS = 1_000_000


def talk(scenario, errors: list[str], index: int = 1) -> None:
    session = Session(scenario, index=index)
    for number, error in enumerate(errors):
        session.request((100 + 1_000 * number) * MS, prompt_ns=200 * MS, generation_ns=400 * MS, error=error)


def test_errors_are_counted_by_kind_and_their_texts_stay(scenario, judge):
    talk(scenario, ["N/A", "refusal: Mrs. Miller", "GenerationError.refusal", "rateLimited", "Broken"])
    finding = judge(scenario, ID)[None]
    assert finding.summary == "4 of 5 requests failed: refusal 2, other 1, rate limit 1."
    assert finding.missed == 0.8
    assert len(finding.evidence) == 4
    assert "Miller" not in repr(finding)


def test_of_two_runtimes_the_finding_is_told_with_its_name(scenario, judge):
    CoreAIChat(scenario).request(100 * MS, prompt_tokens=50, prompt_ns=99 * MS, tokens_ns=[15 * MS] * 5)
    talk(scenario, ["N/A"])
    assert judge(scenario, ID)[None].reason.startswith("Core AI language model: ")
    talk(scenario, ["refusal"], index=2)
    assert judge(scenario, ID)[None].summary == "Foundation Models: 1 of 2 requests failed: refusal 1."


def test_what_rests_on_tables_that_nobody_saw_is_called_unvalidated(scenario):
    talk(scenario, ["refusal"])
    (judgment,) = run_detectors(trace_of(scenario), only=[ID])
    assert judgment.caveats == ("Unvalidated: no public recording shows rows of the Foundation Models instrument.",)
