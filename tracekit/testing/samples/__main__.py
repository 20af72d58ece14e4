"""Write the sample recordings: `python -m tracekit.testing.samples [DIR]`, by default into `sample_traces`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tracekit.testing.bundle import write_bundle
from tracekit.testing.export_xml import write_export
from tracekit.testing.samples import EXPORTED, SAMPLES


def write_samples(folder: Path) -> None:
    """Write one folder of exports for each sample into `folder`. The bytes are the same each time."""
    for name, scenario in SAMPLES.items():
        write_export(scenario(), folder / name, only=EXPORTED)


def write_bundle_samples(folder: Path) -> None:
    """Write one `.trace` bundle for each sample into `folder`; those that are there are replaced."""
    for name, scenario in SAMPLES.items():
        shutil.rmtree(folder / f"{name}.trace", ignore_errors=True)
        write_bundle(scenario(), folder / f"{name}.trace")


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "sample_traces")
    write_samples(target)
    sys.stdout.write(f"Wrote {len(SAMPLES)} samples to {target}\n")
