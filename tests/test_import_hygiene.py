"""What is not needed is not loaded: asking for help must not cost what an analysis costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"pandas", "numpy", "textual", "lxml", "coremltools", "rich", "shtab"}

NOT_FOR_REPORTS = {
    "coremltools",
    "jsonschema",
    "lxml",
    "pandas",
    "pyarrow",
    "rich.console",
    "shtab",
    "textual",
    "google.protobuf",
    "numpy.ma",
    "tracekit.comparison.comparison",
    "tracekit.comparison.latency",
    "tracekit.lanes",
    "tracekit.model_files",
    "tracekit.recording.bundle.symbolication",
    "tracekit.recording.export",
    "tracekit.recording.function_names",
    "tracekit.recording.writing",
    "tracekit.recording.xctrace.exporter",
    "tracekit.recording.xctrace.running",
    "tracekit.report.flame",
    "tracekit.report.timeline",
    "tracekit.report.without",
    "tracekit.testing",
    "tracekit.trace.calls.join",
    "tracekit.trace.calls.pieces",
    "tracekit.trace.calls.signposts",
    "tracekit.trace.requests.foundation_models",
    "tracekit.trace.requests.logged",
    "tracekit.trace.requests.pairing",
    "tracekit.tui",
}
"""What a report on a bundle without call stacks has no use for."""
SAMPLE = Path(__file__).parents[1] / "sample_traces" / "captions_concurrent.trace"

SCRIPT = """
import contextlib, json, sys
import tracekit

for arguments in json.loads(sys.argv[1]):
    from tracekit.cli.main import run

    sys.argv[1:] = arguments
    with contextlib.suppress(SystemExit):
        run()
print()
print(json.dumps(sorted(sys.modules)))
"""


def modules_after(*lines: list[str], status: int = 0) -> set[str]:
    """Modules of a fresh interpreter after these command lines, or after `import tracekit` alone."""
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps(lines)], capture_output=True, text=True, check=False
    )
    assert result.returncode == status
    *printed, modules = result.stdout.splitlines()
    assert not lines or any(printed) == (not status), "the command printed nothing"
    return set(json.loads(modules))


HELPED = ("analyze", "explain", "export", "inspect", "fix", "record", "doctor", "view")


def test_the_package_and_help_load_nothing_heavy() -> None:
    alone, first = modules_after(), modules_after(["--help"])
    for loaded in (
        alone,
        first,
        modules_after(["--version"], *([name, "--help"] for name in HELPED), ["check", "--help-all"]),
    ):
        assert "tracekit" in loaded
        assert not loaded & HEAVY
    assert own_modules(first) <= 16


def test_a_report_loads_only_what_it_needs() -> None:
    loaded = modules_after(["analyze", str(SAMPLE)])
    assert {"numpy", "tracekit.detectors.registry"} <= loaded
    assert not loaded & NOT_FOR_REPORTS
    assert own_modules(loaded) <= 292


def own_modules(loaded: set[str]) -> int:
    return sum(name.split(".")[0] == "tracekit" for name in loaded)


@pytest.mark.parametrize("rule", ["warm-up-spike", "interface-conversion"])
def test_a_page_loads_no_rule(rule: str) -> None:
    loaded = modules_after(["explain", rule])
    assert "tracekit.detectors.pages" in loaded
    assert not {name for name in loaded if name.startswith(("tracekit.detectors.rules", "tracekit.detectors.model_"))}
    assert not loaded & HEAVY
    assert own_modules(loaded) <= 25


@pytest.mark.parametrize("command", ["analyze", "why", "explain", "stacks"])
def test_that_nothing_is_at_a_path_is_said_before_heavy_modules_load(command: str) -> None:
    loaded = modules_after([command, "gone.trace"], status=2)
    assert "tracekit.cli.dispatch" in loaded
    assert not loaded & HEAVY


@pytest.mark.sweep
def test_commands_need_no_pandas() -> None:
    pytest.importorskip("duckdb")
    sample = str(SAMPLE)
    lines = (
        ["why", sample],
        ["why", sample, "--without"],
        ["compare", sample, sample],
        ["sql", sample, "from predictions"],
    )
    assert "pandas" not in modules_after(*lines)


VIEW = """
import asyncio, sys
# An import of it raises.
sys.modules["pandas"] = None
from tracekit.tui.app import ViewApp
from tracekit.tui.opening import Viewed


async def judged():
    app = ViewApp(Viewed((sys.argv[1],)))
    async with app.run_test() as pilot:
        while not (app.is_open and app.state.session.report):
            await pilot.pause(0.05)


asyncio.run(asyncio.wait_for(judged(), 60))
"""


def test_the_screen_shows_a_report_without_pandas() -> None:
    result = subprocess.run([sys.executable, "-c", VIEW, str(SAMPLE)], capture_output=True, text=True, check=False)
    assert not result.returncode, result.stderr
