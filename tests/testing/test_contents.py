from __future__ import annotations

import re

import pytest
from lxml import etree

from tracekit.testing.contents import table_list, toc_document
from tracekit.testing.machines import WINDOW_SERVER, Process
from tracekit.testing.rows import PointRow
from tracekit.testing.scenario import Scenario
from tracekit.testing.tables import tables_of


def scenario(**changes: object) -> Scenario:
    """A short run."""
    return Scenario(
        Process('Came<ra> & "Co"', 412, "/Applications/Camera.app"),
        duration_ns=2_500_000_750,
        processes=[WINDOW_SERVER],
        **changes,
    )


def test_layout_is_that_of_the_exporter():
    text = toc_document([scenario()])
    assert text.startswith('<?xml version="1.0"?>\n\n<trace-toc>\n    <run number="1">\n        <info>\n')
    assert text.endswith("\n        <tracks/>\n    </run>\n</trace-toc>")


def test_it_tells_what_was_recorded():
    root = etree.fromstring(toc_document([scenario()]).encode())
    process = root.find("run/info/target/process")
    assert (process.get("name"), process.get("pid"), process.get("type")) == ('Came<ra> & "Co"', "412", "launched")
    summary = {item.tag: item.text for item in root.find("run/info/summary")}
    assert summary["start-date"] == "2025-06-03T10:15:00.000+02:00"
    assert summary["end-date"] == "2025-06-03T10:15:02.500+02:00"
    assert summary["duration"] == "2.500000"
    assert summary["instruments-version"] == "16.0 (16F6)"
    assert summary["template-name"] == "Core ML"
    assert summary["recording-mode"] == "Deferred"
    assert [item.get("name") for item in root.find("run/processes")] == ['Came<ra> & "Co"', "WindowServer"]


def test_an_attached_target_has_no_end_and_single_instruments_have_no_template():
    root = etree.fromstring(toc_document([scenario(launched=False, template=None, host=None)]).encode())
    assert root.find("run/info/target/process").get("type") == "attached"
    assert root.find("run/info/target/process").get("termination-reason") is None
    assert root.find("run/info/target/host-device") is None
    assert root.find("run/info/summary/template-name") is None


def test_tables_of_one_schema_are_told_apart_by_their_attributes():
    listed = table_list(scenario())
    assert len(listed) == len(set(listed))
    schemas = [schema for schema, _ in listed]
    assert schemas.count("kdebug") > 5
    assert schemas.count("os-signpost") == 6


def test_tables_stand_at_the_places_that_the_exports_name():
    run = scenario(xcode_version="27.2")
    run.points.append(PointRow(5, "Shutter", "com.example"))
    tables = etree.fromstring(toc_document([run]).encode()).findall("run/data/table")
    written = tables_of(run)
    assert len(written) > 8
    for position, content in written:
        assert tables[position - 1].get("schema") == content.schema
        assert (tables[position - 1].get("documentation") or "") == content.documentation


@pytest.mark.corpus
def test_real_tables_of_the_template_are_listed_with_the_same_attributes(corpus):
    real = etree.parse(corpus / "xml" / "xcode16.4-coreml-toc-quick_probe.xml").findall("run/data/table")
    listed = {(entry.get("schema"), frozenset(entry.attrib.items())) for entry in real}
    by_schema = {schema for schema, _ in listed}
    for entry in etree.fromstring(toc_document([scenario()]).encode()).findall("run/data/table"):
        assert entry.get("schema") in by_schema
        if entry.get("schema") not in {"time-sample", "time-profile", "kdebug"}:
            assert (entry.get("schema"), frozenset(entry.attrib.items())) in listed


@pytest.mark.corpus
def test_real_tables_of_contents_have_the_same_shape(corpus):
    real = (corpus / "xml" / "xcode16.4-coreml-toc-quick_probe.xml").read_text()
    ours = toc_document([scenario(host=None)])
    tags = re.compile(r"^( *)<(/?[a-z-]+)", re.MULTILINE)
    known = set(tags.findall(real))
    assert set(tags.findall(ours)) <= known


@pytest.mark.corpus
@pytest.mark.parametrize("pattern", ["xcode16.4-coreml-toc-quick_probe.xml", "xcode26-metal-system-trace-toc.xml"])
def test_attributes_stand_in_the_order_of_real_ones(corpus, pattern):
    real = etree.parse(corpus / "xml" / pattern)
    run = scenario(xcode_version="26.3" if "xcode26" in pattern else "16.4")
    run.recorded |= {"potential-hangs", "hang-risks"}
    ours = etree.fromstring(toc_document([run]).encode())
    compared = 0
    for tag in ("run", "device", "host-device", "process", "table"):
        orders = {frozenset(each.attrib): list(each.attrib) for each in real.iter(tag)}
        for each in ours.iter(tag):
            if frozenset(each.attrib) in orders:
                compared += 1
                assert list(each.attrib) == orders[frozenset(each.attrib)], each.get("schema")
    assert compared > 30
