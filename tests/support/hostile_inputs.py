"""Inputs of each kind that ask for more than they have: exports, run issues, bundles and archives."""

from __future__ import annotations

import importlib.util
import io
import plistlib
import random
import sqlite3
import struct
import sys
import warnings
import zipfile
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from functools import cache
from pathlib import Path
from typing import Any, Final

from fuzz_export import _damaged, base_documents

ISSUES: Final = "Trace1.run/RunIssues.storedata"
CORE: Final = "corespace/run1/core"


def _made() -> Any:
    """The writer of small bundles that the tests of the reader use."""
    path = Path(__file__).resolve().parents[1] / "recording" / "bundle" / "conftest.py"
    spec = importlib.util.spec_from_file_location("made_bundles", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


MADE: Final = _made()


# Exports


def table(columns: str, *rows: str, name: str = "sample", count: int = 1) -> str:
    """Nodes without position, each with these rows."""
    described = "".join(
        f"<col><mnemonic>{each.split(':')[0]}</mnemonic><engineering-type>{each.split(':')[1]}</engineering-type></col>"
        for each in columns.split()
    )
    inside = "".join(f"<row>{row}</row>" for row in rows)
    return f'<node><schema name="{name}">{described}</schema>{inside}</node>' * count


def large(rng: random.Random, usual: int, rare: int) -> int:
    """A number that is large in one of twenty inputs, so that most take no time."""
    return rare if rng.random() < 0.05 else usual


def shared_text(rng: random.Random) -> str:
    """One long text in many labels, in each many times."""
    kind, part = rng.choice((("formatted-label", "string"), ("backtrace", "frame"), ("any", "string")))
    long = "a" * large(rng, rng.choice((10, 3_000)), 300_000)
    first = f'<{part} id="1" name="{long}">{long}</{part}><sentinel/>'
    inner = f'<{part} ref="1"/>' * large(rng, rng.choice((1, 2, 100)), 3_000)
    tag = rng.choice((kind, "narrative")) if kind == "any" else kind
    rows = [
        f"<sentinel/><{tag}>{inner}<string>{number}</string></{tag}>"
        for number in range(large(rng, 10, 300) if len(inner) < 3_000 else 5)
    ]
    return table(f"a:{part} b:{kind}", first, *rows)


def id_gaps(rng: random.Random) -> str:
    """Ids far apart, and references to them."""
    step = rng.choice((2, 1_000, 65_000, 65_537, 10**9, 10**14))
    rows = [
        f'<string id="{number * step + 1}">t{number}</string>'
        for number in range(rng.randint(1, large(rng, 50, 2_000)))
    ]
    return table("a:string", *rows, f'<string ref="{rng.randrange(3) * step + 1}"/>')


def many_nodes(rng: random.Random) -> str:
    """Tables without position, some of them equal, and many columns."""
    if rng.random() < 0.5:
        columns = " ".join(f"c{number}:string" for number in range(rng.randint(1, large(rng, 20, 512))))
        return table(columns) + rng.choice(("<node/>", "<node></node>")) * rng.randint(1, large(rng, 20, 1_000))
    return "".join(
        table("a:uint64", f"<uint64>{rng.randrange(50)}</uint64>") for _ in range(rng.randint(1, large(rng, 20, 300)))
    )


def doubling(rng: random.Random) -> str:
    """Each label holds the one before it several times, by reference."""
    rows = ['<formatted-label id="1"><string>abcdefgh</string></formatted-label>']
    for number in range(2, rng.randint(3, 40)):
        inner = f'<formatted-label ref="{number - 1}"/>' * rng.randint(1, 8)
        rows.append(f'<formatted-label id="{number}">{inner}</formatted-label>')
    return table("a:formatted-label", *rows)


def waiting(rng: random.Random) -> str:
    """Cells that wait for values of later rows."""
    ids = range(11, 11 + rng.randint(1, 80))
    held = "".join(f'<a ref="{each}"/>' for each in ids)
    rows = [f"<string>{'<b/>' * rng.randint(0, large(rng, 20, 2_000))}{held}</string>"] * rng.randint(1, 10)
    return table("a:string", *rows, *(f'<string><a id="{each}">x</a></string>' for each in ids))


def odd_numbers(rng: random.Random) -> str:
    """Times at the ends of their range, numbers with elements inside, digits without end."""
    values = (
        "0",
        str(2**50),
        str(2**53 - 1),
        str(2**53),
        str(2**64),
        "-1",
        "9" * large(rng, 50, 5_000),
        "1<b/>0",
        "1<!-- -->0",
    )
    rows = [
        f"<start-time>{rng.choice(values[:3])}</start-time><duration>{rng.choice(values)}</duration>"
        for _ in range(rng.choice((1, 100)))
    ] * large(rng, 1, 80)
    return table("a:start-time b:duration", *rows)


def contents(rng: random.Random) -> str:
    """Tables of contents with many runs, tables and attributes."""
    inside = (
        '<table schema="a"/>' * large(rng, rng.choice((0, 1)), 30_000) + f'<table schema="b" {"x" * 10}="{"y" * 10}"/>'
    )
    runs = range(1, large(rng, rng.choice((2, 50)), 1_100))
    body = inside if len(runs) == 1 else ""
    return "".join(f'<run number="{number}"><data>{body}</data></run>' for number in runs)


def hostile_export(rng: random.Random) -> bytes:
    """A document that asks for more than it has; sometimes damaged on top."""
    make = rng.choice((shared_text, id_gaps, many_nodes, doubling, waiting, odd_numbers, contents))
    root = "trace-toc" if make is contents else "trace-query-result"
    content = f"<{root}>{make(rng)}</{root}>".encode()
    return _damaged(rng, content, base_documents()) if rng.random() < 0.2 else content


# Run issues

_TABLE = "CREATE TABLE ZISSUE (Z_PK INTEGER PRIMARY KEY, ZMESSAGE VARCHAR)"
_ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
STATEMENTS: Final = (
    f"CREATE VIEW ZISSUE AS {_ENDLESS} SELECT i AS Z_PK, hex(zeroblob(100000)) AS ZMESSAGE FROM n",  # noqa: S608 - no input of others
    f"CREATE VIEW v AS {_ENDLESS} SELECT count(*) FROM n",  # noqa: S608 - no input of others
    "CREATE TABLE ZISSUE (Z_PK INTEGER PRIMARY KEY, ZMESSAGE TEXT AS (hex(zeroblob(500000000))))",
    "CREATE TABLE ZISSUE (Z_PK TEXT PRIMARY KEY, ZMESSAGE TEXT) WITHOUT ROWID",
    "CREATE TABLE ZISSUE (Z_PK, ZMESSAGE)",
    "CREATE VIRTUAL TABLE f USING fts5(a)",
    "CREATE TRIGGER t AFTER INSERT ON ZISSUE BEGIN SELECT 1; END",
    "CREATE INDEX i ON ZISSUE (abs(Z_PK), ZMESSAGE) WHERE ZMESSAGE LIKE '%a%'",
    f"INSERT INTO ZISSUE {_ENDLESS} SELECT i, 'message ' || i FROM n LIMIT 300",  # noqa: S608 - no input of others
    "INSERT INTO ZISSUE VALUES (7, 'Lost events')",
    "INSERT INTO ZISSUE VALUES (8, hex(zeroblob(200000)))",
    "PRAGMA writable_schema = ON",
    "UPDATE sqlite_master SET type = 'table', rootpage = 2",
    "UPDATE sqlite_master SET name = 'ZISSUE', tbl_name = 'ZISSUE'",
    "UPDATE sqlite_master SET sql = replace(sql, 'ZMESSAGE', 'ZMESSAGE AS (1)')",
)


def hostile_issues(rng: random.Random) -> bytes:
    """A database that brings SQL of its own, is cut off, or has damaged pages."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE Z_METADATA (Z_VERSION INTEGER)")
        for statement in [_TABLE] * (rng.random() < 0.7) + rng.choices(STATEMENTS, k=rng.randint(0, 5)):
            with suppress(sqlite3.Error):
                database.execute(statement)
        with suppress(sqlite3.Error):
            database.commit()
        data = bytearray(database.serialize())
    for _ in range(rng.choice((0, 0, 1, 5, 50))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.2 else data)


# Bundles


def graph(rng: random.Random) -> bytes:
    """A specification whose attributes form a cycle, a deep or a doubling graph."""
    count, width = rng.randint(1, 60), rng.choice((1, 2, 50, 500))
    objects: list[object] = ["$null", "text" * large(rng, 1, 10_000)]
    for index in range(2, 2 + count):
        forward = min(index + 1, 1 + count) if rng.random() < 0.98 else rng.randint(1, 1 + count)
        objects.append({"NS.objects": [plistlib.UID(1 if forward == index else forward)] * width})
    objects += ["sample", "schemaName", "attributes"]
    names = [plistlib.UID(len(objects) - 2), plistlib.UID(len(objects) - 1)]
    objects.append({"NS.keys": [plistlib.UID(1)], "NS.objects": [plistlib.UID(2)]})
    objects.append({"NS.keys": names, "NS.objects": [plistlib.UID(len(objects) - 4), plistlib.UID(len(objects) - 1)]})
    archive = {"$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(len(objects) - 1)}, "$objects": objects}
    return plistlib.dumps(archive, fmt=plistlib.FMT_BINARY)


def zeros(rng: random.Random) -> bytes:
    """A part that inflates to nothing but zeros, or a list of objects that are all one."""
    size = large(rng, rng.choice((100, 200_000)), 20_000_000)
    if rng.random() < 0.5:
        return zlib.compress(bytes(size), 1)
    width = rng.choice((1, 2, 4, 8, 255))
    end = struct.pack(">6xBBQQQ", width, 1, rng.choice((size // width, 2**63, 0)), 0, rng.choice((8, size, 2**62)))
    return zlib.compress(b"bplist00" + bytes(size) + end, 1)


def instrument(rng: random.Random) -> bytes:
    """The archive of an instrument, packed in some way and damaged."""
    buffer = io.BytesIO()
    method = rng.choice((zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED))
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for number in range(large(rng, rng.choice((1, 1, 2)), 200)):
            archive.writestr(f"{number}", rng.randbytes(200) + bytes(large(rng, 0, 300_000)))
    data = bytearray(buffer.getvalue())
    for _ in range(rng.choice((0, 1, 20))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)


BASES: Final = 200
"""So many bundles are built; all others are made from them by changing or replacing a few files."""

PARTS: Final[dict[str, Callable[[random.Random], bytes]]] = {
    f"{CORE}/uniquing/strings": zeros,
    f"{CORE}/uniquing/arrayUniquer/integeruniquer.index": zeros,
    f"{CORE}/uniquing/typedArrayUniquer/integeruniquer.data": zeros,
    f"{CORE}/stores/indexed-store-0/bulkstore": zeros,
    f"{CORE}/stores/indexed-store-0/spec.plist": graph,
    f"{CORE}/table-manager/tables.plist": zeros,
    "form.template": zeros,
    "instrument_data/A/run_data/1.run.zip": instrument,
    ISSUES: hostile_issues,
}
"""What takes the place of a file."""


@cache
def base_bundle(number: int) -> dict[str, bytes]:
    """The files of a bundle whose tables refer to the same things again and again."""
    rng = random.Random(f"base {number}")  # noqa: S311 - no secret
    rows = large(rng, rng.choice((1, 30)), 1_000)
    strings = ["", "a" * large(rng, rng.choice((1, 1_000)), 200_000), "b %d"]
    typed: list[list[tuple[str, int]]] = [[("string", 1), ("uint64", number)] for number in range(rows)]
    for _ in range(rng.choice((0, 5, 40))):
        held = rng.choice((len(typed) - 1, rng.randrange(len(typed) + 2)))
        typed.append([("formatted-label", held)] * rng.randint(1, 30))
    arrays = [[7, 0], [8, 0xFFFF_FFFF], *([rng.getrandbits(64)] * rng.randint(1, 500) for _ in range(5))]
    arrays += [[rng.randrange(9)] * rng.choice((1, 300)) for _ in range(rng.choice((1, 50)))]
    cells = [(1, rng.randrange(len(typed)), rng.randrange(3), rng.randrange(len(arrays))) for _ in range(rows)]
    columns = "time:event-time label:formatted-label name:string stack:backtrace"
    made = MADE.MadeBundle(
        [MADE.MadeTable("sample", columns, cells), MADE.MadeTable("other", columns, cells)],
        strings=strings,
        arrays=arrays,
        typed=typed,
    )
    index = f"{CORE}/uniquing/typedArrayUniquer/integeruniquer.index"
    if rng.random() < 0.2:
        made.replace[index] = made.files()[index][:40] * 2 + struct.pack("<2I", 32, 0) * rng.randint(
            1, large(rng, 100, 50_000)
        )
    files: dict[str, bytes] = made.files()
    return files


def hostile_bundle(rng: random.Random) -> dict[str, bytes]:
    """The files of a bundle that refers to the same things again and again, some damaged, some of them bombs."""
    files = dict(base_bundle(rng.randrange(BASES)))
    for path in rng.sample(sorted(files), rng.choice((0, 1, 1, 2))):
        files[path] = _changed(rng, files[path])
    for path in rng.sample(sorted(PARTS), rng.choice((0, 1, 1, 2))):
        files[path] = PARTS[path](rng)
    return files


def _changed(rng: random.Random, packed: bytes) -> bytes:
    """A file with some other bytes in what it unpacks to, or cut off."""
    with suppress(zlib.error):
        return zlib.compress(_changed_bytes(rng, zlib.decompress(packed)), 1)
    return _changed_bytes(rng, packed)


def _changed_bytes(rng: random.Random, content: bytes) -> bytes:
    data = bytearray(content)
    for _ in range(rng.choice((1, 1, 4, 20)) if data else 0):
        data[rng.randrange(len(data))] = rng.choice((0, 0xFF, rng.randrange(256)))
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)


# Archives


def hostile_archive(rng: random.Random) -> bytes:
    """A zip archive of exports or of a bundle, with odd members, that unpacks to far more than its size."""
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")
        if rng.random() < 0.3:
            for path, data in hostile_bundle(rng).items():
                archive.writestr(f"run.trace/{path}", data, rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)))
        for number in range(large(rng, rng.choice((0, 1, 3)), 60)):
            content = hostile_export(rng) if number < 3 else b"<trace-toc>" + b" " * large(rng, 10, 1_000_000)
            info = zipfile.ZipInfo(
                rng.choice((f"{number}.xml", "a/" * large(rng, 1, 3_000) + "b.xml", "../c.xml", "d"))
            )
            info.compress_type = rng.choice((zipfile.ZIP_DEFLATED,) * 5 + (zipfile.ZIP_LZMA,))
            info.external_attr = rng.choice((0,) * 8 + (0o120777 << 16,))
            archive.writestr(info, content)
    data = bytearray(buffer.getvalue())
    for _ in range(rng.choice((0, 0, 1, 8))):
        data[rng.randrange(len(data))] = rng.randrange(256)
    return bytes(data)
