"""Phases of runtimes and operations of the app: what was logged in a scenario, as a frame and on lanes."""

from __future__ import annotations

import pytest

from support.handover import recording_of, trace_of
from support.rows import records_of, values_of
from tracekit.columns import Codes
from tracekit.lanes.lanes import Grouping, lanes_of
from tracekit.testing import LoggedRow, Process, Scenario, SignpostRow, write_bundle
from tracekit.trace.build import build_trace, open_trace
from tracekit.trace.filter import everything, only_range
from tracekit.trace.runtimes.registry import Units
from tracekit.trace.trace import Trace

CORE_AI, OWN = "com.apple.coreai-models.performance", "com.example.chat"
MS = 1_000_000
END = 900 * MS


def core_ai(start_ms: int, length_ms: int, name: str, message: str = "", **more: str) -> LoggedRow:
    return LoggedRow(start_ms * MS, length_ms * MS, name, CORE_AI, "performance", message, **more)


@pytest.fixture
def scenario():
    scenario = Scenario(Process("Chat", 412), duration_ns=END)
    scenario.logged = [
        core_ai(
            0,
            500,
            "Inference",
            "Starting inference: 12 prompt tokens, max 5 generation tokens",
            end_message="Generated 4 tokens",
        ),
        core_ai(10, 100, "Prompt", "tokens=512, strategy=Vanilla"),
        core_ai(120, 30, "Decode", "step=1, tokens=many"),
        core_ai(160, 0, "TokenGeneration", "Token 1: my password, tokens=7", form="event"),
        core_ai(170, 0, "MemoryUsage", "after load: 812.5 MB", form="event"),
        core_ai(200, 5, "Speculate", "tokens=3, draft of a secret"),
        core_ai(300, 0, "Extend", "tokens=1", form="open"),
        LoggedRow(5 * MS, 700 * MS, "Answer", OWN, "chat", "to somebody"),
        LoggedRow(6 * MS, 0, "Shown", OWN, "chat", form="event"),
        LoggedRow(7 * MS, 1 * MS, "ClientDrawable", "com.apple.coreanimation.more", "CAMetalLayer"),
    ]
    return scenario


@pytest.fixture
def trace(scenario):
    return trace_of(scenario)


def rows(trace: Trace, *columns: str) -> list[tuple[object, ...]]:
    return list(zip(*(values_of(trace.phases, name) for name in columns), strict=True))


def test_what_was_logged_is_what_is_read(trace):
    runtime = "Core AI language model"
    assert rows(trace, "name", "runtime", "phase", "lane", "form", "start_ns", "duration_ns") == [
        ("Inference", runtime, "request", "Request", "interval", 0, 500 * MS),
        ("Answer", None, "operation", "Answer", "interval", 5 * MS, 700 * MS),
        ("Shown", None, "operation", "Shown", "point", 6 * MS, 0),
        ("Prompt", runtime, "prompt", "Prompt", "interval", 10 * MS, 100 * MS),
        ("Decode", runtime, "detokenization", "Tokenizer", "interval", 120 * MS, 30 * MS),
        ("TokenGeneration", runtime, "token", "Generate", "point", 160 * MS, 0),
        ("MemoryUsage", runtime, "memory", "Memory", "point", 170 * MS, 0),
        ("Speculate", runtime, "unknown", "Other", "interval", 200 * MS, 5 * MS),
        ("Extend", runtime, "token interval", "Generate", "open", 300 * MS, None),
    ]
    assert set(trace.phases.process.held()) == {"Chat"}
    assert "Core AI language model: 1 signpost with unknown names ('Speculate') on the lane Other." in trace.notes


def test_only_declared_keys_of_messages_leave_the_reader(trace):
    keys = ("tokens", "strategy", "step", "prompt_tokens", "max_tokens", "generated_tokens", "memory")
    said = dict(zip(values_of(trace.phases, "name"), rows(trace, *keys), strict=True))
    assert said["Inference"] == (None, None, None, 12, 5, 4, None)
    assert said["Prompt"] == (512, "Vanilla", None, None, None, None, None)
    # What is no number where one is declared is not known; nothing is read of private and unknown messages.
    assert said["Decode"] == (None, None, 1, None, None, None, None)
    assert said["TokenGeneration"] == said["Speculate"] == (None,) * len(keys)
    assert said["MemoryUsage"][-1] == 812.5
    texts = {
        text
        for rows in trace.context.values()
        for cells in rows.columns().values()
        if isinstance(cells, Codes)
        for text in cells.values
    }
    assert not [text for text in texts if "password" in text or "secret" in text]
    # The messages of the app itself are as they were.
    assert "to somebody" in texts


def test_a_bundle_gives_the_same_phases(scenario, trace, tmp_path):
    path = tmp_path / "chat.trace"
    write_bundle(scenario, path, rows_per_block=64)
    read, made = (
        [{name: cell for name, cell in row.items() if name not in ("row", "thread")} for row in records_of(phases)]
        for phases in (open_trace(path).phases, trace.phases)
    )
    assert read == made


def test_lanes_say_what_has_no_end(trace):
    lanes = {lane.title: lane for lane in lanes_of(trace, Grouping.LANES) if lane.id.startswith("phases/")}
    assert list(lanes) == ["Answer", "Shown", "Request", "Tokenizer", "Prompt", "Generate", "Memory", "Other"]
    assert {lane.section for lane in lanes.values()} == {"Operations", "Core AI language model"}
    events = lanes["Generate"].events
    assert events is not None
    assert [events.label(at) for at in range(2)] == [
        "TokenGeneration (token)",
        "Extend (token interval), no end recorded",
    ]
    assert events.ends.tolist() == [160 * MS, END]
    # It reaches into what is shown of the end of the recording, as the request, which ended before, does not.
    shown = only_range(everything(trace), trace, 800 * MS, 850 * MS)
    assert values_of(trace.phases.where(shown.context["phases"]), "name") == ["Extend"]


def test_settings_say_what_an_operation_is(scenario):
    def names(units: Units) -> set[str]:
        phases = build_trace(recording_of(scenario), units).phases
        return set(phases.where(~phases.runtime.known).name.held())

    assert names(Units()) == {"Answer", "Shown"}
    assert names(Units(skip=("Sh*",))) == {"Answer"}
    assert names(Units(only=("Client*", "Answer"))) == {"Answer", "ClientDrawable"}


def test_finished_intervals_and_other_processes(trace, scenario):
    scenario.logged = []
    without = trace_of(scenario).phases
    assert not len(without)
    assert list(without.columns()) == [name for name in trace.phases.columns() if name in without.columns()]
    scenario.signposts = [
        SignpostRow(5, 100, "Answer", OWN, "chat"),
        SignpostRow(7, 9, "EncodeAudio", "com.argmax.whisperkit", "AudioEncoding"),
    ]
    assert rows(trace_of(scenario), "name", "phase", "duration_ns") == [
        ("Answer", "operation", 100),
        ("EncodeAudio", "audio encoding", 9),
    ]
    # Without a target, nobody's own signposts are known.
    scenario.all_processes = True
    assert rows(trace_of(scenario), "name") == [("EncodeAudio",)]
