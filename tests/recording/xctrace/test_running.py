"""Commands of the system: with a guard or without, what became of them is the same."""

from __future__ import annotations

import signal
from contextlib import closing

import pytest

from support.processes import needs_proc
from tracekit.errors import TracekitError
from tracekit.recording.xctrace import running
from tracekit.recording.xctrace.running import Completed, Job


@pytest.mark.parametrize("grace_s", [None, 1.0])
@pytest.mark.parametrize(
    ("script", "status"), [("echo out; echo err >&2; exit 54", 54), ("echo out; echo err >&2; kill -TRAP $$", 133)]
)
def test_status_and_output_are_those_of_the_command(grace_s, script, status):
    with closing(Job(["sh", "-c", script], grace_s=grace_s)) as job:
        assert job.wait(20)
        job.end()
        completed = job.outcome()
    assert completed == Completed(status, "out\n", "err\n")
    assert completed.crashed == (status == 133)


def test_a_program_that_does_not_exist_is_named():
    with pytest.raises(TracekitError, match="cannot run no-such-program: No such file or directory"):
        Job(["no-such-program"])
    with closing(Job(["no-such-program"], grace_s=1.0)) as job:
        assert job.wait(20)
        assert job.outcome() == Completed(127, "", "cannot run no-such-program: No such file or directory\n")


def test_a_disk_without_space_for_temporary_files_is_told(monkeypatch):
    def full() -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(running.tempfile, "TemporaryFile", full)
    with pytest.raises(TracekitError, match="cannot write a temporary file: No space left on device; is"):
        Job(["sh"])


@needs_proc
def test_letting_go_of_a_recording_lets_it_save(tmp_path):
    # As when tracekit is killed: nobody says anything any more.
    script = f"trap 'echo saved > {tmp_path / 'saved'}; exit' INT; echo started; while :; do sleep 0.02; done"
    job = Job(["sh", "-c", script], grace_s=20.0)
    while not job.output.new_lines():
        assert not job.wait(0.02)
    process = job._process
    job.close()
    process.returncode = None
    assert process.wait(20) == 0
    assert (tmp_path / "saved").read_text() == "saved\n"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_command_that_ignores_everything_is_killed(monkeypatch, number):
    monkeypatch.setattr(running, "TERMINATE_S", 0.1)
    job = Job(["sh", "-c", "trap '' INT TERM; echo started; while :; do sleep 0.02; done"], grace_s=0.1)
    while not job.output.new_lines():
        assert not job.wait(0.02)
    process = job._process
    if number == signal.SIGTERM:
        job.end()
        job.close()
    else:
        job.close()
        process.returncode = None
    assert process.wait(20) == -signal.SIGKILL
