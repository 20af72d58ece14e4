"""What the page of a detector names as no problem is none: each item of its list has a labeled case.

A case names its item with `page=`, the beginning of the item's text. The suite judges it like any other.
"""

from __future__ import annotations

import pytest

from suite.frame import FINDING, USUAL, load, module_of
from tracekit.detectors.registry import DETECTORS

HEADINGS = ("## What can look like it and is not", "## Not a problem when")

WITHOUT_CASE: dict[str, dict[str, str]] = {
    "excess-data-copies": {"A large input has to be": "no row tells in which format a camera or a file delivers"},
    "core-ml-not-instrumented": {
        "Models run through Core AI": "no row of these tables was seen, so that the builder writes none; the tests of "
        "the rule hand over their names",
        "The Core ML table was not exported": "it is about files left out of an export; the tests of the rule hold it",
    },
    "not-on-expected-unit": {
        "A tiny model runs faster": "the finding is right; no recording shows how fast another unit would be",
        "The device is hot or in Low": "the finding is right; no row tells why the system chose a unit",
    },
    "foreign-neural-engine-work": {
        "The target itself uses the Neural": "rows of the Neural Engine name no process, and those of other frameworks "
        "were not seen"
    },
    "run-issues": {"The device does not support": "the issue is there; only you know which instruments you need"},
    "attached-late": {"You only want to see": "the finding is right; only you know what you want to see"},
    "memory-peak": {"The limit is that of a small": "the finding is right; only you know which device matters"},
    "float-conversion": {"Input data arrives as Float32": "no row tells in which type input data arrives"},
    "latency-jitter": {"Call stacks alone show predictions, of many": "the tests of inferred calls hold it"},
    "unused-load": {"Call stacks alone show a load": "the tests of inferred calls hold it"},
    "main-thread-work": {"The same touch starts work": "without call stacks nothing tells which thread predicted"},
}
"""Items that no recording can show, by detector, each with the reason. An item that has a case must not be in it."""

PAGES = {detector.id: detector.page.description for detector in DETECTORS}


def listed(description: str) -> list[str]:
    """The items of the page's list of what is no problem, each on one line."""
    for heading in HEADINGS:
        _, heading_found, rest = description.partition(heading)
        if heading_found:
            return [" ".join(item.split()) for item in rest.partition("\n## ")[0].split("\n- ")[1:]]
    return []


@pytest.mark.parametrize("detector", PAGES)
def test_each_item_of_a_page_has_a_case(detector):
    claimed = {case.page for case in load(module_of(detector)) if case.page}
    missing = [item for item in listed(PAGES[detector]) if not any(item.startswith(page) for page in claimed)]
    known = tuple(WITHOUT_CASE.get(detector, {}))
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
