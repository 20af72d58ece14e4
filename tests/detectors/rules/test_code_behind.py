"""Findings name the code of the app that is behind them."""

from __future__ import annotations

import pytest

from tracekit.detectors.outcomes import Finding
from tracekit.testing import Draws, Model, cpu, neural_engine
from tracekit.testing.recorder import App, start_recording
from tracekit.testing.rows import LOAD_COLD
from tracekit.testing.stacks import app_function

MS = 1_000_000
NET = Model("Net")
WARM = app_function("warm", 9, "Warm.swift")


@pytest.fixture
def app() -> App:
    app = start_recording(Draws(3), jitter=0, noise=False, code=True)
    # Where no main thread was seen, nobody knows which thread is another one.
    app.code.draws_interface(20 * MS, 5 * MS)
    return app


def sites(expected: object) -> list[tuple[object, ...]]:
    assert isinstance(expected, Finding), expected
    return [(site.function, site.line, site.calls, site.of, site.thread) for site in expected.call_sites]


def test_reloads_name_who_loads_and_how_often(app: App, judge) -> None:
    for index in range(10):
        app.code.on_main = index % 2 == 0
        app.load(NET, 20 * MS)
        app.predict(NET, cpu(5 * MS), inputs=0)
    outcome = judge(app.finish(), "reload-before-predict")["Net"]
    assert sites(outcome) == [("App.apply", 42, 9, 9, "mixed")]
    assert outcome.call_sites[0].share == 1.0


def test_places_are_told_apart_and_ordered(app: App, judge) -> None:
    for index in range(8):
        caller = app.code.caller
        if index in (3, 6):
            app.code.caller = (WARM,)
        app.load(NET, 20 * MS)
        app.code.caller = caller
        app.predict(NET, cpu(5 * MS), inputs=0)
    outcome = judge(app.finish(), "reload-before-predict")["Net"]
    assert sites(outcome) == [("App.apply", 42, 5, 7, "other"), ("App.warm", 9, 2, 7, "other")]


def test_a_cold_load_names_who_waited(app: App, judge) -> None:
    app.load(NET, 3_000 * MS, LOAD_COLD)
    for _ in range(30):
        app.predict(NET, neural_engine(8 * MS))
    outcome = judge(app.finish(), "cold-load")["Net"]
    assert sites(outcome) == [("App.apply", 42, 1, 1, "other")]
    assert {busy.what for busy in outcome.call_sites[0].busy} >= {"compiling"}


def test_compilations_name_who_compiles(app: App, judge) -> None:
    for _ in range(3):
        app.compile(NET, 700 * MS)
        app.load(NET, 20 * MS)
        app.predict(NET, cpu(5 * MS), inputs=0)
    outcome = judge(app.finish(), "recompiled-each-run")["Net"]
    assert sites(outcome) == [("App.apply", 42, 2, 2, "other")]
    assert outcome.call_sites[0].api == "compile"


def test_work_elsewhere_names_who_predicts_and_the_units_seen(app: App, judge) -> None:
    app.load(NET)
    for _ in range(20):
        app.predict(NET, cpu(12 * MS), inputs=0)
    outcome = judge(app.finish(), "not-on-expected-unit", expected_unit=1)["Net"]
    assert sites(outcome) == [("App.apply", 42, 20, 20, "other")]
    assert [busy.what for busy in outcome.call_sites[0].busy] == ["CPU"]


def test_gaps_name_the_code_that_runs_in_them(app: App, judge) -> None:
    app.load(NET)
    pack = app_function("pack", 61, "Pixels.swift")
    for index in range(60):
        app.predict(NET, neural_engine((5 + index % 7) * MS))
        app.busy((24 + index % 5) * MS, pack)
    outcome = judge(app.finish(), "pipeline-gaps")["Net"]
    assert outcome.call_sites[0].function == "App.pack"
    assert outcome.call_sites[0].api == "between calls"


def test_without_call_stacks_nothing_is_named(judge) -> None:
    app = start_recording(Draws(3), noise=False)
    for _ in range(10):
        app.load(NET, 20 * MS)
        app.predict(NET, cpu(5 * MS), inputs=0)
    assert sites(judge(app.finish(), "reload-before-predict")["Net"]) == []
