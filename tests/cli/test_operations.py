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
