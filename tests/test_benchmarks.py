"""The benchmark of the readers works; what it measures is for a quiet machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("tracekit.recording.export._scan", reason="the scanner is not built: there was no C compiler")
ROOT = Path(__file__).resolve().parents[1]


def test_all_readers_find_the_same_in_a_small_export(tmp_path: Path) -> None:
    output = tmp_path / "results.md"
    script = ROOT / "benchmarks" / "read_export.py"
    command = [sys.executable, str(script), "--rows", "20", "40", "--repeats", "1", "--output", str(output)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    result = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert result.returncode == 0, result.stderr
    text = output.read_text(encoding="utf-8")
    for reader in ("tracekit, compiled", "tracekit, strict", "lxml iterparse, ids", "ElementTree, whole tree, ids"):
        assert text.count(f"| {reader} |") == 6
    assert text.count("Growth: ") == 3
