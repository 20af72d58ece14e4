"""Operations of the app in commands."""

from __future__ import annotations

from pathlib import Path

NAME = "ProcessFrame"


def test_the_gate_takes_its_name(tracekit, samples: Path, tmp_path: Path) -> None:
    recording = samples / "frame_camera.trace"
    for limit, status in (("20ms", 1), ("40ms", 0)):
        settings = tmp_path / "tracekit.toml"
        settings.write_text(f'[check.limits."{NAME}"]\np95 = "{limit}"\n')
        assert tracekit("check", recording, "--signpost", NAME, "--config", settings).status == status
    wrong = tracekit("check", recording, "--signpost", "ProcesFrame", "--no-config", "--p95", "40ms")
    assert "unknown signpost 'ProcesFrame'; did you mean 'ProcessFrame'?" in wrong.out


def test_a_recording_of_another_runtime_is_not_inconclusive(tracekit, samples: Path, tmp_path: Path) -> None:
    outputs = [tmp_path / f"chat.{ending}" for ending in ("txt", "html", "json")]
    flags = [part for output in outputs for part in ("-o", output)]
    result = tracekit("analyze", samples / "local_chat.trace", "--no-config", *flags)
    assert result.status == 0
    texts = [output.read_text("utf-8") for output in outputs]
    assert texts[0].startswith("Core AI language model ran (request 3 times, ")
    assert "No check evaluates these phases and operations yet." in texts[0].replace("\n  ", " ")
    # What was generated stays in the recording: the messages of the scenario hold it.
    assert not [text for text in (*texts, result.out) if "word1" in text]
