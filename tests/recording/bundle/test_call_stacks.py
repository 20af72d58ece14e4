"""Call stacks of bundles made by hand: images that come and go, archives that are absent or damaged."""

from __future__ import annotations

import struct
import uuid
from typing import Any

import pytest

from support.call_stacks import frames_at
from support.saved_images import CACHED, Listed, image_list, template
from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.call_stacks import CallStacks
from tracekit.testing.bundle.symbols import Call, Line, Symbol, Written

APP, OTHER, LIBRARY = (str(uuid.UUID(int=number << 64 | number)).upper() for number in (5, 6, 7))
PATHS = {APP: "/Users/someone/Build/App", OTHER: "/Users/someone/plugin.dylib", LIBRARY: "/usr/lib/libthing.dylib"}
NONE_32 = (1 << 32) - 1
PROCESS, THREAD, STRANGER = 0, 1, 2
"""References of shared arrays: a process, its thread, and a thread of another process."""
LINKER = {"codes": ["0x07,0x00", "0x1f,0x05"]}
KDEBUG = (
    "time:event-time thread class:uint32 subclass:uint32 code:uint32 function:uint32 arg1:uint64 arg2:uint64 "
    "arg3:uint64 arg4:uint64"
)
ARCHIVES = {
    APP: Written(
        APP,
        [
            Symbol(0x100, 0x100, "_main", "main", [Call(0x140, 0x10, "_$s3App4LoadyyF", at=("/a/a.swift", 8, 2))]),
            Symbol(0x200, 0x40, "0x100000200", "0x100000200"),
        ],
        [Line(0x140, 8, "/Users/someone/load.swift", 31, 4), Line(0x100, 0x10, "/Users/someone/a.swift", 5, 1)][::-1],
    ),
    OTHER: Written(OTHER, [Symbol(0x100, 0x100, "_plug", "plug")]),
}  # fmt: skip


def mapped(time: int, thread: int, identity: str, address: int, path: int, *, code: int = 0, device: int = 1):
    low, high = struct.unpack("<QQ", uuid.UUID(identity).bytes)
    return [
        (time, thread, 0x1F, 5, code, 0, low, high, address, device),
        (time + 1, thread, 0x1F, 5, code + 1, 0, 0, path, 0, 0),
    ]


@pytest.fixture
def stacks_of(made_bundle, made_table, tmp_path):
    def made(
        samples: list[tuple[int, int, list[int]]],
        events: list[Any],
        archives: dict[str, bytes],
        template: bytes | None = None,
        *,
        schema: str = "time-profile",
        folder: str = "",
    ) -> CallStacks:
        """Samples are (time, thread, addresses as the table holds them); events are pairs of rows."""
        arrays = [[77, 0], [1_001, PROCESS], [2_002, 3], [88, 0]]
        rows = []
        for time, thread, addresses in samples:
            if not addresses:
                rows.append((time, thread, NONE_32))
                continue
            owner = PROCESS if thread == THREAD else 3
            arrays += [addresses[:1], [*addresses[1:], 0]]
            arrays.append([owner << 32 | len(arrays) - 2, owner << 32 | len(arrays) - 1])
            rows.append((time, thread, len(arrays) - 1))
        paths = [*PATHS.values(), "/usr/lib/dyld"]
        tables = [
            made_table(schema, "time:event-time thread stack:backtrace", rows),
            made_table("kdebug", KDEBUG, [row for pair in events for row in pair], attributes=LINKER),
            made_table(
                "kdebug-strings",
                "time:event-time raw-string:string raw-string-id:uint64",
                [(0, number + 1, 40 + number) for number in range(len(paths))],
                attributes=LINKER,
            ),
        ]
        bundle = made_bundle(tables, strings=["", *paths], arrays=arrays)
        bundle.replace |= {} if template is None else {"form.template": template}
        bundle.replace |= {f"symbols/stores/{identity}.symbolsarchive": data for identity, data in archives.items()}
        (table,) = open_recording(bundle.write(tmp_path / folder / "run.trace")).call_stacks(schema)
        return table

    return made


def dumped() -> dict[str, bytes]:
    return {identity: archive.dump() for identity, archive in ARCHIVES.items()}


BASE, CACHE = 0x1_0000_0000, 0x1_8000_0000
EVENTS = [
    mapped(10, THREAD, LIBRARY, CACHE, 0, code=10),
    mapped(20, THREAD, APP, BASE, 40),
    mapped(30, THREAD, LIBRARY, CACHE + 0x1000, 42, device=0),
]


def test_frames_are_named_with_what_was_inlined(stacks_of):
    samples = [(100, THREAD, [BASE + 0x142, BASE + 0x111]), (200, THREAD, []), (300, THREAD, [BASE + 0x205])]
    table = stacks_of(samples, EVENTS, dumped())
    assert frames_at(table, 0) == [
        ("App", "App.Load", 0x141, "load.swift:31"),
        ("App", "main", 0x141, "a.swift:8"),
        ("App", "main", 0x110, ""),
    ]
    assert table.frames["inlined"][table.order[:3]].tolist() == [True, False, False]
    assert frames_at(table, 1) == []
    # A function without name is called after its place, and never after its address.
    assert frames_at(table, 2) == [("App", "App + 0x200", 0x204, "")]
    assert [image.is_system for image in table.images if image.name == "App"] == [False]
    assert table.notes == ()


def test_a_library_without_symbols_keeps_its_name(stacks_of):
    samples = [
        (100, THREAD, [CACHE + 0x1235, BASE + 0x111, BASE - 5]),
        # The text of the image ends before the second address.
        (110, THREAD, [BASE + 0x10000, BASE + 0x10001]),
        # Other processes have the shared cache and nothing else.
        (120, STRANGER, [CACHE + 0x1235, BASE + 0x111]),
    ]
    table = stacks_of(samples, EVENTS, dumped())
    assert frames_at(table, 0) == [
        ("libthing.dylib", None, 0x234, ""),
        ("App", "main", 0x110, ""),
        (None, None, -1, ""),
    ]
    assert table.frames["certain"][table.order[:3]].tolist() == [False, True, False]
    images = [[image for image, *_ in frames_at(table, sample)] for sample in (1, 2)]
    assert images == [["App", None], ["libthing.dylib", None]]


def test_two_images_in_one_place_are_told_apart_by_time(stacks_of):
    events = [*EVENTS, mapped(150, THREAD, APP, BASE, 40, code=5), mapped(160, THREAD, OTHER, BASE, 41)]
    samples = [(time, THREAD, [BASE + 0x111]) for time in (100, 200)]
    table = stacks_of(samples, events, dumped())
    assert [frames_at(table, each)[0][:2] for each in (0, 1)] == [("App", "main"), ("plugin.dylib", "plug")]


def test_an_image_that_only_went_was_there_from_the_start(stacks_of):
    events = [mapped(150, THREAD, APP, BASE, 40, code=5)]
    samples = [(time, THREAD, [BASE + 0x111]) for time in (100, 200)]
    table = stacks_of(samples, events, dumped())
    assert [frames_at(table, each)[0][1] for each in (0, 1)] == ["main", None]


@pytest.mark.parametrize("change", [lambda data: data[:-1], lambda data: b"\x08" + data[1:], lambda _: b""])
def test_a_damaged_archive_costs_itself_and_is_told(stacks_of, change):
    archives = dumped()
    archives[APP] = change(archives[APP])
    events = [*EVENTS, mapped(40, THREAD, OTHER, BASE + 0x20000, 41)]
    samples = [(100, THREAD, [BASE + 0x111, BASE + 0x20111])]
    table = stacks_of(samples, events, archives)
    assert frames_at(table, 0) == [("App", None, 0x110, ""), ("plugin.dylib", "plug", 0x110, "")]
    (note,) = table.notes
    assert note.startswith("functions of App (")


def test_a_run_that_tells_no_images_has_frames_without_names(stacks_of):
    table = stacks_of([(100, THREAD, [BASE + 0x111])], [], {})
    assert frames_at(table, 0) == [(None, None, -1, "")]
    assert "does not show which libraries were loaded" in table.notes[0]


def test_a_reference_to_nothing_costs_the_stacks(made_bundle, made_table, tmp_path):
    tables = [made_table("time-profile", "time:event-time thread stack:backtrace", [(1, THREAD, 900)])]
    path = made_bundle(tables, arrays=[[77, 0], [5, 0]]).write(tmp_path / "run.trace")
    with pytest.raises(UnreadableRecording, match="shared array 900"):
        open_recording(path).call_stacks("time-profile")


def test_no_output_holds_an_address_or_a_path(stacks_of):
    samples = [(100, THREAD, [BASE + 0x142, BASE + 0x205, CACHE + 0x1235])]
    table = stacks_of(samples, EVENTS, dumped())
    text = repr((table.images, [function.name for function in table.functions], table.files, table.notes))
    assert "someone" not in text
    assert "/" not in text
    assert f"{BASE + 0x200:x}" not in text


PID = 77
"""Of `PROCESS`."""
PARTIAL = [mapped(20, THREAD, LIBRARY, CACHE + 0x1000, 42, device=0)]
"""What is reported of a process that ran before: a library that it loads later."""
LINKER_EVENT = mapped(15, THREAD, OTHER, CACHE + 0x4000_0000, 43, device=0)
SAVED_APP = Listed(APP, BASE, 0x8000, "/private/var/containers/Bundle/App")


def test_an_address_far_behind_the_only_known_library_is_unknown(stacks_of):
    samples = [(100, THREAD, [CACHE + 0x1235, CACHE + 0x1000 + 0x338ECC])]
    partial = stacks_of(samples, PARTIAL, dumped(), folder="partial")
    assert [image for image, *_ in frames_at(partial, 0)] == ["libthing.dylib", None]
    # Of a process that was seen from its start all libraries are known: what no other one has is its.
    whole = stacks_of(samples, [*EVENTS, LINKER_EVENT], dumped(), folder="whole")
    assert [image for image, *_ in frames_at(whole, 0)] == ["libthing.dylib", "libthing.dylib"]


def test_frames_of_an_image_whose_place_is_not_known_are_unknown_and_that_is_said(stacks_of):
    archives = dumped() | {LIBRARY: Written(LIBRARY, [Symbol(0x100, 0x900, "_thing", "thing")]).dump()}
    samples = [(100, THREAD, [CACHE + 0x1235, BASE + 0x111])]
    table = stacks_of(samples, PARTIAL, archives, folder="a")
    assert [each[:2] for each in frames_at(table, 0)] == [("libthing.dylib", "thing"), (None, None)]
    (note,) = table.notes
    assert "2 images are shown as unknown" in note
    assert "does not show where they were loaded" in note
    # Where all frames are known, archives of other runs are nothing to speak of.
    known = stacks_of([(100, THREAD, [CACHE + 0x1235])], PARTIAL, archives, folder="b")
    assert known.notes == ()


def test_images_that_were_there_before_come_from_form_template(stacks_of):
    cached = [Listed(LIBRARY, 0x1000, 0x200, "/usr/lib/libthing.dylib", flags=CACHED)]
    listed = template(image_list(PID, SAVED_APP, cache=CACHE), process=(PROCESS, PID), cached=cached)
    samples = [(100, THREAD, [CACHE + 0x1200, BASE + 0x143, CACHE + 0x1201, BASE + 0x9000])]
    table = stacks_of(samples, [], dumped(), listed)
    assert frames_at(table, 0) == [
        ("libthing.dylib", None, 0x1FF, ""),
        ("App", "App.Load", 0x142, "load.swift:31"),
        ("App", "main", 0x142, "a.swift:8"),
        (None, None, -1, ""),
        ("App", None, 0x8FFF, ""),
    ]
    assert table.frames["certain"][table.order].tolist() == [True, True, True, False, True]
    assert {image.name: image.is_system for image in table.images} == {"App": False, "libthing.dylib": True}
    assert table.notes == ("frames of an image are shown as unknown: the bundle has its symbols, but does not show "
        "where it was loaded",)  # fmt: skip


def test_saved_images_of_others_of_the_kernel_and_of_another_time_are_not_taken(stacks_of):
    listed = template(
        image_list(88, SAVED_APP),
        image_list(PID, Listed(OTHER, BASE, 0x8000, "/Users/someone/plugin.dylib"), is_kernel=True),
        image_list(PID, Listed(OTHER, BASE, 0x8000, "/Users/someone/plugin.dylib", last=5)),
        process=(PROCESS, PID),
    )
    table = stacks_of([(100, THREAD, [BASE + 0x111])], PARTIAL, dumped(), listed)
    assert [image for image, *_ in frames_at(table, 0)] == [None]


@pytest.mark.parametrize("cut", [10, 30, 90, 150])
def test_a_list_that_is_cut_off_costs_the_images_that_it_has(stacks_of, cut):
    listed = template(image_list(PID, SAVED_APP)[:cut], process=(PROCESS, PID))
    table = stacks_of([(100, THREAD, [CACHE + 0x1235])], PARTIAL, {}, listed)
    assert [image for image, *_ in frames_at(table, 0)] == ["libthing.dylib"]
    assert "before the recording began are not known: 'form.template' lists" in " ".join(table.notes)


@pytest.mark.parametrize("schema", ["cpu-profile", "counters-profile"])
def test_stacks_that_are_sampled_by_a_counter_are_read_too(stacks_of, schema):
    samples = [(100, THREAD, [BASE + 0x142])]
    table = stacks_of(samples, EVENTS, dumped(), schema=schema)
    assert frames_at(table, 0)[0][:2] == ("App", "App.Load")
    assert not table.weight_ns.known.any()
