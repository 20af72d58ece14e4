"""The view of requests, and the tables that it is made of, which hold what users wrote."""

from __future__ import annotations

import pytest
from query.conftest import database

from support.analyses import kept_trace
from support.choice import sweep_rest
from support.handover import recording_of
from support.samples.language_models import TURNS, meal_planner
from tracekit.trace.build import build_trace


def test_requests_and_their_phases_are_joined_by_id() -> None:
    known = database(build_trace(recording_of(meal_planner())))
    rows = known.answer("select consumed_tokens, generated_tokens, cached_tokens from requests order by id").rows
    # The third one runs the model twice.
    assert rows[:2] == [(412, 58, None), TURNS[1]]
    assert rows[2] == tuple(2 * count for count in TURNS[2] if count is not None)
    assert rows[-1] == (None, None, None)
    answer = known.answer("select r.id from requests r join phases p on p.request_id = r.id where phase = 'tool call'")
    assert answer.rows == [(2,)]
    assert known.answer("select distinct error, is_unvalidated from requests order by 1").rows == [
        ("none", True),
        ("refusal", True),
    ]


@pytest.mark.parametrize("view", sweep_rest("requests", "phases"))
def test_rows_that_no_public_recording_shows_are_said_to_be_unvalidated(samples, view: str) -> None:
    said = "Foundation Models: unvalidated, since no public recording shows the rows of its tables."
    (coverage,) = database(build_trace(recording_of(meal_planner()))).answer(f"from {view}").coverage
    assert coverage.note.startswith(said)
    (coverage,) = database(kept_trace(samples / "local_chat.trace")).answer(f"from {view}").coverage
    assert "unvalidated" not in coverage.note


def test_another_instrument_is_advised_only_to_who_uses_another_runtime(samples) -> None:
    (coverage,) = database(kept_trace(samples / "local_chat.trace")).answer("from requests").coverage
    assert coverage.note.startswith("All are of Core AI language model. If the app uses another runtime: Foundation ")
    (coverage,) = database(kept_trace(samples / "sharpen_8bit.trace")).answer("from requests").coverage
    assert coverage.note.startswith("Foundation Models were not recorded.")
