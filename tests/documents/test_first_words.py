"""What stands before all else: that times are of a simulator, or that the app hardly spends its time in Core ML."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape

import pytest

from support.forms import html_page, long_text, markdown, short_text
from support.handover import trace_of
from tracekit.api import judge
from tracekit.documents.report import report_file, summary_document
from tracekit.render.forms import render
from tracekit.report.choice import Part, choose_shown
from tracekit.report.report import Report
from tracekit.request import request_of
from tracekit.testing import Draws, Model
from tracekit.testing.machines import IPHONE, Process
from tracekit.testing.recorder import App, cpu, neural_engine, start_recording
from tracekit.testing.scenario import CORE_ML
from tracekit.testing.stacks import app_function, c_function

MS = 1_000_000
SIMULATOR = "Recorded in a simulator, which has no Neural Engine; its times say nothing of a device."


def app(own_ms: int, call_ms: int, *, engine: bool = False, missing: bool = False) -> Report:
    """Twenty calls of Core ML, and code of the app between them; `missing`: Core ML was not recorded."""
    made = start_recording(Draws(1), jitter=0, noise=False, code=True)
    for _ in range(20):
        if not missing:
            made.predict(Model("Net"), neural_engine(call_ms * MS) if engine else cpu(call_ms * MS))
        made.busy(own_ms * MS, app_function("pad", 12, "Pad.swift"))
    if missing:
        made.scenario.missing.add(CORE_ML)
    return judge(trace_of(made.finish()))


def firsts(report: Report) -> list[str]:
    """How each form begins, behind the name of the recording, without its looks."""
    _, _, page = html_page(report).partition("</h1>")
    texts = [
        short_text(report),
        long_text(report),
        render(summary_document(report), "text", width=100, verbose=False),
        re.sub(r"[*\\]", "", markdown(report)),
        unescape(re.sub(r"<[^>]+>", "", page.replace("</p>", " "))),
    ]
    return [" ".join(text.replace("`", "").split()) for text in texts]


def simulated(made: App) -> Report:
    made.scenario.device = replace(IPHONE, platform="iOS Simulator")
    return judge(trace_of(made.finish()))


def test_a_simulator_is_the_first_line_and_promises_no_frame_rate():
    for own_ms in (2, 40):
        made = start_recording(Draws(1), jitter=0, noise=False)
        for _ in range(60):
            made.predict(Model("Net"), cpu(8 * MS))
            made.pause(own_ms * MS)
        report = simulated(made)
        assert all(first.startswith(f"{SIMULATOR} ") for first in firsts(report))
        assert report.summary.verdict.startswith(f"{SIMULATOR} ")
        (model,) = report.models
        assert model.quantities["p50_ns"] is not None
        assert {name for name, value in model.quantities.items() if "fps" in name and value is not None} == set()
        assert "fast enough" not in "".join(text(report) for text in (short_text, long_text, markdown, html_page))


def test_a_budget_in_a_simulator_promises_none_either():
    made = start_recording(Draws(1), jitter=0, noise=False)
    for _ in range(60):
        made.predict(Model("Net"), cpu(40 * MS))
    made.scenario.device = replace(IPHONE, platform="iOS Simulator")
    report = judge(trace_of(made.finish()), request_of(budget="16ms"))
    (found,) = (result for result in report.results if result.id == "missed-deadline")
    assert found.outcome == "finding"
    assert "fast enough" not in found.summary


@pytest.mark.parametrize(
    ("own_ms", "call_ms", "options", "said"),
    [
        # A call takes 0.7 ms beside its work.
        (100, 8, {}, "92%"),
        (100, 20, {}, ""),
        # Threads that wait for the Neural Engine are not sampled, and wait for Core ML all the same.
        (30, 100, {"engine": True}, ""),
        (10, 0, {"missing": True}, "100%"),
        # Too few samples.
        (2, 0, {"missing": True}, ""),
    ],
)
def test_an_app_that_hardly_uses_core_ml_says_what_it_does(own_ms, call_ms, options, said):
    report = app(own_ms, call_ms, **options)
    ours = f"{said} of the app's running time is its own or another runtime's code, not Core ML: 100% of that in "
    ours += "App.pad (Pad.swift:12); tracekit stacks shows it. "
    for first in (*firsts(report), report.summary.verdict.replace("`", "")):
        assert first.startswith(ours) if said else "another runtime" not in first[:100], first
    assert json.loads(report_file(report, "json"))["summary"]["verdict"] == report.summary.verdict
    if options.get("missing"):
        # What answers it is named, where nothing else does.
        assert "tracekit stacks" in short_text(report).splitlines()[-1]
        assert "`tracekit stacks`" in report.summary.verdict


def test_code_of_another_runtime_is_named_itself():
    made = start_recording(Draws(1), jitter=0, noise=False, code=True)
    library = "/private/var/containers/Bundle/Application/X/App.app/Frameworks/onnxruntime.framework/onnxruntime"
    made.busy(900 * MS, c_function(library, "onnxruntime::Pad::Compute"))
    (site,) = [judge(trace_of(made.finish())).code.own_site]
    assert site.function == "onnxruntime::Pad::Compute"


@pytest.mark.parametrize("shown", [{"process": 77}, {"part": Part(start_ns=500 * MS)}])
def test_a_part_of_a_recording_is_not_said_to_be_all_that_the_app_does(shown):
    made = start_recording(Draws(1), jitter=0, noise=False, code=True)
    made.busy(900 * MS, app_function("pad", 12, "Pad.swift"))
    made.scenario.processes.append(Process("helper", 77))
    trace = trace_of(made.finish())
    assert judge(trace).code.own_share == 1
    report = judge(trace, shown=choose_shown(trace, **shown))
    assert report.code is not None
    assert (report.code.own_share, report.code.own_site) == (None, None)
    assert "another runtime" not in report.summary.verdict


def test_the_loop_of_an_interface_is_no_code_of_the_app():
    made = start_recording(Draws(1), jitter=0, noise=False, code=True)
    made.predict(Model("Net"), cpu(8 * MS))
    assert made.code is not None
    made.code.draws_interface(made.now_ns, 900 * MS)
    made.now_ns += 900 * MS
    report = judge(trace_of(made.finish()))
    assert report.code is not None
    assert not any("another runtime" in first[:100] for first in firsts(report))


def test_names_of_functions_are_left_out_where_that_is_wanted():
    made = start_recording(Draws(1), jitter=0, noise=False, code=True)
    made.busy(900 * MS, app_function("pad", 12, "Pad.swift"))
    report = judge(trace_of(made.finish()), request_of(functions=False))
    assert "of that in function B (file A:12);" in report.summary.verdict
    assert "pad" not in report.summary.verdict
