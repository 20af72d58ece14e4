"""Plots without a screen."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _kept(kept_samples: None) -> None:
    """Recordings of a notebook are samples."""


@pytest.fixture
def figures() -> Iterator[None]:
    """Figures in memory, let go of after the test."""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")
