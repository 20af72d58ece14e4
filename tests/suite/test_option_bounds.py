"""Every detector answers with each of its options as low and as high as it may be set, and refuses all beyond."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from suite.frame import INSUFFICIENT, POSITIVE, detector_ids, load, module_of, read_back
from tracekit.detectors.checking import check_outcome
from tracekit.detectors.framework import RecordingDetector
from tracekit.detectors.options import configure, option_infos
from tracekit.detectors.registry import DETECTORS
from tracekit.detectors.runner import answer_of
from tracekit.detectors.views import RecordingView, model_views
from tracekit.errors import UsageError
from tracekit.testing import Draws

EXTREMES = (-1, 0, 5e-324, 1, 1e300)
"""Besides the bounds themselves. Settings files and command lines may hold any of them."""

DETECTOR = {detector.id: detector for detector in DETECTORS}


def extreme_values(detector) -> Iterator[tuple[dict[str, float], bool]]:
    """One option at a bound or far from usual, or all of them at one bound; and whether that is allowed."""
    infos = option_infos(detector)
    for bound in ("minimum", "maximum"):
        yield {info.name: getattr(info, bound) for info in infos}, True
    for info in infos:
        for value in (info.minimum, info.maximum, *EXTREMES):
            is_valid = isinstance(info.default, float) or value == int(value)
            yield {info.name: value}, is_valid and info.minimum <= value <= info.maximum


@pytest.mark.turns(8)
@pytest.mark.parametrize("module", [module_of(detector) for detector in detector_ids()])
def test_whatever_an_option_may_be_set_to_is_judged_without_error(request, module):
    kinds = (POSITIVE, INSUFFICIENT) if request.config.getoption("--every-case") else (POSITIVE,)
    for case in [next(case for case in load(module) if case.kind == kind) for kind in kinds]:
        detector = DETECTOR[case.detector]
        trace = read_back(case.build(Draws(case.seed)), bundle=case.bundle)
        of_recording = isinstance(detector, RecordingDetector)
        seen = [(None, RecordingView(trace))] if of_recording else [(view.name, view) for view in model_views(trace)]
        for values, allowed in extreme_values(detector):
            settings = {**(case.settings or {}), **{f"{detector.id}.{name}": value for name, value in values.items()}}
            if not allowed:
                with pytest.raises(UsageError, match="the value must be"):
                    configure([detector], settings)
                continue
            options = configure([detector], settings)[detector.id]
            for model, about in seen:
                check_outcome(answer_of(detector, about, options), model)
