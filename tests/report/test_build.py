"""Reports of whole recordings."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from lxml import etree

import tracekit
from support.analyses import kept_analysis
from support.forms import long_text, short_text
from tracekit.documents.report import report_file
from tracekit.errors import TracekitError
from tracekit.recording.contents import Device, Target
from tracekit.recording.table import Process, TableState
from tracekit.render.forms import REPORT_FORMS
from tracekit.report.build import build_report
from tracekit.trace.samples import SampleSource
from tracekit.trace.trace import Trace


@pytest.fixture(scope="module")
def trace(samples):
    return kept_analysis(samples / "style_transfer_reload.trace").trace


def test_facts_of_the_recording_are_taken_over(trace):
    report = build_report(trace, [])
    assert report.recording.target == trace.run.target.process.name
    assert report.recording.duration_ns == trace.run.duration_ns
    assert (report.recording.run, report.recording.runs) == (1, (1,))
    assert [table.schema for table in report.tables] == [entry.schema for entry in trace.run.tables]
    assert [entry.instrument for entry in report.coverage] == [entry.instrument for entry in trace.coverage]


@pytest.mark.parametrize("with_stacks", [True, False])
def test_only_tables_that_checks_read_are_noted_in_the_short_report(trace, with_stacks):
    entry = trace.run.tables[0]
    incomplete = [
        replace(entry, schema=schema, state=TableState.ROWS, rows=1, reason=f"{schema} lacks a column")
        for schema in ("coreml-os-signpost", "time-profile", "fs-usage")
    ]
    changed = replace(trace, run=replace(trace.run, tables=tuple(incomplete)))
    # All stacks may have come from another table, as from time-sample where columns of time-profile are of a new type.
    report = build_report(changed if with_stacks else replace(changed, sample_source=SampleSource()), [])
    notes = [note for note in report.recording.notes if "is incomplete" in note]
    assert notes == [
        "the table coreml-os-signpost is incomplete: coreml-os-signpost lacks a column",
        *(() if with_stacks else ("the table time-profile is incomplete: time-profile lacks a column",)),
    ]
    unneeded = "the table fs-usage is incomplete"
    assert unneeded not in short_text(report, width=120)
    assert unneeded in long_text(report, width=120)


def test_issues_about_the_live_display_are_no_note(trace):
    about_display = (
        "Intervals were emitted that are not visualized on the timeline until immediate mode recording is stopped."
    )
    run = replace(trace.run, issues=(about_display, "Lost events of the kernel"))
    notes = build_report(replace(trace, run=run), []).recording.notes
    assert [note for note in notes if "Instruments reported" in note] == [
        "Instruments reported: Lost events of the kernel"
    ]


def test_a_recording_of_all_processes_says_so(trace):
    run = replace(trace.run, target=Target(kind="all-processes"))
    assert build_report(replace(trace, run=run), []).recording.target == "all processes"
    run = replace(trace.run, target=Target())
    assert build_report(replace(trace, run=run), []).recording.target is None


def private(trace: Trace) -> Trace:
    """The recording on somebody's phone, with notes that quote everything about it."""
    device = Device("iOS", "iPhone 14 Pro", "18.5", "Berta's phone", "00008120-00AA00BB00CC00DD")
    host = Device("macOS", "Mac mini", "15.6", "Berta-mini", "00008132-00AA00BB00CC00EE")
    target = Target("launched", Process("StyleCam", 1), "--key s3cretkey /Users/berta/in.png")
    others = sorted({*trace.hardware.process.held()} - {"StyleCam"})
    assert others, "the sample has to hold another process"
    quoted = (*others, device.name, device.uuid, host.name, host.uuid, target.arguments)
    notes = tuple(f"Noted: {text}." for text in quoted)
    return replace(trace, run=replace(trace.run, device=device, host=host, target=target), notes=notes)


SECRETS = ("Berta", "berta", "s3cretkey", "00AA00BB00CC00", "backboardd")


def test_what_is_private_leaves_only_on_request(trace):
    shown, kept = (build_report(private(trace), [], redact=redact) for redact in (True, False))
    for form in REPORT_FORMS:
        text = report_file(shown, form)
        assert not [secret for secret in SECRETS if secret in text], form
        assert "StyleCam" in text
        text = report_file(kept, form)
        assert not [secret for secret in SECRETS if secret not in text], form


@pytest.mark.sweep
@pytest.mark.corpus
def test_nothing_private_of_a_real_recording_is_in_its_report(corpus):
    contents = sorted(corpus.glob("xml/*toc*.xml"))
    assert contents
    looked = 0
    for path in contents:
        secrets = private_texts(path)
        try:
            report = tracekit.analyze(path)
        except TracekitError:
            continue
        for name in REPORT_FORMS:
            text = report_file(report, name)
            # The secrets themselves stay out of the message.
            assert not any(secret in text for secret in secrets), (path.name, name)
        looked += bool(secrets)
    assert looked


def private_texts(path: Path) -> set[str]:
    """Device names and ids, users, arguments and environment of a table of contents, read independently."""
    root = etree.parse(str(path), etree.XMLParser(resolve_entities=False)).getroot()
    texts = {str(value) for device in root.iter("device", "host-device") for value in map(device.get, ("name", "uuid"))}
    texts |= {str(process.get("arguments")) for process in root.iter("process")}
    texts |= {str(item.get("value")) for item in root.iter("item")}
    texts |= {f"/Users/{user}" for user in re.findall(r"/Users/([\w.-]+)", path.read_text("utf-8"))}
    models = {str(device.get("model")) for device in root.iter("device", "host-device")}
    # Too short to be told from other text, or no more than the kind of machine.
    return {text for text in texts if len(text) > 5 and text not in {"None", *models}}
