"""The verdict as annotations of GitHub Actions."""

from __future__ import annotations

from dataclasses import replace

from support.gates import GATE, hostile
from tracekit.comparison.renderers.workflow_commands import workflow_commands


def test_annotations_stand_at_the_line_of_their_setting():
    lines = workflow_commands(GATE, "app/tracekit.toml", lambda item: len(item.setting)).splitlines()
    assert lines == [
        "::error file=app/tracekit.toml,line=3,title=Net p50::12.00 ms, allowed: at most 10.00 ms",
        "::error file=app/tracekit.toml,line=1,title=Net findings::cold-load:Net is new since the baseline",
        "::warning file=app/tracekit.toml,line=3,title=Net cold-load::no cold load was recorded",
    ]


def test_without_settings_they_stand_nowhere():
    assert "file=" not in workflow_commands(GATE, None, lambda _: 1)


def test_no_name_ends_a_workflow_command():
    text = workflow_commands(hostile("a\r\n::error::b,c:d%"), "tracekit.toml", lambda _: 1)
    assert text.count("\n") == 1
    assert "%25" in text


def test_at_most_ten_annotations_of_a_level_worst_first():
    many = replace(GATE, items=GATE.items[:1] * 30 + GATE.items[2:3] * 10)
    lines = workflow_commands(many, None, lambda _: 1).splitlines()
    errors = [line for line in lines if line.startswith("::error")]
    assert len(errors) == len(lines) - len(errors) == 10
    assert errors[-1].endswith("and 21 more items")
    assert not lines[-1].endswith("more items")


def test_a_message_is_shorter_than_what_the_runner_cuts():
    assert len(workflow_commands(hostile("x" * 100_000), None, lambda _: 1)) < 4_096 + 2_100
