"""Symbol archives: what was written is found again, and what is damaged is refused whole."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.symbol_archive import NONE, SymbolArchive, read_symbol_archive
from tracekit.testing.bundle.symbols import Call, Line, Symbol, Written

IDENTITY = "48A3B590-3D21-3CA3-9CF0-2BFB875FFA73"
Place = tuple[str, str, int]


def chain(archive: SymbolArchive, offset: int) -> list[Place]:
    """Names and places at an offset, innermost first."""
    calls = archive.find(np.array([offset]))
    return [
        (archive.names(call)[0], "" if file == NONE else archive.text(file), line)
        for call, file, line in zip(calls.call.tolist(), calls.file.tolist(), calls.line.tolist(), strict=True)
    ]


def counts_of(archive: SymbolArchive) -> tuple[int, int, int]:
    """Symbols, inlined calls, lines."""
    return len(archive._symbols), len(archive._inlined), len(archive._lines)


def sample() -> Written:
    inner = Call(0x120, 0x20, "inner", at=("b.swift", 7, 3))
    outer = Call(0x110, 0x50, "outer", at=("/home/a.swift", 12, 9), calls=[inner])
    return Written(
        IDENTITY,
        [Symbol(0x100, 0x100, "_main", "main", [outer]), Symbol(0x200, 0x10, "_other", "other")],
        [Line(0x100, 0x10, "/home/a.swift", 10), Line(0x120, 0x8, "c.swift", 99, 5), Line(0x128, 8, "<stdin>", 0)],
    )


def test_a_function_ends_where_its_size_says():
    archive = SymbolArchive(sample().dump())
    assert counts_of(archive) == (2, 2, 3)
    assert archive.uuid == IDENTITY
    assert chain(archive, 0xFF) == []
    assert chain(archive, 0x100) == [("_main", "/home/a.swift", 10)]
    assert [name for name, *_ in chain(archive, 0x1FF)] == ["_main"]
    assert [name for name, *_ in chain(archive, 0x20F)] == ["_other"]
    assert chain(archive, 0x210) == []


def test_inlined_calls_stand_before_their_callers_and_each_has_its_place():
    archive = SymbolArchive(sample().dump())
    source_lines = [("inner", "c.swift", 99), ("outer", "b.swift", 7), ("_main", "/home/a.swift", 12)]
    assert chain(archive, 0x121) == source_lines
    assert archive.find(np.array([0x121])).depth.tolist() == [2, 1, 0]
    # What the compiler made takes the place of its caller. Without any line there is none to take.
    assert chain(archive, 0x12A)[0] == ("inner", "b.swift", 7)
    assert chain(archive, 0x180) == [("_main", "", 0)]


def test_of_two_functions_in_one_place_the_one_with_a_name_of_its_own_counts():
    for names in (("<deduplicated_symbol>", "_own"), ("_own", "<deduplicated_symbol>")):
        symbols = [Symbol(0x100, 0x20, name) for name in names]
        assert chain(SymbolArchive(Written(IDENTITY, symbols).dump()), 0x110)[0][0] == "_own"


def test_an_archive_of_another_image_is_refused():
    with pytest.raises(DamageError, match="belongs to the image"):
        read_symbol_archive(sample().dump(), IDENTITY.replace("48A3", "0000"))


@pytest.mark.parametrize(
    ("written", "why"),
    [
        (Written(IDENTITY, version=8), "unknown version 8"),
        (Written(IDENTITY, [Symbol(0x100, 0, "_f")]), "__TEXT"),
        (Written(IDENTITY, [Symbol(0xFFF0, 0x11, "_f")]), "__TEXT"),
        (Written(IDENTITY, [Symbol(0x200, 8, "_f"), Symbol(0x100, 8, "_g")]), "not sorted"),
        (Written(IDENTITY, [Symbol(0x100, 9, "_f"), Symbol(0x108, 8, "_g")]), "overlap"),
        (Written(IDENTITY, lines=[Line(0x100, 9, "a", 1), Line(0x108, 8, "a", 2)]), "overlap"),
        (Written(IDENTITY, [Symbol(0x100, 8, "_f", calls=[Call(0x104, 8, "g")])]), "outside"),
        (Written(IDENTITY, [Symbol(0x100, 8, "_f", calls=[Call(0x100, 4, "g"), Call(0x102, 2, "h")])]), "overlap"),
        (Written(IDENTITY, [Symbol(0x100, 8, "_" + "f" * 70_000)]), "bytes"),
    ],
)
def test_what_cannot_be_is_refused(written, why):
    with pytest.raises(DamageError, match=why):
        SymbolArchive(written.dump())


def test_calls_inlined_deeper_than_allowed_are_refused():
    call = Call(0x100, 8, "f")
    for _ in range(70):
        call = Call(0x100, 8, "f", calls=[call])
    archive = SymbolArchive(Written(IDENTITY, [Symbol(0x100, 8, "_f", calls=[call])]).dump())
    with pytest.raises(DamageError, match="levels deep"):
        archive.find(np.array([0x104]))


def test_every_cut_and_counts_that_a_small_file_cannot_hold_are_noticed():
    data = sample().dump()
    for length in range(len(data)):
        with pytest.raises(DamageError):
            SymbolArchive(data[:length])
    many = bytearray(data)
    struct.pack_into("<I", many, 0x10, 0xFFFF_FFFF)
    for content in (data + b"\0", bytes(many)):
        with pytest.raises(DamageError, match="add up"):
            SymbolArchive(content)


def test_changed_bytes_are_refused_or_give_names_that_are_there():
    draws = random.Random(7)  # noqa: S311
    data = sample().dump()
    refused = 0
    for _ in range(600):
        changed = bytearray(data)
        for _ in range(draws.randint(1, 3)):
            changed[draws.randrange(len(changed))] = draws.randrange(256)
        try:
            archive = SymbolArchive(bytes(changed))
            for name, *_ in chain(archive, draws.randrange(0x80, 0x300)):
                assert isinstance(name, str)
        except DamageError:
            refused += 1
    assert 100 < refused < 600


@st.composite
def written(draw: st.DrawFn) -> Written:
    """Functions one after the other, some with inlined calls and lines."""
    symbols, lines, at = [], [], 0x100
    for number in range(draw(st.integers(0, 6))):
        at += draw(st.integers(0, 40))
        size = draw(st.integers(1, 200))
        symbols.append(Symbol(at, size, f"_f{number}", draw(st.sampled_from(["", "shown"]))))
        symbols[-1].calls = draw(calls(at, size, 0))
        if draw(st.booleans()):
            lines.append(Line(at, size, draw(st.sampled_from(["a.c", "<stdin>"])), draw(st.integers(0, 3))))
        at += size
    return Written(IDENTITY, symbols, lines)


def calls(start: int, size: int, depth: int) -> st.SearchStrategy[list[Call]]:
    @st.composite
    def inside(draw: st.DrawFn) -> list[Call]:
        result, at = [], start
        for number in range(draw(st.integers(0, 2)) if depth < 3 else 0):
            begin = at + draw(st.integers(0, 10))
            length = draw(st.integers(1, 60))
            if begin + length > start + size:
                break
            offset = (draw(st.sampled_from(["b.c", "<x>"])), draw(st.integers(0, 4)), 0)
            result.append(
                Call(begin, length, f"i{depth}{number}", at=offset, calls=draw(calls(begin, length, depth + 1)))
            )
            at = begin + length
        return result

    return inside()


def expected(archive: Written, offset: int) -> list[Place]:
    """The same by looking at everything."""
    names: list[Symbol | Call] = []
    level: list[Symbol | Call] = list(archive.symbols)
    while around := [each for each in level if each.start <= offset < each.start + each.size]:
        names.append(around[0])
        level = list(around[0].calls)
    if not names:
        return []
    line = next((each for each in archive.lines if each.start <= offset < each.start + each.size), None)
    calls_at = [name.at[:2] for name in names[1:] if isinstance(name, Call)]
    source_lines = [*calls_at, ("", 0) if line is None else (line.file, line.line)]
    known: list[tuple[str, int]] = []
    for file, number in source_lines:
        usable = bool(file) and not file.startswith("<") and number > 0
        known.append((file, number) if usable else (known[-1] if known else ("", 0)))
    return [(each.name, *position) for each, position in zip(names, known, strict=True)][::-1]


@given(written(), st.integers(0xF0, 0x700))
def test_what_was_written_is_found(made, offset):
    assert chain(SymbolArchive(made.dump()), offset) == expected(made, offset)
