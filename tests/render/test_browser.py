"""The page in headless Chromium: every control used, and what it shows compared with the recording.

Needs Chromium, Node and `npm ci` in web/.
"""

from __future__ import annotations

import fcntl
import json
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from support.analyses import kept_analysis
from support.forms import html_page
from support.made_histories import FIRST, commit, recorded
from support.rows import records_of
from tracekit.analysis.code.tree import CallTree
from tracekit.analysis.ledger.account import ledger
from tracekit.api import Analysis, analysis_of, explain
from tracekit.characters import map_strings
from tracekit.comparison.comparison import compare
from tracekit.comparison.history import history_of
from tracekit.comparison.matrix import Figures, Source, matrix
from tracekit.comparison.measuring import measure
from tracekit.documents.comparison import comparison_document
from tracekit.documents.history import history_document
from tracekit.documents.lanes import lanes_of_both
from tracekit.documents.matrix import matrix_document
from tracekit.documents.why_pictures import why_page
from tracekit.render.blocks import Document, Paragraph, Role, Span
from tracekit.render.html import html_of
from tracekit.report.flame import Flame
from tracekit.report.formatting import moment
from tracekit.trace.events import Events, Kind
from tracekit.units import format_time

WEB = Path(__file__).parents[2] / "web"
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
DRIVEN = "sharpen_8bit"
CONCURRENT = "captions_concurrent"
LOOKED_AT = (CONCURRENT, "not_instrumented", "style_transfer_reload")
REAL = ("quick_probe",)
MORE, MORE_REAL = ("sharpen_float16", "style_transfer_fixed"), ("fp16_w8_60s_all",)
"""With `--every-case`: other recordings of the same apps. A page takes the browser three seconds."""

pytestmark = pytest.mark.skipif(
    CHROMIUM is None or shutil.which("node") is None or not (WEB / "node_modules/playwright-core").is_dir(),
    reason="needs Chromium, Node and the packages of web/ (npm ci)",
)


def stacks() -> Flame:
    """Samples made up for a recording that has none: a function of the app every 100 ms, its callee every 200 ms."""
    leaf = np.array([1, 2] * 25)
    numbers = [np.array(each) for each in ([-1, 0, 1], [0, 1, 2], [50, 50, 25], [0, 25, 25])]
    names, images, is_app = ("start", "run", "load"), ("dyld", "App", "CoreML"), (False, True, False)
    tree = CallTree(*numbers, names, images, is_app, np.arange(3), np.array([-1, 0, -1]), ("main.swift:7",))
    return Flame(np.arange(50) * 100_000_000, leaf, tree)


def write(analysis: Analysis, folder: Path, flame: Flame | None = None) -> Path:
    timeline = analysis.timeline()
    timeline = timeline if flame is None else replace(timeline, flame=flame)
    path = folder / f"{analysis.report.recording.source}.html"
    path.write_text(html_page(analysis.report, timeline), "utf-8")
    return path


def write_hostile(analysis: Analysis, folder: Path) -> Path:
    """The page of a recording whose every name tries to be markup."""
    hostile = "</script><img src=x onerror=alert(1)><b>"
    timeline = analysis.timeline()
    texts = tuple(f"{hostile}{text}" for text in timeline.texts)
    report = map_strings(analysis.report, lambda field, text: hostile + text if field == "label" else text)
    path = folder / "hostile.html"
    path.write_text(html_page(report, replace(timeline, texts=texts)), "utf-8")
    return path


def write_pair(before: Analysis, after: Analysis, folder: Path) -> Path:
    """The page of a comparison of recordings whose first predictions start at different times."""
    sides = [measure(each.trace, each.report) for each in (before, after)]
    drawings = [(each.report, each.timeline()) for each in (before, after)]
    path = folder / "pair.html"
    comparison = compare(sides[:1], sides[1:])
    lanes = lanes_of_both(comparison, (drawings[0], drawings[1]))
    path.write_text(html_of(comparison_document(comparison, lanes)), "utf-8")
    return path


def write_why(analysis: Analysis, folder: Path) -> Path:
    """The page of the slowest prediction, which its lanes are marked for."""
    said = explain(analysis.trace)
    labels = [why.prediction for model in said.models for why in model.predictions]
    path = folder / "why.html"
    path.write_text(html_of(why_page(said, "", analysis.report, analysis.timeline(labels))), "utf-8")
    return path


def look(analysis: Analysis, samples: Path, shared_folder: Path, looked_at: Sequence[str], real: Sequence[str]) -> str:
    """What the browser saw of all pages, as JSON."""
    folder = shared_folder / "pages"
    folder.mkdir()
    pages = [write(analysis, folder, stacks())]
    pages += [write(kept_analysis(samples / f"{name}.trace"), folder) for name in looked_at]
    bundles = [samples.parents[1] / f"shared/corpus/bundles/{name}.trace" for name in real]
    pages += [write(analysis_of(bundle), folder) for bundle in bundles if bundle.exists()]
    pages.append(write_hostile(analysis, folder))
    pages.append(write_pair(analysis, kept_analysis(samples / f"{CONCURRENT}.trace"), folder))
    pages.append(write_why(kept_analysis(samples / f"{CONCURRENT}.trace"), folder))
    call = first_prediction(analysis)
    first = f"{call.start_ns}-{call.start_ns + call.duration_ns}"
    command = ["node", str(WEB / "test/browser.mjs"), str(CHROMIUM), first, *map(str, pages)]
    seen = subprocess.run(command, capture_output=True, text=True, check=False, timeout=500)
    assert seen.returncode == 0, seen.stderr
    return seen.stdout


@pytest.fixture(scope="module")
def analysis(samples):
    return kept_analysis(samples / f"{DRIVEN}.trace")


@pytest.fixture(scope="module")
def seen(request, analysis, samples, shared_folder):
    """What the browser saw, looked at by the process that comes first."""
    result_file = shared_folder / "browser.json"
    with (shared_folder / "browser.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not result_file.exists():
            every = request.config.getoption("--every-case")
            names = (LOOKED_AT + MORE, REAL + MORE_REAL) if every else (LOOKED_AT, REAL)
            result_file.write_text(look(analysis, samples, shared_folder, *names), "utf-8")
    answers: dict[str, Any] = json.loads(result_file.read_text("utf-8"))
    return answers


@pytest.fixture(scope="module")
def steps(seen):
    driven: dict[str, Any] = seen["driven"]["steps"]
    return driven


def first_prediction(analysis: Analysis) -> Any:
    activity = analysis.trace.activity
    return call_at(activity, int(activity.kind.is_any(Kind.PREDICTION).argmax()))


def call_at(rows: Events, at: int) -> Any:
    return SimpleNamespace(**records_of(rows.take(slice(at, at + 1)))[0])


def to_ms(ns: int) -> str:
    """The begin of a moment that has more digits, or no unit."""
    return moment(ns).removesuffix(" s")


def view(steps: dict[str, Any], name: str) -> tuple[int, int]:
    """What was in view after a step, in ms."""
    start, end = (round(1000 * seconds(moment)) for moment in steps[name]["view"].split(" to "))
    return start, end


def test_no_canvas_is_larger_than_the_window_however_long_the_recording(seen):
    for noted in seen["files"]:
        assert noted["canvases"]
        assert all(0 < width <= 1280 and 0 < height <= 2 * 900 for width, height in noted["canvases"]), noted["file"]


def test_no_page_complains_asks_for_anything_overflows_shifts_or_shuts_out(seen):
    assert len(seen["files"]) >= 1 + len(LOOKED_AT)
    for noted in (*seen["files"], seen["driven"]["noted"]):
        assert noted["complaints"] == []
        assert noted["requests"] == []
    for noted in seen["files"]:
        assert all(pixels <= 0 for pixels in noted["overflow"].values()), noted
        assert noted["shift"] < 0.05, noted
        # A phone begins with what the page says first, and no details cover it.
        assert noted["first"] == [0, False], noted
        # The one script of the page; what a recording says adds none, and no image.
        assert noted["elements"] == 1, noted
        # Ground, lines and text have a few dozen shades; the rest is lanes.
        assert noted["drawn"] > 100, noted
        assert noted["axe"] == [], noted


def test_all_ways_to_move_the_view_do_so(steps):
    whole = view(steps, "opened")
    assert whole == (0, 5204)
    for name in ("zoomed out", "key s", "key 0", "whole", "key 0 again", "escaped", "all cleared"):
        assert view(steps, name) == whole, name
    for name in ("zoomed in", "key w", "wheel", "brush", "zoomed to range", "pinched"):
        start, end = view(steps, name)
        assert end - start < 4000, name
    assert view(steps, "key d")[0] > view(steps, "key w")[0]
    assert view(steps, "key a") == view(steps, "key w")
    assert view(steps, "dragged")[0] < view(steps, "wheel")[0]
    assert view(steps, "pan button")[0] > view(steps, "dragged")[0]
    # The brush goes from a quarter of the recording to its half, and then a fifth further.
    assert view(steps, "brush") == pytest.approx((1301, 2602), abs=5)
    assert view(steps, "brush moved") == pytest.approx((1301 + 1041, 2602 + 1041), abs=10)


@pytest.mark.parametrize(("step", "start", "end"), [("range on the axis", 0, 0.5), ("range with shift", 0.25, 0.5)])
def test_statistics_of_a_range_are_those_of_the_recording(analysis, steps, step, start, end):
    panel, trace = steps[step]["panel"], analysis.trace
    low, high = map(int, re.search(r"range=(\d+)-(\d+)", steps[step]["hash"]).groups())  # type: ignore[union-attr]
    assert (low, high) == pytest.approx((start * 5_204_630_250, end * 5_204_630_250), abs=5_000_000)
    chosen = [rows.where((rows.start_ns >= low) & (rows.start_ns < high)) for rows in trace.events.values()]
    assert f"{sum(map(len, chosen)):,} events starting in it" in panel
    predictions = chosen[0].duration_ns[chosen[0].kind.is_any(Kind.PREDICTION)]
    numbers = [predictions.sum(), predictions.mean(), *np.quantile(predictions, [0.5, 0.95])]
    expected = " ".join(map(format_time, [*numbers, predictions.max()]))
    assert f"Prediction · SharpenFilter Activity {len(predictions)} {expected}" in panel


def test_a_finding_leads_to_its_evidence_one_interval_after_the_other(analysis, steps):
    check = next(check for check in analysis.report.results if check.outcome == "finding")
    assert steps["finding"] == check.id
    assert check.evidence_total > len(check.evidence)
    assert f"{check.evidence_total} intervals" in steps["marks"]
    places = (("marked", 0), ("evidence next", 1), ("evidence button", 0), ("card", 0))
    for step, number in places:
        entry = check.evidence[number]
        assert entry.label in steps[step]["panel"]
        assert f"start {to_ms(entry.start_ns)}" in steps[step]["panel"]
        assert f"duration {format_time(entry.end_ns - entry.start_ns)}" in steps[step]["panel"]
        low, high = view(steps, step)
        assert low * 1e6 - 1e6 < entry.start_ns < entry.end_ns < high * 1e6 + 1e6
        assert steps[step]["hash"].startswith(f"#finding={check.id}")
    assert steps["all cleared"]["hash"] == ""


def test_search_finds_what_the_recording_holds(analysis, steps):
    lanes = analysis.trace.events.values()
    held = sum(int(rows.label.passing(lambda label: "prediction" in label.lower()).sum()) for rows in lanes)
    assert steps["matches"] == f"{held} matches"
    assert to_ms(first_prediction(analysis).start_ns) in steps["searched"]["panel"]
    assert steps["next match"]["panel"] != steps["searched"]["panel"]


def test_a_click_selects_what_lies_there_and_a_double_click_shows_it(analysis, steps):
    call = first_prediction(analysis)
    for step in ("clicked", "double click"):
        panel = steps[step]["panel"]
        assert f"start {to_ms(call.start_ns)}" in panel, step
        assert f"duration {format_time(call.duration_ns)}" in panel
        assert "first after a load" in panel
    low, high = view(steps, "double click")
    assert high - low == pytest.approx(2 * call.duration_ns / 1e6, abs=2)
    assert steps["tip"].startswith(f"Prediction · SharpenFilter · {format_time(call.duration_ns)}")
    assert "Prediction · SharpenFilter Activity" in steps["inView"]
    assert steps["fragment"]["panel"].count("Range of 1.00 s from 1.000") == 1


def test_a_strip_leads_to_evidence_and_on_to_its_prediction(analysis, steps):
    check = next(check for check in analysis.report.results if check.outcome == "finding")
    data, activity = analysis.trace.data, analysis.trace.activity
    middle = 5_204_630_250 / 2
    away = np.maximum(check.marked.starts - middle, middle - check.marked.ends)
    near = check.marked.starts[int(np.argmin(away))]
    prediction = data.prediction.values[data.start_ns == near][0]
    start, end = activity.start_ns[prediction], activity.ends_ns[prediction]
    assert steps["strip clicked"]["hash"].startswith(f"#finding={check.id}&event=")
    assert f"part of prediction of {shortest_time(end - start)} at {moment(start)}" in steps["strip clicked"]["panel"]
    assert f"evidence for {check.id}" in steps["strip clicked"]["panel"]
    assert "code in Sharpen.PhotoFilter.sharpen (PhotoFilter.swift:31)" in steps["strip clicked"]["panel"]
    # All of the prediction is in view.
    low, high = view(steps, "strip clicked")
    assert low * 1e6 < start < end < (high + 1) * 1e6
    for step in ("its prediction", "pinned clicked"):
        assert f"lane Activity kind prediction start {to_ms(start)}" in steps[step]["panel"], step


def shortest_time(ns: float) -> str:
    """Three digits, as the script writes times."""
    return f"{ns / 1e6:.1f} ms"


def test_charts_lead_to_the_prediction_under_the_pointer(analysis, steps):
    first, longest = first_prediction(analysis), slowest(analysis)
    assert steps["dot"] == f"{shortest_time(first.duration_ns)} at {moment(first.start_ns)}"
    assert f"start {to_ms(first.start_ns)}" in steps["dot clicked"]["panel"]
    assert f"start {to_ms(longest.start_ns)}" in steps["bar clicked"]["panel"]
    fixes = [check.fix.count("```") // 2 for check in analysis.report.results if check.outcome == "finding"]
    assert steps["copied"] == sum(fixes) > 0


def slowest(analysis: Analysis) -> Any:
    activity = analysis.trace.activity
    return call_at(activity, int(np.where(activity.kind.is_any(Kind.PREDICTION), activity.duration_ns, -1).argmax()))


def test_a_click_on_a_slow_prediction_says_why(analysis, steps):
    call, clicked = slowest(analysis), steps["slow clicked"]
    sentence = f"SharpenFilter at {moment(call.start_ns)}: {format_time(call.duration_ns)} instead of the usual"
    for step in ("slow chosen", "slow clicked"):
        assert sentence in steps[step]["panel"], step
        assert "code called from Sharpen.PhotoFilter.sharpen (PhotoFilter.swift:31)" in steps[step]["panel"]
        assert "rank 1 of " in steps[step]["panel"]
        assert f"#finding={steps['slow']}" in steps[step]["hash"]
    assert (steps["slow left"]["hash"], clicked["view"]) == ("", steps["slow left"]["view"])
    # Of every other one, the page says how it compares, and which command says more.
    first = first_prediction(analysis)
    less = ledger(analysis.trace)["SharpenFilter"].usual_ns[0] - first.duration_ns
    assert f"{format_time(first.duration_ns)}, {format_time(less)} less than usual" in steps["clicked"]["panel"]
    assert f"tracekit why {DRIVEN}.trace --at {to_ms(first.start_ns)}" in steps["clicked"]["panel"]


def test_an_address_holds_what_is_selected_searched_and_in_view(steps):
    assert view(steps, "address") == (1000, 2000)
    for part in ("event=0-3", "view=1000000000-2000000000", "find=copy"):
        assert part in steps["address"]["hash"]
        assert part in steps["link"]
    assert "lane Activity" in steps["address"]["panel"]


def test_what_a_slow_prediction_waited_for_is_stepped_through(seen, samples):
    trace = kept_analysis(samples / f"{CONCURRENT}.trace").trace
    call = slowest(kept_analysis(samples / f"{CONCURRENT}.trace"))
    engine = trace.hardware.where(trace.hardware.lane.is_any("neural-engine"))
    waits = engine.where(engine.ends_ns > call.start_ns)
    chosen, first, last = next(noted["slow"] for noted in seen["files"] if CONCURRENT in noted["file"])
    assert "behind 7 earlier predictions" in chosen
    assert "What is behind this is outlined: 7 intervals" in chosen
    assert "code not recorded (Time Profiler)" in chosen
    for text, number in ((first, 1), (last, 7)):
        assert f"Interval {number} of 7 behind the prediction of {format_time(call.duration_ns)}" in text
        assert f"start {to_ms(waits.start_ns[number - 1])}" in text


def test_a_slow_prediction_names_the_line_that_called_it_among_several(seen):
    said = [noted["slow"][0] for noted in seen["files"] if "quick_probe" in noted["file"]]
    if not said:
        pytest.skip("needs the real recordings")
    # The source calls predict there once before it begins to stream, and later in a loop elsewhere.
    assert "code called from MambaASRRunner.runStreaming (main.swift:1229), main thread" in said[0]


def test_the_flame_graph_counts_the_samples_of_what_is_looked_at(analysis, steps):
    of_evidence, of_range, about, of_function, back, of_model, found, innermost = steps["flame"]
    check = next(check for check in analysis.report.results if check.outcome == "finding")
    times = stacks().times.tolist()
    spans = list(zip(check.marked.starts, check.marked.ends, strict=True))
    held = sum(any(start <= time < end for start, end in spans) for time in times)
    assert of_evidence == f"{held} sample{'' if held == 1 else 's'}, the evidence of {check.id}"
    # From 1.0 s on and before 2.0 s; every second one ends in `load`.
    assert of_range == back == "10 samples, the range"
    assert about == "run [App] (main.swift:7): 10 samples, 100%"
    assert of_function == "10 samples in run, the range Whole tree"
    assert found == "5 samples, 50%"
    assert innermost == "run [App]: 5 samples, 50%"
    # Every second sample is in Core ML.
    activity = analysis.trace.activity
    calls = list(zip(activity.start_ns.tolist(), activity.ends_ns.tolist(), strict=True))
    held = sum(any(start <= time < end for start, end in calls) for time in times[1::2])
    assert of_model == f"{held} samples, in Core ML, for SharpenFilter"


def test_tables_can_be_sorted_and_searched(steps):
    counts = [int(count.replace(",", "")) for count in steps["descending"]]
    assert counts == sorted(counts, reverse=True)
    assert steps["ascending"] == steps["descending"][::-1]
    assert sorted(steps["filtered"]) == ["Input Copy", "Neural Engine - Data Copy"]


def test_the_page_has_two_schemes_opens_for_print_and_is_accessible(steps):
    light, dark = steps["ground"]
    assert light != dark
    before, printed, after = steps["closed"]
    assert before == after > 0 == printed
    assert steps["axe"] == {"dark": [], "light": []}


def test_without_scripts_everything_but_the_lanes_is_there(analysis, seen):
    text = seen["driven"]["withoutScripts"]
    assert "Scripts are switched off, so the lanes are not drawn." in text
    for check in analysis.report.results:
        if check.outcome == "finding":
            assert check.title in text
            assert check.summary in text


def test_two_recordings_show_the_same_time_from_their_first_predictions(seen, samples):
    pair = next(page["pair"] for page in seen["files"] if "pair" in page)
    traces = [kept_analysis(samples / f"{name}.trace").trace for name in (DRIVEN, CONCURRENT)]
    called = [trace.activity.start_ns[trace.activity.kind.is_any(Kind.PREDICTION)].min() for trace in traces]
    offset = (int(called[1]) - int(called[0])) / 1e9
    spans = []
    for step in pair["steps"]:
        before, after = ([seconds(text) for text in view] for view in step)
        assert [b + offset for b in before] == pytest.approx(after, abs=0.002)
        spans.append(before[1] - before[0])
    # A zoom of either changes both.
    assert spans[0] > spans[1] > spans[2]


def test_a_history_says_what_a_build_is_and_leads_to_its_report(tmp_path):
    (tmp_path / "report.html").write_text("A report", "utf-8")
    medians, long_name = np.linspace(8e6, 12e6, 41).round(), "NetOfAVeryLongNameThatFillsThePhone"
    recordings = [
        recorded(at, {long_name: {"p50_ns": ns}}, report="report.html") for at, ns in enumerate(medians.tolist())
    ]
    page = tmp_path / "history.html"
    page.write_text(html_of(history_document(history_of(recordings), "html")), "utf-8")
    command = ["node", str(WEB / "test/history.mjs"), str(CHROMIUM), str(page), "0.5"]
    seen = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert (seen["complaints"], seen["before"], seen["visible"], seen["left"]) == ([], False, True, False)
    assert seen["overflow"] == 0
    named = {at: f"{FIRST + timedelta(days=at):%Y-%m-%d} {commit(at)[:12]}" for at in (20, 39, 40)}
    assert seen["pointed"] == f"{named[20]}: 10.0 ms"
    assert (seen["focused"], seen["stepped"]) == (f"{named[40]}: 12.0 ms", f"{named[39]}: 11.9 ms")
    assert seen["address"].endswith("/report.html")


def test_a_matrix_is_sorted_by_recording_and_filtered_by_model_and_by_figure(tmp_path):
    latencies = {"Decoder": 900e3, "Encoder": 1.2e6}
    figures = [Figures(name, {"predictions": 3, "p50_ns": ns}, ()) for name, ns in latencies.items()]
    page = tmp_path / "matrix.html"
    page.write_text(
        html_of(matrix_document(matrix([Source("a", "recording", "a", None, tuple(figures))], ["a"]))), "utf-8"
    )
    command = ["node", str(WEB / "test/matrix.mjs"), str(CHROMIUM), str(page), "encoder", "predictions", "nothing"]
    seen = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert (seen["scheme"], seen["printed"]) == ("dark", 0)
    # The slower model first, then the faster one, then by name; what is of the whole recording stays above them.
    slow_first, fast_first, by_name = ([row for row in rows if row in latencies] for rows in seen["sorted"])
    assert (slow_first, fast_first, by_name) == (["Encoder", "Decoder"], ["Decoder", "Encoder"], ["Decoder", "Encoder"])
    assert {rows[0] for rows in seen["sorted"]} == {"device"}
    of_model, of_figure, none = seen["left"]
    assert (seen["complaints"], none) == ([], [])
    # A row stands below the name of its model.
    assert of_model[:1] == ["Encoder"]
    assert {"predictions", "Decoder"} & set(of_model) == {"predictions"}
    assert of_figure == ["Decoder", "predictions", "Encoder", "predictions"]


def test_commands_are_copied_and_no_line_ends_within_a_word_of_them(tmp_path):
    commands = ["tracekit explain float32-compute", "tracekit fix Net.mlpackage float32-compute -o Net-fixed.mlpackage"]
    page = tmp_path / "commands.html"
    blocks = tuple(Paragraph(Span(command, Role.CODE), lead="or run") for command in commands)
    page.write_text(html_of(Document("Net", "", Role.PLAIN, blocks=blocks)), "utf-8")
    command = ["node", str(WEB / "test/commands.mjs"), str(CHROMIUM), str(page)]
    seen = json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout)
    assert (seen["copied"], seen["said"]) == (commands, ["Copied", "Copied"])
    assert (seen["complaints"], seen["broken"], seen["scheme"]) == ([], [], "dark")


def seconds(moment: str) -> float:
    *minutes, rest = moment.removesuffix(" s").lstrip("-−").split(":")
    size = sum(60 * int(part) for part in minutes) + float(rest)
    return size if moment[0].isdecimal() else -size
