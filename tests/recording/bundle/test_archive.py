"""Property lists and keyed archives, sound and hostile."""

import plistlib
import struct
from contextlib import suppress

import pytest
from hypothesis import example, given, settings, strategies as st

from tracekit.recording.bundle import DamageError
from tracekit.recording.bundle.archive import read_archive, read_plist

VALUES = st.recursive(
    st.integers(-(2**63), 2**64 - 1) | st.text(max_size=20) | st.booleans() | st.binary(max_size=20),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=20,
)


@settings(deadline=None)
@given(VALUES)
def test_every_sound_binary_list_is_read(value):
    assert read_plist(plistlib.dumps(value, fmt=plistlib.FMT_BINARY), "it") == value


@settings(deadline=None)
@given(VALUES, st.data())
def test_a_changed_list_is_read_or_refused_and_nothing_else(value, data):
    changed = bytearray(plistlib.dumps(value, fmt=plistlib.FMT_BINARY))
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(changed) - 1))] = data.draw(st.integers(0, 255))
    with suppress(DamageError):
        read_plist(bytes(changed[: data.draw(st.integers(0, len(changed)))]), "it")


@settings(deadline=None)
@given(st.binary(max_size=200))
@example(b"")
@example(b"bplist00")
@example(b"<?xml version='1.0' encoding='utf-99'?><plist/>")
def test_bytes_of_any_kind_are_read_or_refused(data):
    for content in (data, b"bplist00" + data, b"<plist>" + data):
        with suppress(DamageError):
            read_plist(content, "it")


def test_a_list_with_entities_is_refused():
    hostile = b'<!DOCTYPE plist [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;">]><plist><string>&b;</string></plist>'
    with pytest.raises(DamageError):
        read_plist(hostile, "it")


def test_objects_that_share_bytes_are_refused():
    """Thirty thousand objects of a small file, each of them the whole rest of it, would take a gigabyte."""
    count = 30_000
    text = b"\x5f\x12" + struct.pack(">I", 60_000) + b"a" * 60_000
    array = b"\xaf\x12" + struct.pack(">I", count) + b"".join(struct.pack(">H", n + 1) for n in range(count))
    body = b"bplist00" + array
    table = len(body) + len(text)
    offsets = struct.pack(">I", 8) + struct.pack(">I", len(body)) * count
    trailer = struct.pack(">6xBBQQQ", 4, 2, count + 1, 0, table)
    with pytest.raises(DamageError, match="not a readable property list"):
        read_plist(body + text + offsets + trailer, "it")


def test_references_are_followed_one_at_a_time(archive):
    root = {"name": ("NSMutableString", {"NS.string": "run"}), "list": [1, "two"], "none": "$null", "count": "12"}
    values = read_archive(archive.dump(root), "it")
    fields = values.mapping(values.top["root"])
    assert values.text(fields["name"]) == "run"
    assert [values.value(each) for each in values.items(fields["list"])] == [1, "two"]
    assert values.value(fields["none"]) is None
    assert values.number(fields["count"]) == 12
    assert values.text(fields["list"]) is None


def test_a_graph_that_refers_to_itself_costs_nothing():
    objects = ["$null", {"NS.keys": [plistlib.UID(2)], "NS.objects": [plistlib.UID(1)]}, "me"]
    archive = {"$archiver": "NSKeyedArchiver", "$top": {"root": plistlib.UID(1)}, "$objects": objects}
    root = read_archive(plistlib.dumps(archive, fmt=plistlib.FMT_BINARY), "it")
    step = root.top["root"]
    for _ in range(100):
        step = root.mapping(step)["me"]
    assert step == plistlib.UID(1)


@pytest.mark.parametrize(
    ("objects", "ask"),
    [
        (["$null"], lambda values: values.value(plistlib.UID(5))),
        (["$null", plistlib.UID(1)], lambda values: values.value(plistlib.UID(1))),
        (["$null", "text"], lambda values: values.mapping(plistlib.UID(1))),
        (["$null", "text"], lambda values: values.items(plistlib.UID(1))),
        (["$null", {"NS.keys": [1], "NS.objects": []}], lambda values: values.mapping(plistlib.UID(1))),
        (["$null", {"NS.keys": 1, "NS.objects": []}], lambda values: values.mapping(plistlib.UID(1))),
        (["$null", {"$0": 1 << 60}], lambda values: values.mapping(plistlib.UID(1))),
    ],
)
def test_what_contradicts_itself_is_damage(objects, ask):
    archive = {"$archiver": "NSKeyedArchiver", "$top": {}, "$objects": objects}
    values = read_archive(plistlib.dumps(archive, fmt=plistlib.FMT_BINARY), "it")
    with pytest.raises(DamageError, match="it "):
        ask(values)


def test_a_numbered_dictionary_holds_what_is_numbered():
    entries = {"$0": 2, "$1": "no number", "$2": "first", "$3": 7, "$4": "second"}
    archive = {"$archiver": "NSKeyedArchiver", "$top": {}, "$objects": ["$null", entries]}
    assert read_archive(plistlib.dumps(archive, fmt=plistlib.FMT_BINARY), "it").mapping(plistlib.UID(1)) == {
        7: "second"
    }


@pytest.mark.parametrize(
    "document", [[], {}, {"$archiver": "NSKeyedArchiver"}, {"$archiver": "other", "$objects": [1]}]
)
def test_other_lists_are_no_keyed_archive(document):
    with pytest.raises(DamageError, match="keyed archive"):
        read_archive(plistlib.dumps(document), "it")
