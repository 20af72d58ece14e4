"""`tracekit check --init`: settings that hold for the recording that they come from, and that say what they rest on."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from support.steering import steering
from tracekit.comparison.settings import CHECK_KEYS, FINDINGS, LIMITS, SUPPRESSION
from tracekit.config import KEYS, KEYS_OF_MODELS, load_config
from tracekit.detectors.plugins import listed_detectors
from tracekit.testing import Model, Process, Scenario, write_export

MS = 1_000_000
WORKFLOW = Path(".github/workflows/tracekit.yml")
ROOT = Path(__file__).parents[2]
LEFT_OUT = "tracekit: iphone.json is the baseline, so it is not checked as a recording\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty repository as the current folder."""
    (tmp_path / "project" / ".git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


@pytest.mark.parametrize(
    ("good", "slow"), [("sharpen_float16", "sharpen_8bit"), ("style_transfer_fixed", "style_transfer_reload")]
)
def test_the_recording_passes_and_a_slow_one_fails(tracekit, samples: Path, good: str, slow: str) -> None:
    path = samples / f"{good}.trace"
    result = tracekit("check", "--init", path)
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == [
        f"wrote tracekit.toml: limits and allowed findings from {good}.trace",
        f"wrote {WORKFLOW}: checks the reports in perf/ on each push; it only warns until you remove its line "
        "`warn-only: true`",
        f"next: tracekit check {shlex.quote(str(path))}",
        f"next: tracekit analyze {shlex.quote(str(path))} -o perf/run.json, then commit perf/",
    ]
    assert tracekit("check", path).status == 0
    assert tracekit("check", samples / f"{slow}.trace").status == 1
    assert "\nloads = 1  # loads, cold and cached: 1 in " in Path("tracekit.toml").read_text("utf-8")


def test_what_the_workflow_checks_may_lie_beside_the_baseline(tracekit, samples: Path) -> None:
    path, perf = samples / "sharpen_float16.trace", Path("perf")
    tracekit("check", "--init", path)
    settings = Path("tracekit.toml")
    settings.write_text(settings.read_text("utf-8").replace("#baseline = ", "baseline = "), "utf-8")
    perf.mkdir()
    assert tracekit("analyze", path, "-q", "-o", "perf/run.json").status == 0
    assert tracekit("check", path, "--save-baseline").status == 0
    for given in (sorted(perf.glob("*.json")), [perf]):
        result = tracekit("check", *given)
        assert (result.status, result.err) == (0, LEFT_OUT)
    # Alone it is no recording.
    assert "is a baseline" in tracekit("check", "perf/iphone.json").out


def test_baselines_that_nothing_names_do_not_stop_the_workflow(tracekit, samples: Path) -> None:
    """The path from `init` over a saved baseline to what the workflow runs, before and after the setting."""
    path, perf = samples / "sharpen_float16.trace", Path("perf")
    tracekit("check", "--init", path)
    perf.mkdir()
    tracekit("analyze", path, "-q", "-o", "perf/run.json")
    saved = tracekit("check", path, "--baseline", "perf/iphone.json", "--save-baseline")
    setting = saved.err.splitlines()[-1]
    assert setting == (
        'tracekit: next: set baseline = "perf/iphone.json" under [check] in tracekit.toml, to compare with it'
    )
    (perf / "air.json").write_bytes((perf / "iphone.json").read_bytes())
    note = (
        "is a baseline: not checked as a recording, and compared with only where --baseline or `baseline =` names it\n"
    )
    for given in (sorted(perf.glob("*.json")), [perf]):
        result = tracekit("check", *given)
        assert (result.status, result.err) == (0, f"tracekit: air.json {note}tracekit: iphone.json {note}")
        result = tracekit("check", *given, "--baseline", "perf/iphone.json")
        assert (result.status, result.err) == (0, f"{LEFT_OUT}tracekit: air.json {note}")
    settings = Path("tracekit.toml")
    settings.write_text(
        settings.read_text("utf-8").replace('#baseline = "perf/iphone14.json"', 'baseline = "perf/iphone.json"')
    )
    again = tracekit("check", path, "--baseline", "perf/iphone.json", "--update-baseline")
    assert "next:" not in again.err
    # Nothing but baselines is no recording.
    alone = tracekit("check", "perf/iphone.json", "perf/air.json", "--baseline", "perf/gone.json")
    assert (alone.status, "air.json is a baseline" in alone.out) == (2, True)


def test_a_recording_passes_its_own_settings_which_say_what_they_rest_on(tracekit, samples: Path) -> None:
    for name in ("sharpen_8bit", "style_transfer_reload", "captions_concurrent"):
        result = tracekit("check", "--init", "--force", samples / f"{name}.trace")
        assert result.status == 0
        assert "tracekit.toml allows 1 " in result.err
        assert tracekit("check", samples / f"{name}.trace").status == 0

    tracekit("check", "--init", "--force", samples / "sharpen_8bit.trace")
    lines = Path("tracekit.toml").read_text("utf-8").splitlines()
    start = lines.index('[check.limits."SharpenFilter"]')
    assert lines[start + 2 : start + 5] == [
        'p95 = "16.6 ms"  # 95th percentile of latency: 13.3 ms (139 predictions) in sharpen_8bit.trace; 25% headroom',
        'load = "182 ms"  # median cached load: 90.8 ms in sharpen_8bit.trace; 100% headroom',
        '#cold-load = "2s"  # median cold load: no cold load was recorded in sharpen_8bit.trace',
    ]
    assert "high = 1  # excess-data-copies" in lines


@pytest.mark.parametrize("recorded", [False, True])
def test_every_key_has_a_line_that_is_read_back(tracekit, samples: Path, recorded: bool) -> None:
    assert tracekit("check", "--init", *([samples / "sharpen_8bit.trace"] if recorded else [])).status == 0
    path = Path("tracekit.toml")
    load_config(path)
    text = path.read_text("utf-8")
    for key in {**KEYS, **KEYS_OF_MODELS, **CHECK_KEYS, **FINDINGS, **LIMITS, **SUPPRESSION}:
        assert re.search(rf"^#?{key} = \S.*", text, re.MULTILINE), key
    # Each of them is a setting as it stands.
    path.write_text(re.sub(r"^#(?=\S)", "", text, flags=re.MULTILINE), "utf-8")
    config = load_config(path)
    assert {limit.name for limit in config.check.limits} == set(LIMITS)
    options = {f"{entry.id}." for entry in listed_detectors()}
    assert {key.partition(".")[0] + "." for key in config.settings} <= options
    assert config.fail_on == "high"


def test_without_a_recording_nothing_is_set_and_the_workflow_is_that_of_the_guide(tracekit) -> None:
    result = tracekit("check", "--init")
    assert result.out.splitlines()[0] == "wrote tracekit.toml: all settings commented out"
    config = load_config(Path("tracekit.toml"))
    assert (config.check.limits, config.check.findings, config.settings) == ((), {}, {})

    assert "`warn-only: true`" in result.out
    assert WORKFLOW.read_text("utf-8").count(" warn-only: true ") == 1

    used = re.findall(r"uses: .*", WORKFLOW.read_text("utf-8"))
    guide = (ROOT / "docs" / "action.md").read_text("utf-8")
    assert len(used) == 2
    assert all(line in guide for line in used)


@pytest.mark.parametrize("name", ["tracekit.toml", str(WORKFLOW), "pyproject.toml"])
def test_what_is_there_stays_without_force(tracekit, folder: Path, name: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("[tool.tracekit]\n")
    result = tracekit("check", "--init")
    assert (result.status, result.out) == (2, "")
    assert "--force" in result.err
    assert [path.name for path in folder.rglob("*.*") if path.is_file()] == [Path(name).name]
    assert tracekit("check", "--init", "--force").status == 0


@pytest.mark.parametrize("below", ["", "apps/camera"])
def test_a_workflow_is_written_only_at_the_top_of_a_repository(tracekit, folder: Path, monkeypatch, below: str) -> None:
    place = folder / below if below else folder.parent
    place.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(place)
    result = tracekit("check", "--init")
    assert result.out.splitlines()[1] == (
        "no workflow: this folder is not the top of a Git repository; there, --init writes one"
    )
    assert (result.status, Path("tracekit.toml").exists(), WORKFLOW.exists()) == (0, True, False)


def test_a_recording_without_predictions_writes_nothing(tracekit, samples: Path, folder: Path) -> None:
    result = tracekit("check", "--init", samples / "not_instrumented.trace")
    assert result.status == 2
    assert result.err == "tracekit: not_instrumented.trace contains no predictions, so no limit follows from it\n"
    assert tracekit("check", "--init", "gone.trace").status == 2
    assert [path.name for path in folder.iterdir()] == [".git"]


def test_names_of_models_are_no_toml(tracekit, tmp_path: Path) -> None:
    name = 'a"]\\ [x*] \x7f é \u202e \U000e0041 模'
    scenario = Scenario(Process("App", 412), duration_ns=2_000 * MS)
    scenario.load(Model(name), 0, 20 * MS)
    for index in range(40):
        scenario.predict(Model(name), (50 + 40 * index) * MS, 10 * MS)
    path = tmp_path / "export\u202e\n[check.limits.x]\np95 = 'x'"
    write_export(scenario, path)
    result = tracekit("check", "--init", path)
    assert (result.status, steering(result.out + Path("tracekit.toml").read_text("utf-8"))) == (0, set())
    items = tracekit("check", path, "--json").json["items"]
    assert {item["verdict"] for item in items if item["model"] == name} == {"passed"}
    # Call stacks were recorded and not exported, so what checks of them would find is unknown.
    assert {item["verdict"] for item in items if item["model"] is None} == {"inconclusive"}
