"""`tracekit whatif`: what fixes would bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def test_reloads_go_and_latency_stays(tracekit, samples: Path) -> None:
    result = tracekit("whatif", samples / "style_transfer_reload.trace", "--json", "-q")
    said = json.loads(result.out)
    (replay,) = said["replays"]
    assert (result.status, replay["findings"]) == (0, ["reload-before-predict"])
    assert len(replay["models"]) == 5
    for model in replay["models"]:
        assert model["before"]["median_ns"] == model["after"]["median_ns"]
        assert model["before"]["core_ml_ns"] > model["after"]["core_ml_ns"]


def test_of_several_findings_each_and_all_are_replayed(tracekit, samples: Path) -> None:
    result = tracekit("whatif", samples / "sharpen_8bit.trace", "--json", "-q")
    copies, floats = "excess-data-copies", "float-conversion"
    replays = json.loads(result.out)["replays"]
    assert [replay["findings"] for replay in replays] == [[copies], [floats], [copies, floats]]
    after = [replay["models"][0]["after"]["median_ns"] for replay in replays]
    # Conversions are among the copies: no time is taken twice.
    assert after[2] == after[0] < after[1]


def test_text_says_before_and_after_and_what_was_assumed(tracekit, samples: Path) -> None:
    result = tracekit("whatif", samples / "captions_concurrent.trace", "concurrent-predictions")
    assert result.status == 0
    for words in ("Fixing 1 finding: CaptionEncoder median", " → ", "ASSUMED", "every input counts"):
        assert words in result.out


@pytest.mark.parametrize("ending", ["md", "html", "txt", "json"])
def test_it_is_written_in_each_form(tracekit, samples: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"whatif.{ending}"
    assert tracekit("whatif", samples / "sharpen_8bit.trace", "-o", path, "-q").status == 0
    assert "excess-data-copies" in path.read_text("utf-8")


def test_a_check_without_a_finding_is_one_sentence(tracekit, samples: Path) -> None:
    result = tracekit("whatif", samples / "captions_concurrent.trace", "cold-load", "-q")
    assert (result.status, result.out) == (2, "")
    assert result.err == "tracekit: cold-load has no finding in this recording; see `tracekit analyze -v`\n"


def test_an_unknown_check_gets_a_suggestion(tracekit, samples: Path) -> None:
    result = tracekit("whatif", samples / "captions_concurrent.trace", "cold-lod")
    assert result.status == 2
    assert "did you mean 'cold-load'" in result.err


def test_a_recording_without_findings_says_so(tracekit, samples: Path) -> None:
    result = tracekit("whatif", samples / "style_transfer_fixed.trace", "-q")
    assert (result.status, result.out.strip()) == (0, "No finding")
