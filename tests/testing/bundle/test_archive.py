"""Keyed archives: what goes in comes out, and the layout is Apple's."""

import plistlib

import pytest

from tracekit.testing.bundle.archive import Boxed, Coded, Mutable, MutableText, archive, numbered_dictionary


def test_values_come_back(unarchived):
    root = {
        "text": "a",
        "flag": True,
        "number": 1,
        "list": [1, "a", None],
        "set": frozenset({2, 1}),
        "instance": Coded("XRThing", {"a": 5, "b": "x", "c": None, "d": Boxed(7)}),
        "text object": MutableText("long"),
        "pairs": Mutable({"k": 2}),
        "ids": numbered_dictionary([(30, "x"), (5, ["y"])]),
    }
    assert unarchived(archive(root=root)) == {
        "text": "a",
        "flag": True,
        "number": 1,
        "list": [1, "a", None],
        "set": [1, 2],
        "instance": {"a": 5, "b": "x", "c": None, "d": 7, "$class": "XRThing"},
        "text object": "long",
        "pairs": {"k": 2},
        "ids": {30: "x", 5: ["y"]},
    }


def test_numbers_of_instances_lie_in_place_and_boxed_ones_apart():
    objects = plistlib.loads(archive(root=Coded("XRThing", {"$0": 3, "$1": Boxed(4)})))["$objects"]
    assert objects[1]["$0"] == 3
    assert isinstance(objects[1]["$1"], plistlib.UID)
    assert objects[objects[1]["$1"].data] == 4


def test_an_object_that_occurs_twice_is_stored_once_and_true_is_not_one(unarchived):
    shared = ["x"]
    objects = plistlib.loads(archive(root=[shared, shared, "x"]))["$objects"]
    assert objects.count("x") == 1
    assert objects[1]["NS.objects"][0] == objects[1]["NS.objects"][1]
    assert [type(value) for value in unarchived(archive(root=[True, 1, 1.0]))] == [bool, int, float]


def test_the_document_is_that_of_a_keyed_archiver_and_other_values_are_refused():
    document = plistlib.loads(archive(**{"com.example.a": "x", "b": None}), fmt=plistlib.FMT_BINARY)
    assert document["$version"] == 100_000
    assert document["$archiver"] == "NSKeyedArchiver"
    assert document["$top"] == {"com.example.a": plistlib.UID(1), "b": plistlib.UID(0)}
    with pytest.raises(TypeError, match="tuple"):
        archive(root=(1,))
