"""What is there already stays there until something complete takes its place, and a recording is never written to."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from tracekit.errors import TracekitError
from tracekit.recording.writing.files import complete_file
from tracekit.testing import Model, Process, Scenario, write_export


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def full_disk(stream) -> None:
    stream.write(b"half")
    raise OSError(28, "No space left on device")


def test_a_full_disk_leaves_the_report_that_was_there(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_text("before")
    with pytest.raises(TracekitError, match="No space left on device"), complete_file(report) as stream:
        full_disk(stream)
    assert contents(tmp_path) == {"report.json": b"before"}


@pytest.mark.sweep
@pytest.mark.skipif(not hasattr(os, "fork") or not Path("/dev/full").exists(), reason="needs Linux")
def test_a_limit_on_the_size_of_files_leaves_the_report(reload_xml: Path, tmp_path: Path) -> None:
    import resource
    import subprocess
    import sys

    report = tmp_path / "report.json"
    report.write_text("before")

    def limit() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    command = [sys.executable, "-m", "tracekit", "analyze", str(reload_xml), "-o", str(report)]
    result = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit, check=False)
    assert result.returncode == 2
    assert result.stderr == f"tracekit: cannot write {report}: File too large\n"
    assert contents(tmp_path) == {"report.json": b"before"}


def test_permissions_and_links_stay(tracekit, clean: Path, tmp_path: Path) -> None:
    real, link, new = tmp_path / "real.md", tmp_path / "link.md", tmp_path / "new.md"
    real.write_text("before")
    real.chmod(0o640)
    link.symlink_to(real)
    mask = os.umask(0o027)
    try:
        assert tracekit("analyze", clean, "-q", "-o", link, "-o", new).status == 0
    finally:
        os.umask(mask)
    assert link.is_symlink()
    assert real.read_text() == new.read_text() != "before"
    assert [stat.S_IMODE(path.stat().st_mode) for path in (real, new)] == [0o640, 0o640]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.md", "new.md", "real.md"]


@pytest.mark.parametrize("way", ["inside", "through a link of the folder", "through a link of the bundle", "below"])
def test_a_report_never_lands_in_the_bundle(tracekit, clean: Path, tmp_path: Path, way: str) -> None:
    bundle = Path(shutil.copytree(clean, tmp_path / "run.trace"))
    (tmp_path / "folder").symlink_to(bundle)
    (tmp_path / "other.trace").symlink_to(bundle)
    below = next(path for path in bundle.iterdir() if path.is_dir())
    read, target = {
        "inside": (bundle, bundle / "report.json"),
        "through a link of the folder": (bundle, tmp_path / "folder" / "report.json"),
        "through a link of the bundle": (tmp_path / "other.trace", bundle / "report.md"),
        "below": (bundle, below / "report.txt"),
    }[way]
    before = contents(bundle)
    result = tracekit("analyze", read, "-o", target)
    assert (result.status, "it is part of the recording" in result.err) == (2, True)
    assert contents(bundle) == before


@pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
@pytest.mark.parametrize("given", ["file", "folder"])
def test_a_report_never_replaces_an_input_through_a_link(
    tracekit, reload_xml: Path, tmp_path: Path, link: str, given: str
) -> None:
    folder = Path(shutil.copytree(reload_xml, tmp_path / "in"))
    exported = folder / "coreml-os-signpost.xml"
    assert exported.exists()
    report = tmp_path / "report.json"
    getattr(report, link)(exported)
    before = contents(folder)
    result = tracekit("analyze", folder if given == "folder" else exported, "-o", report)
    assert (result.status, "it is part of the recording" in result.err) == (2, True)
    assert contents(folder) == before
    assert report.samefile(exported)


def test_a_report_beside_exports_and_an_export_of_the_same_tables_may_be_replaced(
    tracekit, reload_xml: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "in"
    made = Scenario(Process("App", 7), duration_ns=1_000_000_000)
    made.load(Model("Net"), 0, 1_000_000)
    write_export(made, folder)
    for _ in range(2):
        assert tracekit("analyze", folder, "-q", "-o", folder / "report.md").status == 0

    folder = tmp_path / "out"
    assert tracekit("export", reload_xml, "--folder", folder).status == 0
    before = contents(folder)
    (folder / "notes.txt").write_text("mine")
    for name in before:
        (folder / name).write_text("old")
    assert tracekit("export", reload_xml, "--folder", folder, "--force").status == 0
    assert contents(folder) == {**before, "notes.txt": b"mine"}


@pytest.mark.parametrize("through_link", [False, True])
@pytest.mark.parametrize("form", ["xml", "csv"])
def test_an_export_never_replaces_its_input(
    tracekit, reload_xml: Path, tmp_path: Path, through_link: bool, form: str
) -> None:
    folder = Path(shutil.copytree(reload_xml, tmp_path / "in"))
    read = folder / "coreml-os-signpost.xml"
    if through_link:
        read = tmp_path / "link.xml"
        read.symlink_to(folder / "coreml-os-signpost.xml")
    before = contents(folder)
    result = tracekit("export", read, "--folder", folder, "--force", "--format", form)
    assert (result.status, "it is or contains the recording" in result.err) == (2, True)
    assert contents(folder) == before


@pytest.mark.parametrize("forms", [("xml", "xml"), ("csv", "csv"), ("csv", "xml")], ids="-".join)
def test_two_exports_into_one_folder_never_mix(
    tracekit, reload_xml: Path, tmp_path: Path, forms: tuple[str, str]
) -> None:
    folder = tmp_path / "out"
    first, second = forms
    assert tracekit("export", reload_xml, "--folder", folder, "--format", first).status == 0
    before = contents(folder)
    chosen = ("--schema", "coreml-os-signpost")
    result = tracekit("export", reload_xml, "--folder", folder, "--force", "--format", second, *chosen)
    assert result.status == 2
    assert "which would be read as part of this recording" in result.err
    assert contents(folder) == before


def test_an_export_that_fails_leaves_all_of_the_former_one(
    tracekit, reload_xml: Path, tmp_path: Path, monkeypatch
) -> None:
    from tracekit.recording.writing import folder as tables

    folder = tmp_path / "out"
    assert tracekit("export", reload_xml, "--folder", folder).status == 0
    before = contents(folder)
    write, calls = tables.write_csv, []

    def fails(table, stream) -> None:
        calls.append(table)
        if len(calls) > 1:
            full_disk(stream)
        write(table, stream)

    monkeypatch.setattr(tables, "write_csv", fails)
    (folder / "coreml-os-signpost.csv").write_text("old")
    before = contents(folder)
    result = tracekit("export", reload_xml, "--folder", folder, "--force")
    assert (result.status, "No space left on device" in result.err) == (2, True)
    assert contents(folder) == before
