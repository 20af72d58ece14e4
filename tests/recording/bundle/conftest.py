"""Writes small bundles byte by byte, with a knowledge of the format that is not the reader's."""

from __future__ import annotations

import plistlib
import struct
import zipfile
import zlib
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from tracekit.recording import open_recording

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tracekit.recording.contents import Recording

UID = plistlib.UID
BLOCK = 1 << 20
ROWS_PER_BLOCK = 64
"""Instruments writes 65536; each table says it for itself."""


class Archive:
    """Writes a keyed archive: dictionaries, lists, texts and numbers, and objects as (class, fields)."""

    def __init__(self) -> None:
        self.objects: list[object] = ["$null"]

    def add(self, value: object) -> UID:
        index = len(self.objects)
        self.objects.append(None)
        self.objects[index] = self._flat(value)
        return UID(index)

    def _flat(self, value: object) -> object:
        if isinstance(value, tuple):
            name, fields = value
            return {**{key: self.add(each) for key, each in fields.items()}, "$class": self._class(name)}
        if isinstance(value, dict):
            keys, values = [self.add(key) for key in value], [self.add(each) for each in value.values()]
            return {"NS.keys": keys, "NS.objects": values, "$class": self._class("NSDictionary")}
        if isinstance(value, list):
            return {"NS.objects": [self.add(each) for each in value], "$class": self._class("NSArray")}
        return value

    def _class(self, name: str) -> UID:
        self.objects.append({"$classname": name, "$classes": [name, "NSObject"]})
        return UID(len(self.objects) - 1)

    @staticmethod
    def numbered(pairs: dict[int, object]) -> tuple[str, dict[str, object]]:
        """A dictionary with whole numbers as keys."""
        fields: dict[str, object] = {"$0": len(pairs)}
        for index, (key, value) in enumerate(pairs.items()):
            fields[f"${2 * index + 1}"] = key
            fields[f"${2 * index + 2}"] = value
        return ("XRIntKeyedDictionary", fields)

    @classmethod
    def dump(cls, root: object, name: str = "root") -> bytes:
        archive = cls()
        top = {name: archive.add(root)}
        document = {"$version": 100000, "$archiver": "NSKeyedArchiver", "$top": top, "$objects": archive.objects}
        return plistlib.dumps(document, fmt=plistlib.FMT_BINARY)


def integer_arrays(arrays: list[list[int]]) -> tuple[bytes, bytes]:
    """Index and data of shared arrays, in one block."""
    index = bytearray(struct.pack("<8I", 0x01234567, 0x000A337E, 1, 0, 1, 0, 0x00400000, BLOCK) + bytes(8))
    data = bytearray(struct.pack("<8I", 0x01234567, 0x000A337E, 1, 0, 1, 0, 0, 0))
    for numbers in arrays:
        index += struct.pack("<2I", len(data), 0)
        data += struct.pack(f"<I{len(numbers)}Q", len(numbers), *numbers)
    return bytes(index), bytes(data) + bytes(BLOCK - len(data))


TYPE_IDS = {
    "start-time": "XRStartTimeTypeID",
    "duration": "XRDurationTypeID",
    "event-time": "XRRecordedEventTimestampTypeID",
    "string": "XRPrototypeStringTypeID",
    "process": "XRProcessTypeID",
    "thread": "XRThreadTypeID",
    "thread-name": "XRThreadNameTypeID",
    "pid": "XRProcessIDTypeID",
    "tid": "XRThreadIDTypeID",
    "boolean": "XRBooleanTypeID",
    "uint32": "XRGenericUInt32TypeID",
    "uint64": "XRPrototypeValueTypeID",
    "formatted-label": "XRFormattedLabelTypeID",
    "any": "XRAnyTypeID",
    "backtrace": "XRBacktraceTypeID",
    "narrative-text": "XRNarrativeTextTypeID",
    "uint64-hex-lowercase": "XRUnsignedIntegerHexLowercaseTypeID",
    "fixed-decimal": "XRPrototypeFixedDecimalValueTypeID",
    "time-since-epoch": "XRTimeSinceEpochTypeID",
    "mach-timebase-info": "XRMachTimebaseInfoTypeID",
    "return-location": "XRReturnLocationTypeID",
}
WIDE = frozenset(
    {"duration", "uint64", "tid", "thread-name", "fixed-decimal"}
    | {"time-since-epoch", "mach-timebase-info", "return-location"}
)
"""Types whose fields have eight bytes."""
TYPE_LIST = list(TYPE_IDS.values())


@dataclass
class MadeTable:
    """One table: `columns` are blank-separated `mnemonic:type`; the first is the time (and the second the duration,
    in tables of intervals). Rows are numbers as they are stored."""

    schema: str
    columns: str
    rows: list[tuple[int, ...]]
    interval: bool = False
    attributes: dict[str, object] = field(default_factory=dict)
    declared: int | None = None
    rows_per_block: int = ROWS_PER_BLOCK
    topology: str | None = None
    replace: dict[str, bytes | None] = field(default_factory=dict)
    """Other content of its files; None leaves one out."""

    def files(self) -> dict[str, bytes]:
        topology = self.topology or ("XRTD64_CC32_R_TypeID" if self.interval else "XRT64_CC32_R_TypeID")
        columns = [item.partition(":")[::2] for item in self.columns.split()]
        columns = [(name, kind or name) for name, kind in columns]
        fixed = 2 if self.interval else 1
        field_names = ("XRTraceRelativeTimestampFieldID", "XRDurationFieldID")
        xml = "".join(
            f'<column mnemonic="{name}" engineeringName="{name.title()}" engineeringType="{TYPE_IDS.get(kind, kind)}"'
            + (f' topologyField="{field_names[index]}"/>' if index < fixed else "/>")
            for index, (name, kind) in enumerate(columns)
        )
        described = [("topology", 6 if self.interval else 7)]
        described += [(name, 2 if kind in WIDE else 1) for name, kind in columns[fixed:]]
        layout = "<" + "Q" * fixed + "II" + "".join("Q" if kind == 2 else "I" for _, kind in described[1:])
        size = struct.calcsize(layout)
        packed = b"".join(struct.pack(layout, *row[:fixed], 0, 0, *row[fixed:]) for row in self.rows)
        block = size * self.rows_per_block
        header = struct.pack("<8I", 0x12340A0A, 3, 40, 4096, size, block, self.rows_per_block, 0).ljust(4096, b"\0")
        fields = [
            ("XRFieldDescriptor", {"$0": {"_index": index, "_name": name, "_type": kind, "_multi": 1}})
            for index, (name, kind) in enumerate(described)
        ]
        event = {
            "_fields": fields,
            "_maxEventSize": size,
            "_minEventSize": size,
            "_variableSize": False,
            "_props": {"next_event_id": len(self.rows) if self.declared is None else self.declared},
        }
        content: dict[str, bytes | None] = {
            "schema.xml": f'<schema name="{self.schema}" topology="{topology}">{xml}</schema>'.encode(),
            "spec.plist": Archive.dump(self.spec()),
            "bulkstore_descriptor": Archive.dump(("XREventDescriptor", {"$0": event})),
            "bulkstore": header + packed.ljust(-(-len(packed) // block) * block, b"\0"),
            **self.replace,
        }
        return {name: data for name, data in content.items() if data is not None}

    def spec(self) -> tuple[str, dict[str, object]]:
        return ("XRAnalysisCoreTableSpec", {"schemaName": self.schema, "attributes": self.attributes})


@dataclass
class MadeBundle:
    """A bundle with one run."""

    tables: list[MadeTable] = field(default_factory=list)
    strings: list[str] = field(default_factory=lambda: [""])
    arrays: list[list[int]] = field(default_factory=list)
    typed: list[list[tuple[str, int]]] = field(default_factory=list)
    compressed: bool = True
    replace: dict[str, bytes | None] = field(default_factory=dict)
    """Other content of files, by path; None leaves one out."""

    def files(self) -> dict[str, bytes]:
        core = "corespace/run1/core"
        requirements: dict[str, list[object]] = {
            "com.apple.dt.trace": [5, "needs a newer version"],
            "com.apple.dt.ac.topology.XRT64_CC32_R_TypeID": [1, "needs a topology"],
        }
        for name, identity in TYPE_IDS.items():
            requirements[f"com.apple.dt.etype.{identity}"] = [1, f"does not support the engineering type '{name}'."]
        numbers = [
            [part for name, value in pairs for part in (TYPE_LIST.index(TYPE_IDS[name]), value)] for pairs in self.typed
        ]
        details: dict[int, object] = {}
        inside: dict[str, bytes] = {}
        for position, table in enumerate(self.tables):
            folder = f"run1/core/stores/indexed-store-{position}"
            details[position + 7] = {"storeSubpath": folder, "side": 0, "spec": table.spec()}
            inside |= {f"corespace/{folder}/{name}": data for name, data in table.files().items()}
        inside[f"{core}/table-manager/tables.plist"] = Archive.dump({"tableDetails": Archive.numbered(details)})
        inside[f"{core}/uniquing/strings"] = plistlib.dumps(self.strings)
        inside[f"{core}/uniquing/EngineeringTypes.etypes"] = Archive.dump(list(TYPE_LIST))
        for name, arrays in (("arrayUniquer", self.arrays), ("typedArrayUniquer", numbers)):
            index, data = integer_arrays(arrays)
            inside[f"{core}/uniquing/{name}/integeruniquer.index"] = index
            inside[f"{core}/uniquing/{name}/integeruniquer.data"] = data
        content: dict[str, bytes | None] = {
            "open.creq": plistlib.dumps(requirements),
            **{path: zlib.compress(data) if self.compressed else data for path, data in inside.items()},
            **self.replace,
        }
        return {path: data for path, data in content.items() if data is not None}

    def write(self, folder: Path) -> Path:
        for path, data in self.files().items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        return folder

    def zipped(self, prefix: str = "run.trace/") -> bytes:
        stream = BytesIO()
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, data in self.files().items():
                archive.writestr(prefix + path, data)
        return stream.getvalue()


@pytest.fixture(scope="session")
def archive() -> type[Archive]:
    return Archive


@pytest.fixture(scope="session")
def made_table() -> type[MadeTable]:
    return MadeTable


@pytest.fixture(scope="session")
def made_bundle() -> type[MadeBundle]:
    return MadeBundle


@pytest.fixture(scope="session")
def shared_arrays() -> Callable[[list[list[int]]], tuple[bytes, bytes]]:
    return integer_arrays


@pytest.fixture(scope="module")
def opened(corpus: Path) -> dict[str, Recording]:
    """The real bundles, by name."""
    # The fuzzer of hostile bundles loads this file alone.
    from support.real_bundles import ALL

    return {name: open_recording(corpus / f"bundles/{name}.trace") for name in ALL}
