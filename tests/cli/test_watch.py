"""`tracekit watch`: what is said of a new recording, and when."""

from __future__ import annotations

import itertools
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tracekit.cli import watch
from tracekit.detectors.registry import RULES
from tracekit.testing import Model, Process, Scenario, write_bundle, write_export

Event = Callable[[], None]


@pytest.fixture
def watched(tracekit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Watch a folder in a time of its own: at each look the next event happens, and Ctrl-C comes after the last one."""

    def call(*events: Event, looks: int = 6, folder: Path = tmp_path):
        # A recording is steady after some looks; one that does not open is given up in as many again.
        script = itertools.chain(*((event, *[None] * looks) for event in events))
        clock = itertools.count()

        def sleep(_seconds: float) -> None:
            event = next(script, KeyboardInterrupt)
            if event is KeyboardInterrupt:
                raise KeyboardInterrupt
            if event is not None:
                event()

        monkeypatch.setattr(watch.time, "sleep", sleep)
        monkeypatch.setattr(watch.time, "monotonic", lambda: float(next(clock)))
        monkeypatch.setattr(watch, "PATIENCE_S", 4.0)
        return tracekit("watch", folder, "--no-config")

    return call


def short() -> Scenario:
    made = Scenario(Process("App", 7), duration_ns=1_000_000_000)
    made.predict(Model("Net"), 500_000_000, 10_000_000)
    return made


def copied(source: Path, target: Path) -> Event:
    return lambda: shutil.copytree(source, target) and None


def zipped(bundle: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w") as archive:
        for path in bundle.rglob("*"):
            archive.write(path, path.relative_to(bundle.parent))


def blocks(out: str) -> list[list[str]]:
    return [block.splitlines() for block in out.split("\n\n") if block]


def test_a_new_recording_is_four_lines_and_compared_with_the_last_of_its_app(watched, samples, tmp_path: Path) -> None:
    shutil.copytree(samples / "sharpen_float16.trace", tmp_path / "good one.trace")
    shutil.copytree(samples / "style_transfer_fixed.trace", tmp_path / "other.trace")
    result = watched(copied(samples / "sharpen_8bit.trace", tmp_path / "slow.trace"))
    assert result.status == 0
    assert blocks(result.out) == [
        [
            "slow.trace · Sharpen (pid 3391) · iPhone 14 Pro, iOS 18.5 · 5.2 s · Core ML · SharpenFilter · "
            "140 predictions",
            "HIGH excess-data-copies: inputs and outputs are copied and converted in every prediction (1 model), "
            "est. savings up to 0.59 s · 1 more finding",
            "since good one.trace: 2 new findings (worst: high): excess-data-copies (SharpenFilter), "
            "est. savings 0.59 s · regressed: SharpenFilter +43%",
            f"next: tracekit analyze {tmp_path}/slow.trace  ·  tracekit compare '{tmp_path}/good one.trace' "
            f"{tmp_path}/slow.trace",
        ]
    ]
    assert result.err.splitlines() == [
        f"tracekit: watching {tmp_path} (2 recordings there); Ctrl-C ends it",
        f"tracekit: stopped watching {tmp_path} after 1 new recording",
    ]


@pytest.mark.sweep
def test_many_at_once_come_in_the_order_of_their_time(watched, samples, tmp_path: Path) -> None:
    def both() -> None:
        for name in ("sharpen_8bit", "sharpen_float16"):
            shutil.copytree(samples / f"{name}.trace", tmp_path / f"{name}.trace")

    lines = [block[2] for block in blocks(watched(both).out)]
    assert lines == [
        "not compared: no earlier recording of Sharpen on iPhone 14 Pro here",
        "since sharpen_8bit.trace: improved: SharpenFilter −30% · 2 findings fixed",
    ]


def test_zips_and_exports_are_recordings_and_other_files_are_not(watched, tmp_path: Path) -> None:
    def arrive() -> None:
        write_bundle(short(), tmp_path / ".copying.trace", rows_per_block=64)
        zipped(tmp_path / ".copying.trace", tmp_path / "run.zip")
        write_export(short(), tmp_path / "export")
        (tmp_path / "notes.txt").write_text("x")
        (tmp_path / "empty").mkdir()
        os.mkfifo(tmp_path / "pipe.zip")
        (tmp_path / "loop.zip").symlink_to("loop.zip")

    result = watched(arrive)
    assert {block[0].split(" · ")[0] for block in blocks(result.out)} == {"run.zip", "export"}
    assert "after 2 new recordings" in result.err


def test_a_recording_that_is_no_other_one_is_not_compared(tracekit, tmp_path: Path) -> None:
    write_bundle(short(), tmp_path / "a.trace", rows_per_block=64)
    zipped(tmp_path / "a.trace", tmp_path / "a.trace.zip")
    assert tracekit("watch", tmp_path / "a.trace").out.splitlines()[2].startswith("not compared: no earlier")

    write_export(short(), tmp_path / "export")
    (tmp_path / "export" / "toc.xml").unlink()
    assert tracekit("watch", tmp_path / "export").out.splitlines()[2] == "not compared: its app is not recorded"


def test_what_grows_is_not_read_before_it_is_complete(watched, tmp_path: Path) -> None:
    write_bundle(short(), tmp_path / ".copying.trace", rows_per_block=64)
    whole = tmp_path / "whole"
    zipped(tmp_path / ".copying.trace", whole)
    data = whole.read_bytes()

    def add(part: int) -> Event:
        def write() -> None:
            with (tmp_path / "run.zip").open("ab") as file:
                file.write(data[part * len(data) // 4 : (part + 1) * len(data) // 4])

        return write

    result = watched(*map(add, range(4)), lambda: None, looks=1)
    assert len(blocks(result.out)) == 1
    assert len(result.err.splitlines()) == 2


def test_one_that_cannot_be_read_is_one_sentence_and_watching_goes_on(watched, samples, tmp_path: Path) -> None:
    def damaged() -> None:
        (tmp_path / "bad\nname.zip").write_bytes(b"PK\x03\x04 nothing")

    result = watched(damaged, copied(samples / "sharpen_8bit.trace", tmp_path / "good.trace"))
    assert result.status == 0
    assert len(blocks(result.out)) == 1
    (_, sentence, _) = result.err.splitlines()
    assert sentence.startswith("tracekit: bad name.zip: ")
    assert "is a damaged archive" in sentence


def test_one_that_is_replaced_is_new(watched, samples, tmp_path: Path) -> None:
    target = tmp_path / "run.trace"
    shutil.copytree(samples / "sharpen_8bit.trace", target)

    def replace() -> None:
        shutil.rmtree(target)
        shutil.copytree(samples / "sharpen_float16.trace", target)

    result = watched(replace)
    answer = f"No findings · {len(RULES) - 19} checks passed, 3 not evaluated, 7 not applicable"
    assert [block[1] for block in blocks(result.out)] == [answer]


def test_one_that_vanishes_is_forgotten_and_a_folder_that_goes_ends_it_with_a_sentence(
    watched, samples, tmp_path: Path
) -> None:
    target = tmp_path / "run.trace"
    result = watched(copied(samples / "sharpen_8bit.trace", target), lambda: shutil.rmtree(target), looks=0)
    assert (result.status, result.out) == (0, "")

    folder = tmp_path / "recordings"
    folder.mkdir()
    result = watched(folder.rmdir, folder=folder)
    assert result.status == 2
    assert result.err.splitlines()[-1] == f"tracekit: cannot watch {folder}: No such file or directory"


def test_a_recording_is_reported_on_at_once_and_its_commands_suit_a_shell(
    tracekit, samples, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tracekit("watch", samples / "not_instrumented.trace")
    assert (result.status, result.err) == (0, "")
    what, verdict, change, following = result.out.splitlines()
    assert what.endswith("no predictions")
    assert verdict.startswith("Inconclusive: the Core ML instrument recorded no events")
    assert change == "not compared: no earlier recording of embed-images on Mac Studio here"
    assert following == f"next: tracekit analyze {shlex.quote(str(samples / 'not_instrumented.trace'))}"

    monkeypatch.chdir(tmp_path)
    shutil.copytree(samples / "sharpen_8bit.trace", tmp_path / "-a b.trace")
    result = tracekit("watch", "--", "-a b.trace")
    assert result.out.splitlines()[3] == "next: tracekit analyze -- '-a b.trace'"


@pytest.mark.parametrize(
    ("name", "words"), [("gone", "no such file or directory"), ("report.json", ""), ("text.txt", "is not XML")]
)
def test_what_is_no_recording_is_one_sentence(tracekit, reports, tmp_path: Path, name: str, words: str) -> None:
    path = tmp_path / name
    if name == "report.json":
        shutil.copy(next(reports.glob("*.json")), path)
        words = "report.json is a JSON report; pass the recording itself"
    elif name != "gone":
        path.write_text("no recording")
    result = tracekit("watch", path)
    assert (result.status, result.out) == (2, "")
    assert words in result.err
    assert len(result.err.splitlines()) == 1


@pytest.mark.sweep
def test_ctrl_c_ends_it_with_status_0(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tracekit", "watch", str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert "Ctrl-C ends it" in process.stderr.readline()
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, "")
    assert err == f"tracekit: stopped watching {tmp_path} after 0 new recordings\n"
