"""Shared values of written bundles, judged by what holds of real ones."""

import pytest

from tracekit.testing.bundle.values import BLOCK_BYTES, TYPES, Arrays, Values
from tracekit.testing.schemas import Label

WORDS = [0x01234567, 0x000A337E, 1, 0, 1, 0]


@pytest.mark.parametrize("kind", ["arrayUniquer", "typedArrayUniquer"])
def test_shared_arrays_have_the_measured_layout(bundle, kind):
    assert bundle.words(kind, "index", 10) == [*WORDS, 0x00400000, 0x00100000, 0, 0]
    assert bundle.words(kind, "data", 8) == [*WORDS, 0, 0]
    arrays = bundle.arrays(kind)
    assert len(arrays) > 2
    assert [] not in arrays


def test_labels_are_pairs_of_a_listed_type_and_a_value_and_strings_begin_with_the_empty_one(bundle):
    assert bundle.types[0] == "XRInvalidEngineeringTypeID"
    for numbers in bundle.arrays("typedArrayUniquer"):
        assert len(numbers) % 2 == 0
        assert max(numbers[::2]) < len(bundle.types)
    assert bundle.strings[0] == ""
    assert "TODO" in bundle.strings


@pytest.mark.corpus
def test_processes_and_threads_lead_to_their_numbers(written, real):
    for bundle in (written, real):
        arrays = bundle.arrays("arrayUniquer")
        info = bundle.store("process-info")
        for reference, pid in zip(info.cells("process"), info.cells("pid"), strict=True):
            assert arrays[reference][0] == pid
            assert bundle.strings[arrays[reference][1]] == "TODO"
        threads = bundle.store("thread-info")
        rows = zip(*(threads.cells(name) for name in ("thread", "tid", "process")), strict=True)
        for reference, tid, process in rows:
            assert arrays[reference] == [tid, process]
        assert 1 in threads.cells("main-thread")


@pytest.mark.parametrize(("schema", "process"), [("mps-hw-intervals", None), ("metal-gpu-intervals", "process")])
@pytest.mark.corpus
def test_labels_of_hardware_have_the_parts_of_real_ones(written, real, schema, process):
    def patterns(bundle):
        store = bundle.store(schema)
        arrays = bundle.arrays("typedArrayUniquer")
        owners = store.cells(process) if process else [0] * len(store.rows)
        labels = zip(store.cells("event-label"), owners, strict=True)
        return {tuple(bundle.types[n] for n in arrays[label][::2]) for label, owner in labels if owner != 0xFFFFFFFF}

    if real_store_is_missing(real, schema):
        pytest.skip("the rows file of the real recording is too large for a quick test")
    assert patterns(written) <= patterns(real)


def real_store_is_missing(real, schema):
    return all(store.schema.get("name") != schema for store in real.stores)


def test_an_array_that_does_not_fit_begins_the_next_block():
    arrays = Arrays()
    # 32 bytes of header, then arrays of 4 + 8 * 16,384 bytes each: seven fit into a block of 1 MiB, not eight.
    references = [arrays.reference(tuple(range(n, n + 16_384))) for n in range(9)]
    index, data = arrays.files()
    assert references == list(range(9))
    positions = [(int.from_bytes(index[40 + 8 * n : 44 + 8 * n], "little"), index[44 + 8 * n]) for n in references]
    assert positions == [*((32 + n * 131_076, 0) for n in range(7)), (0, 1), (131_076, 1)]
    assert len(data) == 2 * BLOCK_BYTES


def test_equal_values_share_a_reference():
    values = Values()
    assert values.string("a") == values.string("a") != values.string("b")
    assert values.arrays.reference((1, 2)) == values.arrays.reference((1, 2))


@pytest.mark.parametrize(
    ("mnemonic", "number"),
    [
        ("string", 0xFFFFFFFF),
        ("process", 0xFFFFFFFF),
        ("formatted-label", 0xFFFFFFFF),
        ("gpu-frame-number", 0xFFFFFFFF),
        ("duration", 0),
        ("os-signpost-identifier", 0),
        ("size-in-bytes", 2**64 - 1),
        ("thread-name", 2**64 - 1),
        ("return-location", 2**64 - 1),
    ],
)
def test_no_value_is_stored_as_measured(mnemonic, number):
    assert Values().number(TYPES[mnemonic], None) == number


def test_what_a_column_cannot_hold_is_refused():
    with pytest.raises(TypeError, match="no value"):
        Values().number(TYPES["uint64"], None)
    with pytest.raises(TypeError, match="cannot hold"):
        Values().number(TYPES["string"], 5)


def test_an_empty_label_is_an_empty_text():
    values = Values()
    reference = values.number(TYPES["formatted-label"], Label())
    _, data = values.labels.files()
    assert reference == 0
    assert int.from_bytes(data[32:36], "little") == 2
    assert int.from_bytes(data[44:52], "little") == values.strings[""]
