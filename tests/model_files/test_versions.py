"""Which system loads which specification version, as `Model.proto` of coremltools has it."""

import pytest

from tracekit.errors import UsageError
from tracekit.model_files.versions import NEWEST, deployment_target, parse_target, release_of


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("iOS10", 0),
        ("iOS11", 1),
        ("iOS 11.2", 2),
        ("ios12", 3),
        ("macOS10.13.1", 1),
        ("macOS-10.13.2", 2),
        ("macOS 10.15.7", 4),
        ("macOS11", 5),
        ("tvOS15", 6),
        ("iOS 16.4", 7),
        ("watchOS9", 7),
        ("visionOS1", 8),
        ("iPadOS 17", 8),
        ("macCatalyst18", 9),
        ("iOS26", 10),
        ("iOS27", 10),
        ("macOS 27.1", 10),
    ],
)
def test_the_newest_version_that_loads_on_a_system(text, version):
    assert parse_target(text).version == version


def test_a_system_that_is_not_there_is_refused_with_those_that_are():
    with pytest.raises(UsageError, match=r"--system iOS99: no such system \(known: iOS 11 to 27, .*visionOS 1 to 27\)"):
        parse_target("iOS99")


@pytest.mark.parametrize("text", ["", "iOS", "16", "Android14", "iOS16x", "iOS 16.1.2.3", "iOS" + "9" * 50])
def test_other_targets_are_refused_with_an_example(text):
    with pytest.raises(UsageError, match="such as iOS16"):
        parse_target(text)


def test_versions_beyond_the_newest_have_no_release():
    assert release_of(NEWEST).words == "iOS 26, macOS 26"
    assert release_of(NEWEST + 1) is None
    assert release_of(0) is None
    # ML programs begin with iOS 15.
    assert (deployment_target(1), deployment_target(7)) == ("ct.target.iOS15", "ct.target.iOS16")
