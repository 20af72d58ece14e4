"""What the inspector says of a prediction."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from tests.tui.conftest import kept_judged, kept_session
from tracekit.analysis.breakdown.device_runs import Handoffs
from tracekit.columns import constant
from tracekit.request import Request
from tracekit.trace.instruments.tables import MetalPipelines
from tracekit.tui import opening
from tracekit.tui.inspection.event import directions, event_blocks, why_blocks
from tracekit.tui.inspection.report import finding_blocks, model_blocks
from tracekit.tui.screens.title import title_line
from tracekit.tui.state import NOTHING, EventRef, FindingRef, Selection, WaitsRef, first_state
from tracekit.tui.theme import PALETTES

ANE, GPU, CPU = 0, 1, 2


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        ([ANE, GPU], "Neural Engine → GPU"),
        ([GPU, ANE, CPU], "GPU → Neural Engine → CPU"),
        ([ANE, GPU] * 3, "Neural Engine → GPU 3 times, GPU → Neural Engine 2 times"),
    ],
)
def test_hand_offs_are_told_with_their_directions(units, expected):
    units = np.array(units, np.int8)
    assert directions(Handoffs(np.zeros(len(units) - 1, np.int64), units[:-1], units[1:])) == expected


@pytest.mark.view(size=(200, 60))
async def test_an_inspected_prediction_is_named_and_says_which_unit_handed_over_to_which(screen):
    await screen.press("4", "home")
    assert screen.state.session.trace.activity.model.item(screen.state.selection.prediction) == "Watercolor"
    text = screen.text()
    assert "hand-offs     1 between compute units" in text
    assert "from → to     Neural Engine → GPU" in text
    await screen.press("down", "down")
    activity, index = screen.state.session.trace.activity, screen.state.selection.prediction
    model = activity.model.item(index)
    same = np.flatnonzero(activity.kind.is_any("prediction") & activity.model.is_any(model)).tolist()
    number = same.index(index) + 1
    text = screen.text()
    assert number > 1
    assert f"Prediction {number} of {len(same)} of {model}" in text
    assert f"{activity.duration_ns[index] / 1e6:.2f} ms, at {activity.start_ns[index] / 1e9:.3f}"[:-1] in text


def test_a_prediction_is_compared_with_a_usual_one(samples):
    session = kept_judged(kept_session(str(samples / "captions_concurrent.trace")))
    activity = session.trace.activity
    slowest = int(np.where(activity.kind.is_any("prediction"), activity.duration_ns, -1).argmax())
    words = " ".join(told(why_blocks(session, slowest, None)).split())
    assert "Compared with a usual one +84.7 ms queued for the Neural Engine behind 7 earlier predictions" in words
    assert "the median of 275 warm predictions without time in queues" in words


def test_a_slower_prediction_of_another_model_is_named(samples):
    session = kept_judged(kept_session(str(samples / "style_transfer_reload.trace")))
    calls, activity = session.calls, session.trace.activity

    def words(model: str) -> str:
        own = calls.index[activity.model.take(calls.index).is_any(model)]
        slowest = int(own[activity.duration_ns[own].argmax()])
        return " ".join(told(why_blocks(session, slowest, WaitsRef(0, ()))).split())

    assert "slower in another model: Watercolor, 8.50 ms" in words("Pointillism")
    assert "another model" not in words("Watercolor")


def test_a_model_has_the_card_of_its_file(samples, built_models):
    given = f"SharpenFilter={built_models / 'target_iOS16.mlpackage'}"
    path = str(samples / "sharpen_8bit.trace")
    session = opening.judge_session(opening.read(path, Request(model_files=(given,))))

    def text(session) -> str:
        console = Console(width=120, file=io.StringIO())
        console.print(*model_blocks(session, "SharpenFilter", PALETTES[True], monochrome=True))
        return " ".join(console.file.getvalue().split())

    words = text(session)
    assert "Model file target_iOS16.mlpackage · ML program · " in words
    assert "specification 7 (iOS 16, macOS 13 or later)" in words
    assert "Converted in every prediction: input `x` (Float32 to Float16)" in words
    assert "input x, Float32, 1 × 32 × 8 × 8" in words
    assert "computes in Float16; CoreML6" in words
    assert "operations 4: 2 cast, 1 conv, 1 relu" in words
    assert "weights 18.4 KB, 9,216 parameters, in a file of the package" in words
    assert "Model file" not in text(opening.judge_session(opening.read(path)))


@pytest.mark.view(size=(200, 70))
async def test_what_a_detector_measured_is_named_in_full(screen):
    await screen.press("1")
    check = screen.state.session.report.results[0]
    names = [line.ljust(200)[156:179] for line in screen.text().splitlines()]
    words = " ".join(" ".join(names).split())
    assert check.metrics
    for metric in check.metrics:
        assert metric.name in words


def test_the_first_line_says_as_much_of_the_verdict_as_fits(judged):
    for width, verdict, shown in (
        (80, "1 finding (critical) in 5 models; 7 checks not evaluated.", "1 finding (critical) in 5 models"),
        (200, "1 finding (critical) in 5 models; 7 checks not evaluated.", "7 checks not evaluated."),
        (80, "No findings. 22 checks passed, 7 not evaluated, 1 error.", "No findings"),
        (80, "Inconclusive: the Core ML instrument recorded no events.", "Inconclusive"),
        (120, "Inconclusive: Core ML cannot be read: spec.plist is not a property list.", "Core ML cannot be read"),
    ):
        report = replace(judged.report, summary=replace(judged.report.summary, verdict=verdict))
        told = title_line(first_state((replace(judged, report=report),)), width, PALETTES[True])
        assert told.plain.rstrip().endswith(shown)


@pytest.fixture
def judged(samples):
    return kept_judged(kept_session(str(samples / "style_transfer_reload.trace")))


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (1, "per load, 1.0 s of the model's"),
        (0.5, ", 0.50 s of it not counted above"),
        (0, ", part of the savings above"),
    ],
)
def test_what_findings_above_count_is_told_alike(judged, share, shown):
    first = judged.report.results[0]
    saved = replace(first.saved, total_ns=1_000_000_000, extra_ns=round(share * 1_000_000_000))
    report = replace(judged.report, results=(replace(first, savings=saved), *judged.report.results[1:]))
    words = told(finding_blocks(replace(judged, report=report), FindingRef(0), PALETTES[True]))
    assert shown in " ".join(words.split())


def test_a_check_is_headed_by_what_it_found_only_where_it_judged(judged):
    for outcome, heading in (
        ("finding", "The model is reloaded before every prediction"),
        ("not_evaluated", "reload-before-predict: not evaluated"),
        ("not_applicable", "reload-before-predict: not applicable"),
        ("error", "reload-before-predict: error"),
    ):
        check = replace(judged.report.results[0], outcome=outcome)
        changed = replace(judged, report=replace(judged.report, results=(check,)))
        assert str(next(finding_blocks(changed, FindingRef(0), PALETTES[True]))) == heading


def test_code_in_the_words_of_a_fix_has_its_blanks(judged):
    said = told(finding_blocks(judged, FindingRef(0), PALETTES[True]), 100)
    assert "lazy var or static let" in said
    assert "\N{REPLACEMENT CHARACTER}" not in said


@pytest.mark.view("sharpen_float16", size=(200, 50))
async def test_the_first_check_is_inspected_where_there_is_no_finding(screen):
    await screen.press("1")
    assert screen.state.session.report.summary.findings == 0
    assert screen.state.selection == NOTHING
    text = screen.text()
    assert "Nothing selected" not in text
    assert "The number of predictions in flight" in text


@pytest.mark.sweep
@pytest.mark.corpus
def test_a_finding_names_the_code_that_made_the_calls(corpus):
    session = opening.judge_session(opening.read(str(corpus / "bundles" / "quick_probe.trace"), Request()))
    assert session.report is not None
    places = {
        check.id: told(finding_blocks(session, FindingRef(at), PALETTES[True]))
        for at, check in enumerate(session.report.results)
    }
    # Where each stands in the sources, as the call stacks of the recording have it.
    assert "in MambaASRRunner_main (main.swift:1514), main thread" in places["cold-load"]
    assert "in MambaASRRunner.runStreaming (main.swift:1229)" in places["warm-up-spike"]
    assert "in MambaASRRunner.runStreaming (main.swift:1281)" in places["element-wise-access"]


@pytest.mark.sweep
@pytest.mark.corpus
def test_inferred_calls_have_their_phases_and_no_digits_that_samples_do_not_carry(corpus):
    path = str(corpus / "bundles" / "quick_probe.trace")
    session = opening.judge_session(opening.read(path, Request()))
    text = told(model_blocks(session, "MambaASR_fp16_w8", PALETTES[True], monochrome=True), 120)
    assert "Where the time of a load goes" in text
    assert "compiling" in text
    assert "219 ms (100%)" in text
    assert "max           219 ms" in text
    assert "unexplained" not in text


def test_an_inferred_call_says_what_shows_it_and_a_metal_pipeline_what_it_is_of(samples):
    session = opening.read(str(samples / "sharpen_float16.trace"), Request())
    activity = session.trace.activity
    count = len(activity)
    stacked = replace(activity, origin=constant("call-stacks", count), resolution_ns=np.full(count, 1_000_000))
    pipelines = MetalPipelines.listed(1, {"start_ns": [5_000_000], "function": ["softmax"]})
    context = {**session.trace.context, "metal_pipelines": pipelines}
    changed = replace(session, trace=replace(session.trace, activity=stacked, context=context))
    assert "inferred from" not in told(event_blocks(session, EventRef("activity", 0)))
    words = told(event_blocks(changed, EventRef("activity", 0)))
    assert "inferred from call stacks" in " ".join(words.split())
    assert "±1 ms" in words
    assert told(event_blocks(changed, EventRef("metal_pipelines", 0))).startswith("softmax")


def told(blocks, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(*blocks)
    return console.export_text()


@pytest.mark.view("album_memory")
async def test_a_sample_of_memory_is_named_by_its_size_and_has_no_length(screen):
    memory = screen.state.session.trace.memory
    index = int(np.flatnonzero(memory.kind.is_any("gpu"))[0])
    screen.app.select(Selection(event=EventRef("memory", index)))
    await screen.settle()
    shown = " ".join(screen.text().split())
    assert f"GPU memory: {memory.bytes[index] / 1e6:.1f} MB" in shown
    assert "0 ns" not in shown
    screen.app.say("")
    screen.app.change(inspector=False)
    await screen.settle()
    assert " MB · at 1.7" in screen.text().splitlines()[-2]


def test_an_operation_has_the_parts_of_its_time(samples):
    session = kept_judged(kept_session(str(samples / "frame_camera.trace")))
    phases = session.trace.phases
    first = {name: int(np.flatnonzero(phases.name.is_any(name))[0]) for name in ("ProcessFrame", "Resize", "Shutter")}

    def words(name: str) -> str:
        return " ".join(told(event_blocks(session, EventRef("phases", first[name]))).split())

    parts = "Core ML 12.3 ms waiting for the GPU 9.0 ms app code 8.5 ms not running 1.0 ms"
    assert f"Where its time went {parts}" in words("ProcessFrame")
    assert "Where its time went app code 7.50 ms not running 0.50 ms" in words("Resize")
    # A point has no length.
    assert "Where its time went" not in words("Shutter")


def test_phases_of_a_runtime_are_no_operations(samples):
    session = kept_judged(kept_session(str(samples / "local_chat.trace")))
    assert "Where its time went" not in told(event_blocks(session, EventRef("phases", 0)))
