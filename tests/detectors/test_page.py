"""The page of every detector says what `tracekit explain` promises."""

from __future__ import annotations

import pytest

from tracekit.detectors.options import option_infos
from tracekit.detectors.page import page_markdown
from tracekit.detectors.registry import DETECTORS


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_a_page_names_every_threshold_and_source(detector):
    page = page_markdown(detector)
    for heading in ("On the lanes", "How it is measured", "What can look like it and is not", "Thresholds", "Fix"):
        assert f"## {heading}\n" in page
    for info in option_infos(detector):
        assert f"| `{info.name}` | {info.default} |" in page
        assert f"`{info.name}`" in detector.description
    for source in detector.references:
        assert f"]({source.url})" in page
    assert any(f"```{language}\n" in page for language in ("swift", "python", "shell"))


def test_ids_are_unique_and_name_the_files():
    ids = [detector.id for detector in DETECTORS]
    assert len(set(ids)) == len(ids)
    for detector in DETECTORS:
        assert detector.detect.__module__ == f"tracekit.detectors.{detector.id.replace('-', '_')}"
