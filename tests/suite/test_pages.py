"""What the page of a detector names as no problem is none: each item of its list has a labelled case.

A case names its item with `page=`, the beginning of the item's text. The suite judges it like any other.
"""

from __future__ import annotations

import pytest

from suite.frame import FINDING, USUAL, load, module_of
from tracekit.detectors.registry import DETECTORS

HEADINGS = ("## What can look like it and is not", "## Not a problem when")

WITHOUT_CASE: dict[str, tuple[str, ...]] = {
    "excess-data-copies": ("A large input that has to be converted once",),
    "thermal-throttling": ("Larger inputs after a while",),
    "unaccounted-time": ("Rows that lie in two predictions at once",),
    "core-ml-not-instrumented": (
        "Models that run through Core AI or Foundation Models",
        "An export without the table of Core ML",
    ),
    "unexpected-device": (
        "A tiny model that the CPU runs faster",
        "A hot device",
        "Requests to the Neural Engine without execution rows of it",
    ),
    "foreign-neural-engine-work": (
        "The target's own work through another framework",
        "A generic label inside one of the target's predictions is taken for the target's",
    ),
    "compute-unit-ping-pong": ("Gaps in which no other unit works",),
    "run-issues": (
        "Status 54 of `xctrace`",
        "An instrument that the device does not support and that nobody needs",
    ),
    "attached-late": (
        "A recording that keeps only its last seconds (windowed)",
        "Somebody who wants to see the steady state alone",
    ),
    "truncated-recording": ("A launched tool that `xctrace` ends at the time limit",),
    "float-conversion": (
        "A cast of a few µs",
        "Input data that comes as Float32 or 8 bits from elsewhere",
    ),
    "main-thread-work": ("Work that the same touch starts on the main thread and in the background",),
}
"""Items that no case stands for yet, by detector. It only gets shorter: an item that has a case must not be in it."""

PAGES = {detector.id: detector.description for detector in DETECTORS}


def listed(description: str) -> list[str]:
    """The items of the page's list of what is no problem, each on one line."""
    for heading in HEADINGS:
        _, found, rest = description.partition(heading)
        if found:
            return [" ".join(item.split()) for item in rest.partition("\n## ")[0].split("\n- ")[1:]]
    return []


@pytest.mark.parametrize("detector", PAGES)
def test_each_item_of_a_page_has_a_case(detector):
    claimed = {case.page for case in load(module_of(detector)) if case.page}
    missing = [item for item in listed(PAGES[detector]) if not any(item.startswith(page) for page in claimed)]
    known = WITHOUT_CASE.get(detector, ())
    assert [item for item in missing if not item.startswith(known or ("\0",))] == []
    assert [begin for begin in known if not any(item.startswith(begin) for item in missing)] == [], "no longer missing"


@pytest.mark.parametrize("detector", PAGES)
def test_a_case_of_an_item_names_one_and_expects_no_finding(detector):
    items = listed(PAGES[detector])
    for case in load(module_of(detector)):
        if case.page:
            assert sum(item.startswith(case.page) for item in items) == 1, case.page
            wanted = case.expected or USUAL[case.kind]
            assert FINDING not in ([wanted] if isinstance(wanted, str) else wanted.values()), case.name


def test_items_are_read_whole_and_up_to_the_next_heading():
    page = "x\n\n## Not a problem when\n\n- One\n  of two lines.\n- Two.\n\n## Next\n\n- Three."
    assert listed(page) == ["One of two lines.", "Two."]
