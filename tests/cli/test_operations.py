"""Operations of the app in commands."""

from __future__ import annotations

from pathlib import Path

import pytest

NAME = "ProcessFrame"


def test_the_gate_takes_its_name_and_counts_tokens_as_tokens(tracekit, samples: Path, tmp_path: Path) -> None:
    recording = samples / "frame_camera.trace"
    for limit, status in (("20ms", 1), ("40ms", 0)):
        settings = tmp_path / "tracekit.toml"
        settings.write_text(f'[check.limits."{NAME}"]\np95 = "{limit}"\n')
        assert tracekit("check", recording, "--signpost", NAME, "--config", settings).status == status
    said = tracekit("check", recording, "--signpost", NAME, "--no-config", "--p95", "40ms").out
    assert "31.4 ms (90 signposts)" in said
    assert "(89 predictions)" in said
    wrong = tracekit("check", recording, "--signpost", "ProcesFrame", "--no-config", "--p95", "40ms")
    assert "unknown signpost 'ProcesFrame'; did you mean 'ProcessFrame'?" in wrong.out

    recording = samples / "local_chat.trace"
    said = " ".join(tracekit("check", recording, "--no-config", "--p95", "100ms").out.split())
    assert "16.5 ms (141 next tokens)" in said
    assert "fewer than 20 first tokens with a known latency" in said
    assert "predictions" not in said


@pytest.mark.parametrize(
    ("name", "begins"),
    [("local_chat", "No findings · 5 checks passed"), ("meal_planner", "2 findings (1 medium, 1 low) · ")],
)
def test_a_recording_of_a_language_model_is_not_inconclusive(
    tracekit, samples: Path, tmp_path: Path, name: str, begins: str
) -> None:
    outputs = [tmp_path / f"chat.{ending}" for ending in ("txt", "html", "json", "md")]
    flags = [part for output in outputs for part in ("-o", output)]
    result = tracekit("analyze", samples / f"{name}.trace", "--no-config", *flags)
    assert result.status == 0
    texts = [output.read_text("utf-8") for output in outputs]
    assert texts[0].startswith(begins)
    assert "No check evaluates" not in texts[0]
    assert all(("unvalidated" in text) == (name == "meal_planner") for text in (*texts[:2], texts[3]))
    # What was asked and generated stays in the recording: the scenarios hold it.
    if name == "meal_planner":
        assert "pantry" in texts[0]
        hidden = tracekit("analyze", samples / f"{name}.trace", "--no-config", "--no-functions", "-v", *flags)
        texts += [hidden.out, *(output.read_text("utf-8") for output in outputs)]
        assert not [text for text in texts[4:] if "pantry" in text]
    for private in ("word1", "Question 1", "An answer", "spices", "family of four"):
        assert not [text for text in (*texts, result.out) if private in text]
