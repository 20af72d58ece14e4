"""What a history says in every form."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from support.made_histories import latencies, recorded
from support.simulated_histories import NORMAL, steady, with_drift, with_step
from tracekit.comparison.history import history_of
from tracekit.documents.history import history_document
from tracekit.render.forms import render

DETAILS = "<script>alert(1)</script>"


def logs(count, seed=5):
    return steady(NORMAL, count, np.random.default_rng(seed))


def said(recordings, form="text", **options):
    return render(history_document(history_of(recordings), form, **options), form, width=80)


@pytest.fixture(scope="module")
def worse():
    return latencies(with_step(logs(40), 34, 0.31), report="reports/a b.json")


def test_the_text_fits_80_columns_and_names_the_commits(worse):
    other = latencies(logs(40, 6), "Captioner")
    both = [replace(one, models={**one.models, **more.models}) for one, more in zip(worse, other, strict=True)]
    text = said(both)
    assert max(map(len, text.splitlines())) <= 80
    assert re.match(r"Worse in the newest 12 builds: Sharpen latency \+3[0-2]%\.\n", text)
    words = " ".join(text.split())
    assert re.search(r"change point at 0000021…0000022 \(\+3[0-2]%, 7 Sep, certain\)", words)
    # What became worse comes first.
    assert text.index("Sharpen, iPhone") < text.index("Captioner, iPhone")
    assert text.count("no change found") == 1


def test_a_sparkline_shows_the_step_and_a_gap(worse):
    line = next(line for line in said(worse).splitlines() if line.startswith("  latency"))
    bars = re.search(r"[▁▂▃▄▅▆▇█ ]{18}", line.partition("latency")[2].lstrip())[0]
    assert max(bars[:14]) < min(bars[16:])
    missing = latencies(logs(18))
    missing[3] = recorded(3, {"Sharpen": {"neural-engine": 1.0}})
    line = next(line for line in said(missing).splitlines() if "latency" in line)
    assert line.partition("latency")[2].strip()[3] == "·"


def test_a_drift_says_how_far_over_how_many_builds():
    words = " ".join(said(latencies(with_drift(logs(52), 40, 0.01))).split())
    assert re.search(r"drift \w{7}…\w{7} \(\+1[0-4]%, over 1\d builds to 24 Sep, certain\)", words)


def test_findings_are_named_where_they_came():
    recordings = [
        recorded(at, {"Net": {"findings": float(at >= 10)}}, findings={"Net": ("cold-load",)} if at >= 10 else {})
        for at in range(20)
    ]
    assert "(0 → 1, 14 Aug, certain, new: cold-load)" in " ".join(said(recordings).split())


def test_too_few_builds_are_no_verdict():
    text = said(latencies(logs(7)))
    assert text.startswith("Too few builds to test: 8 of one device and system are needed.")
    assert "no change found" not in text


def test_of_few_builds_the_one_with_the_largest_step_is_named():
    recordings = [recorded(at, {"Net": {"p50_ns": ms * 1e6}}) for at, ms in enumerate((8.0, 8.2, 12.3, 11.0))]
    first = " ".join(said(recordings).split())
    assert re.match(
        r"Slower in build 3 of 4 \([-\d]+.*?\): Net 8\.20 ms → 12\.3 ms \(\+50%\)\. Too few builds to test", first
    )
    assert said(recordings[:2]).startswith("Too few builds to test")


def test_the_page_has_what_its_script_says_of_builds_and_where_they_lead(worse):
    page = said(worse, "html", link=lambda path: path.replace(" ", "%20"))
    names = json.loads(re.search(r'id="history-builds">(.*?)</script>', page)[1])
    assert names == [[[f"{one.time[:10]} {one.commit[:12]}", "reports/a%20b.json"] for one in worse]]
    # Once in the table of all models and once below.
    values = re.findall(r'data-values="(.*?)"', page)
    assert len(values) == 2
    medians = [float(value.removesuffix(" ms")) for value in values[0].split("|")]
    assert medians == pytest.approx([one.models["Sharpen"][0] / 1e6 for one in worse], abs=0.051)


@pytest.mark.sweep
def test_a_page_of_20_models_and_120_builds_is_small():
    generator = np.random.default_rng(1)
    values = 8e6 * np.exp(generator.normal(size=(120, 20, 5)) * 0.01)
    figures = ("p50_ns", "p95_ns", "load_ns", "cold_load_ns", "predictions_per_second")
    shares = {"neural-engine": 0.98, "gpu": 0.01, "cpu": 0.01, "findings": 2.0}
    recordings = []
    for at, build in enumerate(values.tolist()):
        own = [dict(zip(figures, of_model, strict=True)) | shares for of_model in build]
        models = {f"Model {number}": each for number, each in enumerate(own)}
        recordings.append(recorded(at, models, report=f"reports/{at:07d}.html"))
    assert len(said(recordings, "html").encode()) < 1_500_000


def test_the_page_joins_builds_and_says_so():
    page = said(latencies(logs(600)), "html")
    assert page.count('data-joined="median of 4 builds up to "') == 2
    assert [values.count("|") for values in re.findall(r'data-values="(.*?)"', page)] == [149, 149]


def test_a_name_acts_nowhere():
    recordings = latencies(logs(9), DETAILS)
    assert "<script>alert" not in said(recordings, "html")
    assert "<script>alert" not in said(recordings, "markdown")


def test_markdown_has_the_sparkline(worse):
    assert re.search(r"\| latency \| [▁▂▃▄▅▆▇█]{18} \|", said(worse, "markdown"))


def test_times_come_before_shares_and_findings_and_steady_models_are_folded_in_comments():
    slow = with_step(logs(40), 34, 0.1)
    recordings = [
        recorded(at, {"Moved": {"neural-engine": 1.0 if at < 34 else 0.2},
                      "Slow": {"p50_ns": 8e6 * float(np.exp(slow[at]))},
                      "Steady": {"findings": 1.0}})
        for at in range(40)
    ]  # fmt: skip
    text = said(recordings, "markdown")
    assert re.match(r"\*\*Worse in the newest 12 builds: Slow latency \+\S+%, and 1 more figure\.\*\*", text)
    assert text.count("<summary>") == 1
    assert "<summary>Steady, " in text


def test_a_mark_says_whether_the_change_is_for_the_worse(worse):
    better = latencies(with_step(logs(40), 20, -0.4))
    for builds, look in ((worse, "mark worse"), (better, "mark clean")):
        page = said(builds, "html")
        assert set(re.findall(r'class="(mark[^"]*)"', page)) == {look}


def test_a_series_without_figures_says_what_it_needs():
    text = " ".join(said([recorded(0, {"Chat: first token": {}})]).split())
    assert text.endswith("too few builds No figure to follow: a latency needs 12 values per recording.")


def test_a_model_that_the_newest_build_lacks_is_named():
    both = {name: {"p50_ns": 8e6} for name in ("Sharpen", "Captioner")}
    text = " ".join(said([recorded(0, both), recorded(1, {"Sharpen": {"p50_ns": 8e6}})]).split())
    assert "Captioner: in earlier builds, but not in the newest one; last in 0000000 (4 Aug)" in text
    assert "in earlier builds" not in said([recorded(0, both), recorded(1, both)])
