"""Models of every kind, built once for all processes of a run."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

from support.models import build
from tracekit.model_files import ModelFile, read_model

Read = Callable[[str], ModelFile]


@pytest.fixture(scope="session")
def models(shared_folder: Path) -> Path:
    """Folder with the models of `support.models`. The process that comes first builds them."""
    folder = shared_folder / "models"
    with (shared_folder / "models.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            if find_spec("coremltools") is None:
                pytest.skip("coremltools, which builds the models, is not available for this platform and Python")
            build(folder)
    return folder


@pytest.fixture(scope="session")
def read(models: Path) -> Read:
    """Facts of a built model by its name without suffix."""

    @cache
    def facts(name: str) -> ModelFile:
        (path,) = models.glob(f"{name}.ml*")
        return read_model(path)

    return facts
