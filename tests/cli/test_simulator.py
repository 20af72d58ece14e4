"""Recordings of a simulator: no gate passes or fails by them, whatever they show."""

from dataclasses import replace

import pytest

from tracekit.testing import Draws, apps, write_export
from tracekit.testing.machines import IPHONE

SAYS = "recorded in a simulator, which has no Neural Engine; its times say nothing of a device"


@pytest.fixture
def simulated(tmp_path):
    """An export of a simulator, with a report on it."""
    scenario = apps.neural_engine_app(Draws(4)).finish()
    scenario.device = replace(IPHONE, platform="iOS Simulator")
    write_export(scenario, tmp_path / "simulated")
    return tmp_path / "simulated"


@pytest.mark.parametrize("command", [
    ["check", "RUN", "--p50", "10s"],
    ["check", "RUN", "--p50", "1us"],
    ["check", "RUN", "--loads", "9", "--in-flight", "9", "--copies", "99", "--ane", "0%"],
    ["check", "RUN", "GOOD", "--p50", "10s"],
    ["check", "GOOD", "--p50", "10s", "--history", "past.jsonl", "RUN"],
    ["check", "RUN", "--baseline", "perf.json", "--save-baseline"],
    ["check", "GOOD", "RUN", "--baseline", "perf.json", "--save-baseline"],
    ["compare", "RUN", "RUN2"],
    ["compare", "GOOD", "RUN"],
    ["history", "RUN"],
    ["history", "GOOD", "RUN"],
    ["history", "RUN", "--add-to", "past.jsonl"],
    ["check", "--init", "RUN"],
    ["analyze", "RUN", "--fail-on", "low"],
])  # fmt: skip
def test_a_recording_of_a_simulator_decides_nothing(tracekit, simulated, samples, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "past.jsonl").touch()
    report = tmp_path / "run2.json"
    tracekit("analyze", simulated, "-o", report, "-q")
    known = {"RUN": simulated, "RUN2": report, "GOOD": samples / "sharpen_8bit.trace"}
    result = tracekit(*(known.get(word, word) for word in command))
    assert result.status == 3
    assert SAYS in " ".join((result.out + result.err).split())
    assert not (tmp_path / "perf.json").exists()
    assert not (tmp_path / "tracekit.toml").exists()
    assert not (tmp_path / "past.jsonl").read_text()


def test_latencies_of_simulators_are_not_compared(tracekit, simulated, tmp_path):
    report = tmp_path / "run2.json"
    tracekit("analyze", simulated, "-o", report, "-q")
    result = tracekit("compare", simulated, report, "--json")
    models = result.json["models"]
    assert {(one["latency"]["answer"], one["latency"]["reason"]) for one in models} == {("inconclusive", "simulator")}
    assert {one["latency"]["wanted"] for one in models} == {None}
