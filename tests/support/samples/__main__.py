"""Write the sample recordings, by default into `sample_traces`: `PYTHONPATH=tests python -m support.samples [DIR]`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from support.samples import EXPORTED, SAMPLES, WITH_EXPORT
from tracekit.testing.bundle.write import write_bundle
from tracekit.testing.export_xml import write_export


def write_samples(folder: Path) -> None:
    """Write `NAME.trace` for each sample into `folder`, and `NAME_xml` for some; those that are there are replaced.

    The bytes are the same each time with one version of zlib, the inflated content with any.
    """
    for name, scenario in SAMPLES.items():
        bundle = folder / f"{name}.trace"
        shutil.rmtree(bundle, ignore_errors=True)
        write_bundle(scenario(), bundle)
    for name in WITH_EXPORT:
        export = folder / f"{name}_xml"
        shutil.rmtree(export, ignore_errors=True)
        write_export(SAMPLES[name](), export, only=EXPORTED)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else "sample_traces")
    write_samples(target)
    sys.stdout.write(f"Wrote {len(SAMPLES)} samples to {target}\n")
