"""Which runtimes ran: those that log, and those that are recognized by what they leave elsewhere."""

from __future__ import annotations

import pytest

from support.choice import sweep_rest
from support.handover import trace_of
from support.samples import SAMPLES
from support.samples.runtimes import CLIPS, REQUESTS, dictation, local_chat
from tracekit.analysis.runtimes import summarize_runtimes
from tracekit.testing import Draws, LoggedRow, Model, neural_engine, start_recording
from tracekit.testing.scenario import Scenario
from tracekit.testing.stacks import c_function
from tracekit.trace.runtimes.registry import runtimes


def app(model: str) -> Scenario:
    recording = start_recording(Draws(5), jitter=0, noise=False, code=True)
    recording.load(Model(model))
    for _ in range(5):
        recording.predict(Model(model), neural_engine(8_000_000), inputs=1)
    return recording.finish()


def test_phases_are_counted_by_signpost():
    (core_ai,) = summarize_runtimes(trace_of(local_chat()))
    counts = {each.signpost: each.statistics.count if each.statistics else None for each in core_ai.phases}
    answers = [answer for _, answer in REQUESTS]
    assert (counts["Inference"], counts["Prompt"]) == (len(REQUESTS) - 1, len(REQUESTS))
    # One time between tokens less than there are tokens in each answer.
    assert (counts["Decode"], counts["Extend"]) == (sum(answers), sum(answers) - len(answers))
    points = {each.signpost: (each.points, each.unfinished) for each in core_ai.phases}
    assert (points["TokenGeneration"], points["Inference"]) == ((sum(answers), 0), (0, 1))
    (whisper,) = summarize_runtimes(trace_of(dictation()))
    assert {each.phase: each.statistics.count for each in whisper.phases if each.statistics} == dict.fromkeys(
        ("request", "feature extraction", "audio encoding", "text decoding"), CLIPS
    )


def test_an_empty_core_ml_table_is_no_mistake_beside_a_runtime_that_does_not_need_core_ml():
    scenario = local_chat()
    entry = trace_of(scenario).coverage_of("Core ML")
    assert "Core AI language model ran, which does not need Core ML" in entry.conclusion
    assert entry.advice.startswith("If the app uses Core ML too, ")
    # WhisperKit does need it: its events are missing.
    scenario.logged = [LoggedRow(9, 0, "EncodeAudio", "com.argmax.whisperkit", "TranscribeTask", "", form="event")]
    entry = trace_of(scenario).coverage_of("Core ML")
    assert "the likely cause is a target without the get-task-allow" in entry.conclusion
    assert entry.advice.startswith("Sign the target")


def test_what_logs_nothing_is_recognized_with_a_reason():
    (onnx,) = summarize_runtimes(trace_of(app("onnxruntime-2F1C-99")))
    assert (onnx.name, onnx.phases) == ("ONNX Runtime", ())
    assert onnx.reason == "Probably used: Core ML ran 1 model named as it names them."
    for image, name in (("libggml-metal.dylib", "llama.cpp or whisper.cpp (ggml)"), ("libmlx.dylib", "MLX")):
        scenario = app("Net")
        row = scenario.samples[0]
        assert row.stack is not None
        frames = (c_function(f"/usr/local/lib/{image}", "compute"), *row.stack.frames)
        scenario.samples[0] = type(row)(row.time_ns, row.thread, type(row.stack)(frames))
        (found,) = summarize_runtimes(trace_of(scenario))
        assert (found.name, found.reason) == (name, f"Probably used: call stacks are in its library {image}.")
    scenario = app("Net")
    message = "Name=kernel_mul_mv_q4_K_f32 Label= Type=compute ID=1 Addr=0x1 Size=9"
    scenario.logged = [
        LoggedRow(9, 0, "FunctionCompiled", "com.apple.Metal.AGXSignposts", "ShaderTimeline", message, form="event")
    ]
    (found,) = summarize_runtimes(trace_of(scenario))
    assert found.reason == "Probably used: Metal compiled 1 function of it for the GPU."


@pytest.mark.parametrize(
    "name", sweep_rest(*(name for name in SAMPLES if name not in ("local_chat", "dictation", "meal_planner")))
)
def test_no_runtime_is_seen_where_none_ran(name):
    assert len(runtimes()) >= 8
    assert summarize_runtimes(trace_of(SAMPLES[name]())) == ()
