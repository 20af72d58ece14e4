"""`element-wise-access`: the app reads or writes a multi-array one element at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.analysis.code import element_access
from tracekit.detectors import (
    Outcome,
    RecordingDetector,
    Trace,
    format_count,
    format_share,
    page_beside,
)
from tracekit.detectors.shared.call_stacks import AppWorkWords, judge_app_work
from tracekit.detectors.shared.options import min_samples_option, share_option

if TYPE_CHECKING:
    from tracekit.analysis.code import AppWork


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    share: float = share_option(" A public recording of a speech recognizer has a fifth.")
    min_samples: int = min_samples_option()


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for samples in which the app reads or writes single elements."""
    return judge_app_work(trace, element_access(trace), options, _WORDS)


def _summary(work: AppWork) -> str:
    return (
        f"{work.samples:,} of {format_count(work.of, 'sample')} outside of loads read or write single elements of "
        f"MLMultiArray ({format_share(work.share)})."
    )


_WORDS = AppWorkWords(
    which="outside of loads",
    counted="samples in element access",
    threads="its threads",
    none="No call stack shows the app reading or writing single elements.",
    little="of the samples of its threads are in reading or writing single elements.",
    summary=_summary,
    saved="Reading or writing through a pointer takes a small part of it.",
)


DETECTOR = RecordingDetector(
    id="element-wise-access",
    page=page_beside(__file__),
    needs=("Call Stacks",),
    options=Options,
    detect=detect,
)
