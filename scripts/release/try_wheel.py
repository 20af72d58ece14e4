"""Tries an installed tracekit as a user would, away from any checkout: `python -P try_wheel.py SOURCES [--pure]`.

SOURCES is the unpacked source distribution, whose samples are read. It fails where a finding that a sample was made
with is missing, bundle and export disagree, exports are not read by the compiled scanner (with `--pure`: are), or the
package is the one in SOURCES.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import tracekit

PLANTED = {"style_transfer_reload": "reload-before-predict", "captions_concurrent": "concurrent-predictions"}
"""Samples, and a problem that each was made with."""


def report(recording: Path, folder: Path) -> tuple[list[str], str]:
    """Ids of the findings, and what was said on standard error."""
    output = folder / "report.json"
    command = [sys.executable, "-P", "-m", "tracekit", "analyze", "-v", str(recording), "-o", str(output)]
    result = subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 0, result.stderr.decode("utf-8", "replace")
    found = json.loads(output.read_text(encoding="utf-8"))["findings"]
    return sorted(finding["id"] for finding in found), result.stderr.decode("utf-8", "replace")


def main(sources: Path, *, pure: bool) -> str:
    """What was tried, in one line."""
    sources = sources.resolve()  # the commands run in another folder
    installed = Path(tracekit.__file__).resolve()
    assert not installed.is_relative_to(sources), f"tried {installed}, not what is installed"
    with tempfile.TemporaryDirectory() as name:
        for sample, planted in PLANTED.items():
            (bundle, _), (export, said) = (
                report(sources / "sample_traces" / form, Path(name)) for form in (f"{sample}.trace", f"{sample}_xml")
            )
            assert planted in bundle, f"{sample}: {planted} is missing in {bundle}"
            assert bundle == export, f"{sample}: {bundle} in the bundle, {export} in the export"
            assert ("with the compiled scanner" in said) != pure, said
    return f"tracekit {tracekit.__version__} on Python {sys.version.split()[0]}, {sys.platform}: {', '.join(PLANTED)}"


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), pure="--pure" in sys.argv))
