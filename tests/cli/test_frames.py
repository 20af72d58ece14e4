"""Late frames on the command line: in the report, as a question, as a limit."""

from __future__ import annotations

import pytest

from suite.cases.model_delays_frames import without_hitches
from tracekit.cli.process import ExitStatus
from tracekit.testing import Draws, write_export

SAMPLE = "camera_hitches.trace"


@pytest.fixture(scope="module")
def unrecorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unrecorded")
    write_export(without_hitches(Draws(3)).finish(), folder)
    return folder


def test_the_report_has_late_frames_by_model_in_every_form(tracekit, samples):
    told = tracekit("analyze", samples / SAMPLE).out
    assert "FRAMES\n  39 of 383 frames late, 667 ms in all: 83.3 ms/s of animation (Apple: fix at once)" in told
    assert "## Frames" in tracekit("analyze", samples / SAMPLE, "--format", "md").out
    frames = tracekit("analyze", samples / SAMPLE, "--json").json["frames"]
    (model,) = frames["models"]
    assert (frames["late"], model["count"], model["proved"], model["in_time"]) == (39, 32, 27, 32)
    assert frames["animated_ns"] == 8_000_000_000


def test_why_says_what_held_a_frame_up_and_explains_the_prediction(tracekit, samples):
    result = tracekit("why", samples / SAMPLE, "--frame", "3.5")
    assert result.out.startswith("frame due at 3.807 s, 16.7 ms late (1 refresh of 16.7 ms): it waited for GPU work")
    assert "GPU         -3.3 ms   +0.5 ms" in result.out
    assert "PersonSegmenter at 3.789 s" in result.out
    assert result.status is ExitStatus.DONE
    assert " S\n" not in result.out
    assert tracekit("why", samples / SAMPLE, "--frame", "3.5", "--json").json["frame"]["strength"] == "proved"
    brief = tracekit("why", samples / SAMPLE, "--frame", "8.34", "-q").out
    assert brief.startswith("frame due at 8.340 s, 33.3 ms late (2 refreshes of 16.7 ms): no model is known")


def test_why_says_that_no_frame_came_late_or_was_recorded(tracekit, samples, unrecorded):
    late = tracekit("why", samples / SAMPLE, "--frame", "9999")
    assert (late.out, late.status) == (
        "Nothing to explain: no frame came late at or after this time.\n",
        ExitStatus.INCONCLUSIVE,
    )
    none = tracekit("why", unrecorded, "--frame", "1")
    assert "table of late frames (hitches) is not in this recording" in none.out
    assert none.status is ExitStatus.INCONCLUSIVE


@pytest.mark.parametrize(
    ("limit", "status"),
    [("84ms/s", ExitStatus.DONE), ("83ms/s", ExitStatus.GATE_FAILED), ("10", ExitStatus.GATE_FAILED)],
)
def test_lateness_can_be_limited(tracekit, samples, tmp_path, limit, status):
    assert tracekit("check", samples / SAMPLE, "--late-frames", limit).status is status
    (tmp_path / "tracekit.toml").write_text(f'[check]\nlate-frames = "{limit}"\n')
    checked = tracekit("check", samples / SAMPLE, "--config", tmp_path / "tracekit.toml")
    assert checked.status is (ExitStatus.UNUSABLE if limit == "10" else status)


def test_a_report_stands_for_its_recording_and_nothing_passes_unrecorded(tracekit, samples, unrecorded, tmp_path):
    tracekit("analyze", samples / SAMPLE, "-o", tmp_path / "run.json")
    assert tracekit("check", tmp_path / "run.json", "--late-frames", "84ms/s").status is ExitStatus.DONE
    assert tracekit("check", tmp_path / "run.json", "--late-frames", "83ms/s").status is ExitStatus.GATE_FAILED
    missing = tracekit("check", unrecorded, "--late-frames", "10ms/s")
    assert "late frames were not recorded" in missing.out
    assert missing.status is ExitStatus.INCONCLUSIVE
