"""docs/sql.md answers what it asks, and docs/sql-views.md is what the code says."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
QUESTIONS = re.findall(r"\*\*(.+?)\*\*[^`]*?```sql\n(.+?)```", (ROOT / "docs/sql.md").read_text("utf-8"), re.DOTALL)
NOT_IN_THE_SAMPLE = {"samples", "stacks", "thermal", "hangs"}


def test_there_are_25_questions():
    assert len({question for question, _ in QUESTIONS}) == 25


@pytest.mark.parametrize(("question", "query"), QUESTIONS, ids=[question for question, _ in QUESTIONS])
def test_each_question_is_answered(sample, question, query):
    answer = sample.answer(query)
    missing = {each.view for each in answer.coverage if not each.recorded}
    assert missing <= NOT_IN_THE_SAMPLE
    # The sample has one load and no signposts; work of others on the GPU never overlaps a prediction there.
    empty = missing or "signposts" in query or "evidence" in query or "waited" in question
    assert answer.rows or empty


def test_the_page_of_the_views_is_written_from_the_code():
    script = runpy.run_path(str(ROOT / "scripts" / "sql_views.py"))
    assert (ROOT / script["PAGE"]).read_text("utf-8") == script["page"]()
