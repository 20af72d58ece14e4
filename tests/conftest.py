"""Fixtures that every test may use."""

from __future__ import annotations

from pathlib import Path

import pytest

CORPUS = Path(__file__).resolve().parents[2] / "shared" / "corpus"
SAMPLES = Path(__file__).resolve().parents[1] / "sample_traces"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--update-goldens`."""
    parser.addoption("--update-goldens", action="store_true", help="write the golden files anew instead of comparing")


@pytest.fixture(scope="session")
def update_goldens(request: pytest.FixtureRequest) -> bool:
    """Whether to write golden files anew. Whoever does so reads the difference before committing it."""
    return bool(request.config.getoption("--update-goldens"))


@pytest.fixture(scope="session")
def corpus() -> Path:
    """Folder of real recordings; the test is skipped where it is absent."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real recordings (../shared/corpus) is not here")
    return CORPUS


@pytest.fixture(scope="session")
def samples() -> Path:
    """Folder of the sample recordings."""
    return SAMPLES
