"""The samples, judged by reading the files alone."""

from __future__ import annotations

import zipfile
import zlib
from itertools import pairwise
from statistics import median
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


def test_the_folder_holds_exactly_the_samples(samples: Path) -> None:
    expected = {"README.md", *(f"{name}.trace" for name in SAMPLES), *(f"{name}_xml" for name in WITH_EXPORT)}
    assert {path.name for path in samples.iterdir() if not path.name.startswith(".")} == expected


def test_one_command_writes_them_again(samples: Path, tmp_path: Path) -> None:
    for folder in (f"{next(iter(SAMPLES))}.trace", f"{WITH_EXPORT[0]}_xml"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "left over").touch()
    write_samples(tmp_path)
    assert files(samples) ^ files(tmp_path) == {"README.md", ".gitattributes"}
    assert [path for path in files(tmp_path) if not same(samples / path, tmp_path / path)] == []


def test_compression_does_not_count_and_content_does(tmp_path: Path) -> None:
    path = tmp_path / "bulkstore"
    for level in (1, 6, 9):
        path.write_bytes(zlib.compress(b"rows" * 1_000, level))
        assert content(path) == b"rows" * 1_000
    path.write_bytes(zlib.compress(b"Rows" * 1_000))
    assert content(path) != b"rows" * 1_000


def test_the_exports_beside_them_are_of_both_ages_of_xcode() -> None:
    assert {SAMPLES[name]().xcode_version for name in WITH_EXPORT} == {"16.4", "27.2"}


def test_each_is_small(samples: Path) -> None:
    folders = [path for path in samples.iterdir() if path.is_dir()]
    assert len(folders) == len(SAMPLES) + len(WITH_EXPORT)
    for folder in folders:
        most = 200_000 if folder.suffix == ".trace" else 1_500_000
        assert 10_000 < sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) < most


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", SAMPLES)
def test_ground_truth_agrees_with_the_files(rows_of: Callable[[str], list[Row]], name: str) -> None:
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
def test_parents_contain_their_rows(rows_of: Callable[[str], list[Row]], name: str) -> None:
    rows = rows_of(name)
    for row, parent in zip(rows, ground_truth(SAMPLES[name]()).parents.get("coreml-os-signpost", ()), strict=True):
        assert (parent is None) == (row[1] == "Prediction" or row[1].startswith("Load"))
        if parent is not None:
            holder = rows[parent]
            assert (holder[0], holder[1]) == (row[0], "Prediction")
            assert holder[2] <= row[2] <= row[3] <= holder[3]


def test_the_samples_hold_the_findings_that_they_are_named_for() -> None:
    by_sample = {name: ground_truth(scenario()).findings for name, scenario in SAMPLES.items()}
    styles = ("InkWash", "Mosaic", "Pointillism", "StainedGlass", "Watercolor")
    assert by_sample == {
        "style_transfer_reload": tuple(("reload-before-predict", style) for style in styles),
        "style_transfer_fixed": (),
        "sharpen_8bit": (("excess-data-copies", "SharpenFilter"), ("float-conversion", "SharpenFilter")),
        "sharpen_float16": (),
        "captions_concurrent": (("concurrent-predictions", "CaptionEncoder"),),
        "not_instrumented": (("core-ml-not-instrumented", None),),
        "local_chat": (),
        "meal_planner": (),
        "dictation": (),
        "frame_camera": (),
        # What memory shows is held by the cases of its checks.
        "album_memory": (),
    }


def test_every_other_outcome_is_a_clear_pass() -> None:
    for name, scenario in SAMPLES.items():
        # What has no Core ML rows because it did not use Core ML looks as if that had not been recorded.
        open_ones = {"no_finding"} if name in ("local_chat", "meal_planner") else set()
        outcomes = {str(expected) for expected in ground_truth(scenario()).outcomes.values()}
        assert outcomes <= {"finding", "passed", *open_ones}


def test_style_transfer_has_the_figures_of_the_session(rows_of: Callable[[str], list[Row]]) -> None:
    rows = rows_of("style_transfer_reload")
    loads, predictions = lengths(rows, "Load"), lengths(rows, "Prediction")
    assert len(loads) == len(predictions) == 373
    assert f"{sum(loads) / 1e9:.2f} s, {sum(loads) / 373 / 1e6:.2f} ms" == "6.41 s, 17.17 ms"
    assert f"{sum(predictions) / 1e9:.2f} s, {sum(predictions) / 373 / 1e6:.1f} ms" == "2.69 s, 7.2 ms"
    assert len(set(loads)) > 300
    assert len(set(predictions)) > 300


def test_every_style_prediction_follows_a_load_of_its_model_and_never_overlaps(
    rows_of: Callable[[str], list[Row]],
) -> None:
    activity = [row for row in rows_of("style_transfer_reload") if row[1].startswith(("Load", "Prediction"))]
    for earlier, later in pairwise(activity):
        assert earlier[3] <= later[2]
    for load, prediction in zip(activity[::2], activity[1::2], strict=True):
        assert load[1].startswith("Load")
        assert prediction[1] == "Prediction"
        assert load[0] == prediction[0]


def test_the_repaired_app_makes_the_same_predictions_with_five_loads(rows_of: Callable[[str], list[Row]]) -> None:
    before, after = rows_of("style_transfer_reload"), rows_of("style_transfer_fixed")
    assert lengths(after, "Prediction") == lengths(before, "Prediction")
    assert len(lengths(after, "Load")) == 5


def test_watercolor_runs_on_the_neural_engine_first_and_then_on_the_gpu(
    exports: Path, rows_of: Callable[[str], list[Row]]
) -> None:
    folder = exports / "style_transfer_reload"
    (engine,) = read_export(folder / "ane-hw-intervals-internal.xml")
    (gpu,) = read_export(folder / "metal-gpu-intervals.xml")
    predictions = [row for row in rows_of(folder.name) if row[:2] == ("Watercolor-1", "Prediction")]
    assert len(predictions) > 50
    for _, _, start, end in predictions:
        engine_ends = [s + d for s, d in inside(engine, start, end, "Watercolor")]
        gpu_starts = [s for s, _ in inside(gpu, start, end, "Watercolor")]
        assert len(engine_ends) == 1
        assert len(gpu_starts) == 2
        assert engine_ends[0] < gpu_starts[0]


def inside(node: object, start: int, end: int, word: str) -> list[tuple[int, int]]:
    """Start and duration of hardware rows within a time whose label begins with a word."""
    rows = zip(node.integers("start"), node.integers("duration"), node.texts("event-label"), strict=True)
    return [(s, d) for s, d, label in rows if start <= s and s + d <= end and label.startswith(word)]


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [
        ("sharpen_8bit", 0.27, 0.31),
        ("sharpen_float16", 0.0, 0.01),
        ("style_transfer_reload", 0.0, 0.02),
        ("captions_concurrent", 0.0, 0.01),
    ],
)
def test_copies_take_the_share_that_the_sample_is_about(
    rows_of: Callable[[str], list[Row]], name: str, least: float, most: float
) -> None:
    rows = rows_of(name)
    copies = sorted((start, end) for _, event, start, end in rows if event in COPIES)
    covered, until = 0, 0
    for start, end in copies:
        covered += max(0, end - max(start, until))
        until = max(until, end)
    assert least <= covered / sum(lengths(rows, "Prediction")) <= most
    assert covered > 0


def test_captions_pile_up_and_slow_down(rows_of: Callable[[str], list[Row]]) -> None:
    rows = [row for row in rows_of("captions_concurrent") if row[1] == "Prediction"]
    edges = sorted([(start, 1) for *_, start, _ in rows] + [(end, -1) for *_, end in rows])
    times: dict[int, int] = {}
    depth = 0
    for (time, step), (until, _) in pairwise(edges):
        depth += step
        times[depth] = times.get(depth, 0) + until - time
    busy = sum(time for level, time in times.items() if level)
    assert sum(time for level, time in times.items() if 4 <= level <= 8) > 0.4 * busy
    assert max(times) == 8
    alone = [end - start for _, _, start, end in rows if overlapping(rows, start, end) == 1]
    crowded = [end - start for _, _, start, end in rows if overlapping(rows, start, start + 1) > 2]
    assert len(alone) >= 20
    assert len(crowded) >= 100
    assert median(crowded) > 2 * median(alone)


def overlapping(rows: list[Row], start: int, end: int) -> int:
    """How many rows touch a time."""
    return sum(row[2] < end and start < row[3] for row in rows)


def test_neural_engine_rows_of_captions_never_overlap(exports: Path) -> None:
    (engine,) = read_export(exports / "captions_concurrent" / "ane-hw-intervals.xml")
    spans = sorted(zip(engine.integers("start"), engine.integers("duration"), strict=True))
    assert len(spans) > 200
    for (start, duration), (later, _) in pairwise(spans):
        assert start + duration <= later


def test_the_tool_that_may_not_be_watched_leaves_only_the_hardware(exports: Path) -> None:
    folder = exports / "not_instrumented"
    for name in (CORE_ML, "os-signpost.coreml.xml", "os-signpost.DynamicTracing.xml"):
        (node,) = read_export(folder / name)
        assert node.columns
        assert node.rows == []
    (engine,) = read_export(folder / "ane-hw-intervals-internal.xml")
    assert set(engine.texts("event-label")) == {"Neural Engine Prediction", "Neural Engine Load"}
    assert len(engine.rows) > 400
    (gpu,) = read_export(folder / "metal-gpu-intervals.xml")
    assert not any("embed-images" in (process or "") for process in gpu.texts("process"))
