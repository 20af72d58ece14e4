"""`tracekit analyze -o findings.zip`: an archive to attach to an issue."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path

import pytest

from tracekit.cli.dispatch import main
from tracekit.recording.sources import digest_of

FILES = ["report.md", "report.html", "report.json", "evidence.csv", "manifest.json"]


@pytest.fixture(scope="module")
def written(kept_samples, samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bug report of a sample."""
    path = tmp_path_factory.mktemp("written") / "findings.zip"
    assert main(["analyze", str(samples / "style_transfer_reload.trace"), "-o", str(path), "--no-config"]) == 0
    return path


def test_settings_that_are_not_in_the_archive_are_named(tracekit, blind, tmp_path):
    (tmp_path / "own.toml").write_text("", "utf-8")
    path = tmp_path / "findings.zip"
    assert tracekit("analyze", blind, "-o", path, "--config", tmp_path / "own.toml").status == 3
    with zipfile.ZipFile(path) as archive:
        assert "Take its settings: own.toml, which is not in this archive." in archive.read("report.md").decode()
        assert "own.toml" not in archive.namelist()


def test_the_archive_has_what_its_manifest_says_and_the_evidence_of_the_report(written: Path, reload: Path) -> None:
    with zipfile.ZipFile(written) as archive:
        assert archive.namelist() == FILES
        content = {name: archive.read(name) for name in FILES}
    report = json.loads(content["report.json"])
    manifest = json.loads(content["manifest.json"])
    assert {entry["name"]: (entry["bytes"], entry["sha256"]) for entry in manifest["files"]} == {
        name: (len(data), hashlib.sha256(data).hexdigest()) for name, data in content.items() if name != FILES[-1]
    }
    digest = digest_of([reload])
    assert manifest["recording"]["digest"]["sha256"] == digest.sha256
    assert digest.sha256 in content["report.md"].decode()
    assert manifest["redaction"]["applied"]

    rows = list(csv.DictReader(io.StringIO(content["evidence.csv"].decode())))
    findings = [check for check in report["results"] if check["outcome"] == "finding"]
    numbers = ("start_ns", "end_ns", "row")
    assert [(row["check"], row["model"], *(int(row[key]) for key in numbers)) for row in rows] == [
        (check["id"], check["model"] or "", *(entry[key] for key in numbers))
        for check in findings
        for entry in check["evidence"]
    ]
    assert rows
    assert all(int(row["duration_ns"]) == int(row["end_ns"]) - int(row["start_ns"]) for row in rows)


def test_the_same_recording_gives_the_same_bytes(tracekit, reload: Path, written: Path, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("time.time", lambda: 2_000_000_000.0)
    again = tmp_path / "findings.zip"
    assert tracekit("analyze", reload, "-o", again, "--no-config").err == f"tracekit: wrote {again}\n"
    assert again.read_bytes() == written.read_bytes()


def test_the_list_says_what_would_be_written_and_writes_nothing(
    tracekit, reload: Path, written: Path, tmp_path: Path, monkeypatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.chdir(empty)
    result = tracekit("analyze", reload, "--list", "--no-config")
    assert result.status == 0
    assert not list(empty.iterdir())
    with zipfile.ZipFile(written) as archive:
        sizes = {entry.filename: f"{entry.file_size:,} bytes" for entry in archive.infolist()}
    for name, size in sizes.items():
        assert any(line.split()[:1] == [name] and size in line for line in result.out.splitlines()), name
    for words in ("style_transfer_reload.trace", "Watercolor", "never included: device name", "replaced: "):
        assert words in result.out


def test_private_data_is_in_it_only_on_request(tracekit, reload: Path, written: Path, tmp_path: Path) -> None:
    tracekit("analyze", reload, "-o", tmp_path / "all.zip", "--no-redact", "--no-config")
    for path, kept in ((written, False), (tmp_path / "all.zip", True)):
        with zipfile.ZipFile(path) as archive:
            assert ("Test iPhone" in archive.read("report.json").decode()) == kept
            assert json.loads(archive.read("manifest.json"))["redaction"]["applied"] != kept


def test_wrong_usage_is_told_before_reading(tracekit, tmp_path: Path) -> None:
    result = tracekit("analyze", tmp_path / "gone.trace", "--list", "-o", "x.txt")
    assert (result.status, result.out) == (2, "")
    assert "give it alone, or with -o findings.zip" in result.err


def test_an_archive_is_no_recording_and_has_each_form_itself(
    tracekit, samples: Path, tmp_path: Path, blind: Path
) -> None:
    path = tmp_path / "findings.zip"
    assert tracekit("analyze", samples / "sharpen_float16.trace", "-o", path).status == 0
    again = tracekit("analyze", path)
    assert (again.status, again.out) == (2, "")
    assert "findings.zip is an archive of findings" in again.err
    assert "pass the recording" in again.err
    both = tracekit("analyze", samples / "sharpen_float16.trace", "--format", "html", "-o", path)
    assert (both.status, both.out) == (2, "")
    assert both.err.startswith("tracekit: --format is for what is printed")

    assert tracekit("analyze", blind, "-o", tmp_path / "x.zip").status == 3
    assert (tmp_path / "x.zip").exists()
