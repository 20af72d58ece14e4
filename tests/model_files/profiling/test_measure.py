"""Outputs before and after, with a Core ML that computes what a test says."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tracekit.model_files.profiling import measure


@pytest.fixture
def runs(monkeypatch):
    """Lets models run: the functions compute the one output of the first and the second model."""

    def put(*computed) -> list[dict]:
        given, each = [], iter(computed)

        def load(_compiled: Path, choice: str):
            compute = next(each)
            assert choice == "all"
            return SimpleNamespace(
                predict=lambda inputs, _state: given.append(inputs) or {"y": compute(inputs["x"]), "label": "cat"}
            )

        runtime = SimpleNamespace(compile=lambda _, target: target, load=load, image=None)
        monkeypatch.setattr(measure.platform, "system", lambda: "Darwin")
        monkeypatch.setattr(measure.core_ml, "runtime", lambda: runtime)
        return given

    return put


def test_the_largest_difference_is_that_of_the_same_inputs(inspected, runs):
    before, after = inspected("target_iOS16"), inspected("float16_interface")
    given = runs(lambda x: x * 2, lambda x: x * 2 + np.float16(0.25))
    found, reason = measure.compare_outputs((before, Path("a")), (after, Path("b")))
    assert reason == ""
    # Rounding to Float16 adds a little.
    assert found == {"y": pytest.approx(0.25, abs=0.002)}
    one, other = (inputs["x"] for inputs in given)
    assert (one.dtype, other.dtype, one.shape) == (np.float32, np.float16, (1, 32, 8, 8))
    np.testing.assert_array_equal(one.astype(np.float16), other)


def test_a_model_that_does_not_run_is_said(inspected, runs):
    def fail(_x: object) -> None:
        raise RuntimeError("no such unit\nhere")

    runs(fail)
    side = (inspected("target_iOS16"), Path("a"))
    assert measure.compare_outputs(side, side) == ({}, "no such unit here")


def test_elsewhere_nothing_is_compared(inspected, monkeypatch):
    monkeypatch.setattr(measure.platform, "system", lambda: "Linux")
    side = (inspected("target_iOS16"), Path("a"))
    assert measure.compare_outputs(side, side) == ({}, "needs a Mac")
