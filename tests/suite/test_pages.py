"""What the page of a detector names as no problem is none: each item of its list has a labelled case.

A case names its item with `page=`, the beginning of the item's text. The suite judges it like any other.
"""

from __future__ import annotations

import pytest

from suite.frame import FINDING, USUAL, load, module_of
from tracekit.detectors.registry import DETECTORS

HEADINGS = ("## What can look like it and is not", "## Not a problem when")

WITHOUT_CASE: dict[str, tuple[str, ...]] = {
    "reload-before-predict": (
        "Several instances loaded up front for parallel work",
        "A model used once per screen and released in between",
        "A benchmark that loads on purpose",
    ),
    "excess-data-copies": (
        "Rows of a few µs",
        "A large input that has to be converted once",
    ),
    "cold-load": (
        "The first launch after installation or a system update",
        "A long cached load of a large model",
        "Other instances go on predicting during the load",
        "A benchmark that empties the cache on purpose",
    ),
    "compile-at-runtime": (
        "A model that was just downloaded",
        "Compilations of other processes",
        "Several models whose files have the same name",
        "The Neural Engine compiles during the first load on a device",
    ),
    "load-churn": (
        "A model that is loaded for every single call",
        "Models that are meant to take turns",
        "A model that a screen loads and releases",
        "More instances of a model",
    ),
    "latency-jitter": (
        "Calls that wait for other models",
        "Inputs of different size",
        "Inputs of a few shapes",
        "The first calls after a load or of each sequence",
    ),
    "thermal-throttling": (
        "Latency that grows with a sequence (`growing-latency`)",
        "Predictions that wait for other models or for the screen",
        "Larger inputs after a while",
    ),
    "growing-latency": (
        "A device that heats up",
        "A single jump",
        "Calls that pile up",
    ),
    "shape-switching": (
        "Prompt and tokens of one model",
        "Calls that wait for other models or for the screen",
        "Latency that grows with a sequence",
        "One lasting change",
    ),
    "duplicate-instances": (
        "Instances for parallel work",
        "Instances with another configuration or another function",
        "An instance that takes over from another after an update or a change of settings",
        "A cold load that nothing uses",
        "An instance that was loaded shortly before the end of the recording",
    ),
    "unaccounted-time": ("Rows that lie in two predictions at once",),
    "unused-load": (
        "A model that is loaded ahead of its use",
        "A recording in which the feature was not used at all",
        "A stage of a pipeline that is also loaded by itself",
    ),
    "serialized-specialization": (
        "The first launch with all models prepared in the background before they are needed",
        "Loads from the cache in a row",
        "Loads that overlap without rows of the Neural Engine",
    ),
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
    "state-copies": ("A model with state whose copies take microseconds",),
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
