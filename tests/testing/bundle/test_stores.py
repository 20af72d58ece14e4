"""Tables of written bundles, judged by what holds of real ones."""

import pytest

from tracekit.testing.bundle.write import write_bundle

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
        ("16.4", "device-thermal-state-intervals", 48),
        ("26.3", "os-signpost", 68),
        ("26.3", "os-signpost-interval", 92),
    ],
)
def test_rows_have_the_measured_size(tmp_path, open_bundle, make_scenario, version, schema, size):
    path = write_bundle(
        make_scenario(xcode_version=version), tmp_path / "X.trace", form_template=False, rows_per_block=16
    )
    assert open_bundle(path).store(schema).dtype.itemsize == size


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
