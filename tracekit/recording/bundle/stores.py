"""One table as a bundle describes it.

indexed-store-K/
  schema.xml             columns in order, with the topology and the topology field that some are taken from
  spec.plist             schema name and attributes, the same as in the list of tables
  bulkstore_descriptor   fields of a row and the number of rows
  bulkstore              the rows (`tracekit.recording.bundle.rows`)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, TypeVar, TypeVarTuple, cast
from xml.parsers import expat

import numpy as np

from tracekit.recording.bundle import DamageError, limits
from tracekit.recording.bundle.archive import KeyedArchive, PrintedAttributes, read_archive
from tracekit.recording.bundle.files import BundleFiles
from tracekit.recording.bundle.types import KNOWN, REPORTED, EngineeringType
from tracekit.recording.quoting import excerpt
from tracekit.recording.table import NO_ATTRIBUTES, Column

TIME: Final = "topology time"
"""Name of the record field that holds the time or start of a row."""
_TOPOLOGIES: Final = {
    "XRT64_CC32_R_TypeID": (7, [(TIME, "<u8"), ("category 1", "<u4"), ("category 2", "<u4")]),
    "XRTD64_CC32_R_TypeID": (
        6,
        [(TIME, "<u8"), ("topology duration", "<u8"), ("category 1", "<u4"), ("category 2", "<u4")],
    ),
}
"""Readable topologies: number of the field type, and the fields of a row that they stand for."""
READABLE_TOPOLOGIES: Final = frozenset(_TOPOLOGIES)
_TOPOLOGY_FIELDS: Final = {
    "XRTraceRelativeTimestampFieldID": TIME,
    "XRDurationFieldID": "topology duration",
    "XRCategory1FieldID": "category 1",
    "XRCategory2FieldID": "category 2",
}
_FIELD_TYPES: Final = {1: "<u4", 2: "<u8"}
_KEPT_FILES: Final = 256
_MAX_KEPT_BYTES: Final = 48 * 1024

_Rest = TypeVarTuple("_Rest")
_Meaning = TypeVar("_Meaning")


def cache_small(read: Callable[[bytes, *_Rest], _Meaning]) -> Callable[[bytes, *_Rest], _Meaning]:
    """`read`, with its answers about small files kept, which nobody may change: recordings of one template describe
    their types and tables in the same bytes, and to read those is half of the time in which a small bundle opens."""
    small = cast("Callable[[bytes, *_Rest], _Meaning]", lru_cache(maxsize=_KEPT_FILES)(read))

    def lookup(data: bytes, *rest: *_Rest) -> _Meaning:
        return (small if len(data) <= _MAX_KEPT_BYTES else read)(data, *rest)

    return lookup


@dataclass(frozen=True, slots=True)
class StoredColumn:
    """A column and the record field that holds it."""

    column: Column
    field: str
    type: EngineeringType


@dataclass(frozen=True, slots=True)
class TableSpec:
    """Schema and attributes of a table as the list of tables and the store both state them."""

    schema: str
    attributes: Mapping[str, str] = field(default_factory=lambda: NO_ATTRIBUTES)
    """As a table of contents prints them."""


@dataclass(frozen=True, slots=True)
class Store:
    """Description of one table."""

    path: str
    """Folder inside the bundle."""
    spec: TableSpec
    columns: tuple[StoredColumn, ...] = ()
    record: np.dtype[Any] = field(default_factory=lambda: np.dtype([]))
    rows: int = 0
    """Rows that the descriptor declares."""
    damage: str = ""
    """Why the table cannot be read; empty where nothing speaks against it so far."""
    left_out: str = ""
    """Which columns are not among `columns`, and why; empty where all are."""
    layout: tuple[int, int] | None = None
    """Place of the first row in the file of rows, and bytes of a block of them; None while that was not looked at."""


def describe(files: BundleFiles, path: str, spec: TableSpec, mnemonics: Mapping[str, str]) -> Store:
    """Description of a store, without reading its rows. `damage` says what does not hold.

    mnemonics: mnemonic of each type id, as the bundle lists them.
    """
    try:
        if _read_own_spec(files.read(f"{path}/spec.plist", limits.MAX_DESCRIPTION_BYTES)) != spec:
            raise DamageError("its folder belongs to another table")
        schema = _read_schema(files.read(f"{path}/schema.xml", limits.MAX_DESCRIPTION_BYTES))
        if schema.name != spec.schema:
            raise DamageError(f"its folder contains the schema {excerpt(schema.name)}")
        descriptor = files.read(f"{path}/bulkstore_descriptor", limits.MAX_DESCRIPTION_BYTES)
        record, rows = _read_descriptor(descriptor, schema.topology)
        # Types that the bundle itself announces and tracekit does not know: the descriptor gives the width of every
        # field all the same. A type that is announced nowhere is damage: each bundle announces all that it uses.
        new, columns = [], []
        for each in schema.columns:
            engineering_type = KNOWN.get(each.type_id) or REPORTED.get(mnemonics.get(each.type_id, ""))
            if engineering_type is None and each.type_id in mnemonics:
                new.append(each)
                continue
            if engineering_type is None:
                raise DamageError(
                    f"column {excerpt(each.column.mnemonic)} has the engineering type {excerpt(each.type_id)}, which "
                    "tracekit does not know"
                )
            if mnemonics.get(each.type_id, engineering_type.mnemonic) != engineering_type.mnemonic:
                raise DamageError(
                    f"the bundle gives the type {each.type_id} another name than {engineering_type.mnemonic}"
                )
            column = Column(each.column.mnemonic, engineering_type.mnemonic, each.column.name)
            columns.append(StoredColumn(column, each.field, engineering_type))
        names, fields = record.names or (), {stored.field for stored in schema.columns}.union(_TOPOLOGY_FIELDS.values())
        if lost := [stored.column.mnemonic for stored in schema.columns if stored.field not in names]:
            raise DamageError(f"no field of its rows contains the column {excerpt(lost[0])}")
        if not columns:
            raise DamageError("tracekit does not know the engineering type of any of its columns")
        if unused := [name for name in names if name not in fields]:
            raise DamageError(f"the field {excerpt(unused[0])} belongs to no column")
    except DamageError as damage:
        return Store(path, spec, damage=str(damage))
    named = [f"{excerpt(stored.column.mnemonic)} of type {excerpt(mnemonics[stored.type_id])}" for stored in new]
    note = f"tracekit does not know the engineering type of the column {', '.join(named)} and ignores it"
    return Store(path, spec, tuple(columns), record, rows, left_out=note if new else "")


def read_spec(archive: KeyedArchive, reference: object = None, printed: PrintedAttributes | None = None) -> TableSpec:
    """Schema and attributes from a `XRAnalysisCoreTableSpec`. Raises `DamageError`.

    printed: for several specifications of one archive, which may share what they hold.
    """
    fields = archive.mapping(archive.top.get("root") if reference is None else reference)
    schema = archive.text(fields.get("schemaName"))
    if schema is None:
        raise DamageError(f"{archive.part} names no schema")
    if archive.value(fields.get("attributes")) is None:
        return TableSpec(schema, {})
    return TableSpec(schema, (printed or PrintedAttributes(archive)).of(fields["attributes"]))


@cache_small
def _read_own_spec(data: bytes) -> TableSpec:
    return read_spec(read_archive(data, "spec.plist"))


@dataclass(frozen=True, slots=True)
class _SchemaColumn:
    column: Column
    type_id: str
    field: str
    """Record field that holds it."""


@dataclass(frozen=True, slots=True)
class _Schema:
    name: str
    topology: str
    columns: tuple[_SchemaColumn, ...]


@cache_small
def _read_schema(data: bytes) -> _Schema:
    name = topology = ""
    columns: list[_SchemaColumn] = []
    parser = expat.ParserCreate("utf-8")

    def element(tag: str, attributes: dict[str, str]) -> None:
        nonlocal name, topology
        if tag == "schema" and not name:
            name, topology = attributes.get("name", ""), attributes.get("topology", "")
        elif tag == "column" and len(columns) < limits.MAX_COLUMNS:
            mnemonic, type_id = attributes.get("mnemonic"), attributes.get("engineeringType")
            if not mnemonic or not type_id:
                raise DamageError("schema.xml describes a column without name or type")
            column = Column(mnemonic, "", attributes.get("engineeringName", ""))
            in_topology = attributes.get("topologyField")
            held_by = mnemonic if in_topology is None else _TOPOLOGY_FIELDS.get(in_topology, "")
            columns.append(_SchemaColumn(column, type_id, held_by))
        else:
            raise DamageError(f"schema.xml contains the unknown element {excerpt(tag)}")

    def doctype(*_: object) -> None:
        raise DamageError("schema.xml declares a document type, which is not allowed")

    parser.StartElementHandler = element
    parser.StartDoctypeDeclHandler = doctype
    try:
        parser.Parse(data, True)
    except (expat.ExpatError, ValueError) as error:
        raise DamageError(f"schema.xml is not well-formed XML ({error})") from error
    return _Schema(name, topology, tuple(columns))


@cache_small
def _read_descriptor(data: bytes, topology: str) -> tuple[np.dtype[Any], int]:
    """Record of one row, and the number of rows."""
    archive = read_archive(data, "bulkstore_descriptor")
    event = archive.mapping(archive.mapping(archive.top.get("root")).get("$0"))
    if topology not in _TOPOLOGIES:
        raise DamageError(f"its rows have the unknown topology {excerpt(topology)}")
    if archive.value(event.get("_variableSize")):
        raise DamageError("its rows have no fixed size")
    fields = []
    for reference in archive.items(event.get("_fields")):
        described = archive.mapping(archive.mapping(reference).get("$0"))
        index, label = archive.number(described.get("_index")), archive.text(described.get("_name"))
        kind, multiple = archive.number(described.get("_type")), archive.number(described.get("_multi"))
        if index is None or label is None or kind is None or multiple != 1:
            raise DamageError("a field of its rows is not described, or repeats")
        fields.append((index, label, kind))
    fields.sort(key=lambda entry: entry[0])
    topology_type, names = _TOPOLOGIES[topology]
    if [index for index, _, _ in fields] != list(range(len(fields))) or not fields:
        raise DamageError("the fields of its rows are not numbered in order")
    if fields[0][1:] != ("topology", topology_type):
        raise DamageError(f"its rows do not start with the topology {topology}")
    record: list[tuple[str, str]] = list(names)
    for _, name, kind in fields[1:]:
        if kind not in _FIELD_TYPES:
            raise DamageError(f"the field {excerpt(name)} has the unknown type {kind}")
        record.append((name, _FIELD_TYPES[kind]))
    if len({name for name, _ in record}) < len(record):
        raise DamageError("two fields of its rows have the same name")
    packed = np.dtype(record)
    if archive.number(event.get("_maxEventSize")) != packed.itemsize:
        raise DamageError(f"its rows have another size than the {packed.itemsize} bytes of their fields")
    rows = archive.number(archive.mapping(event.get("_props")).get("next_event_id"))
    if rows is None or not 0 <= rows <= limits.MAX_ROWS:
        raise DamageError(f"the number of its rows is {rows}")
    return packed, rows
