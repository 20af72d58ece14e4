"""Nothing private leaves in a report."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from support.handover import trace_of
from tracekit.api import judge
from tracekit.documents.report import report_file
from tracekit.render.forms import REPORT_FORMS
from tracekit.report.redact import (
    PrivateFacts,
    public_attributes,
    redact,
    redact_label,
    redact_text,
    replacement_counts,
)
from tracekit.report.report import Report
from tracekit.report.serialize import to_json
from tracekit.request import request_of
from tracekit.testing import Model, Process, Scenario

NOBODY = PrivateFacts(quotes=(), processes=(), target="StyleTransfer")

UUID = "1F0E2D3C-4B5A-6978-8796-A5B4C3D2E1F0"


def cleaned(report: Report, text: str, facts: PrivateFacts = NOBODY) -> str:
    """What becomes of a text."""
    return redact(replace(report, recording=replace(report.recording, notes=(text,))), facts).recording.notes[0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("read /Users/anna/Desktop/a.xml", "read /Users/…/Desktop/a.xml"),
        ("file:///Users/anna/a", "file:///Users/…/a"),
        ("in /Users/anna", "in /Users/…"),
        ("'/home/anna.b-c/x'", "'/Users/…/x'"),
        (r"at C:\Users\Anna Maria\x.xml", r"at C:\Users\…\x.xml"),
        ("on /Volumes/Anna's disk/a.trace", "on /Volumes/…/a.trace"),
        ("/private/var/folders/zz/zyx_n0000gn/T/a", "/private/var/folders/…/T/a"),
        (f"/var/mobile/Containers/Data/Application/{UUID}/x", "/var/mobile/Containers/Data/Application/<uuid>/x"),
        (f"Net_{UUID.replace('-', '_')}_main__Op0", "Net_<uuid>_main__Op0"),
        ("device 00008030-001A2B3C4D5E6F70", "device <uuid>"),
        ("build 0123456789abcdef0123456789abcdef01234567", "build <uuid>"),
        ("mail anna.b@example.co.uk now", "mail <e-mail> now"),
        ("host annas-macbook.local", "host <host>"),
        ("command (python3 (99926))", "command (process A (99926))"),
        ("Main Thread (0x2687) (python3.12, pid: 773)", "Main Thread (0x2687) (process A, pid: 773)"),
        ("Helper (Google Chrome Helper (GPU) (42))", "Helper (process A (42))"),
        ("MPSGraph:0x1f (CommandBuffer: 0x2)", "MPSGraph:0x1f (CommandBuffer: 0x2)"),
        ("the target (StyleTransfer (7))", "the target (StyleTransfer (7))"),
        ("1,295 of 1,295 predictions at 1.234 s", "1,295 of 1,295 predictions at 1.234 s"),
    ],
)
def test_private_forms_are_replaced_and_others_stay(full, text, message):
    assert cleaned(full, text) == message


def test_processes_get_the_same_alias_everywhere(full):
    facts = PrivateFacts((), ("WindowServer", "secretd", "StyleTransfer"), "StyleTransfer")
    text = "secretd and WindowServer beside StyleTransfer, then secretd_helper and (secretd (5))"
    assert cleaned(full, text, facts) == (
        "process B and process A beside StyleTransfer, then process B_helper and (process B (5))"
    )


def test_there_is_an_alias_for_any_number_of_processes(full):
    names = tuple(f"daemon{n:04d}" for n in range(800))
    text = ", ".join(names)
    aliases = cleaned(full, text, PrivateFacts((), names, None)).split(", ")
    assert (aliases[0], aliases[25], aliases[26], aliases[702]) == (
        "process A",
        "process Z",
        "process AA",
        "process AAA",
    )
    assert len(set(aliases)) == 800


def test_a_longer_name_wins_over_one_inside_it(full):
    facts = PrivateFacts((), ("Style", "StyleTransfer Helper"), "StyleTransfer")
    assert cleaned(full, "StyleTransfer Helper, StyleTransfer, Style", facts) == "process B, StyleTransfer, process A"


@pytest.mark.parametrize("name", ["Prediction", "find", "Instruments", "ls"])
def test_a_program_named_like_our_own_words_goes_only_where_its_pid_follows(full, name):
    facts = PrivateFacts((), (name,), None)
    assert cleaned(full, f"{name} of a model", facts) == f"{name} of a model"
    assert cleaned(full, f"by {name} (12)", facts) == "by process A (12)"


@pytest.mark.parametrize("name", ["top", "ns", "passed", "Watercolor", "rows", "finding", "Core ML"])
def test_a_process_cannot_rename_the_words_of_the_format(full, name):
    redacted = redact(full, PrivateFacts((), (name,), None))
    assert [model.name for model in redacted.models] == [model.name for model in full.models]
    assert [row.level for row in redacted.aggregation] == [row.level for row in full.aggregation]
    assert [(c.id, c.outcome, c.model, c.severity) for c in redacted.results] == [
        (c.id, c.outcome, c.model, c.severity) for c in full.results
    ]
    assert [(c.state, c.instrument) for c in redacted.coverage] == [(c.state, c.instrument) for c in full.coverage]


def test_model_names_stay_even_where_they_look_private(full):
    name = f"Net-{UUID}"
    model = replace(full.models[0], name=name)
    report = replace(full, models=(model, *full.models[1:]))
    assert redact(report, NOBODY).models[0].name == name
    assert cleaned(report, f"{name} ran; {UUID} did not") == f"{name} ran; <uuid> did not"


def test_device_name_and_arguments_go_and_are_not_quoted(full):
    recording = replace(
        full.recording, device_name="Anna's phone", arguments="--token s3cret", notes=("Anna's phone slept",)
    )
    facts = PrivateFacts(("Anna's phone", "--token s3cret"), (), None)
    redacted = redact(replace(full, recording=recording), facts).recording
    assert (redacted.device_name, redacted.arguments, redacted.redacted) == (None, None, True)
    assert redacted.notes == ("<private> slept",)


def test_a_source_is_reduced_to_its_last_part(full):
    report = replace(full, recording=replace(full.recording, source="/srv/builds/acme/a.xml"))
    report = replace(report, tables=tuple(replace(table, source=r"D:\acme\b.xml") for table in report.tables))
    redacted = redact(report, NOBODY)
    assert redacted.recording.source == "a.xml"
    assert {table.source for table in redacted.tables} == {"b.xml"}


def test_attributes_are_private_by_their_name(full):
    attributes = {"device-uuid": "abc", "category": "DynamicTracing", "path": "/Users/anna/x", "Target-Arguments": "x"}
    assert public_attributes(attributes) == {
        "device-uuid": "<private>",
        "category": "DynamicTracing",
        "path": "/Users/…/x",
        "Target-Arguments": "<private>",
    }


def test_nothing_else_changes(full):
    redacted = redact(full, NOBODY)
    assert replace(redacted, recording=replace(redacted.recording, redacted=full.recording.redacted)) == full


WORD = st.from_regex(r"[A-Z][a-z]{4,9}[0-9]{3}", fullmatch=True)

PLANTS = (
    "log at /Users/{}/Library/x",
    "/home/{}",
    r"C:\Users\{}\x",
    "write to {}@example.com",
    "write to info@{}.example.com",
    "seen on {}.local",
    "encode ({} (99926))",
    "thread (Main Thread, 0x12) ({}, pid: 12)",
    "{} quoted by an instrument",
    "/Volumes/{}/a",
)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(secret=WORD, plant=st.sampled_from(PLANTS), around=st.text(alphabet="ab (){}[]/\\:,.\"'\n", max_size=12))
def test_no_planted_secret_survives_in_any_format(full, secret, plant, around):
    text = f"{around} {plant.format(secret)} {around}"
    report = planted(full, text, secret)
    redacted = redact(report, PrivateFacts((secret,), (secret,), "StyleTransfer"))
    for name in REPORT_FORMS:
        # Lines may have been wrapped, and long names shortened, inside the secret.
        assert secret not in re.sub(r"\s", "", report_file(redacted, name)), name


def test_the_plants_show_where_redaction_is_off(full):
    report = planted(full, PLANTS[0].format("Secret123"), "Secret123")
    for name in REPORT_FORMS:
        assert "Secret123" in report_file(report, name)


def planted(report: Report, text: str, secret: str) -> Report:
    """The report with a text in every field that a recording can fill."""
    checks = tuple(
        replace(
            check,
            summary=text,
            record=text if check.record else "",
            cost=replace(check.cost, basis=text) if check.cost else None,
            evidence=tuple(replace(entry, label=text) for entry in check.evidence),
        )
        for check in report.results
    )
    return replace(
        report,
        recording=replace(
            report.recording,
            source=f"/Users/{secret}/a.xml",
            device_name=secret,
            arguments=secret,
            template=text,
            end_reason=text,
            notes=(text,),
        ),
        tables=tuple(replace(t, attributes={"device-name": secret, "x": text}, reason=text) for t in report.tables),
        coverage=tuple(replace(entry, conclusion=text, advice=text) for entry in report.coverage),
        models=report.models[:1],
        aggregation=tuple(replace(row, label=text) for row in report.aggregation[:6]),
        results=checks,
        summary=replace(report.summary, verdict=text),
    )


def test_a_text_loses_what_a_report_would_lose():
    facts = PrivateFacts(("Ann's phone",), ("WindowServer", "MyApp"), "MyApp")
    text = "| gpu | Command Buffer (python (99926)) | WindowServer | MyApp | Ann's phone | /Users/ann/x | python_net |"
    redacted = redact_text(text, facts, ["python_net"])
    assert (
        redacted
        == "| gpu | Command Buffer (process B (99926)) | process A | MyApp | <private> | /Users/…/x | python_net |"
    )


def test_models_of_other_processes_get_an_alias_in_every_field():
    scenario = Scenario(Process("App", 7), duration_ns=1_000_000_000)
    for k in range(20):
        prediction = scenario.predict(Model("Own-Net"), k * 40_000_000, 10_000_000)
        prediction.neural_engine(1_000_000, 8_000_000)
        scenario.other_neural_engine(k * 40_000_000 + 20_000_000, 9_000_000, "Secret_Diary_main__Op0_AneInference")
    trace = trace_of(scenario)
    shown, unredacted = (to_json(judge(trace, request_of(redact=redact))) for redact in (True, False))
    assert "Secret" not in shown
    assert "foreign model A" in shown
    assert "Own-Net" in shown
    assert "Secret_Diary" in unredacted


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ("Draw diary:Render   (Secret (77))", "GPU work (Secret (77))"),
        ("Draw (a) page (Secret Helper (GPU) (77))", "GPU work (Secret Helper (GPU) (77))"),
        ("Command Buffer 0:Render Command 12   (Secret (77))",) * 2,
        ("GPU Execution   (Secret (77))",) * 2,
        ("Own_Net_main__Op1_MpsGraphInference:Compute Command 0 (Secret (77))",) * 2,
        ("Draw diary:Render (StyleTransfer (7))",) * 2,
        ("Draw diary:Render (<none>)",) * 2,
        ("Neural Engine Prediction",) * 2,
    ],
)
def test_what_another_process_calls_its_work_goes(label, message):
    assert redact_label(label, replace(NOBODY, models=("Own-Net",))) == message


def test_labels_of_a_report_lose_it_too(full):
    facts = replace(NOBODY, processes=("Secret",))
    rows = tuple(replace(row, label="Draw diary (Secret (77))") for row in full.aggregation)
    redacted = redact(replace(full, aggregation=rows), facts)
    assert {row.label for row in redacted.aggregation} == {"GPU work (process A (77))"}


def test_what_was_replaced_is_counted_by_kind():
    facts = PrivateFacts(("Ann's phone",), ("Secret", "Silent", "App"), "App", foreign_models=("Diary",))
    text = f"Secret and (Secret (5)) at /Users/ann/x and C:\\Users\\ann\\x on Ann's phone, {UUID}; App"
    assert replacement_counts(redact_text(text, facts, []), facts) == {
        "names of processes": 1,
        "device names, ids and arguments quoted in texts": 1,
        "users in paths": 2,
        "ids": 1,
    }
    assert replacement_counts("process ID and App", facts) == {}


LONG_TEXTS = """
import resource, time
resource.setrlimit(resource.RLIMIT_CPU, (60, 60))
from tracekit.report.redact import PrivateFacts, redact_text
facts = PrivateFacts(quotes=("secret",), processes=("top", "WindowServer"), target="App")
units = ["\\\\", "/", "(", "((", "()", "(a", "a@", "a.", "-", "/users/", "\\\\users\\\\", "/Volumes/", "/var/folders/a"]
units += [" (1", ", pid: 1", "a.local", "_", "0", "top", "(top (1)", "\\\\users", "users\\\\"]
for unit in units:
    text = unit * (60_000 // len(unit))
    # As the name of a model, and in a text.
    redact_text(text, facts, [text])
    redact_text(text + " end", facts, [])
print("done")
"""


@pytest.mark.sweep
def test_no_text_takes_longer_than_its_length():
    """A name of 60,000 backslashes was looked at once for each of them."""
    command = [sys.executable, "-c", LONG_TEXTS]
    assert subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() == "done"
