"""What agents ask, answered by the tools alone: right, in at most three calls and 10 kB."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from support.ground_truth import GroundTruth, ground_truth
from support.samples import FINDINGS, SAMPLES

pytest.importorskip("duckdb")
# A server keeps a few recordings only, and each question is on another one.
pytestmark = pytest.mark.usefixtures("kept_samples")

MOST_CALLS, MOST_BYTES = 3, 10_000
RELOAD, FIXED, SHARPEN, FLOAT16, CAPTIONS, BARE, *_ = (f"{name}.trace" for name in SAMPLES)
QUICK, FP16, HELLO, OUTPUT = ("quick_probe.trace", "fp16_w8_60s_all.trace", "hello_coreml.trace", "output.trace")


@cache
def truth(path: str) -> GroundTruth:
    return ground_truth(SAMPLES[path.removesuffix(".trace")]())


def scenario(path: str) -> Any:
    return SAMPLES[path.removesuffix(".trace")]()


@dataclass(frozen=True)
class Question:
    text: str
    tool: str
    path: str
    read: Callable[[Any], Any]
    """What the answer says."""
    expected: Callable[[], Any]
    """From the description of the recording, or from the notes beside the corpus."""
    more: dict[str, Any] = field(default_factory=dict)
    first: tuple[str, ...] = ()
    """Tools that an agent asks before, to know names."""

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        paths = {} if self.tool == "compare" else {"path": self.path}
        return [*((name, {"path": self.path}) for name in self.first), (self.tool, {**paths, **self.more})]


def found(answer: Any) -> set[str]:
    return {each["id"] for each in answer["findings"]}


def ids(path: str) -> set[str]:
    return {name for name, _ in FINDINGS.get(path.removesuffix(".trace"), ())}


def rows(answer: Any) -> list[list[Any]]:
    return answer["rows"]


def one(answer: Any) -> Any:
    [[value]] = answer["rows"]
    return value


def names_of(instruments: Any) -> set[str]:
    return {each["instrument"] for each in instruments}


def unrecorded(answer: Any) -> bool:
    return any("NOT RECORDED" in line for line in answer["coverage"])


def sql(text: str) -> dict[str, str]:
    return {"sql": text}


QUESTIONS = [
    Question("What is wrong with the style app?", "analyze", RELOAD, found, lambda: ids(RELOAD)),
    Question("Is the fixed build clean?", "analyze", FIXED, found, lambda: ids(FIXED)),
    Question("What is wrong with the filter?", "analyze", SHARPEN, found, lambda: ids(SHARPEN)),
    Question("Is the Float16 filter clean?", "analyze", FLOAT16, found, lambda: ids(FLOAT16)),
    Question("What is wrong with the captions?", "analyze", CAPTIONS, found, lambda: ids(CAPTIONS)),
    Question("Why is there nothing about models?", "analyze", BARE, found, lambda: ids(BARE)),
    Question("Which models ran how often?", "analyze", RELOAD,
             lambda said: {each["model"]: each["predictions"] for each in said["models"]},
             lambda: {each.name: each.predictions for each in truth(RELOAD).models}, {"limit": 1}),
    Question("On which device?", "analyze", CAPTIONS,
             lambda said: said["recording"]["device_model"], lambda: scenario(CAPTIONS).device.model),
    Question("Was the temperature recorded?", "analyze", SHARPEN,
             lambda said: "Thermal State" in names_of(said["not_recorded"]), lambda: not scenario(SHARPEN).thermal),
    Question("Which model is loaded most, and where in the code?", "finding", RELOAD,
             lambda said: (said["answers"][0]["metrics"][0]["value"], said["answers"][0]["code"][0].split(":")[0]),
             lambda: (truth(RELOAD).model("InkWash").loads, "StyleView.swift"),
             {"id": "reload-before-predict", "model": "InkWash", "limit": 1}),
    Question("Was heat looked at?", "finding", SHARPEN,
             lambda said: [each["outcome"] for each in said["answers"]],
             lambda: ["not_evaluated"], {"id": "thermal-throttling"}),
    Question("Is the reload gone?", "finding", FIXED,
             lambda said: {each["outcome"] for each in said["answers"]},
             lambda: {"passed"}, {"id": "reload-before-predict"}),
    Question("Why is the slowest caption slow?", "why", CAPTIONS,
             lambda said: said["models"][0]["predictions"][0]["parts"][0]["cause"], lambda: "queued_own"),
    Question("How long was the slowest one?", "why", CAPTIONS,
             lambda said: said["models"][0]["predictions"][0]["duration_ns"],
             lambda: max(row.duration_ns for row in scenario(CAPTIONS).coreml if row.label == "Prediction")),
    Question("How much time went into loads?", "query", RELOAD,
             one, lambda: sum(each.load_total_ns for each in truth(RELOAD).models),
             sql("select sum(duration_ns)::bigint from loads"), ("schema",)),
    Question("How much into predictions?", "query", RELOAD,
             one, lambda: sum(each.prediction_total_ns for each in truth(RELOAD).models),
             sql("select sum(duration_ns)::bigint from predictions"), ("schema",)),
    Question("How many Neural Engine rows?", "query", SHARPEN,
             one, lambda: len(scenario(SHARPEN).neural_engine), sql("select count(*) from neural_engine")),
    Question("Which style takes longest to load?", "query", RELOAD,
             lambda said: rows(said)[0][0],
             lambda: max(truth(RELOAD).models, key=lambda each: each.load_total_ns).name,
             sql("select model from by_model('loads') order by total_ns desc limit 1"), ("schema",)),
    Question("How hot did it get?", "query", CAPTIONS,
             lambda said: (rows(said), unrecorded(said)),
             lambda: ([], not scenario(CAPTIONS).thermal), sql("select state from thermal")),
    Question("Which views are empty because nothing was recorded?", "schema", CAPTIONS,
             lambda said: any(line.startswith("thermal: NOT RECORDED") for line in said["views"]), lambda: True),
    Question("Which columns has a prediction?", "schema", FIXED,
             lambda said: {"model", "duration_ns"} <= {line.split()[0] for line in said["columns"]},
             lambda: True, {"view": "predictions"}),
    Question("What calls the model?", "stacks", RELOAD,
             lambda said: any("StyleView.apply (StyleView.swift:42" in line for line in said["tree"]), lambda: True),
    Question("What did the change do?", "compare", RELOAD,
             lambda said: {each["id"]: each["status"] for each in said["findings"]},
             lambda: dict.fromkeys(ids(RELOAD) - ids(FIXED), "fixed"), {"before": [RELOAD], "after": [FIXED]}),
    Question("How many loads less?", "compare", RELOAD,
             lambda said: {each["name"]: each["loads"] for each in said["models"]},
             lambda: {each.name: {"before": each.loads, "after": truth(FIXED).model(each.name).loads}
                      for each in truth(RELOAD).models},
             {"before": [RELOAD], "after": [FIXED]}),
    Question("Did Float16 make the filter faster?", "compare", SHARPEN,
             lambda said: [each["latency"]["answer"] for each in said["models"]],
             lambda: ["improved"], {"before": [SHARPEN], "after": [FLOAT16]}),
    Question("Which model ran in quick_probe?", "analyze", QUICK,
             lambda said: [each["model"] for each in said["models"]], lambda: ["MambaASR_fp16_w8"]),
    Question("How many GPU rows are the target's?", "query", QUICK,
             one, lambda: 307, sql("select count(*) from gpu where pid = 11338")),
    Question("How many samples?", "query", FP16,
             one, lambda: 855, sql('select count(*) from raw."time-profile"'), ("schema",)),
    Question("How many MPS rows?", "query", HELLO,
             one, lambda: 1, sql('select count(*) from raw."mps-hw-intervals"')),
    Question("Was Core ML recorded with the Time Profiler template?", "query", OUTPUT,
             lambda said: (rows(said), unrecorded(said)), lambda: ([[0]], True), sql("select count(*) from loads")),
]  # fmt: skip


FIRST_OF_TOOLS = list({each.tool: each for each in reversed(QUESTIONS)}.values())


@pytest.mark.parametrize(
    "question",
    [pytest.param(each, id=each.text, marks=() if each in FIRST_OF_TOOLS else pytest.mark.sweep) for each in QUESTIONS],
)
def test_a_question_is_answered_in_three_calls_and_10_kb(ask, corpus_of, question: Question) -> None:
    corpus_of(question.path)
    answers = ask(*question.calls())
    assert [text for failed, text in answers if failed] == []
    assert len(answers) <= MOST_CALLS
    assert sum(len(text.encode()) for _, text in answers) <= MOST_BYTES
    assert question.read(json.loads(answers[-1][1])) == question.expected()


@pytest.fixture
def corpus_of(request):
    """Skips, by name, what needs the corpus where it is absent."""

    def of(path: str) -> None:
        if path.removesuffix(".trace") not in SAMPLES:
            request.getfixturevalue("corpus")

    return of
