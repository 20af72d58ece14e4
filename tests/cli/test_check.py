"""`tracekit check` with baselines and without, from end to end with every exit status."""

import json

import pytest


def test_a_baseline_is_saved_shown_checked_and_not_replaced(tracekit, samples, project):
    project('[check]\nbaseline = "perf.json"\n')
    saved = tracekit("check", "--save-baseline", "--baseline", "perf.json", samples / "sharpen_float16.trace")
    assert saved.status == 0
    assert "139 predictions, median 8.68 ms" in saved.out
    assert "One recording does not show how much recordings of one build differ" in saved.out
    assert tracekit("check", "--show-baseline", "--baseline", "perf.json").out == saved.out
    assert tracekit("check", samples / "sharpen_float16.trace").status == 0
    slower = tracekit("check", samples / "sharpen_8bit.trace")
    assert slower.status == 1
    assert "slower than allowed: median 8.68 ms → 12.4 ms, +43% (" in slower.out

    project("")
    tracekit("check", "--save-baseline", "--baseline", "perf.json", samples / "sharpen_float16.trace")
    again = tracekit("check", "--save-baseline", "--baseline", "perf.json", samples / "sharpen_float16.trace")
    assert again.status == 2
    assert "update" in again.err
    assert (
        tracekit("check", "--update-baseline", "--baseline", "perf.json", samples / "sharpen_float16.trace").status == 2
    )


def test_limits_of_the_command_line_replace_those_of_their_name(tracekit, samples, project):
    project("")
    run = samples / "sharpen_8bit.trace"
    assert tracekit("check", run, "--p95", "20ms", "--loads", "1", "--ane", "90%").status == 0
    failed = tracekit("check", run, "--p95", "13ms", "--copies", "4", "--in-flight", "1", "--json")
    assert failed.status == 1
    verdicts = {item["subject"]: item["verdict"] for item in failed.json["items"]}
    # 13.3 ms and 5 copies, one at a time.
    assert verdicts == {"p95": "failed", "copies": "failed", "in-flight": "passed"}
    wrong = tracekit("check", run, "--ane", "0.9")
    assert (wrong.status, "expected a share such as 90%, found '0.9'" in wrong.err) == (2, True)

    project('[check.limits."Sharpen*"]\np95 = "12ms"\nloads = 0\n[check.limits."*"]\np95 = "1ms"\n')
    run = samples / "sharpen_8bit.trace"
    assert tracekit("check", run).status == 1
    result = tracekit("check", run, "--p95", "20ms", "--json")
    verdicts = [(item["subject"], item["verdict"]) for item in result.json["items"]]
    # 13.3 ms, and one load.
    assert sorted(verdicts) == [("loads", "failed"), ("p95", "passed")]
    assert tracekit("check", run, "--p95", "20ms", "--loads", "1").status == 0


@pytest.mark.parametrize(
    ("settings", "sample", "status", "words"),
    [
        ('[check.limits."*"]\np50 = "20ms"\n', "sharpen_8bit", 0, "passed"),
        ('[check.limits."*"]\np50 = "10ms"\n', "sharpen_8bit", 1, "allowed: at most 10.0 ms"),
        ('[check.limits."*"]\ncold-load = "1s"\n', "sharpen_8bit", 3, "no cold load was recorded"),
        ('[check.limits."Blur"]\np50 = "1s"\n', "sharpen_8bit", 2, "none matches 'Blur'"),
        ("", "sharpen_8bit", 2, "nothing to check against"),
        ('[check]\nbaseline = "gone.json"\n', "sharpen_8bit", 2, "create it with --save-baseline"),
        ("[check.findings]\ncritical = 0\n", "nosuch", 2, "nosuch"),
    ],
)
def test_each_verdict_has_its_status_and_every_output_is_written(
    tracekit, samples, project, settings, sample, status, words
):
    folder = project(settings)
    result = tracekit("check", samples / f"{sample}.trace", "-o", "a.json", "-o", "a.xml", "-o", "a.md", "-o", "a.txt")
    assert result.status == status
    assert words in " ".join(result.out.split())
    assert json.loads((folder / "a.json").read_text())["items"]
    for name in ("a.xml", "a.md", "a.txt"):
        assert (folder / name).read_text()


def test_the_runner_gets_summary_outputs_and_paths_from_the_top_of_the_repository(
    tracekit, samples, project, monkeypatch
):
    folder = project('[check.limits."*"]\np50 = "10ms"\n')
    for variable in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.setenv(variable, str(folder / variable))
    result = tracekit("check", samples / "sharpen_8bit.trace", "--format", "github")
    assert result.out.startswith("::error file=tracekit.toml,line=2,title=SharpenFilter p50::12.4 ms")
    assert (folder / "GITHUB_OUTPUT").read_text() == "verdict=failed\nexit-code=1\n"
    assert (folder / "GITHUB_STEP_SUMMARY").read_text().startswith("**tracekit check: 1 failed")

    folder = project("") / "app"
    folder.mkdir()
    (folder / "pyproject.toml").write_text('[tool.tracekit.check.limits."*"]\np50 = "10ms"\n')
    monkeypatch.chdir(folder)
    result = tracekit("check", samples / "sharpen_8bit.trace", "--format", "github")
    assert result.out.startswith("::error file=app/pyproject.toml,line=2,")


def test_a_mistake_in_the_settings_is_an_error_and_every_output_is_written(tracekit, samples, project, tmp_path):
    assert "SARIF output needs a tracekit.toml" in tracekit("check", "nosuch.trace", "--format", "sarif").err
    assert not list(tmp_path.glob("*.sarif"))
    folder = project('[check.limits."*"]\np50 = 10\n')
    result = tracekit("check", samples / "sharpen_8bit.trace", "-o", "a.sarif")
    assert result.status == 2
    assert 'as "16ms"' in " ".join(result.out.split())
    # What failed is one line.
    (line,) = tracekit("check", samples / "sharpen_8bit.trace", "-q").out.splitlines()
    assert line.startswith("tracekit check: 1 error: config: tracekit.toml: 'check.limits.")
    (sarif,) = json.loads((folder / "a.sarif").read_text())["runs"][0]["results"]
    assert sarif["locations"][0]["physicalLocation"]["region"]["startLine"] == 1


def test_each_severity_has_a_name_of_its_own_and_loads_have_a_limit(tracekit, samples, project):
    project('[check.findings]\ncritical = 0\nhigh = 0\n[check.limits."*"]\nloads = 1\n')
    reload, fixed = samples / "style_transfer_reload.trace", samples / "style_transfer_fixed.trace"
    items = tracekit("check", reload, "--json").json["items"]
    failed = {item["model"]: item["value"] for item in items if item["subject"] == "loads"}
    # 373 loads of five models, and then each model kept after its first.
    assert (sum(failed.values()), len(failed)) == (373, 5)
    assert tracekit("check", fixed).status == 0
    titles = [line.split()[1:3] for line in tracekit("check", reload).out.splitlines()]
    assert ["critical", "findings"] in titles
    assert ["high", "findings"] in titles


def test_an_output_that_cannot_be_written_keeps_no_other_from_it(tracekit, samples, project, monkeypatch):
    folder = project('[check.limits."*"]\np50 = "20ms"\n')
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder))
    monkeypatch.setenv("GITHUB_OUTPUT", str(folder / "output"))
    result = tracekit("check", samples / "sharpen_8bit.trace", "--format", "github", "-o", "a.txt")
    assert result.status == 2
    assert "cannot write GITHUB_STEP_SUMMARY" in result.err
    assert (folder / "output").read_text() == "verdict=passed\nexit-code=0\n"
    assert (folder / "a.txt").exists()


def test_an_error_in_tracekit_leaves_the_outputs_and_says_so(tracekit, samples, project, monkeypatch):
    folder = project('[check.limits."*"]\np50 = "20ms"\n')
    monkeypatch.setattr("tracekit.cli.check.measure_all", lambda *_: 1 / 0)
    result = tracekit("check", samples / "sharpen_8bit.trace", "-o", "a.md", "-o", "a.sarif")
    assert result.status == 2
    assert "internal error" in (folder / "a.md").read_text()
    assert "internal error" in (folder / "a.sarif").read_text()


def test_without_its_baseline_limits_are_still_checked_and_a_first_run_may_have_none(tracekit, samples, project):
    project('[check]\nbaseline = "perf.json"\n[check.limits."*"]\np50 = "10ms"\n')
    result = tracekit("check", samples / "sharpen_8bit.trace", "--format", "github")
    assert result.status == 2
    assert "::error file=tracekit.toml,line=2,title=baseline::" in result.out
    assert "perf.json: no such file or directory" in result.out
    assert "::error file=tracekit.toml,line=4,title=SharpenFilter p50::12.4 ms" in result.out

    project('[check]\nbaseline = "perf.json"\n')
    assert tracekit("check", samples / "sharpen_8bit.trace").status == 2
    first = tracekit("check", samples / "sharpen_8bit.trace", "--allow-no-baseline")
    assert first.status == 0
    assert "nothing was compared" in first.out


def test_a_renamed_model_is_compared_where_it_is_said(tracekit, samples, project):
    folder = project("")
    tracekit("check", "--save-baseline", "--baseline", "perf.json", samples / "sharpen_float16.trace")
    text = (folder / "perf.json").read_text().replace("SharpenFilter", "OldFilter")
    (folder / "perf.json").write_text(text)
    command = ("check", samples / "sharpen_float16.trace", "--baseline", "perf.json")
    without = tracekit(*command)
    assert without.status == 2
    assert "no model in common" in without.out
    assert tracekit(*command, "--rename", "OldFilter=SharpenFilter").status == 0
    unknown = tracekit(*command, "--rename", "NoFilter=SharpenFilter")
    assert unknown.status == 2
    assert "NoFilter" in unknown.out


def test_a_recording_that_cannot_be_read_makes_it_an_error_and_the_others_are_checked(tracekit, samples, project):
    project('[check.limits."*"]\np50 = "10ms"\n')
    result = tracekit("check", "nosuch.trace", samples / "sharpen_8bit.trace", samples / "README.md")
    assert result.status == 2
    assert result.out.count("error  ") == 2
    assert "12.4 ms" in result.out


def test_what_is_written_names_no_user(tracekit, samples, project):
    folder = project("")
    result = tracekit(
        "check",
        "/Users/anna/nosuch.trace",
        "--baseline",
        "/Users/anna/perf.json",
        "-o",
        "a.json",
        "--format",
        "markdown",
    )
    assert result.status == 2
    bad = tracekit("check", "/Users/anna/nosuch.trace", samples / "sharpen_8bit.trace", "-o", "b.json")
    texts = (result.out, bad.out, (folder / "a.json").read_text(), (folder / "b.json").read_text())
    assert not [text for text in texts if "anna" in text]
    assert "/Users/…/perf.json" in result.out
