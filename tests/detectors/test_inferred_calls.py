"""What is concluded of calls that call stacks alone show: of loads, whether or not it is known which model they load,
and of predictions of many sizes."""

from __future__ import annotations

import pytest

from support.handover import trace_of
from tracekit.analysis.models import summarize_models
from tracekit.detectors.outcomes import Finding, NotEvaluated, Outcome
from tracekit.detectors.runner import run_detectors
from tracekit.documents.phases import calls_words
from tracekit.testing import Draws, Process, Scenario, stacks
from tracekit.testing.code import Code
from tracekit.testing.rows import LOAD, LOAD_COLD
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import app_function

MS = 1_000_000


class Recorded:
    """An app of which Core ML recorded nothing, at `now` in ms."""

    def __init__(self, seconds: int = 60) -> None:
        self.scenario = Scenario(Process("App", 412), duration_ns=seconds * 1_000 * MS)
        self.scenario.emptied.add(CORE_ML)
        self.now = 500

    def code(self, function: str, line: int, *, thread: int = 0) -> Code:
        """A place of the app; thread 0 is the main one, of a program without an interface."""
        caller = app_function(function, line, "Models.swift"), app_function(f"{function}Step", line + 1, "Steps.swift")
        return Code(self.scenario, caller, on_main=not thread, interface=False, thread=thread)

    def load(self, code: Code, length: int, label: str = LOAD) -> None:
        code.load(self.now * MS, length * MS, label)
        self.now += length + 1

    def predict(self, code: Code, length: int, rest: int = 40) -> None:
        code.runs(self.now * MS, MS, stacks.BIND, *stacks.PREDICT)
        inside = stacks.OPERATIONS["cpu"], stacks.EXECUTE, *stacks.PREDICT
        code.runs((self.now + 1) * MS, (length - 1) * MS, *inside)
        self.now += length + rest

    def answers(self, check: str) -> list[Outcome]:
        return [each.outcome for each in run_detectors(trace_of(self.scenario)) if each.detector.id == check]

    def found(self) -> dict[str, Finding]:
        outcomes = [(each.detector.id, each.outcome) for each in run_detectors(trace_of(self.scenario))]
        return {name: outcome for name, outcome in outcomes if isinstance(outcome, Finding)}


@pytest.mark.parametrize(
    ("models", "rest", "who"),
    [
        pytest.param(0, 30, "The main thread", id="nothing is predicted"),
        pytest.param(1, 30, "A prediction", id="one model is called"),
        pytest.param(2, 30, "A prediction", id="two models are called, and either may be the one"),
        pytest.param(2, 5_000, "", id="nobody waits"),
    ],
)
def test_a_long_load_at_launch_is_a_finding_of_its_site(models, rest, who):
    recorded = Recorded()
    recorded.load(recorded.code("loadModels", 10), 37_800, LOAD_COLD)
    recorded.now += rest
    for number in range(models):
        for _ in range(40):
            recorded.predict(recorded.code(f"infer{number}", 50 + number, thread=1), 20)
    found = recorded.found()
    assert set(found) == ({"cold-load"} if who else set())
    if who:
        assert found["cold-load"].summary.startswith(f"{who} waited 37.8 s while Core ML compiled the model.")
        assert found["cold-load"].call_sites[0].line == 10


@pytest.mark.parametrize(
    ("loader", "other", "reloads"),
    [
        pytest.param("Net.init", True, True, id="its type has the same name"),
        pytest.param("makeModel", True, True, id="it follows each load on the thread, as no other does"),
        pytest.param("makeModel", False, True, id="there is no other"),
        pytest.param("", True, False, id="another model is loaded by turns"),
    ],
)
def test_a_load_before_each_prediction_is_found_whatever_is_called_beside(loader, other, reloads):
    recorded = Recorded()
    for number in range(30):
        recorded.load(recorded.code(loader or f"make{number % 2}", 10 + (not loader and number % 2), thread=1), 25)
        called = 0 if loader else number // 2 % 2
        recorded.predict(recorded.code("Net.prediction" if not called else "Eye.prediction", 20 + called, thread=1), 20)
        if other:
            recorded.predict(recorded.code("Other.prediction", 30, thread=2), 8)
    found = recorded.found()
    assert ("reload-before-predict" in found) == reloads
    if reloads:
        assert found["reload-before-predict"].summary.startswith("30 loads (29 reloads) for 30 predictions")


def test_reloads_of_which_one_is_hardly_sampled_are_reloads():
    recorded = Recorded()
    for number in range(30):
        recorded.load(recorded.code("load", 10, thread=1), 2 if number == 7 else 25)
        recorded.predict(recorded.code("infer", 20, thread=1), 20)
    assert "reload-before-predict" in recorded.found()


@pytest.mark.parametrize("only", [(), ("serial-predictions",), ("pipeline-gaps",)])
def test_gaps_about_as_long_as_predictions_are_a_finding_of_one_check_whichever_are_asked(only):
    recorded = Recorded()
    recorded.load(recorded.code("load", 10, thread=1), 80)
    for _ in range(60):
        code = recorded.code("infer", 20, thread=1)
        recorded.predict(code, 40, 0)
        code.runs(recorded.now * MS, 40 * MS)
        recorded.now += 40
    judged = run_detectors(trace_of(recorded.scenario), only=only)
    found = {each.detector.id for each in judged if isinstance(each.outcome, Finding)}
    assert found == {"pipeline-gaps"} - ({"pipeline-gaps"} if only == ("serial-predictions",) else set())


@pytest.mark.parametrize(("length", "answer"), [(80, NotEvaluated), (240, Finding)])
def test_a_load_that_takes_as_long_as_one_of_a_model_that_is_used_may_be_of_that_one(length, answer):
    recorded = Recorded(120)
    for number in range(3):
        # What leads to both is the same.
        lead = app_function(f"session{number}", 100 + number)
        for line, name in ((10, "load"), (20, "infer")):
            code = recorded.code("", 0, thread=1)
            code.caller = app_function(f"{name}{number}", line + number), lead
            if name == "load":
                recorded.load(code, 80)
                continue
            for _ in range(20):
                recorded.predict(code, 20)
        if not number:
            recorded.load(recorded.code("prepare", 50, thread=1), length)
    (outcome,) = recorded.answers("unused-load")
    assert isinstance(outcome, answer)


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_of_many_sizes_is_no_jitter(seed):
    recorded, draws = Recorded(), Draws(seed)
    for _ in range(120):
        recorded.predict(recorded.code("apply", 20, thread=1), 4 + 3 * draws.choice((1, 2, 3, 4, 5, 7, 8, 12, 16)), 5)
    assert not recorded.found()


def test_rows_of_workers_that_may_be_several_calls_have_no_duration():
    recorded, draws = Recorded(20), Draws(1)
    for worker in range(1, 5):
        recorded.now = 500 + 3 * worker
        for _ in range(40):
            recorded.predict(recorded.code("apply", 20, thread=worker), draws.integer(7, 28), 0)
    (model,) = summarize_models(trace_of(recorded.scenario))
    assert model.several == model.predictions
    assert model.latency is model.tail is model.quantities["p50_ns"] is None
    assert calls_words(model).startswith("≥ ")
