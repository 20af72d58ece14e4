"""Call stacks of public recordings, against facts that were measured without tracekit (reference on symbols, 11)."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pytest

from support.choice import sweep_rest
from tracekit.recording import open_recording
from tracekit.recording.bundle.images import ALWAYS, read_images
from tracekit.recording.bundle.symbol_archive import SymbolArchive, read_symbol_archive

if TYPE_CHECKING:
    from pathlib import Path

    from tracekit.recording.bundle.images import Images
    from tracekit.recording.call_stacks import CallStacks

pytestmark = pytest.mark.corpus


@dataclass(frozen=True)
class Golden:
    bundle: str
    run: int
    spans: int
    archived: int
    program: int
    first_dyld: tuple[int, int]
    dyld: int
    stacks: int
    frames: int
    named: int
    functions: int
    entries: dict[str, int]
    images: dict[str, int] = field(default_factory=dict)


GOLDEN = [
    Golden(
        "hello_coreml", 1, 325, 47, 0x1022E0000, (0x1026B0000, 698627291), 0x198498000, 356, 14026, 14026, 1311,
        {"start": 340, "start_wqthread": 15, "qos_class_main": 1},
        {"CoreML": 4760, "Espresso": 1580, "MetalPerformanceShadersGraph": 2111, "MIL": 2438},
    ),
    Golden(
        "quick_probe", 1, 402, 50, 0x1045EC000, (0x104644000, 689822375), 0x198498000, 3649, 166715, 166715, 2798,
        {"start": 3604, "start_wqthread": 42, "qos_class_main": 3},
        {"CoreML": 59489, "Espresso": 40085, "MetalPerformanceShadersGraph": 4427, "MIL": 10454},
    ),
    Golden(
        "fp16_w8_60s_all", 1, 402, 51, 0x100A40000, (0x100BA0000, 686061166), 0x198498000, 806, 23775, 23775, 1668,
        {"start": 739, "start_wqthread": 54, "qos_class_main": 13},
        {"CoreML": 7253, "Espresso": 3219, "MetalPerformanceShadersGraph": 3794, "MIL": 2425},
    ),
    Golden(
        "output", 1, 46, 8, 0x1001EC000, (0x100220000, 441981833), 0x183AF2000, 3, 37, 37, 33, {"start": 3}
    ),
    Golden("output", 2, 46, 7, 0x100F30000, (0x1010E8000, 450770916), 0x183AF2000, 3, 21, 6, 3, {"start": 3}),
    Golden("output", 3, 46, 7, 0x100164000, (0x1003EC000, 409997458), 0x183AF2000, 1, 10, 3, 3, {"start": 1}),
]  # fmt: skip
ARCHIVES = {
    "hello_coreml": (54, 282633, (341, 1652), (1700, 0, 0)),
    "quick_probe": (56, 557260, (349, 1626), (3170, 1362, 862)),
    "fp16_w8_60s_all": (59, 392627, (370, 1787), (1973, 1362, 862)),
    "output": (7, 13315, (44, 117), (33, 0, 134)),
}


@pytest.mark.parametrize("name", sweep_rest(*ARCHIVES))
def test_every_archive_is_read_to_the_byte(corpus, name):
    paths = sorted((corpus / f"bundles/{name}.trace/symbols/stores").iterdir())
    archives = [read_symbol_archive(path.read_bytes(), path.stem) for path in paths]
    count, size, (_, sections), counts = ARCHIVES[name]
    assert (len(paths), sum(path.stat().st_size for path in paths)) == (count, size)
    assert sum(len(archive._sections) for archive in archives) == sections
    assert tuple(np.sum([counts_of(archive) for archive in archives], axis=0).tolist()) == counts


def counts_of(archive: SymbolArchive) -> tuple[int, int, int]:
    """Symbols, inlined calls, lines."""
    return len(archive._symbols), len(archive._inlined), len(archive._lines)


def test_the_smallest_archive(corpus):
    identity = "48A3B590-3D21-3CA3-9CF0-2BFB875FFA73"
    path = corpus / f"bundles/hello_coreml.trace/symbols/stores/{identity}.symbolsarchive"
    archive = SymbolArchive(path.read_bytes())
    assert (archive.uuid, len(archive._sections), counts_of(archive)) == (identity, 16, (2, 0, 0))
    assert archive.names(0) == ("_main", "main", 0xD48)
    assert archive.names(1)[0].startswith("_$sSo7MLModelC10contentsOf13configuration")
    assert archive.names(1)[1:] == ("", 0x1B64)
    edges = np.array([0xD47, 0xD48, 0xD48 + 0x9F0 - 1, 0xD48 + 0x9F0, 0x1B64 + 0x12B, 0x1B64 + 0x12C])
    assert archive.find(edges).owner.tolist() == [1, 2, 4]


def test_source_lines_of_the_program(corpus):
    identity = "15B9F624-017B-3B15-BA88-CF7BE30052F1"
    path = corpus / f"bundles/fp16_w8_60s_all.trace/symbols/stores/{identity}.symbolsarchive"
    archive = SymbolArchive(path.read_bytes())
    assert counts_of(archive) == (7, 1362, 862)
    calls = archive.find(np.array([0x4E28 - 1, 0x523C - 1, 0xEBD4 - 1]))
    places = zip(calls.file.tolist(), calls.line.tolist(), strict=True)
    source_lines = {(archive.text(file).rpartition("/")[2], line) for file, line in places}
    assert {("main.swift", 1229), ("main.swift", 1261)} <= source_lines


def images_of(corpus: Path, golden: Golden) -> Images:
    recording = open_recording(corpus / f"bundles/{golden.bundle}.trace", run=golden.run)
    return read_images(recording._files, recording._stores, recording._values)


@pytest.mark.parametrize("golden", sweep_rest(*GOLDEN), ids=lambda each: f"{each.bundle}-{each.run}")
def test_images_and_their_places(corpus, golden):
    images = images_of(corpus, golden)
    stores = corpus / f"bundles/{golden.bundle}.trace/symbols/stores"
    assert len(images) == golden.spans
    assert sum((stores / f"{uuid}.symbolsarchive").exists() for uuid in images.uuids) == golden.archived
    linkers = [index for index in range(len(images)) if images.name(index) == "dyld"]
    assert [(int(images.records["address"][linker]), int(images.records["end_ns"][linker])) for linker in linkers] == [
        golden.first_dyld,
        (golden.dyld, ALWAYS),
    ]
    (program,) = [index for index in range(len(images)) if not images.is_system(index)]
    assert int(images.records["address"][program]) == golden.program
    if golden.bundle != "output":
        addresses = {images.name(index): int(images.records["address"][index]) for index in range(len(images))}
        assert (addresses["CoreML"], addresses["Espresso"]) == (0x1A2744000, 0x1B2D21000)


def stacks_of(corpus: Path, golden: Golden) -> CallStacks:
    (table,) = open_recording(corpus / f"bundles/{golden.bundle}.trace", run=golden.run).call_stacks("time-profile")
    return table


def seen(table: CallStacks) -> np.ndarray:
    """Frames of all samples, stack by stack."""
    used = table.stack[table.stack >= 0]
    return np.concatenate([table.order[table.starts[each] : table.starts[each + 1]] for each in used])


@pytest.mark.parametrize("golden", sweep_rest(*GOLDEN), ids=lambda each: f"{each.bundle}-{each.run}")
def test_every_frame_has_its_function(corpus, golden):
    table = stacks_of(corpus, golden)
    frames, seen_frames = table.frames, seen(table)
    recorded = seen_frames[~frames["inlined"][seen_frames]]
    assert int((table.stack >= 0).sum()) == golden.stacks
    assert len(recorded) == golden.frames
    assert int((frames["function"][recorded] >= 0).sum()) == golden.named
    assert (frames["image"][recorded] >= 0).all()
    assert len(np.unique(frames["function"][recorded][frames["function"][recorded] >= 0])) == golden.functions
    outermost = table.order[table.starts[table.stack[table.stack >= 0] + 1] - 1]
    assert Counter(table.functions[each].name for each in frames["function"][outermost]) == golden.entries
    names = [image.name for image in table.images]
    counts = Counter(names[each] for each in frames["image"][recorded])
    assert {name: counts[name] for name in golden.images} == golden.images
    assert table.notes == ()


def shown(table: CallStacks, time_ns: int) -> list[str]:
    """Frames of the stack at a time, as `function + offset` or `function file:line`."""
    stack = int(table.stack[np.flatnonzero(table.time_ns == time_ns)[0]])
    frames = table.frames
    texts = []
    for each in table.order[table.starts[stack] : table.starts[stack + 1]].tolist():
        function = table.functions[int(frames["function"][each])]
        file, source_line = frames["file"][each], frames["line"][each]
        line = f" {table.files[file]}:{source_line}" if source_line else ""
        distance = int(frames["offset"][each]) - (function.start or 0)
        texts.append(f"{function.name}{line or f' + {distance}'}")
    return texts


def test_known_stacks(corpus):
    hello, _, fp16, output, *_ = GOLDEN
    assert shown(stacks_of(corpus, hello), 699155500) == [
        "fsgetpath + 8",
        "dyld4::ProcessConfig::DyldCache::DyldCache + 1123",
        "dyld4::ProcessConfig::ProcessConfig + 127",
        "dyld4::start (lambda) + 71",
        "start + 5999",
    ]
    stack = shown(stacks_of(corpus, fp16), 4419830291)
    assert len(stack) == 25
    assert [each.partition(" +")[0] for each in stack[:3]] == [
        "tiny_free_no_lock",
        "free_tiny",
        "-[__NSArrayM dealloc]",
    ]
    assert any(each.startswith("E5RT::Ops::MpsGraphInferenceOperation::ExecuteSync") for each in stack)
    assert stack[-3:-1] == ["MambaASRRunner.runStreaming main.swift:1229", "MambaASRRunner_main main.swift:1539"]
    assert shown(stacks_of(corpus, output), 444477541)[-3:-1] == [
        "TGAImage::write_tga_file tgaimage.cpp:188",
        "main main.cpp:43",
    ]


def test_stacks_of_kernel_traces_are_resolved_too(corpus):
    recording = open_recording(corpus / "bundles/fp16_w8_60s_all.trace")
    # The rows of one of the tables with these codes are absent from the bundle.
    (table,) = recording.call_stacks("kdebug", codes="0x85,0x8")
    target = recording.run.target.process
    of_target = (table.process.codes == table.process.values.index(target)) & (table.stack >= 0)
    stacks = np.unique(table.stack[of_target])
    frames = np.concatenate([table.order[table.starts[stack] : table.starts[stack + 1]] for stack in stacks])
    assert len(table.time_ns) == 81452
    assert len(frames) > 1_000
    assert (table.frames["function"][frames] >= 0).all()
    # Images of the target that lie outside of the shared cache are nowhere in another process.
    others = np.unique(table.stack[~of_target & (table.stack >= 0)])
    foreign = np.concatenate([table.order[table.starts[other] : table.starts[other + 1]] for other in others])
    images = {table.images[each].name for each in table.frames["image"][foreign] if each >= 0}
    assert images
    assert "MambaASRRunner" not in images


@pytest.mark.sweep
def test_an_app_that_ran_before_is_named_by_what_form_template_lists(corpus, tmp_path):
    """iOS 15.5: the loader reports 133 libraries that came later, `form.template` 605 images, 127 of them with archive
    (counted with a parser of its own). The address 0x1ceddbecc, of 66% of the samples, lies 3.4 MB behind iTunesCloud.
    """
    path = corpus / "bundles/ios15_time.trace"
    (table,) = open_recording(path).call_stacks("time-profile")
    images = Counter(table.images[code].name for code in table.frames["image"][table.order] if code >= 0)
    outermost = table.order[table.starts[1:] - 1]
    begins = Counter(table.functions[code].name for code in table.frames["function"][outermost] if code >= 0)
    assert begins["start"] > 0.5 * len(outermost)
    assert images["GBShop"] > 10_000
    assert not images["iTunesCloud"] + images["VoiceServices"]
    assert (table.frames["function"][table.order] >= 0).mean() > 0.99
    assert table.frames["certain"][table.frames["image"] >= 0].all()
    # Without that file almost nothing is known of it, and that is what is said.
    shutil.copytree(path, tmp_path / "run.trace", ignore=shutil.ignore_patterns("form.template"))
    (poor,) = open_recording(tmp_path / "run.trace").call_stacks("time-profile")
    same = poor.frames["image"][poor.order] >= 0
    assert same.mean() < 0.1
    assert set(poor.images) <= set(table.images)
    assert any("112 images are shown as unknown" in note for note in poor.notes)
