"""docs/sql.md answers what it asks, and docs/sql-views.md is what the code says."""

import re
import runpy
from pathlib import Path

import pytest

from support.analyses import kept_trace
from support.choice import sweep_rest
from tests.query.conftest import database

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/sql.md").read_text("utf-8")
QUESTIONS = re.findall(r"^\*\*([^*]+\?)\*\*(?:(?!```|\*\*).)*?```sql\n(.+?)```", PAGE, re.DOTALL | re.MULTILINE)
NOT_IN_THE_SAMPLE = {"samples", "stacks", "thermal", "hangs"}


def test_there_are_25_questions_and_the_pages_of_the_views_are_written_from_the_code():
    assert len({question for question, _ in QUESTIONS}) == 25

    script = runpy.run_path(str(ROOT / "scripts" / "sql_views.py"))
    for path, text in script["pages"]().items():
        assert (ROOT / path).read_text("utf-8") == text


@pytest.mark.parametrize(("question", "query"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_each_question_is_answered(sample, question, query):
    answer = sample.answer(query)
    missing = {each.view for each in answer.coverage if not each.recorded}
    assert missing <= NOT_IN_THE_SAMPLE
    # The sample has one load and no signposts; work of others on the GPU never overlaps a prediction there.
    empty = missing or "signposts" in query or "evidence" in query or "waited" in question
    assert answer.rows or empty


TIMES = dict(QUESTIONS)["Where does the time of predictions go?"]


def test_parts_of_the_time_are_those_that_were_made_and_savings_stand_beside(known, sample):
    [(_, count, latency, on_neural_engine, on_gpu, *others)] = known.answer(TIMES).rows
    # Of 5 to 24 ms each, 3 on the Neural Engine.
    assert (count, latency, on_neural_engine, on_gpu) == (20, 14.5, 3, 0)
    assert sum(others) == pytest.approx(14.5 - 3)

    query = "select savings_ns, each_saved_ns, each_what from findings where check_id = 'concurrent-predictions'"
    [(total, each, what)] = sample.answer(query).rows
    # The same work in the same order: all together take as long, and each waits less.
    assert (total, what) == (0, "prediction")
    mean = sample.answer("select avg(duration_ns) from predictions").rows[0][0]
    assert mean / 2 < each < mean


@pytest.mark.parametrize(
    "name", sweep_rest("captions_concurrent", "frame_camera", "sharpen_8bit", "style_transfer_reload")
)
def test_parts_add_up_where_some_are_ambiguous_or_not_recorded(samples, name):
    path = samples / f"{name}.trace"
    rows = database(kept_trace(path), path).answer(TIMES).rows
    assert rows
    for _, _, latency, *parts in rows:
        assert sum(parts) == pytest.approx(latency)
