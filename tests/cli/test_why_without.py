"""`tracekit why --without`: what fixes would bring."""

from __future__ import annotations

from pathlib import Path

import pytest


def test_findings_are_replayed_each_and_all(tracekit, samples: Path) -> None:
    result = tracekit("why", samples / "style_transfer_reload.trace", "--without", "--json", "-q")
    said = result.json
    (replay,) = said["replays"]
    assert (result.status, replay["findings"]) == (0, ["reload-before-predict"])
    assert len(replay["models"]) == 5
    for model in replay["models"]:
        assert model["before"]["median_ns"] == model["after"]["median_ns"]
        assert model["before"]["core_ml_ns"] > model["after"]["core_ml_ns"]

    result = tracekit("why", samples / "sharpen_8bit.trace", "--without", "--json", "-q")
    copies, floats = "excess-data-copies", "float-conversion"
    replays = result.json["replays"]
    assert [replay["findings"] for replay in replays] == [[copies], [floats], [copies, floats]]
    after = [replay["models"][0]["after"]["median_ns"] for replay in replays]
    # Conversions are among the copies: no time is taken twice.
    assert after[2] == after[0] < after[1]

    result = tracekit("why", samples / "captions_concurrent.trace", "--without", "concurrent-predictions")
    assert result.status == 0
    for words in ("Fixing 1 finding: CaptionEncoder median", " → ", "ASSUMED", "every input counts"):
        assert words in result.out


@pytest.mark.parametrize("ending", ["md", "html", "txt", "json"])
def test_it_is_written_in_each_form(tracekit, samples: Path, tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"replay.{ending}"
    assert tracekit("why", samples / "sharpen_8bit.trace", "--without", "-o", path, "-q").status == 0
    assert "excess-data-copies" in path.read_text("utf-8")


def test_where_no_fix_saves_time_it_says_so(tracekit, samples: Path) -> None:
    result = tracekit("why", samples / "captions_concurrent.trace", "--without", "cold-load", "-q")
    assert (result.status, result.out) == (2, "")
    assert result.err == "tracekit: cold-load has no finding in this recording; see `tracekit analyze -v`\n"

    result = tracekit("why", samples / "style_transfer_fixed.trace", "--without", "-q")
    assert (result.status, result.out.strip()) == (0, "No findings whose fixes save time")

    result = tracekit("why", samples / "not_instrumented.trace", "--without", "--json", "-q")
    said = result.json
    assert (result.status, said["replays"], said["unknown"]) == (3, [], [])
    assert said["nothing"].startswith("Inconclusive: the Core ML instrument recorded no events")
    text = tracekit("why", samples / "not_instrumented.trace", "--without", "-q")
    assert (text.status, " ".join(text.out.split())) == (3, said["nothing"])

    result = tracekit("why", samples / "album_memory.trace", "--without", "-q")
    assert (result.status, result.out.strip()) == (0, "No findings whose fixes save time")


def test_gains_are_estimates_and_what_gains_nothing_says_so(tracekit, samples: Path) -> None:
    copies = tracekit("why", samples / "sharpen_8bit.trace", "--without", "excess-data-copies", "-q", "--json")
    saved = copies.json["replays"][0]["saved_ns"]
    words = f"{saved / 1e9:.2g} s"
    said = tracekit("why", samples / "sharpen_8bit.trace", "--without", "excess-data-copies").out
    assert f"Fixing 1 finding: saves {words}, " in said
    assert next(line for line in said.splitlines() if line.startswith("    SharpenFilter")).endswith(f" {words}")
    flying = tracekit("why", samples / "captions_concurrent.trace", "--without").out
    line = next(line for line in flying.splitlines() if line.startswith("    CaptionEncoder"))
    assert line.endswith("  latency only")


@pytest.mark.sweep
@pytest.mark.corpus
def test_inferred_calls_have_no_digits_that_samples_do_not_carry(tracekit, corpus: Path) -> None:
    said = tracekit("why", corpus / "bundles" / "quick_probe.trace", "--without").out
    replay = tracekit("why", corpus / "bundles" / "quick_probe.trace", "--without", "-q", "--json").json["replays"][0]
    median = replay["models"][0]["before"]["median_ns"]
    assert replay["models"][0]["resolution_ns"] == 1_000_000
    assert f"{median / 1e6:.0f} ms " in said
    assert f"{median / 1e6:.2f} ms" not in said
