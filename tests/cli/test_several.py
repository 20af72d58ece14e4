"""Several recordings on one command line: what is one of them, a line each, and the worst of their statuses."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest

from tracekit.cli.reading import inputs_of, is_recording
from tracekit.report.serialize import schema_id


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken.trace"
    path.mkdir()
    return path


def names(paths: list[Path]) -> list[tuple[str, int]]:
    return [(entry.name, len(entry.paths)) for entry in inputs_of([str(path) for path in paths])]


def test_bundles_folders_and_loose_files_are_told_apart(samples: Path, reload_xml: Path, tmp_path: Path) -> None:
    one, two = samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"
    tables = sorted(reload_xml.glob("*.xml"))[:3]
    assert names([one]) == [("sharpen_8bit.trace", 1)]
    assert names([two, one]) == [("sharpen_float16.trace", 1), ("sharpen_8bit.trace", 1)]
    # The files of one export are one recording, and so is its folder.
    assert names(tables) == [(tables[0].name, 3)]
    assert names([reload_xml]) == [(reload_xml.name, 1)]
    assert names([one, reload_xml, *tables]) == [("sharpen_8bit.trace", 1), (reload_xml.name, 1), (tables[0].name, 3)]
    assert names([Path("-")]) == [("standard input", 1)]
    # A folder of recordings is each of them, in whatever form, and what was written about them is none.
    assert [name for name, _ in names([samples])] == sorted(path.name for path in samples.iterdir() if path.is_dir())
    with zipfile.ZipFile(tmp_path / "findings.zip", "w") as archive:
        archive.writestr("report.md", "x")
    assert is_recording(two)
    assert not is_recording(tmp_path / "findings.zip")


def test_each_has_a_line_and_the_worst_status_counts(tracekit, samples: Path, broken: Path) -> None:
    result = tracekit("analyze", broken, samples / "sharpen_float16.trace", samples / "sharpen_8bit.trace")
    assert result.status == 2
    titles, *lines = result.out.splitlines()
    assert titles.startswith("recording ")
    assert "not readable" in lines[0]
    words = " ".join(lines)
    assert words.index("no findings") < words.index("2 findings (high)")
    assert lines[-2] == "3 recordings: 1 with findings, 1 without findings, 1 not readable"

    result = tracekit("analyze", samples / "sharpen_8bit.trace", broken, "--json")
    first, second = result.json["reports"]
    assert first["recording"]["source"] == "sharpen_8bit.trace"
    assert second["source"] == "broken.trace"
    assert second["error"]

    clean, faulty, blind = (
        samples / f"{name}.trace" for name in ("sharpen_float16", "sharpen_8bit", "not_instrumented")
    )
    assert tracekit("analyze", clean, faulty).status == 0
    assert tracekit("analyze", clean, blind).status == 3
    assert tracekit("analyze", clean, faulty, blind, "--fail-on", "high").status == 1


def test_reports_go_into_a_folder_and_pages_have_their_lanes(tracekit, samples: Path, tmp_path: Path) -> None:
    paths = [samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"]
    folder = tmp_path / "reports"
    assert tracekit("analyze", *paths, "--folder", folder, "--format", "json").status == 0
    written = sorted(folder.iterdir())
    assert [path.name for path in written] == ["1-sharpen_8bit.json", "2-sharpen_float16.json"]
    assert [json.loads(path.read_text("utf-8"))["recording"]["source"] for path in written] == [
        path.name for path in paths
    ]
    file = tmp_path / "one.json"
    file.write_text("kept", encoding="utf-8")
    refused = tracekit("analyze", *paths, "--folder", file)
    assert refused.status == 2
    assert "it is a file; choose a folder" in refused.err
    assert file.read_text("utf-8") == "kept"
    assert tracekit("analyze", *paths, "--folder", paths[0]).status == 2

    assert tracekit("analyze", *paths, "--folder", tmp_path / "pages", "--format", "html").status == 0
    *pages, index = [path.read_text("utf-8") for path in sorted((tmp_path / "pages").iterdir())]
    for page, name in zip(pages, ("1-sharpen_8bit.html", "2-sharpen_float16.html"), strict=True):
        assert '<a href="index.html">all 2 recordings</a>' in page
        assert f'<a href="{name}">' in index
    assert ["<h1>sharpen_8bit.trace</h1>" in page.replace("<wbr>", "") for page in pages] == [True, False]
    assert all('id="lanes-columns"' in page for page in pages)

    # A name without an ending is a folder of pages too; a page beside them leads to those of its recordings.
    assert tracekit("analyze", *paths, "-o", tmp_path / "again").status == 0
    beside = [path.name for path in sorted((tmp_path / "again").iterdir())]
    assert beside == ["1-sharpen_8bit.html", "2-sharpen_float16.html", "index.html"]
    for command, linked in ((["why", paths[1]], beside[1:2]), (["compare", *paths], beside[:2])):
        page = tmp_path / "again" / "page.html"
        assert tracekit(*command, "-o", page).status == 0
        assert re.findall(r'<a href="([\w-]+\.html)">', page.read_text("utf-8")) == linked


def test_files_hold_the_overview_or_every_report(tracekit, samples: Path, tmp_path: Path) -> None:
    paths = [samples / "sharpen_8bit.trace", samples / "sharpen_float16.trace"]
    page, data = tmp_path / "all.txt", tmp_path / "all.json"
    result = tracekit("analyze", *paths, "-o", page, "-o", data)
    assert result.out == "2 recordings: 1 with findings, 1 without findings\n"
    assert all(path.name in page.read_text("utf-8") for path in paths)
    document = json.loads(data.read_text("utf-8"))
    assert [report["recording"]["source"] for report in document["reports"]] == [path.name for path in paths]
    assert {report["$schema"] for report in document["reports"]} == {schema_id("report")}
    assert [[one["recording"] for one in series["launches"]] for series in document["launches"]] == [
        [path.name for path in paths]
    ]
    refused = tracekit("analyze", *paths, "-o", tmp_path / "all.zip")
    assert refused.status == 2
    assert "an archive holds one recording (got 2)" in refused.err
