"""`tracekit check` and `tracekit baseline`, from end to end with every exit status."""

from __future__ import annotations

import json

import pytest


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()

    def write(text):
        (tmp_path / "tracekit.toml").write_text(text)
        return tmp_path

    return write


def test_a_baseline_is_saved_shown_and_checked(tracekit, samples, project):
    project('[check]\nbaseline = "perf.json"\n')
    saved = tracekit("baseline", "save", "perf.json", samples / "sharpen_float16.trace")
    assert saved.status == 0
    assert "139 predictions, median 8.68 ms" in saved.out
    assert "fewer than three recordings" in saved.err
    assert tracekit("baseline", "show", "perf.json").out == saved.out
    assert tracekit("check", samples / "sharpen_float16.trace").status == 0
    slower = tracekit("check", samples / "sharpen_8bit.trace")
    assert slower.status == 1
    assert "regressed: 8.68 ms → 12.44 ms" in slower.out


def test_a_baseline_is_not_replaced(tracekit, samples, project):
    project("")
    tracekit("baseline", "save", "perf.json", samples / "sharpen_float16.trace")
    again = tracekit("baseline", "save", "perf.json", samples / "sharpen_float16.trace")
    assert again.status == 2
    assert "update" in again.err
    assert tracekit("baseline", "update", "perf.json", samples / "sharpen_float16.trace").status == 2


@pytest.mark.parametrize(
    ("settings", "sample", "status", "words"),
    [
        ('[check.limits."*"]\np50 = "20ms"\n', "sharpen_8bit", 0, "passed"),
        ('[check.limits."*"]\np50 = "10ms"\n', "sharpen_8bit", 1, "allowed: at most 10.00 ms"),
        ('[check.limits."*"]\ncold-load = "1s"\n', "sharpen_8bit", 3, "no cold load was recorded"),
        ('[check.limits."Blur"]\np50 = "1s"\n', "sharpen_8bit", 2, "none matches 'Blur'"),
        ("", "sharpen_8bit", 2, "nothing to check against"),
        ('[check]\nbaseline = "gone.json"\n', "sharpen_8bit", 2, "cannot read the baseline"),
        ("[check.findings]\ncritical = 0\n", "nosuch", 2, "nosuch"),
    ],
)
def test_each_verdict_has_its_status_and_every_output_is_written(
    tracekit, samples, project, settings, sample, status, words
):
    folder = project(settings)
    result = tracekit("check", samples / f"{sample}.trace", "-o", "a.json", "-o", "a.xml", "-o", "a.md", "-o", "a.txt")
    assert result.status == status
    assert words in result.out
    assert json.loads((folder / "a.json").read_text())["items"]
    for name in ("a.xml", "a.md", "a.txt"):
        assert (folder / name).read_text()


def test_the_runner_gets_summary_and_outputs(tracekit, samples, project, monkeypatch):
    folder = project('[check.limits."*"]\np50 = "10ms"\n')
    for variable in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.setenv(variable, str(folder / variable))
    result = tracekit("check", samples / "sharpen_8bit.trace", "--format", "github")
    assert result.out.startswith("::error file=tracekit.toml,line=2,title=SharpenFilter p50::12.44 ms")
    assert (folder / "GITHUB_OUTPUT").read_text() == "verdict=failed\nexit-code=1\n"
    assert (folder / "GITHUB_STEP_SUMMARY").read_text().startswith("**tracekit check: failed")


def test_a_mistake_in_the_settings_is_an_error(tracekit, samples, project):
    project('[check.limits."*"]\np50 = 10\n')
    result = tracekit("check", samples / "sharpen_8bit.trace")
    assert result.status == 2
    assert 'as "16ms"' in result.err
