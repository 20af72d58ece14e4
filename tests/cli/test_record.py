"""`tracekit record`: what is asked of xctrace, and what is said of its answers."""

from __future__ import annotations

import io
import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.choice import sweep_rest
from support.processes import needs_proc, wait_until_none
from tracekit.cli.record import Narrator
from tracekit.recording.xctrace.watching import Phase
from tracekit.testing import Draws, Model, Scenario, write_bundle
from tracekit.testing.apps import MS
from tracekit.testing.recorder import neural_engine, start_recording


@pytest.fixture
def record(tracekit, standin, tmp_path: Path):
    """Record a fraction of a second with the stand-in."""

    def call(*arguments: str, mode: str = ""):
        standin(record=mode)
        target = arguments or ("--attach", "App")
        return tracekit("record", "--time-limit", "1s", "--no-prompt", "-o", tmp_path / "run.trace", *target)

    return call


def test_all_processes_can_be_recorded(record, standin_log) -> None:
    assert record("--all-processes").status == 0
    assert standin_log()[-1][-1] == "--all-processes"


def test_instruments_that_cannot_be_found_are_named(record, standin) -> None:
    result = record("--attach", "App", "--instrument", "System Trace")
    assert result.status == 2
    assert "Instrument with name 'System Trace' cannot be found; list them with `xcrun xctrace list" in result.err
    standin(instruments="GPU")
    result = record()
    assert result.status == 2
    assert "Instrument with name 'Hangs' cannot be found" in result.err
    assert "--only-template leaves out Hangs and Thermal State" in result.err


def test_the_path_of_the_recording_is_the_output(record, tmp_path: Path, standin_log) -> None:
    result = record("--attach", "App", "--instrument", "Points of Interest", "--device", "Phone")
    assert (result.status, result.out) == (0, f"{tmp_path / 'run.trace'}\n")
    assert (tmp_path / "run.trace" / "form.template").exists()
    (*_, (_, _, *words)) = standin_log()
    options = words.index("--recording-options")
    # The file is for xctrace alone.
    assert not Path(words.pop(options + 1)).exists()
    words.pop(options)
    assert words == [
        "record",
        *("--output", str(tmp_path / "run.trace"), "--template", "Core ML", "--instrument", "Hangs"),
        *("--instrument", "Thermal State", "--instrument", "Points of Interest"),
        *("--device", "00000000-0000000000000002", "--time-limit", "1s", "--no-prompt", "--attach", "App"),
    ]


def test_everything_after_launch_belongs_to_the_target(record, standin_log) -> None:
    assert record("--launch", "--", "sh", "-c", "exit 1", "--debug", "--", "-o", mode="54").status == 0
    (*_, launch, dashes, program, a, b, c, d, e) = standin_log()[-1]
    assert (launch, dashes) == ("--launch", "--")
    assert Path(program).is_absolute()
    assert (Path(program).name, a, b, c, d, e) == ("sh", "-c", "exit 1", "--debug", "--", "-o")


@pytest.mark.parametrize(
    ("arguments", "instruments"),
    [
        ([], ["Hangs", "Thermal State"]),
        (["--instrument", "Thermal State", "--instrument", "GPU"], ["Hangs", "Thermal State", "GPU"]),
        (["--only-template"], []),
        (["--only-template", "--instrument", "Hangs"], ["Hangs"]),
        (["--template", "Mine"], []),
        (["--memory", "--instrument", "Activity Monitor"], ["Hangs", "Thermal State", "Activity Monitor"]),
        (["--frames"], ["Hangs", "Thermal State", "Hitches", "Display", "Run Loops"]),
    ],
)
def test_hangs_and_thermal_state_are_added_to_the_template_of_core_ml(
    record, standin_log, arguments: list[str], instruments: list[str]
) -> None:
    assert record("--attach", "App", *arguments).status == 0
    words = standin_log()[-1]
    assert [words[at + 1] for at, word in enumerate(words) if word == "--instrument"] == instruments


OFF = {"recordWaitingThreads": False, "highFrequencySampling": False, "contextSwitchSampling": False}


@pytest.mark.parametrize(
    ("arguments", "on", "subsystems"),
    [
        ([], {"recordWaitingThreads"}, ["com.apple.coreml"]),
        (["--high-frequency"], {"recordWaitingThreads", "highFrequencySampling"}, ["com.apple.coreml"]),
        (["--only-template"], None, None),
        (["--template", "Mine"], None, None),
        (["--template", "Mine", "--high-frequency"], {"highFrequencySampling"}, []),
    ],
)
def test_options_of_instruments_show_more_of_calls(record, tmp_path, arguments, on, subsystems) -> None:
    result = record("--attach", "App", *arguments)
    assert result.status == 0
    path = tmp_path / "standin" / "log.options"
    if on is None:
        assert not path.exists()
        return
    passed = json.loads(path.read_text())
    assert passed["Time Profiler"] == {**OFF, "recordKernelStacks": False, **dict.fromkeys(on, True)}
    assert passed["os_signpost"] == {"dynamicTracingEnabledSubsystems": subsystems}
    # What nobody asked for stays as xctrace has it.
    assert passed["Hangs"]["hangsThreshold"] == 250
    assert ("threads that wait" in result.err) == ("recordWaitingThreads" in on)


@pytest.mark.parametrize("options", ["", "[]", '{"Hangs": {"hangsThreshold": 250}}', "refused"])
def test_an_xctrace_without_these_options_records_all_the_same(record, standin, standin_log, options) -> None:
    standin(options=options)
    assert record().status == 0
    assert "--recording-options" not in standin_log()[-1]


def test_without_a_terminal_xctrace_asks_nothing(tracekit, standin, standin_log, tmp_path: Path) -> None:
    standin(record="asks")
    assert tracekit("record", "--attach", "App", "--time-limit", "1s", "-o", tmp_path / "run.trace").status == 0
    assert "--no-prompt" in standin_log()[-1]


def test_warnings_are_told_where_the_recording_succeeded(record) -> None:
    result = record(mode="54,issues")
    assert result.status == 0
    assert "54" not in result.err
    assert "error while recording: Recording of 'Hangs' is not supported in the Simulator\n" in result.err


def test_without_the_entitlement_the_error_names_that_of_the_device(record, tmp_path: Path) -> None:
    result = record(mode="not-allowed")
    assert (result.status, result.out) == (2, "")
    assert result.err.splitlines()[-1] == (
        "tracekit: recording failed: permission to debug App was denied; Instruments can only trace apps signed with "
        "com.apple.security.get-task-allow: build the app with Xcode's automatic development signing (Product > "
        "Profile does); check it with `tracekit doctor --target APP`; an incomplete recording remains at "
        f"{tmp_path / 'run.trace'}"
    )
    shutil.rmtree(tmp_path / "run.trace")
    result = record("--device", "Phone", "--attach", "App", mode="not-allowed")
    assert result.status == 2
    assert "Instruments can only trace apps signed with get-task-allow: build the app" in result.err
    assert "codesign" not in result.err


def test_a_program_without_the_entitlement_is_told_before_it_is_launched(record, standin) -> None:
    standin(signed="no")
    result = record("--launch", "--", "sh")
    assert result.status == 0
    assert "sh lacks get-task-allow, so Core ML events will be missing" in result.err.splitlines()[0]


def test_a_program_for_a_device_is_not_looked_for_on_this_mac(record, standin, standin_log) -> None:
    standin(signed="no")
    assert "lacks" not in record("--device", "Phone", "--launch", "--", "sh").err
    assert standin_log()[-1][-1] == "sh"


def clean_app() -> Scenario:
    """A clean app as the Core ML template shows it, with the added instruments."""
    app = start_recording(Draws(1), jitter=0, code=True, attached=False, machine=0)
    app.code.draws_interface(20 * MS, 30 * MS)
    app.code.on_main = False
    model = Model("Segmenter")
    app.load(model, 300 * MS)
    app.pause(900 * MS)
    for _ in range(120):
        app.predict(model, neural_engine(8 * MS))
        app.pause(8 * MS)
    app.thermal("Nominal")
    app.scenario.recorded.add("potential-hangs")
    return app.finish()


def test_the_default_recording_of_a_clean_app_leaves_out_memory_and_frames(record, standin, tmp_path: Path) -> None:
    standin(bundle=str(write_bundle(clean_app(), tmp_path / "clean.trace", rows_per_block=512)))
    result = record("--launch", "--analyze", "--", "sh")
    assert result.status == 0
    assert result.err.splitlines()[-1] == f"tracekit: saved {tmp_path / 'run.trace'}"
    assert result.out.startswith("run.trace · ")
    assert "No findings" in result.out
    left_out = result.out.partition("NOT EVALUATED\n")[2].partition("\n\n")[0]
    assert left_out == "  memory-growth, model-delays-frames: record with --instrument 'Activity Monitor' --frames"


def test_the_recording_is_compared_with_the_last_one_beside_it(record, standin, samples, tmp_path: Path) -> None:
    shutil.copytree(samples / "sharpen_8bit.trace", tmp_path / "before.trace")
    standin(bundle=str(samples / "sharpen_float16.trace"))
    result = record("--attach", "App", "--compare-last")
    assert result.status == 0
    assert result.err.splitlines()[-1] == f"tracekit: saved {tmp_path / 'run.trace'}"
    what, verdict, change, following = result.out.splitlines()
    assert what.startswith("run.trace · Sharpen")
    assert verdict.startswith("No findings")
    assert change == "since before.trace: improved: SharpenFilter −30% · 2 findings fixed"
    assert following.startswith(f"next: tracekit analyze {tmp_path / 'run.trace'}  ·  tracekit compare ")


def test_without_a_terminal_a_long_wait_is_told_every_minute(capsys) -> None:
    narrator = Narrator()
    for phase in (Phase.RECORDING, Phase.SAVING):
        for seconds in (0.0, 59.9, 60.0, 60.1, 119.0, 120.0):
            narrator.count(phase, seconds)
    assert capsys.readouterr().err == "tracekit: saving for 1 min so far\ntracekit: saving for 2 min so far\n"


def test_no_report_follows_a_failed_recording(record) -> None:
    result = record("--attach", "App", "--analyze", mode="unfinished")
    assert (result.status, result.out) == (2, "")


def test_a_simulator_is_refused_only_where_recording_it_hangs(record, standin, standin_log) -> None:
    standin(version="xctrace version 16.0 (17E202)")
    result = record("--device", "iPhone 16", "--attach", "App")
    assert (result.status, result.out) == (2, "")
    assert result.err == (
        "tracekit: cannot record iPhone 16: xctrace of Xcode 26.4 to 27.0 hangs on simulators; record on a device, or "
        "select another version of Xcode with xcode-select\n"
    )
    assert "record" not in [words[2] for words in standin_log()]

    standin(version="xctrace version 26.0 (17C529)")
    result = record("--device", "iPhone 16", "--attach", "App")
    assert result.status == 0
    assert result.err.startswith("tracekit: simulator: iPhone 16\n")


@pytest.mark.parametrize(
    ("device", "message"),
    [
        (["Old Phone"], "Old Phone is offline; connect and unlock it"),
        (["Phnoe (blue)"], "unknown device 'Phnoe (blue)'; did you mean 'Phone (blue)'?"),
        (
            [],
            "--device needs a value where there is no terminal; use the name or the UDID of one: Phone (blue) (18.5, ",
        ),
    ],
)
def test_a_device_that_cannot_be_recorded_on_is_refused(record, standin_log, device: list[str], message: str) -> None:
    result = record("--device", *device, "--attach", "App")
    assert (result.status, result.out) == (2, "")
    assert message in result.err
    assert "record" not in [words[2] for words in standin_log()]


@pytest.mark.parametrize(
    ("typed", "chosen"),
    sweep_rest(("2\n", "00000000-0000-0000-0000-000000000001"), ("\n", "00000000-0000000000000002")),
)
def test_a_device_is_picked_from_a_list(record, standin_log, monkeypatch, typed: str, chosen: str) -> None:
    monkeypatch.setattr("tracekit.cli.record.is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    result = record("--device", "--attach", "App")
    assert result.err.splitlines()[:4] == [
        "  1  Phone (blue) (18.5, device)",
        "  2  Example Mac (this Mac)",
        "  3  iPhone 16 (18.5, simulator)",
        "tracekit: which device? type a number from 1 to 3 (Enter: 1, Phone (blue))",
    ]
    words = standin_log()[-1]
    assert words[words.index("--device") + 1] == chosen


def test_simulators_that_hang_are_not_listed(record, standin, monkeypatch) -> None:
    standin(version="xctrace version 27.0 (27A266a)")
    monkeypatch.setattr("tracekit.cli.record.is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    result = record("--device", "--attach", "App")
    assert result.status == 0
    assert "iPhone 16" not in result.err


@pytest.mark.parametrize("typed", sweep_rest("4\n", "", "0\n", "phone\n"))
def test_what_is_no_number_of_the_list_picks_nothing(record, monkeypatch, typed: str) -> None:
    monkeypatch.setattr("tracekit.cli.record.is_interactive", lambda: True)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    result = record("--device", "--attach", "App")
    assert result.status == 2
    assert result.err.endswith("no device was chosen; expected a number from 1 to 3\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing target: use --attach NAME|PID, --all-processes or --launch -- COMMAND"),
        (["--attach", "App", "--all-processes"], "missing target"),
        (["--attach", "App", "--", "sh"], "to launch a command, use --launch -- COMMAND"),
        (["--launch", "--"], "to launch a command, use --launch -- COMMAND"),
        (["--attach", "App", "--time-limit", "soon"], "such as 20ms, 3s"),
        (["--attach", "App", "--compare-last", "--analyze"], "not allowed with argument"),
        (["--attach", "App", "--time-limit", "1.5ms"], "--time-limit: xctrace takes whole milliseconds, such as 2ms"),
        (["--attach", "App", "-o", "run.zip"], "must end in .trace"),
        (["--attach", "App", "-o", "/no/where/run.trace"], "no such folder: /no/where"),
    ],
)
def test_contradictions_are_refused_before_anything_starts(
    tracekit, standin, standin_log, arguments: list[str], message: str
) -> None:
    result = tracekit("record", *arguments)
    assert result.status == 2
    assert message in result.err
    assert standin_log() == []


def test_an_existing_recording_is_never_overwritten(record, tmp_path: Path, standin_log) -> None:
    (tmp_path / "run.trace").mkdir()
    assert "it already exists" in record().err
    assert standin_log() == []


def test_off_a_mac_the_command_is_printed_and_without_xcode_how_to_get_it(
    tracekit, monkeypatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    result = tracekit("record", "--device", "--attach", "My App", "--time-limit", "30s", "-o", "run.trace")
    assert (result.status, result.err) == (
        2,
        "tracekit: recording needs a Mac with Xcode; run this there: xcrun xctrace record --output run.trace "
        "--template 'Core ML' --instrument Hangs --instrument 'Thermal State' --device NAME --time-limit 30s --attach "
        "'My App'\n",
    )

    monkeypatch.setattr("sys.platform", "darwin")
    result = tracekit("record", "--attach", "App")
    assert (result.status, "install Xcode" in result.err) == (2, True)


@needs_proc
def test_on_a_terminal_questions_are_answered_and_time_is_counted(standin, tmp_path: Path) -> None:
    standin(record="asks")
    master, slave = pty.openpty()
    output = tmp_path / "run.trace"
    process = subprocess.Popen(
        [sys.executable, "-m", "tracekit", "record", "--device", "--attach", "App", "-o", str(output)],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        preexec_fn=lambda: own_terminal(slave),  # noqa: PLW1509 - nothing else runs in this process
        env=os.environ | {"TERM": "xterm"},
    )
    os.close(slave)
    shown = ""

    def until(words: str) -> None:
        nonlocal shown
        while words not in shown:
            shown += os.read(master, 4096).decode()

    until("which device?")
    os.write(master, b"1\n")
    until("Continue? [y/n]")
    os.write(master, b"y\n")
    until("recording 0:00")
    # As the terminal sends it: to everything in its foreground.
    os.write(master, b"\x03")
    until(f"next: tracekit analyze {output}")
    assert process.wait(20) == 0
    os.close(master)
    wait_until_none(output)


def own_terminal(terminal: int) -> None:
    import fcntl
    import termios

    os.setsid()
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


@needs_proc
@pytest.mark.parametrize(("mode", "saved"), sweep_rest(("", True), ("hangs-saving", False), ("deaf", False)))
def test_sigkill_leaves_no_xctrace_behind(standin, standin_log, tmp_path: Path, mode: str, saved: bool) -> None:
    standin(record=mode)
    output = tmp_path / "run.trace"
    command = [sys.executable, "-m", "tracekit", "record", "--attach", "App", "-o", str(output)]
    with subprocess.Popen([*command, "--save-timeout", "1"], stderr=subprocess.PIPE, text=True) as process:
        if mode == "deaf":
            while not output.exists():
                time.sleep(0.02)
        else:
            while "recording;" not in process.stderr.readline():
                pass
        process.send_signal(signal.SIGKILL)
    wait_until_none(output)
    assert (output / "form.template").exists() == saved


def test_a_dry_run_prints_what_would_run(tracekit, tmp_path) -> None:
    path = tmp_path / "run.trace"
    words = ("--attach", "My App", "--time-limit", "1.5m", "--device", "--analyze", "-o", path)
    result = tracekit("record", *words, "--no-prompt", "--dry-run")
    assert result.status == 0
    assert result.out.splitlines() == [
        f"xcrun xctrace record --output {path} --template 'Core ML' --instrument Hangs --instrument 'Thermal State' "
        "--device NAME --time-limit 90s --no-prompt --attach 'My App'",
        f"tracekit analyze -- {path}",
    ]
    assert not path.exists()
