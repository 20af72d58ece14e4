"""`tracekit analyze`: every form, every sentence, every status."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path
from shutil import copytree

import numpy as np
import pytest

from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.forms import too_long
from support.samples import SAMPLES
from tracekit.cli.analyze import status_of
from tracekit.cli.forms import size_words
from tracekit.cli.options import PARTS, SEVERITIES
from tracekit.cli.process import ExitStatus
from tracekit.detectors.outcomes import Severity
from tracekit.detectors.registry import RULES
from tracekit.documents import report as document
from tracekit.render.forms import REPORT_FORMS
from tracekit.testing import Model, Process, Scenario, write_export
from tracekit.trace.build import open_trace

MS = 1_000_000


# All checks but these pass, those that are added, too.
PASSED = len(RULES) - 1 - 12 - 15
"""Nine of those that do not apply are about language models, and are left out."""
SUMMARY = (
    f"1 finding (critical) in 5 models · est. savings up to 6.3 s · {PASSED} checks passed, 12 not evaluated, "
    "6 not applicable"
)


def test_the_report_is_text_on_standard_output_and_nothing_else_is_said(tracekit, reload: Path, monkeypatch) -> None:
    result = tracekit("analyze", reload)
    assert (result.status, result.err) == (0, "")
    *summary, more = result.out.splitlines()[-3:]
    # One cause in five models is one finding.
    assert " ".join(summary) == SUMMARY
    explain = "tracekit explain reload-before-predict"
    assert more == f"more: -v  ·  {explain}  ·  tracekit view style_transfer_reload.trace"
    part = tracekit("analyze", reload, "--from", "1")
    assert "Findings: whole recording, shown where they touch this range." in " ".join(part.out.split())
    beyond = tracekit("analyze", reload, "--from", "100")
    assert (beyond.status, beyond.out) == (2, "")
    assert "the range from 100 s lies outside the recording, which is 16.5 s long" in beyond.err
    monkeypatch.chdir(reload.parent.parent)
    typed = f"{reload.parent.name}/{reload.name}"
    assert " ".join(tracekit("analyze", typed).out.split()).endswith(f"{explain} · tracekit view {typed}")
    assert tracekit("analyze", typed, typed, "-v").out.count(f"tracekit view {typed}") == 2
    assert "\x1b" not in result.out
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in tracekit("analyze", typed).out
    monkeypatch.delenv("FORCE_COLOR")

    result = tracekit("analyze", reload, "-q")
    assert result.err == ""
    assert " ".join(result.out.splitlines()) == SUMMARY

    plain, verbose = tracekit("analyze", reload), tracekit("analyze", reload, "-v")
    assert verbose.err.startswith("tracekit: read ")
    assert verbose.err.count("\n") == 1
    assert len(verbose.out) > len(plain.out)


def test_parts_are_shown_alone_and_in_full(tracekit, reload: Path) -> None:
    result = tracekit("analyze", reload, "--show", "models,events")
    assert "\nMODELS\n" in result.out
    assert "\nEVENTS BY MODEL\n" in result.out
    assert "FINDINGS" not in result.out
    assert "COVERAGE" not in result.out
    assert " ".join(result.out.split()).count("1 finding (critical)") == 1
    wrong = tracekit("analyze", reload, "--show", "lanes")
    assert wrong.status == 2
    assert "'lanes'" in wrong.err


def test_an_inconclusive_recording_has_a_status_of_its_own_and_its_report(tracekit, blind: Path) -> None:
    result = tracekit("analyze", blind)
    assert (result.status, result.err) == (3, "")
    assert "\nINCONCLUSIVE  " in result.out
    assert result.out.splitlines()[-2].startswith("Inconclusive: ")
    message = 'tracekit: inconclusive: no check could be evaluated; see "Not evaluated" in the report\n'
    assert tracekit("analyze", blind, "--json").err == message
    assert tracekit("analyze", blind, "--json", "-q").err == ""


def test_the_gate_says_what_closed_it_and_is_open_for_a_clean_recording(
    tracekit, samples: Path, tmp_path: Path, clean: Path, unchanged_folders: set[Path]
) -> None:
    sharpen = tracekit("analyze", samples / "sharpen_8bit.trace", "--fail-on", "medium")
    assert sharpen.err == "tracekit: failed: 2 findings at or above medium: excess-data-copies and float-conversion\n"
    sharpen = tracekit("analyze", samples / "sharpen_8bit.trace", "--fail-on", "high")
    assert sharpen.err == "tracekit: failed: 1 finding at or above high: excess-data-copies\n"
    assert sharpen.status == 1
    assert tracekit("analyze", samples / "sharpen_8bit.trace", "--fail-on", "critical").status == 0
    # Nothing is wrong with this app: it had loaded its model before the recording began.
    late = Scenario(Process("App", 7), duration_ns=3_000 * MS, launched=False)
    for k in range(60):
        late.predict(Model("Net"), (100 + 40 * k) * MS, 8 * MS).neural_engine(MS // 2, 7 * MS)
    write_export(late, tmp_path / "late")
    unchanged_folders.add(tmp_path)
    result = tracekit("analyze", tmp_path / "late", "--fail-on", "low")
    assert result.status == 1
    assert result.err == (
        "tracekit: failed: 1 finding at or above low: attached-late; attached-late: about the recording, not the app; "
        "record again, or use --skip\n"
    )
    assert tracekit("analyze", tmp_path / "late", "--fail-on", "low", "--skip", "attached-late").status == 0
    assert tracekit("analyze", tmp_path / "late", "--fail-on", "medium").status == 0

    assert tracekit("analyze", clean, "--fail-on", "low").status == 0


def test_a_failed_detector_outweighs_the_gate(reload: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = kept_analysis(reload).report
    assert status_of(report, "low") is ExitStatus.GATE_FAILED
    spoilt = replace(report, summary=replace(report.summary, errors=1))
    assert status_of(spoilt, "low") is ExitStatus.UNUSABLE
    assert f"a check ended with an error (1 of {len(report.results)} answers)" in capsys.readouterr().err


def test_levels_parts_and_sizes_are_those_of_the_product() -> None:
    assert list(SEVERITIES) == [str(severity) for severity in Severity]
    assert PARTS == document.PARTS

    assert size_words(20_000_000) == ""
    assert size_words(34_600_000) == " (35 MB; to make it smaller, record for a shorter time)"


@pytest.mark.parametrize("name", REPORT_FORMS)
def test_format_chooses_what_is_printed(tracekit, reload: Path, name: str) -> None:
    result = tracekit("analyze", reload, "--format", name)
    beginning = {
        "text": "style_transfer_reload.trace · StyleCam (pid 2147) · ",
        "markdown": "**1 finding (critical) in 5 models",
        "html": '<!doctype html>\n<html lang="en">',
        "json": '{\n  "$schema": "urn:tracekit:report:3",',
    }[name]
    assert (result.status, result.err) == (0, "")
    assert result.out.startswith(beginning)
    assert result.out.endswith("\n")


def test_output_writes_several_files_by_ending_and_prints_the_summary(tracekit, reload: Path, tmp_path: Path) -> None:
    files = [tmp_path / name for name in ("a.txt", "b.md", "c.json", "d.JSON", "e.html")]
    result = tracekit("analyze", reload, *(part for file in files for part in ("-o", file)))
    assert result.status == 0
    assert result.out.startswith("1 finding (critical) in 5 models")
    assert " ".join(result.out.splitlines()[:-1]) == SUMMARY
    assert result.err.splitlines() == [f"tracekit: wrote {file}" for file in files]
    assert files[0].read_text(encoding="utf-8").startswith("1 finding (critical) in 5 models")
    assert files[1].read_text(encoding="utf-8").startswith("**1 finding (critical) in 5 models")
    assert json.loads(files[2].read_text(encoding="utf-8"))["summary"]["models"] == 5
    assert files[2].read_bytes() == files[3].read_bytes()
    page = files[4].read_text(encoding="utf-8")
    assert "1 finding (critical) in 5 models" in page
    assert 'id="lanes-columns"' in page


def test_output_and_an_explicit_format_do_both_even_where_the_gate_fails(
    tracekit, reload: Path, tmp_path: Path
) -> None:
    result = tracekit("analyze", reload, "-o", tmp_path / "a.json", "--format", "markdown", "-q", "--fail-on", "low")
    assert (result.status, result.err) == (1, "")
    assert result.out.startswith("**1 finding (critical) in 5 models")
    assert (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("report.pdf", "{path}: unknown extension (supported: .txt .md .html .json .zip)"),
        ("report", "{path}: no extension (supported: .txt .md"),
        ("nowhere/report.json", "cannot write {path}: no such folder: {path.parent}"),
        ("folder.json", "cannot write {path}: it is a folder"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_reading(tracekit, tmp_path: Path, name: str, sentence: str) -> None:
    (tmp_path / "folder.json").mkdir()
    path = tmp_path / name
    result = tracekit("analyze", tmp_path / "never read", "-o", path)
    assert (result.status, result.out) == (2, "")
    assert result.err.startswith(f"tracekit: {sentence.format(path=path)}")
    assert result.err.count("\n") == 1


def test_a_table_from_standard_input_is_judged(tracekit, samples: Path, monkeypatch) -> None:
    table = (samples / "captions_concurrent_xml" / "coreml-os-signpost.xml").read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table)))
    result = tracekit("analyze", "-", "--format", "json")
    assert result.status == 0
    assert [model["predictions"] for model in result.json["models"]] == [276]


@pytest.mark.parametrize("columns", ["20", "200"])
def test_lines_fit_the_width(tracekit, reload: Path, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    assert not too_long(tracekit("analyze", reload).out, min(max(int(columns), 30), 120))


@pytest.mark.sweep
def test_an_ascii_locale_gets_plain_signs_and_no_traceback(spawn, reload: Path) -> None:
    result = spawn("analyze", reload, "-v", LC_ALL="C", PYTHONCOERCECLOCALE="0", PYTHONUTF8="0")
    assert result.status == 0
    assert result.out.isascii()
    assert " us" in result.out


@pytest.mark.sweep
def test_json_is_utf8_in_any_locale(spawn, tracekit, samples: Path, tmp_path: Path) -> None:
    recording = copytree(samples / "sharpen_8bit.trace", tmp_path / "schärfer.trace")
    anywhere = spawn("analyze", recording, "--format", "json", PYTHONIOENCODING="ascii")
    assert anywhere.out == tracekit("analyze", recording, "--format", "json").out
    assert "schärfer.trace" in anywhere.out


@pytest.mark.parametrize("name", sweep_rest(*SAMPLES))
def test_the_long_report_says_each_thing_once_in_the_order_of_the_short_one(tracekit, samples, name):
    path = samples / f"{name}.trace"
    texts = [tracekit("analyze", path, "--no-config", *more).out for more in ((), ("-v",))]
    headings = [re.findall(r"^(?!CRITICAL|MEDIUM)([A-Z][A-Z ]{5,})\b", text, re.MULTILINE) for text in texts]
    assert len(texts[1].splitlines()) <= 150
    assert len(headings[1]) == len(set(headings[1]))
    assert [one for one in headings[1] if one in headings[0]] == [one for one in headings[0] if one in headings[1]]
    assert "HOW TO FIX IT" not in texts[1]


def test_latency_has_the_quantiles_of_a_slice(tracekit, samples):
    path = samples / "captions_concurrent.trace"
    out = tracekit("analyze", path, "--show", "latency", "--from", "3s", "--to", "8s", "--model", "Cap*").out
    heads, row = (line.split() for line in out.partition("LATENCY\n")[2].splitlines()[:2])
    assert heads[-5:] == ["median", "p90", "p95", "p99", "max"]
    trace = open_trace(path)
    chosen = trace.activity.where(trace.activity.kind.is_any("prediction"))
    durations = chosen.duration_ns[(chosen.start_ns >= 3_000_000_000) & (chosen.start_ns < 8_000_000_000)] / 1e6
    expected = [*np.quantile(durations, (0.5, 0.9, 0.95, 0.99)), durations.max()]
    assert [float(cell) for cell in row[-10::2]] == pytest.approx(expected, abs=0.05)
