"""Tables of written bundles, judged by what holds of real ones."""

from __future__ import annotations

import pytest

from tracekit.testing.bundle.write import write_bundle
from tracekit.testing.machines import Process, Thread
from tracekit.testing.schemas import Label
from tracekit.testing.tables import tables_of

TOPOLOGIES = {"XRT64_CC32_R_TypeID": 7, "XRTD64_CC32_R_TypeID": 6}


def test_the_list_of_tables_names_each_store_with_its_specification(bundle):
    details = bundle.details
    entries = list(details["tableDetails"].values())
    paths = {entry["storeSubpath"] for entry in entries}
    folders = {f"run1/core/stores/{folder.name}" for folder in (bundle.core / "stores").iterdir()}
    assert paths == folders
    assert details["lastStoreIdx"] == len(folders)
    assert details["nextTableID"] == len(entries)
    for path in paths:
        assert sorted(entry["side"] for entry in entries if entry["storeSubpath"] == path)[-1] == 1
    specs = {entry["storeSubpath"]: entry["spec"] for entry in entries}
    for store in bundle.stores:
        assert store.spec == specs[f"run1/core/stores/{store.folder.name}"]
        assert store.spec["schemaName"] == store.schema.get("name")


def test_fields_of_a_row_are_the_topology_and_the_columns_outside_it(bundle):
    assert len(bundle.stores) > 10
    for store in bundle.stores:
        assert store.fields[0]["_name"] == "topology"
        assert store.fields[0]["_type"] == TOPOLOGIES[store.schema.get("topology")]
        assert {field["_multi"] for field in store.fields} == {1}
        stored = [column[0] for column in store.columns if column[3] is None]
        assert [field["_name"] for field in store.fields[1:]] == stored
        assert store.descriptor["_maxEventSize"] == store.descriptor["_minEventSize"] == store.dtype.itemsize
        assert store.descriptor["_variableSize"] is False


@pytest.mark.turns(2)
def test_the_rows_file_has_the_header_and_whole_blocks(bundle):
    seen = 0
    for store in bundle.stores:
        size = store.dtype.itemsize
        head = [int.from_bytes(store.content[index : index + 4], "little") for index in range(0, 32, 4)]
        assert head == [0x12340A0A, 3, 40, 4096, size, size * 65_536, 65_536, 0]
        assert not store.content[32:4096].strip(b"\0")
        body = store.content[4096:]
        count = store.descriptor["_props"]["next_event_id"]
        assert len(body) % (size * 65_536) == 0
        assert count * size <= len(body) < (count + 65_536) * size
        assert not body[count * size :].strip(b"\0")
        seen += count
    assert seen > 30


@pytest.mark.corpus
def test_descriptions_have_the_keys_of_real_ones(written, real):
    mine, theirs = written.stores[0].descriptor, real.stores[0].descriptor
    assert set(mine) == set(theirs)
    assert set(mine["_props"]) == set(theirs["_props"])
    assert mine["_eventClass"] == theirs["_eventClass"]
    assert mine["_substitutions"] == theirs["_substitutions"]
    assert set(mine["_fields"][0]["$0"]) == set(theirs["_fields"][0]["$0"])
    assert set(written.stores[0].spec) == set(real.stores[0].spec)


@pytest.mark.corpus
def test_columns_are_those_of_real_stores(written, real):
    theirs = {store.schema.get("name"): store for store in real.stores}
    shared = [store for store in written.stores if store.schema.get("name") in theirs]
    assert len({store.schema.get("name") for store in shared}) >= 10
    for store in shared:
        same = theirs[store.schema.get("name")]
        without_titles = [(column[0], *column[2:]) for column in store.columns]
        assert without_titles == [(column[0], *column[2:]) for column in same.columns]
        assert store.dtype == same.dtype
        assert store.schema.get("topology") == same.schema.get("topology")


@pytest.mark.parametrize(
    ("version", "schema", "size"),
    [
        ("16.4", "coreml-os-signpost", 64),
        ("16.4", "ane-hw-intervals-internal", 44),
        ("16.4", "mps-hw-intervals", 76),
        ("16.4", "metal-gpu-intervals", 112),
        ("16.4", "metal-gpu-state-intervals", 44),
        ("16.4", "gpu-performance-state-intervals", 44),
        ("16.4", "device-thermal-state-intervals", 48),
        ("16.4", "os-signpost", 60),
        ("26.3", "os-signpost", 68),
        ("26.3", "os-signpost-interval", 92),
        ("16.4", "life-cycle-period", 36),
        ("16.4", "process-info", 32),
        ("16.4", "thread-info", 44),
        ("16.4", "time-info", 48),
    ],
)
def test_rows_have_the_measured_size(tmp_path, open_bundle, make_scenario, version, schema, size):
    path = write_bundle(
        make_scenario(xcode_version=version), tmp_path / "X.trace", form_template=False, rows_per_block=16
    )
    assert open_bundle(path).store(schema).dtype.itemsize == size


def decoded(bundle, store, kind, number):
    """A stored number as a cell of the scenario; only for types that the test knows how to read."""
    if kind in {"process", "thread"}:
        if number == 0xFFFFFFFF:
            return None
        first, second = bundle.arrays("arrayUniquer")[number]
        return first if kind == "process" else (first, decoded(bundle, store, "process", second))
    return number


def expected(kind, cell):
    if isinstance(cell, Process):
        return cell.pid
    return (cell.tid, cell.process.pid) if isinstance(cell, Thread) else cell


def test_rows_sorted_by_time_hold_the_cells_of_the_scenario(scenario, written):
    unsorted = 0
    compared = 0
    tables = [table for _, table in tables_of(scenario)]
    for table, store in zip(tables, written.stores, strict=False):
        assert store.schema.get("name") == table.schema
        times = store.rows["@time"].tolist()
        order = sorted(range(len(times)), key=times.__getitem__)
        unsorted += order != sorted(order)
        for index, column in enumerate(table.columns):
            numbers = store.cells(column.mnemonic)
            for row, position in zip(table.rows, order, strict=True):
                cell = row[index]
                if isinstance(cell, str) and column.type != "mach-timebase-info":
                    assert written.strings[numbers[position]] == cell
                elif isinstance(cell, int) and column.type != "time-since-epoch":
                    assert numbers[position] == cell
                elif isinstance(cell, Process | Thread):
                    assert decoded(written, store, column.type, numbers[position]) == expected(column.type, cell)
                elif cell is None and column.type != "return-location":
                    assert numbers[position] == 0xFFFFFFFF
                elif isinstance(cell, Label):
                    assert label_text(written, numbers[position]) == joined(cell)
                compared += 1
    assert unsorted >= 4
    assert compared > 500


def joined(label):
    """Text of a label, by hand."""
    texts = []
    for part in label.parts:
        if isinstance(part.value, Process):
            texts.append(f"{part.value.name} ({part.value.pid})")
        elif part.type == "uint64-hex-lowercase":
            texts.append(f"{part.value:x}")
        elif part.type == "metal-encoder-id":
            texts.append(f"0x{part.value:x}")
        else:
            texts.append(str(part.value))
    return "".join(texts)


def label_text(bundle, reference):
    """Text of a stored label."""
    numbers = bundle.arrays("typedArrayUniquer")[reference]
    names = {}
    info = bundle.store("process-info")
    for process, name in zip(info.cells("process"), info.cells("process-name"), strict=True):
        names[process] = bundle.strings[name]
    texts = []
    for kind, value in zip(numbers[::2], numbers[1::2], strict=True):
        match bundle.types[kind]:
            case "XRProcessTypeID":
                texts.append(f"{names[value]} ({bundle.arrays('arrayUniquer')[value][0]})")
            case "XRUnsignedIntegerHexLowercaseTypeID":
                texts.append(f"{value:x}")
            case "XRMetalEncoderIDTypeID":
                texts.append(f"0x{value:x}")
            case _:
                texts.append(bundle.strings[value])
    return "".join(texts)


def test_clock_facts_are_packed(written):
    store = written.store("time-info")
    assert store.cells("timebase-info") == [125 << 32 | 3]
    # 2025-06-03T08:15:00Z
    assert store.cells("trace-start-time") == [1_748_938_500 * 10**9 + 2**63 - 1]
    assert store.cells("mabs-epoch") == [1_034_743_489_489]


@pytest.mark.corpus
def test_attributes_have_the_native_kinds_of_real_ones(written, real):
    def kinds(bundle):
        return {(key, type(value)) for store in bundle.stores for key, value in store.spec["attributes"].items()}

    keys = {key for key, _ in kinds(written)} & {key for key, _ in kinds(real)}
    assert {"target-pid", "category", "subsystem", "requested-consistent-state"} <= keys
    assert {pair for pair in kinds(written) if pair[0] in keys} <= kinds(real)
