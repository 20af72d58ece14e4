"""What a user is told of real bundles: Core ML recorded and empty, the GPU by process, the model by its labels.

Expected numbers: section 16 of the reference on trace bundles, computed by a script of its own.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from support.analyses import kept_analysis
from support.forms import markdown
from tracekit.recording import open_recording
from tracekit.report.serialize import to_json

pytestmark = pytest.mark.corpus

GPU_BY_PROCESS = {
    "hello_coreml": {
        "cmhello (83876)": (34, 2_977_957),
        "Cursor Helper (GPU) (88248)": (10_361 + 10_369 + 458, 95_268_316 + 213_736_798 + 20_109_429),
        "WindowServer (502)": (4_109 + 4_104 + 125, 58_790_589 + 110_088_140 + 1_397_206),
        "NotificationCenter (763)": (664 + 667, 9_833_034 + 12_847_790),
        "avconferenced (901)": (106, 2_787_418),
        "Usage (898)": (8 + 8, 81_041 + 68_501),
        None: (2, 13_333),
    },
    "fp16_w8_60s_all": {
        "MambaASRRunner (17382)": (340 + 1, 30_863_262 + 4_292),
        "Cursor Helper (GPU) (88248)": (8_228 + 8_227 + 114, 84_333_385 + 219_684_028 + 934_289),
        "WindowServer (502)": (2_366 + 2_363, 47_933_758 + 81_892_568),
        "Usage (898)": (6 + 6, 73_668 + 282_208),
    },
}
MPS_ROWS = {"hello_coreml": 1, "fp16_w8_60s_all": 10}


@pytest.fixture(params=sorted(GPU_BY_PROCESS))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_the_gpu_is_shown_by_process_and_the_model_by_its_labels(corpus: Path, name: str) -> None:
    report = kept_analysis(corpus / f"bundles/{name}.trace", redact=False).report
    counts: Counter[str | None] = Counter()
    sums: Counter[str | None] = Counter()
    for row in report.aggregation:
        if row.lane == "gpu":
            counts[row.process] += row.statistics.count
            sums[row.process] += row.statistics.total_ns
    assert {process: (counts[process], sums[process]) for process in counts} == GPU_BY_PROCESS[name]
    assert sum(row.statistics.count for row in report.aggregation if row.lane == "mps") == MPS_ROWS[name]
    target = next(iter(GPU_BY_PROCESS[name]))
    named = {(row.process, row.model) for row in report.aggregation if row.lane == "gpu" and row.model}
    assert named == {(target, "MambaASR_fp16_w8")}
    (core_ml,) = (entry for entry in report.coverage if entry.instrument == "Core ML")
    assert (core_ml.state, core_ml.rows) == ("empty", 0)
    assert "recorded no events, although" in core_ml.conclusion
    # Call stacks and the GPU show what ran.
    assert report.summary.evaluated


def test_other_processes_stay_private_and_reports_name_all(corpus: Path) -> None:
    path = corpus / "bundles/quick_probe.trace"
    report, unredacted = kept_analysis(path).report, kept_analysis(path, redact=False).report
    document, text = to_json(report), markdown(report)
    for private in ("Cursor Helper", "WindowServer", "GitHub Desktop", "TalkTastic"):
        assert private in to_json(unredacted)
        assert private not in document
        assert private not in text
    assert "GPU execution, process " in text
    # One of the processes of this machine is called like a word of ours.
    (processes,) = open_recording(path).tables("process-info")
    assert "log" in map(str, processes.column("process-name").values)
    assert "the log archive is damaged" in document
    for entry, unchanged in zip(report.coverage, unredacted.coverage, strict=True):
        assert (entry.advice, entry.conclusion) == (unchanged.advice, unchanged.conclusion)

    report = kept_analysis(corpus / "bundles/quick_probe.trace", redact=False).report
    # The target, five others, and rows of which the GPU did not tell whose they are.
    assert len({row.process for row in report.aggregation if row.lane == "gpu"}) == 7
    text = markdown(report)
    processes = (
        "Cursor Helper (GPU) (88248)",
        "WindowServer (502)",
        "TalkTastic (872)",
        "Ice (1486)",
        "MambaASR_fp16_w8",
    )
    for process in processes:
        assert process in text
