"""Mistakes that users of other gates reported, and that `tracekit check` does not make: a test for each.

Each docstring names the threads. The numbers stay, so that a row is found again.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np
import pytest
import yaml

from support.gates import GATE
from support.handover import trace_of
from support.simulated_latencies import Case, latencies
from support.synthetic_measurements import CASE, DEVICE, model, of_models, recording, recordings
from tracekit.api import judge
from tracekit.comparison.baseline import MAX_RECORDINGS, baseline_of, load_baseline, to_text
from tracekit.comparison.comparison import compare
from tracekit.comparison.gate import Allowed, check
from tracekit.comparison.latency import METHOD_VERSION, Answer, compare_latency
from tracekit.comparison.measuring import measure
from tracekit.comparison.settings import CheckSettings, Limit
from tracekit.comparison.verdict import Verdict
from tracekit.documents.comparison import comparison_document
from tracekit.documents.gate import gate_document
from tracekit.documents.lanes import lanes_of_both
from tracekit.errors import UsageError
from tracekit.render.html import html_of
from tracekit.render.markdown import COMMENT_BYTES, markdown_of
from tracekit.report.timeline import timeline_of
from tracekit.testing import Draws, apps

TODAY = date(2026, 11, 22)
SPREAD_OUT = (0.85, 1.15, 0.95, 1.05, 1.0)
"""Runs of one build that differ by 15%."""
ROOT = Path(__file__).resolve().parents[2]
CI = "".join((ROOT / "docs" / name).read_text() for name in ("ci.md", "action.md"))


def gate(runs, baseline=None, settings=None, **options):
    return check(runs, settings or CheckSettings(), baseline, today=TODAY, **options)


def comparison_item(verdict, name="Net"):
    (item,) = [item for item in verdict.items if item.subject == "baseline" and item.model == name]
    return item


def test_01_the_spread_within_a_recording_is_not_the_noise_between_recordings():
    """mui/mui-public#1712, #1336: runs differ by 15%, samples of one by 2.8%; Welch on samples raised 41 to 60%."""
    baseline = baseline_of(recordings(SPREAD_OUT))
    for seed, scale in enumerate((0.87, 0.93, 1.0, 1.07, 1.13)):
        assert gate([recording(50 + seed, scale)], baseline).verdict is not Verdict.FAILED
    # One recording against one would have called it: that cannot be seen, and the output says so.
    alone = gate([recording(60, 1.13)], baseline_of([recording(0, 1.0)]))
    assert alone.verdict is Verdict.FAILED
    assert "cannot show run-to-run variation" in markdown_of(gate_document(alone))


def test_02_one_fast_recording_in_the_baseline_does_not_make_the_next_one_a_regression():
    """prisma/orm#29804: compared with the predecessor alone."""
    baseline = baseline_of(recordings((1.0, 1.01, 0.99, 1.0, 0.9)))
    assert gate([recording(50, 1.0)], baseline).verdict is not Verdict.FAILED


def test_03_noise_gives_no_verdict_and_a_change_beyond_it_still_fails():
    """open-telemetry/opentelemetry-go#2649, davesnx/html_of_jsx#51: limits raised to 400% until it was quiet."""
    baseline = baseline_of(recordings(SPREAD_OUT))
    assert gate([recording(50, 1.1)], baseline).verdict is Verdict.INCONCLUSIVE
    assert gate(recordings((2.0, 2.1, 1.9), first=50), baseline).verdict is Verdict.FAILED


def test_04_checking_again_gives_the_same_and_what_can_be_seen_is_said():
    """fork-tongue/observ#187: run again until it is green."""
    baseline, run = baseline_of(recordings(SPREAD_OUT)), recording(50, 1.1)
    first, again = gate([run], baseline), gate([run], baseline)
    assert first.items == again.items
    item = comparison_item(first)
    # t(4) s sqrt(1 + 1/5) with the spread of these recordings: how much slower it may be.
    highest = (1 + item.value) * np.exp(2.132 * baseline.spread("Net") * np.sqrt(1.2)) - 1
    assert f" to +{highest * 100:.1f}%)" in item.text
    with pytest.raises(UsageError, match="counts once"):
        gate([run, run], baseline)


def test_05_a_baseline_says_how_often_it_cannot_tell(tracekit, tmp_path):
    """shakacode/react_on_rails#4071: changes of documentation raised five regressions."""
    for scales, words in (
        (
            (1.0, 1.01, 0.99, 1.0),
            r"Checks of one recording: smallest detectable slowdown 10%, inconclusive in under 1%",
        ),
        ((1, 1, 1, 1.2), r"inconclusive in [5-9]\d% of unchanged builds; of 3 recordings: .* set a larger allow\."),
    ):
        file = tmp_path / f"{len(words)}.json"
        file.write_text(to_text(baseline_of(recordings(scales))))
        shown = tracekit("check", "--show-baseline", "--baseline", file, "--no-config").out
        assert re.search(words, " ".join(shown.split()))


def test_06_each_model_has_the_noise_of_its_own_recordings_and_two_floors():
    """kmarchais/mmgpy#134, #135, tenstorrent/tt-metal#53763: limits from repeats, "X % and C cycles"."""

    def run(seed, steady, noisy, short):
        scales = {"Steady": steady, "Noisy": noisy, "Short": short}
        values = {
            name: latencies(CASE, 100, np.random.default_rng(seed + 100 * index), scale)
            for index, (name, scale) in enumerate(scales.items())
        }
        return of_models(*(model(name, series) for name, series in values.items()))

    baseline = baseline_of([run(seed, 1 + step / 500, 1 + step / 10, 0.02) for seed, step in enumerate((-1, 0, 1))])
    assert baseline.spread("Noisy") > 10 * baseline.spread("Steady")
    # 20% slower each: 2 ms, 2 ms, 40 µs.
    verdict = gate([run(50, 1.2, 1.2, 0.024)], baseline)
    verdicts = {name: comparison_item(verdict, name).verdict for name in ("Steady", "Noisy", "Short")}
    assert verdicts == {
        "Steady": Verdict.FAILED,
        "Noisy": Verdict.INCONCLUSIVE,
        "Short": Verdict.PASSED,
    }


def test_07_a_drift_and_a_change_of_a_percent_raise_no_alarm():
    """sanity-io/sanity#14648, mozilla/neqo#1771: a drift rule fired in 68% of windows; 1% is too tight."""
    drifting = replace(CASE, drift=0.10)
    for seed in range(5):
        runs = [recording(seed * 10 + side, case=drifting) for side in (0, 1)]
        assert gate(runs[1:], baseline_of(runs[:1])).verdict is not Verdict.FAILED
    percent = gate([recording(1, 1.01, count=500)], baseline_of([recording(0, count=500)]))
    assert percent.verdict is Verdict.PASSED


def test_08_latencies_around_two_values_get_no_verdict_and_it_says_why():
    """folo-rs/folo#366: bimodal latencies fool medians and Mann-Whitney."""
    generator = np.random.default_rng(3)
    fast, slow = (
        latencies(Case("", spread=0.02), 200, np.random.default_rng(seed), scale) for seed, scale in ((0, 1), (1, 2))
    )
    sides = [of_models(model("Net", np.where(generator.random(200) < share, slow, fast))) for share in (0.35, 0.65)]
    item = comparison_item(gate(sides[1:], baseline_of(sides[:1])))
    assert item.verdict is Verdict.INCONCLUSIVE
    assert "cluster around several values" in item.text


def test_09_one_slow_recording_of_three_is_no_regression_and_three_slow_ones_are():
    """cockroachdb/cockroach#142206: three in a row before it counts."""
    baseline = baseline_of(recordings((1.0, 1.01, 0.99)))
    assert gate(recordings((1.0, 1.25, 1.0), first=50), baseline).verdict is not Verdict.FAILED
    assert gate(recordings((1.25, 1.26, 1.24), first=60), baseline).verdict is Verdict.FAILED


def test_10_without_its_baseline_nothing_passes(tracekit, samples, project):
    """softmata/horus#177: green for months, comparing with nothing."""
    project('[check]\nbaseline = "perf.json"\n')
    result = tracekit("check", samples / "sharpen_8bit.trace")
    assert result.status == 2
    # The name of the folder decides where the sentence is wrapped.
    assert "no such file or directory" in " ".join(result.out.split())


def test_11_a_baseline_is_a_file_of_the_repository_and_never_ages(tracekit, samples, project, monkeypatch):
    """benchmark-action/github-action-benchmark#53, yorkie-team/yorkie#1171, devantler-tech/ksail#3688: caches and
    artifacts are deleted."""
    folder = project('[check]\nbaseline = "perf/phone.json"\n')
    for name in ("perf", "app"):
        (folder / name).mkdir()
    saved = ("check", "--save-baseline", "--baseline", "perf/phone.json", samples / "sharpen_8bit.trace")
    assert tracekit(*saved).status == 0
    first = (folder / "perf" / "phone.json").read_bytes()
    (folder / "perf" / "phone.json").unlink()
    tracekit(*saved)
    assert (folder / "perf" / "phone.json").read_bytes() == first
    # The path is relative to the settings, wherever the job runs.
    monkeypatch.chdir(folder / "app")
    assert tracekit("check", samples / "sharpen_8bit.trace").status == 0
    assert "in the repository" in CI


def test_12_a_baseline_is_small_and_has_no_history():
    """paradedb/paradedb#5360: a repository of 1.7 GB."""
    baseline = baseline_of(recordings([1.0] * 15, count=1000))
    assert len(baseline.recordings) == MAX_RECORDINGS
    assert len(to_text(baseline)) < 100_000


def test_13_a_renamed_model_is_no_silent_pass():
    """jimhester/libvroom#578: renamed, so everything was "new" and nothing compared."""
    baseline, run = baseline_of([recording(0)]), recording(1, name="NetV2")
    unnamed = gate([run], baseline)
    assert unnamed.verdict is Verdict.ERROR
    assert "--rename" in unnamed.items[0].text
    assert comparison_item(gate([run], baseline, renames={"Net": "NetV2"}), "NetV2").verdict is Verdict.PASSED


def test_14_a_vanished_model_fails_and_so_does_what_cannot_be_read(tracekit, samples, project):
    """joshuaswarren/remnic#584, developerz-ai/wurk#68, andymai/occt-wasm#44: a vanished metric passed."""
    one, two = (model(name, latencies(CASE, 100, np.random.default_rng(0))) for name in ("One", "Two"))
    baseline, run = baseline_of([of_models(one, two)]), of_models(one)
    assert gate([run], baseline).verdict is Verdict.FAILED
    assert gate([run], baseline, allowed=Allowed(missing=("Tw*",))).verdict is Verdict.PASSED
    project('[check.limits."*"]\np50 = "20ms"\n')
    assert tracekit("check", samples / "README.md").status == 2


@pytest.mark.parametrize(("settings", "arguments", "status"), [
    ('[check.limits."*"]\np50 = "20ms"\n', [], 0),
    ('[check.limits."*"]\np50 = "10ms"\n', [], 1),
    ('[check]\nbaseline = "none.json"\n', [], 2),
    ('[check.limits."*"]\np50 = "soon"\n', [], 2),
    ('[check.limits."*"]\np50 = "20ms"\n', ["--no-such-option"], 2),
    ('[check.limits."*"]\ncold-load = "1s"\n', [], 3),
])  # fmt: skip
def test_15_each_exit_status_has_one_meaning(tracekit, samples, project, settings, arguments, status):
    """chrishayuk/larql#287, edtechre/pybroker#287, mapequation/infomap#458: regression, missing baseline and mistakes
    in the settings had each other's status."""
    project(settings)
    assert tracekit("check", samples / "sharpen_8bit.trace", *arguments).status == status
    assert f"| {status} |" in CI


def test_16_check_fails_and_compare_does_not(tracekit, samples, project):
    """bheisler/criterion.rs#824, ionelmc/pytest-benchmark#273: users expect a failing exit from a gate."""
    project("")
    before, after = samples / "sharpen_float16.trace", samples / "sharpen_8bit.trace"
    tracekit("check", "--save-baseline", "--baseline", "perf.json", before)
    assert tracekit("check", after, "--baseline", "perf.json").status == 1
    assert tracekit("compare", before, after).status == 0


@pytest.mark.parametrize("other", [{"device": "iPhone 15"}, {"system": "iOS 19.0 (23A1)"}, {"thermal": "serious"}])
def test_17_another_device_is_not_compared_and_a_first_run_may_pass_where_it_is_said(other):
    """ionelmc/pytest-benchmark#276, #219, tpogden/maxwellbloch#242: a baseline for each machine; the first run."""
    run = replace(recording(1), environment=replace(DEVICE, **other))
    stopped = gate([run], baseline_of([recording(0)]))
    assert stopped.verdict is Verdict.ERROR
    (value,) = other.values()
    assert value in stopped.items[0].text
    with pytest.raises(UsageError, match="a baseline for each"):
        baseline_of([recording(0), run])
    assert gate([run], None).verdict is Verdict.ERROR
    assert gate([run], None, allowed=Allowed(no_baseline=True)).verdict is Verdict.PASSED


@pytest.mark.parametrize("limit", ["20ms", "10ms", "soon"])
def test_18_nothing_recorded_is_no_pass_and_files_are_written_on_every_status(tracekit, samples, project, limit):
    """GoogleChrome/lighthouse-ci#806, #747, #193: empty results passed; results only where it failed."""
    folder = project(f'[check.limits."*"]\np50 = "{limit}"\n')
    tracekit("check", samples / "sharpen_8bit.trace", "-o", "out.json", "-o", "out.xml")
    assert (folder / "out.json").exists()
    assert (folder / "out.xml").exists()
    empty = of_models(model("Net", np.zeros(0, np.int64)))
    assert gate([empty], settings=CheckSettings(findings={"critical": 0})).verdict is Verdict.ERROR


def test_19_each_number_has_its_interval_and_what_it_rests_on():
    """kestra-io/docs#5707: measured once, and reviewers learned to ignore it."""
    settings = CheckSettings(limits=(Limit("*", "p50", 20e6),))
    verdict = gate([recording(1, 1.3)], baseline_of([recording(0)]), settings)
    (limit,) = [item for item in verdict.items if item.subject == "p50"]
    assert re.search(r"\(100 predictions, 95% interval 1\d\.\d ms to 1\d\.\d ms\)", limit.text)
    assert re.search(
        r"\+\d+% \(\+\d+% to \+\d+%\), allowed \+10%; 100 and 100 predictions", comparison_item(verdict).text
    )


def test_20_to_warn_first_is_documented_and_possible():
    """BerriAI/litellm#31738, uutils/coreutils#9674, web-infra-dev/rspack#13052, shopware/frontends#2184: required,
    found flaky, made optional."""
    assert "two weeks" in CI
    assert "warn-only" in yaml.safe_load((ROOT / "action.yml").read_text())["inputs"]


def test_21_the_distance_to_a_limit_is_shown():
    """scverse/anndata#2301, #2302: fixed limits creep up."""
    texts = [
        gate([recording(1)], settings=CheckSettings(limits=(Limit("*", "p50", bound),))).items[0].text
        for bound in (8e6, 20e6)
    ]
    assert re.search(r"\(2[3-7]% above the limit\)$", texts[0])
    assert re.search(r"\((49|50|51)% below the limit\)$", texts[1])


def test_22_a_comment_needs_no_rights_in_the_run_that_checks():
    """kivikakk/comrak#339, ggml-org/llama.cpp#6393, brianc/node-postgres#3787: the token of a fork cannot comment."""
    *_, check_run, comment = map(yaml.safe_load, re.findall(r"^```yaml\n(.*?)^```", CI, re.DOTALL | re.MULTILINE))
    assert check_run["permissions"] == {"contents": "read"}
    assert "pull_request_target" not in CI
    # YAML 1.1 reads the key `on` as true.
    assert set(comment[True]) == {"workflow_run"}
    (job,) = comment["jobs"].values()
    assert not any("checkout" in step.get("uses", "") for step in job["steps"])


def test_23_a_comment_is_cut_worst_first_and_says_so():
    """dead-claudia/github-limits#13, bencherdev/bencher#644, #645: comments were too long."""
    text = markdown_of(gate_document(replace(GATE, items=GATE.items[:1] * 5_000 + GATE.items[-1:])))
    assert len(text.encode()) <= COMMENT_BYTES < 65_536
    assert re.search(r"[\d,]+ more in the JSON report", text)
    assert "| passed |" not in text


def page_of(predictions):
    """The page of a comparison of a recording with so many predictions with itself."""
    app = apps.neural_engine_app(Draws(24), compute_ns=4_000_000, predictions=predictions, runs=1)
    trace = trace_of(app.finish())
    report = judge(trace)
    side, drawing = measure(trace, report), (report, timeline_of(trace, report.results))
    comparison = compare([side], [side])
    return html_of(comparison_document(comparison, lanes_of_both(comparison, (drawing, drawing))))


def test_24_what_is_written_does_not_grow_with_the_predictions():
    """bloomberg/memray#484, #987, async-profiler/async-profiler#1396: a report of 1.6 GB stops the browser.

    The page draws on canvases, which `tests/render/test_browser.py` holds to the size of the window.
    """
    short, long = page_of(100), page_of(1500)
    # No element for an event (the longer one has a line on its 95th percentile), and a few bytes for each interval.
    assert abs(long.count("<") - short.count("<")) < 10
    assert (len(long) - len(short)) / (2 * 1400) < 100
    sizes = [
        len(markdown_of(gate_document(gate([recording(1, count=count)], baseline_of([recording(0)])))))
        for count in (100, 2000)
    ]
    assert abs(sizes[1] - sizes[0]) < 100
    assert len(to_text(baseline_of([recording(0, count=5000)]))) < 60_000


def test_25_method_and_version_are_in_baseline_and_output():
    """semgrep/semgrep#4007, bencherdev/bencher#818, dotnet/performance#2244: "what is your statistics?"."""
    baseline = baseline_of([recording(0)])
    plain = json.loads(to_text(baseline))
    assert plain["method"] == METHOD_VERSION
    assert plain["tracekit"]
    verdict = gate([recording(1)], replace(baseline, method=0))
    assert any("version 0 of the method" in item.text for item in verdict.items)
    assert verdict.comparison.method == METHOD_VERSION
    assert "Politis and White" in (ROOT / "docs" / "compare.md").read_text()


def test_26_the_durations_themselves_are_stored(tmp_path):
    """paiml/aprender#2675: only summaries were stored."""
    run = recording(0, count=500)
    (tmp_path / "perf.json").write_text(to_text(baseline_of([run])))
    stored = load_baseline(tmp_path / "perf.json").recordings[0].models[0]
    assert (stored.latencies_ns == run.models[0].latencies_ns).all()
    change = compare_latency([stored.warm_ns], [run.models[0].warm_ns])
    assert (change.answer, change.ratio) == (Answer.UNCHANGED, 1.0)
