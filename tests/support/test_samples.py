"""The samples, judged by reading the files alone."""

from __future__ import annotations

import zipfile
import zlib
from typing import TYPE_CHECKING

import pytest

from support.export_nodes import read_export
from support.ground_truth import ground_truth
from support.samples import SAMPLES, WITH_EXPORT
from support.samples.__main__ import write_samples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CORE_ML = "coreml-os-signpost.xml"
COPIES = {"Input Copy", "Data Cast", "Output Transformation", "Neural Engine - Data Copy"}
Row = tuple[str, str, int, int]
"""Model, event, start and end in ns."""


@pytest.fixture
def rows_of(exports: Path) -> Callable[[str], list[Row]]:
    """Rows of the Core ML table of a sample."""

    def read(name: str) -> list[Row]:
        (node,) = read_export(exports / name / CORE_ML)
        starts, durations = node.integers("start"), node.integers("duration")
        ends = [start + duration for start, duration in zip(starts, durations, strict=True)]
        return list(zip(node.texts("model-name"), node.texts("event-label"), starts, ends, strict=True))

    return read


def lengths(rows: list[Row], start_of_event: str) -> list[int]:
    """Durations of events that begin with a word."""
    return [end - start for _, event, start, end in rows if event.startswith(start_of_event)]


def content(path: Path) -> bytes:
    """Content of a file, or of the files in an archive, as it was before compression: that differs among zlibs."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            return b"".join(name.encode() + archive.read(name) for name in archive.namelist())
    data = path.read_bytes()
    return zlib.decompress(data) if data[:2] in {b"\x78\x01", b"\x78\x9c", b"\x78\xda"} else data


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def same(one: Path, other: Path) -> bool:
    """Whether two files have the same content. Inflated, the samples are 400 MB."""
    return one.read_bytes() == other.read_bytes() or content(one) == content(other)


def test_the_folder_holds_exactly_the_samples(samples):
    expected = {"README.md", *(f"{name}.trace" for name in SAMPLES), *(f"{name}_xml" for name in WITH_EXPORT)}
    assert {path.name for path in samples.iterdir() if not path.name.startswith(".")} == expected


def test_one_command_writes_them_again(samples, tmp_path):
    for folder in (f"{next(iter(SAMPLES))}.trace", f"{WITH_EXPORT[0]}_xml"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "left over").touch()
    write_samples(tmp_path)
    assert files(samples) ^ files(tmp_path) == {"README.md", ".gitattributes"}
    assert [path for path in files(tmp_path) if not same(samples / path, tmp_path / path)] == []


def test_the_exports_beside_them_are_of_both_ages_of_xcode():
    assert {SAMPLES[name]().xcode_version for name in WITH_EXPORT} == {"16.4", "27.2"}


def test_each_is_small(samples):
    folders = [path for path in samples.iterdir() if path.is_dir()]
    assert len(folders) == len(SAMPLES) + len(WITH_EXPORT)
    for folder in folders:
        most = 300_000 if folder.suffix == ".trace" else 1_800_000
        assert 10_000 < sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < most


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", SAMPLES)
def test_ground_truth_agrees_with_the_files(rows_of, name):
    rows = rows_of(name)
    truth = ground_truth(SAMPLES[name]())
    assert truth.judgeable is bool(rows)
    assert {f"{model.name}-1" for model in truth.models} == {row[0] for row in rows}
    for model in truth.models:
        own_rows = [row for row in rows if row[0] == f"{model.name}-1"]
        assert (model.loads, model.load_total_ns) == (len(lengths(own_rows, "Load")), sum(lengths(own_rows, "Load")))
        predictions = lengths(own_rows, "Prediction")
        assert (model.predictions, model.prediction_total_ns) == (len(predictions), sum(predictions))


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", SAMPLES)
def test_parents_contain_their_rows(rows_of, name):
    rows = rows_of(name)
    for row, parent in zip(rows, ground_truth(SAMPLES[name]()).parents.get("coreml-os-signpost", ()), strict=True):
        assert (parent is None) == (row[1] == "Prediction" or row[1].startswith("Load"))
        if parent is not None:
            holder = rows[parent]
            assert (holder[0], holder[1]) == (row[0], "Prediction")
            assert holder[2] <= row[2] <= row[3] <= holder[3]
