"""A decoder of its own, so that bundles are judged by neither the writer nor the product.

It works on real bundles too: what holds of them must hold of those that are written.
"""

from __future__ import annotations

import plistlib
import xml.etree.ElementTree as ET
import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest

from support.context_rows import add_context
from tracekit.testing.bundle.write import write_bundle
from tracekit.testing.machines import WINDOW_SERVER, Process
from tracekit.testing.rows import Model
from tracekit.testing.scenario import Scenario

MS = 1_000_000
LARGE = 300_000
"""Size of a stored rows file from which on a test leaves it alone, to be quick."""


def inflated(path: Path) -> bytes:
    """Content of a file."""
    data = path.read_bytes()
    return zlib.decompress(data) if data[:2] in {b"\x78\x01", b"\x78\x9c", b"\x78\xda"} else data


def resolved(data: bytes, root: str = "root") -> object:
    """Root of a keyed archive without cycles; instances become dictionaries with their class under `$class`."""
    archive = plistlib.loads(data)
    objects = archive["$objects"]
    assert archive["$archiver"] == "NSKeyedArchiver"
    assert objects[0] == "$null"

    def value(item: object) -> object:
        if isinstance(item, plistlib.UID):
            target = objects[item.data]
            return value(target) if isinstance(target, dict) else None if item.data == 0 else target
        if not isinstance(item, dict):
            return item
        name = objects[item["$class"].data]["$classname"]
        if "NS.keys" in item:
            return dict(zip(map(value, item["NS.keys"]), map(value, item["NS.objects"]), strict=True))
        if "NS.objects" in item:
            return [value(each) for each in item["NS.objects"]]
        if "NS.string" in item:
            return value(item["NS.string"])
        if name == "XRIntKeyedDictionary":
            return {value(item[f"${2 * n + 1}"]): value(item[f"${2 * n + 2}"]) for n in range(item["$0"])}
        return {key: value(each) for key, each in item.items() if key != "$class"} | {"$class": name}

    return value(archive["$top"][root])


@dataclass
class Store:
    """One store as it lies on disk."""

    folder: Path

    @cached_property
    def schema(self) -> ET.Element:
        return ET.fromstring(inflated(self.folder / "schema.xml"))  # noqa: S314  no foreign files

    @cached_property
    def columns(self) -> list[tuple[str, str, str, str | None]]:
        """Mnemonic, title, type id, place in the topology."""
        keys = ("mnemonic", "engineeringName", "engineeringType", "topologyField")
        return [tuple(map(column.get, keys)) for column in self.schema]

    @cached_property
    def spec(self) -> dict:
        return resolved(inflated(self.folder / "spec.plist"))

    @cached_property
    def descriptor(self) -> dict:
        return resolved(inflated(self.folder / "bulkstore_descriptor"))["$0"]

    @cached_property
    def fields(self) -> list[dict]:
        return sorted((field["$0"] for field in self.descriptor["_fields"]), key=lambda field: field["_index"])

    @cached_property
    def dtype(self) -> np.dtype:
        timed = {6: [("time", "<u8"), ("duration", "<u8")], 7: [("time", "<u8")]}[self.fields[0]["_type"]]
        rest = [(field["_name"], {1: "<u4", 2: "<u8"}[field["_type"]]) for field in self.fields[1:]]
        named = [*timed, ("category1", "<u4"), ("category2", "<u4")]
        return np.dtype([(f"@{name}", width) for name, width in named] + rest)

    @cached_property
    def content(self) -> bytes:
        return inflated(self.folder / "bulkstore")

    @cached_property
    def rows(self) -> np.ndarray:
        count = self.descriptor["_props"]["next_event_id"]
        return np.frombuffer(self.content, self.dtype, count, 4096)

    def cells(self, mnemonic: str) -> list[int]:
        """Stored numbers of a column in insertion order."""
        fields = {
            "XRTraceRelativeTimestampFieldID": "@time",
            "XRDurationFieldID": "@duration",
            "XRCategory1FieldID": "@category1",
            "XRCategory2FieldID": "@category2",
        }
        field = next(column[3] for column in self.columns if column[0] == mnemonic)
        return self.rows[fields[field] if field else mnemonic].tolist()


@dataclass
class Bundle:
    """One run of a bundle on disk."""

    path: Path
    number: int = 1

    @property
    def core(self) -> Path:
        return self.path / f"corespace/run{self.number}/core"

    @cached_property
    def stores(self) -> list[Store]:
        """Stores whose rows file is there and not large, by number."""
        folders = sorted((self.core / "stores").iterdir(), key=lambda folder: int(folder.name.rsplit("-", 1)[1]))
        rows = [folder / "bulkstore" for folder in folders]
        return [Store(file.parent) for file in rows if file.is_file() and inflated_size_is_small(file)]

    def store(self, schema: str) -> Store:
        return next(store for store in self.stores if store.schema.get("name") == schema)

    @cached_property
    def details(self) -> dict:
        return resolved(inflated(self.core / "table-manager/tables.plist"))

    @cached_property
    def strings(self) -> list[str]:
        return plistlib.loads(inflated(self.core / "uniquing/strings"), fmt=plistlib.FMT_XML)

    @cached_property
    def types(self) -> list[str]:
        return resolved(inflated(self.core / "uniquing/EngineeringTypes.etypes"))

    def words(self, kind: str, part: str, count: int) -> list[int]:
        """First words of a file of shared arrays."""
        return np.frombuffer(
            inflated(self.core / f"uniquing/{kind}/integeruniquer.{part}")[: 4 * count], "<u4"
        ).tolist()

    def arrays(self, kind: str) -> list[list[int]]:
        """Shared arrays by reference. Fails where they do not lie one after another inside blocks."""
        index = inflated(self.core / f"uniquing/{kind}/integeruniquer.index")
        data = inflated(self.core / f"uniquing/{kind}/integeruniquer.data")
        assert len(data) % (1 << 20) == 0
        values = []
        expected = 32
        for offset, block in np.frombuffer(index[40:], "<u4").reshape(-1, 2).tolist():
            reference = (block << 20) + offset
            count = int.from_bytes(data[reference : reference + 4], "little")
            assert offset + 4 + 8 * count <= 1 << 20
            assert reference == expected or (offset == 0 and not any(data[expected:reference]))
            expected = reference + 4 + 8 * count
            values.append(np.frombuffer(data, "<u8", count, reference + 4).tolist())
        assert not data[expected:].strip(b"\0")
        return values


def inflated_size_is_small(path: Path) -> bool:
    """Whether a test may look at a rows file."""
    with path.open("rb") as stream:
        compressed = stream.read(1) == b"\x78"
    return not compressed or path.stat().st_size < LARGE


def everything(**changes: object) -> Scenario:
    """A scenario with rows in every table, some of them at the same time."""
    model = Model("Segmenter")
    scenario = Scenario(Process('Came<ra> & "Co"', 412), duration_ns=2_000 * MS, processes=[WINDOW_SERVER], **changes)
    scenario.load(model, 100 * MS, 25 * MS)
    for index in range(4):
        prediction = scenario.predict(model, (200 + 30 * index) * MS, 8 * MS)
        prediction.event("Input Copy", 0, 300_000)
        prediction.neural_engine(900_000, 3_500_000)
        prediction.gpu(4_500_000, 3_000_000, buffers=2)
    scenario.predict(Model("Pipeline", 2), 400 * MS, 20 * MS).stage("Decoder", 1 * MS, 6 * MS)
    add_context(scenario)
    return scenario


@pytest.fixture(scope="session")
def scenario() -> Scenario:
    """A scenario with rows in every table."""
    return everything()


@pytest.fixture(scope="session")
def written(scenario: Scenario, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """It as a bundle."""
    return Bundle(write_bundle(scenario, tmp_path_factory.mktemp("bundles") / "X.trace"))


@pytest.fixture(
    scope="session",
    params=["written", *(pytest.param(name, marks=pytest.mark.corpus) for name in ("quick_probe", "output"))],
)
def bundle(request: pytest.FixtureRequest) -> Bundle:
    """The written bundle and real ones, one after the other."""
    if request.param == "written":
        return request.getfixturevalue("written")
    return Bundle(request.getfixturevalue("corpus") / f"bundles/{request.param}.trace")


@pytest.fixture(scope="session")
def real(corpus: Path) -> Bundle:
    """A real Core ML recording of Instruments 16.4."""
    return Bundle(corpus / "bundles/quick_probe.trace")


@pytest.fixture(scope="session")
def open_bundle() -> type[Bundle]:
    """Opens a bundle with the decoder of the tests."""
    return Bundle


@pytest.fixture(scope="session")
def unarchived() -> object:
    """Resolves a keyed archive."""
    return resolved


@pytest.fixture(scope="session")
def make_scenario() -> object:
    """Makes the scenario with changed fields."""
    return everything
