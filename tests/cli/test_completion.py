"""Completion scripts are valid shell and know what can be completed."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from tracekit.cli.commands import COMMANDS
from tracekit.detectors.registry import DETECTORS


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_is_valid_and_names_commands_flags_and_detectors(tracekit, shell: str) -> None:
    result = tracekit("completion", shell)
    assert (result.status, result.err) == (0, "")
    for word in [*(command.name for command in COMMANDS), "--fail-on", "critical", *(entry.id for entry in DETECTORS)]:
        assert word in result.out
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    subprocess.run([program, "-n"], input=result.out, text=True, check=True, capture_output=True)


def test_bash_completes_commands_files_and_ids(tracekit, tmp_path) -> None:
    script = tracekit("completion", "bash").out
    (tmp_path / "recording.xml").touch()

    def completed(*words: str) -> list[str]:
        line = " ".join(f'"{word}"' for word in words)
        question = f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n_shtab_tracekit\necho ${{COMPREPLY[@]}}"
        result = subprocess.run(
            ["bash", "-c", f"{script}\n{question}"], text=True, check=True, capture_output=True, cwd=tmp_path
        )
        return result.stdout.split()

    assert completed("tracekit", "an") == ["analyze"]
    assert completed("tracekit", "analyze", "rec") == ["recording.xml"]
    assert completed("tracekit", "analyze", "--fail-on", "h") == ["high"]
    assert completed("tracekit", "analyze", "--show", "f") == ["findings"]
    assert completed("tracekit", "stacks", "--format", "s") == ["speedscope"]
    assert completed("tracekit", "explain", "reload") == ["reload-before-predict"]
