"""The page of every detector says what `tracekit explain` promises."""

import pytest

from tracekit.detectors.explanation import page_markdown
from tracekit.detectors.options import option_infos
from tracekit.detectors.registry import DETECTORS


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_a_page_names_every_threshold_and_source(detector):
    page = page_markdown(detector)
    for heading in ("On the timeline", "How it is measured", "Not a problem when", "Thresholds", "Fix"):
        assert f"## {heading}\n" in page
    for info in option_infos(detector):
        assert f"| `{info.name}` | {info.default} |" in page
        assert f"`{info.name}`" in detector.page.description
    for source in detector.page.references:
        assert f"]({source.url})" in page
    assert any(f"```{language}\n" in page for language in ("swift", "python", "shell"))


@pytest.mark.parametrize("detector", DETECTORS, ids=lambda detector: detector.id)
def test_code_of_a_fix_fits_a_screen_of_100_columns(detector):
    _, *blocks = detector.page.fix.split("```")
    assert blocks
    code = [line for block in blocks[::2] for line in block.splitlines()]
    assert max(len(line) for line in code) < 92
    assert len(blocks) % 2 == 0, "a block of code is not closed"


def test_ids_are_unique_and_name_the_files():
    ids = [detector.id for detector in DETECTORS]
    assert len(set(ids)) == len(ids)
    for detector in DETECTORS:
        assert detector.detect.__module__ == f"tracekit.detectors.rules.{detector.id.replace('-', '_')}"
