"""Tables of contents of Instruments 14.3.1 to 27.2."""

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import open_recording
from tracekit.recording.contents import Device, Target
from tracekit.recording.table import Process

SUMMARY = (
    "<start-date>2025-08-18T09:39:50.208-07:00</start-date><end-date>2025-08-18T09:39:54.685-07:00</end-date>"
    "<duration>4.477226</duration><end-reason>Target app exited</end-reason>"
    "<instruments-version>16.0 (16F6)</instruments-version><template-name>Core ML</template-name>"
    "<recording-mode>Deferred</recording-mode><time-limit>15 seconds</time-limit>"
)
DEVICE = '<device platform="macOS" model="Mac Studio" name="N" os-version="15.6 (24G84)" uuid="U" memory-size="1"/>'


def test_a_run_says_what_was_recorded_where_and_how(xml, write):
    target = (
        f'{DEVICE}<process arguments="--x" type="launched" return-exit-status="0" name="app" pid="11338" '
        'termination-reason="exit(0)"/>'
    )
    run = open_recording(write(xml.toc(summary=SUMMARY, target=target))).run
    assert run.device == Device("macOS", "Mac Studio", "15.6 (24G84)", "N", "U")
    assert run.host is None
    assert run.target == Target("launched", Process("app", 11338), "--x", "exit(0)")
    assert run.duration_ns == 4_477_226_000
    assert (run.start_date, run.end_date) == ("2025-08-18T09:39:50.208-07:00", "2025-08-18T09:39:54.685-07:00")
    assert (run.end_reason, run.time_limit) == ("Target app exited", "15 seconds")
    assert (run.instruments_version, run.template, run.recording_mode) == ("16.0 (16F6)", "Core ML", "Deferred")


def test_what_the_file_does_not_say_is_none(xml, write):
    run = open_recording(
        write("<trace-toc><run><info><target><process name='a'/></target></info></run></trace-toc>")
    ).run
    assert (run.number, run.device, run.duration_ns, run.template) == (1, Device(), None, None)
    assert run.target == Target(kind=None, process=Process("a", None))


@pytest.mark.parametrize(
    ("summary", "expected"),
    [
        (f"{SUMMARY}<imported-from>/Users/me/trace-data.atrc</imported-from>", "/Users/me/trace-data.atrc"),
        (f'{SUMMARY}<imported-from path="run.logarchive"/>', "run.logarchive"),
        (f"{SUMMARY}<imported-from><file>a.ktrace</file></imported-from>", "a.ktrace"),
        (f"{SUMMARY}<imported-from/>", "an unnamed file"),
        (SUMMARY, None),
    ],
)
def test_what_a_run_was_imported_from_is_kept(xml, write, summary, expected):
    run = open_recording(write(xml.toc(summary=summary, target=DEVICE))).run
    assert (run.imported_from, run.end_reason) == (expected, "Target app exited")


def test_an_attribute_of_the_run_tells_the_same(write):
    run = open_recording(write("<trace-toc><run imported-from='x.atrc'><info/></run></trace-toc>")).run
    assert run.imported_from == "x.atrc"


def test_a_machine_wide_recording_of_a_phone_has_a_host_and_no_process(xml, write):
    target = f"{DEVICE.replace('macOS', 'iOS')}{DEVICE.replace('<device', '<host-device')}<all-processes/>"
    run = open_recording(write(xml.toc(target=target))).run
    assert (run.device.platform, run.host and run.host.platform) == ("iOS", "macOS")
    assert run.target == Target("all-processes")


def test_the_environment_of_the_target_is_never_kept(corpus):
    recording = open_recording(corpus / "xml/snippet-toc-imageall.xml")
    assert "do-not-emit" not in repr(recording.contents)


@pytest.mark.parametrize(
    ("text", "nanoseconds"), [("0.1", 100_000_000), ("36.032672", 36_032_672_000), ("3", 3 * 10**9)]
)
def test_durations_become_nanoseconds_exactly(xml, write, text, nanoseconds):
    assert open_recording(write(xml.toc(summary=f"<duration>{text}</duration>"))).run.duration_ns == nanoseconds


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<trace-toc/>", "a table of contents without any run"),
        ("<trace-toc><run number='x'/></trace-toc>", "the run number is 'x', not a whole number"),
        ("<trace-toc><run number='1'/><run number='1'/></trace-toc>", "lists the same run twice"),
        ("<trace-toc><run><data><table/></data></run></trace-toc>", "lists a table without schema"),
        ("<trace-toc><run><info><summary><duration>1e9</duration></summary></info></run></trace-toc>", "is '1e9'"),
        (
            "<trace-toc><run><info><target><process pid='-1'/></target></info></run></trace-toc>",
            "process id of the targ",
        ),
        ("<trace-toc><run/>", "not well-formed XML"),
        ("<trace-toc>" + " " * 4_200_000 + "</trace-toc>", "a table of contents of more than 4,194,304 bytes"),
    ],
)
def test_a_broken_table_of_contents_is_refused(write, text, sentence):
    with pytest.raises(UnreadableRecording, match=sentence):
        open_recording(write(text))


def test_table_positions_count_tables_only(xml, write):
    toc = xml.toc('schema="a"', 'schema="b" documentation="text"').replace(
        "<data>", "<data><external-format format='x' source-schema='y'/>"
    )
    assert [
        (entry.schema, entry.position, dict(entry.attributes)) for entry in open_recording(write(toc)).run.tables
    ] == [("a", 1, {}), ("b", 2, {"documentation": "text"})]
