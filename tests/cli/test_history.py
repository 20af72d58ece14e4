"""`tracekit history` and `tracekit check --history` on the command line."""

import json
import shutil
import subprocess

import jsonschema
import numpy as np
import pytest

from support.made_histories import commit, recorded
from tracekit.comparison.history_file import add_to_history, read_history

MODEL = "SharpenFilter"
FLOAT16 = 8_676_500
"""Median of the sample, as its description has it to a hundredth."""


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def history(path, medians, system="iOS 18.5 (22F76)"):
    generator = np.random.default_rng(1)
    noise = np.exp(generator.normal(size=len(medians)) * 0.005)
    builds = (recorded(at, {MODEL: {"p50_ns": round(median * noise[at])}}, system=system)
              for at, median in enumerate(medians))  # fmt: skip
    add_to_history(str(path), builds)
    return path


def test_reports_carry_their_commit_into_a_file_that_the_gate_reads(tracekit, samples, in_folder):
    for name, build in (("sharpen_8bit", "aaaa111"), ("sharpen_float16", "bbbb222")):
        out = ("-o", f"reports/{build}.json", "-o", f"reports/{build}.html", "-q", "--no-config")
        assert tracekit("analyze", samples / f"{name}.trace", "--commit", build, *out).status < 2
    added = tracekit("history", "reports", "--add-to", "perf/history.jsonl")
    assert (added.status, added.out) == (0, "")
    assert added.err == "tracekit: added 2 recordings to perf/history.jsonl\n"
    again = tracekit("history", samples / "sharpen_8bit.trace", "reports", "--add-to", "perf/history.jsonl")
    assert again.err == "tracekit: added 0 recordings to perf/history.jsonl (3 in it already)\n"
    recordings, _ = read_history("perf/history.jsonl")
    assert [one.commit for one in recordings] == ["aaaa111", "bbbb222"]
    assert [round(one.models[MODEL][0] / 1e6, 2) for one in recordings] == [12.44, 8.68]
    assert recordings[0].findings == {MODEL: ("excess-data-copies", "float-conversion")}
    page = tracekit("history", "reports", "-o", "page.html")
    assert page.out == "Too few builds to test: 8 of one device and system are needed.\n"
    assert '"reports/aaaa111.html"' in (in_folder / "page.html").read_text("utf-8")


def test_every_form_says_the_same_step(tracekit, in_folder):
    path = history(in_folder / "h.jsonl", [8e6] * 20 + [10e6] * 5)
    files = [f"out.{ending}" for ending in ("txt", "md", "json", "csv")]
    result = tracekit("history", path, *(part for file in files for part in ("-o", file)))
    assert result.out == f"Worse in the newest 12 builds: {MODEL} latency +25%.\n"
    for file in files[:2]:
        assert f"{commit(19)[:7]}…{commit(20)[:7]}" in (in_folder / file).read_text("utf-8").replace("\u2060", "")
    document = json.loads((in_folder / "out.json").read_text("utf-8"))
    jsonschema.Draft202012Validator(tracekit("export", "--json-schema", "history").json).validate(document)
    (change,) = document["series"][0]["trends"][0]["changes"]
    assert (change["kind"], change["last_before"], change["first_after"]) == ("change point", 19, 20)
    assert tracekit("history", path, "--json").out == (in_folder / "out.json").read_text("utf-8")
    assert (in_folder / "out.csv").read_text("utf-8").splitlines()[21].endswith(",p50_ns")

    path = history(in_folder / "h.jsonl", [8e6] * 20)
    add_to_history(str(path), [recorded(21, {MODEL: {"p50_ns": 8e6}}, system="iOS 26.0")])
    assert "more: -v" in tracekit("history", path).out
    assert "EARLIER SERIES" in tracekit("history", path, "-v").out


def test_the_gate_fails_for_what_adds_up(tracekit, samples, in_folder):
    path = history(in_folder / "h.jsonl", [FLOAT16 / 1.13] * 20 + list(np.linspace(FLOAT16 / 1.12, FLOAT16, 12)))
    run = ("check", samples / "sharpen_float16.trace", "--no-config", "--history", path)
    failed = tracekit(*run)
    assert failed.status == 1
    assert f"{MODEL} history" in failed.out
    assert "drift" in failed.out
    steady = history(in_folder / "steady.jsonl", [FLOAT16] * 20)
    passed = tracekit("check", samples / "sharpen_float16.trace", "--no-config", "--history", steady)
    assert (passed.status, "latency not worse over 21 builds" in passed.out) == (0, True)
    other = history(in_folder / "other.jsonl", [FLOAT16] * 20, system="iOS 17.0")
    unknown = tracekit("check", samples / "sharpen_float16.trace", "--no-config", "--history", other)
    assert "not counted" in unknown.out
    assert "system changed from iOS 17.0 to iOS 18.5 (22F76)" in " ".join(unknown.out.split())


def test_a_young_history_passes_and_says_that_nothing_was_counted(tracekit, samples, in_folder):
    path = history(in_folder / "h.jsonl", [FLOAT16] * 6)
    (in_folder / "tracekit.toml").write_text('[check]\nhistory = "h.jsonl"\n')
    young = tracekit("check", samples / "sharpen_float16.trace")
    said = f"tracekit check: passed: 1 not counted: {MODEL} history: 7 builds; a change can be found from 8 on"
    assert (young.status, said in " ".join(young.out.split())) == (0, True)
    add_to_history(str(path), [recorded(6, {MODEL: {"p50_ns": FLOAT16}})])
    old = tracekit("check", samples / "sharpen_float16.trace")
    assert (old.status, old.out.startswith("tracekit check: 1 passed\n")) == (0, True)
    (in_folder / "tracekit.toml").write_text('[check]\nhistory = "gone.jsonl"\n')
    gone = tracekit("check", samples / "sharpen_float16.trace")
    assert (gone.status, "no such file or directory; begin it with" in " ".join(gone.out.split())) == (2, True)
    (in_folder / "tracekit.toml").write_text("[check]\nhistory = 3\n")
    assert "'check.history': must be the path of a file" in tracekit("check", samples / "sharpen_float16.trace").out


def git(*arguments):
    names = ("-c", "user.name=A", "-c", "user.email=a@example.com")
    return subprocess.run(["git", *names, *arguments], check=True, capture_output=True, text=True).stdout.strip()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_git_notes_are_a_history(tracekit, samples, in_folder, monkeypatch):
    ref = "refs/notes/tracekit"
    assert "git: not a git repository" in tracekit("history", ref).err
    for variable in ("GIT_AUTHOR", "GIT_COMMITTER"):
        monkeypatch.setenv(f"{variable}_NAME", "A")
        monkeypatch.setenv(f"{variable}_EMAIL", "a@example.com")
    git("init", "-q")
    missing = tracekit("history", ref)
    assert (missing.status, f"git fetch origin {ref}:{ref}" in missing.err) == (2, True)
    commits = []
    for name in ("sharpen_8bit", "sharpen_float16"):
        git("commit", "-q", "--allow-empty", "-m", name)
        commits.append(git("rev-parse", "HEAD"))
        added = tracekit("history", samples / f"{name}.trace", "--commit", "HEAD", "--add-to", ref)
        assert (added.status, added.err) == (0, f"tracekit: added 1 recording to {ref}\n")
    again = tracekit("history", samples / "sharpen_8bit.trace", "--commit", "HEAD", "--add-to", ref)
    assert "added 0 recordings" in again.err
    assert "--commit" in tracekit("history", samples / "captions_concurrent.trace", "--add-to", ref).err
    builds = tracekit("history", ref, "--json").json["series"][0]["builds"]
    assert {build["commit"] for build in builds} == set(commits)
    checked = tracekit("check", samples / "sharpen_float16.trace", "--no-config", "--history", ref)
    assert (checked.status, "2 builds" in checked.out) == (0, True)
    unknown = tracekit("history", samples / "captions_concurrent.trace", "--commit", "0000000", "--add-to", ref)
    assert (unknown.status, "git: " in unknown.err) == (2, True)
    git("notes", f"--ref={ref}", "append", "-m", "=======", commits[0])
    broken = tracekit("history", ref)
    assert f"{ref}, note on {commits[0][:7]}, line 3: a mark of a merge conflict" in " ".join(broken.out.split())


def test_a_broken_line_is_said_by_all(tracekit, samples, in_folder):
    path = history(in_folder / "h.jsonl", [FLOAT16] * 20)
    path.write_text(path.read_text() + "=======\n")
    shown = tracekit("history", path)
    assert (shown.status, "h.jsonl, line 21: a mark of a merge conflict" in shown.out) == (2, True)
    checked = tracekit("check", samples / "sharpen_float16.trace", "--no-config", "--history", path, "-q")
    assert (checked.status, "h.jsonl, line 21" in checked.out) == (2, True)
    assert tracekit("history", path, "--add-to", "new.jsonl").status == 2
    assert not (in_folder / "new.jsonl").exists()

    path = history(in_folder / "other.jsonl", [8e6] * 9)
    path.write_text(path.read_text("utf-8") + "<<<<<<< HEAD\n", "utf-8")
    result = tracekit("history", path, "-o", "out.html")
    assert result.status == 2
    assert "other.jsonl, line 10: a mark of a merge conflict" in result.err


def test_models_can_be_chosen_and_wrong_usage_is_one_sentence(tracekit, samples, in_folder):
    path = history(in_folder / "h.jsonl", [8e6] * 9)
    assert tracekit("history", path, "--model", "Sharpen*").status == 0
    for arguments, words in (
        ((path, "--model", "Net"), "unknown model"),
        (("gone.jsonl",), "begin it with `tracekit history RECORDING --add-to gone.jsonl`"),
        ((path, "--commit", "no commit"), "expected a commit"),
        ((path, "--add-to", "new.jsonl", "--json"), "--add-to only adds"),
    ):
        result = tracekit("history", *arguments)
        assert (result.status, words in result.err, result.err.count("\n")) == (2, True, 1)
    assert tracekit("check", samples / "sharpen_float16.trace", "--no-config", "--history", "gone.jsonl").status == 2

    result = tracekit("history", samples / "sharpen_8bit.trace", "--add-to", "history.txt")
    assert (result.status, (in_folder / "history.txt").exists()) == (2, False)
    assert "ends in .jsonl" in result.err


def test_two_builds_are_compared_once_and_a_file_of_them_is_sent_to_their_recordings(tracekit, samples, in_folder):
    before, after = (samples / f"sharpen_{kind}.trace" for kind in ("8bit", "float16"))
    verdict = tracekit("compare", before, after, "-q", "--no-config").out.strip()
    assert "improved: SharpenFilter" in verdict
    said = "Before and after, as tracekit compare says: "
    assert said + verdict in " ".join(tracekit("history", before, after, "--no-config").out.split())
    assert said not in tracekit("history", before, "--no-config").out

    for kind, build in (("8bit", "aaa"), ("float16", "bbb")):
        recording = samples / f"sharpen_{kind}.trace"
        tracekit("history", recording, "--commit", build, "--add-to", "perf.history.jsonl", "--no-config")
    assert "give their recordings, or `tracekit compare` them" in tracekit("history", "perf.history.jsonl").out

    for name, kind, build in (("a", "8bit", "aaa"), ("a2", "8bit", "aaa"), ("b", "float16", "bbb")):
        recording = samples / f"sharpen_{kind}.trace"
        tracekit("analyze", recording, "--commit", build, "-o", f"{name}.json", "-q", "--no-config")
    twice = tracekit("history", "a.json", "b.json", "a2.json")
    assert (twice.status, twice.err) == (0, "")
    assert said + "improved" in " ".join(twice.out.split())
    assert said not in tracekit("history", samples / "sharpen_8bit.trace", "a.json").out


def test_builds_are_compared_in_the_order_of_their_moments(tracekit, samples, in_folder):
    """10:00 in Delhi is before 06:00 in London, although its text sorts behind."""
    starts = {"8bit": "2025-06-03T10:00:00.000+05:30", "float16": "2025-06-03T06:00:00.000+00:00"}
    for kind, start in starts.items():
        tracekit("analyze", samples / f"sharpen_{kind}.trace", "-o", f"{kind}.json", "-q", "--no-config")
        report = json.loads((in_folder / f"{kind}.json").read_text("utf-8"))
        report["recording"]["start_date"] = start
        (in_folder / f"{kind}.json").write_text(json.dumps(report), "utf-8")
    assert "says: improved" in " ".join(tracekit("history", *(f"{kind}.json" for kind in starts)).out.split())
