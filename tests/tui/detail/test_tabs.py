"""What stands on the tabs where there is little room."""

from __future__ import annotations

import pytest

from tracekit.tui.detail.tabs import Tab, tab_texts


@pytest.mark.parametrize("width", [30, 48, 60, 80, 200])
def test_tabs_fit_or_lose_what_matters_least(width) -> None:
    tabs = [Tab(str(at), f"{at} Title of {at}", "1,234", f"{at} Short") for at in range(6)]
    texts = tab_texts(tabs, width)
    assert len(texts) == 6
    assert all(text.strip().startswith(str(at)) for at, text in enumerate(texts))
    assert sum(map(len, texts)) <= width
    if width == 200:
        assert texts[0] == " 0 Title of 0 (1,234) "
    if width == 80:
        # One badge more fits where no title has to be shorter for it.
        assert texts[0] == " 0 Title of 0"
        assert tab_texts(tabs[:5], width)[:2] == [" 0 Title of 0 (1,234)", " 1 Title of 1"]
    if width == 60:
        # 13 and a blank for a title, 7 and a blank for a short one.
        assert texts == [" 0 Title of 0", " 1 Title of 1", *(f" {at} Short" for at in range(2, 6))]
    if width == 48:
        assert "".join(texts) == "".join(f" {at} Short" for at in range(6))
