"""The recordings that benchmarks write."""

from __future__ import annotations

from pathlib import Path

from tracekit.testing import Draws, Model, Process, Scenario, write_bundle, write_export

STEP = 10_000_000
"""Between the starts of two predictions, in ns."""


def large(predictions: int) -> Scenario:
    """Predictions one after another, with data, compute and hardware intervals."""
    draws = Draws(5)
    scenario = Scenario(Process("Large", 4711), duration_ns=(predictions + 10) * STEP)
    models = [Model(f"Model{number}") for number in range(4)]
    for number, model in enumerate(models):
        scenario.load(model, number * STEP, STEP // 2)
    for number in range(predictions):
        start = (number + 4) * STEP
        prediction = scenario.predict(models[number % 4], start, draws.around(STEP * 2 // 3, 30))
        for event, offset, length in (
            ("Input Validation", 1_000, 10_000),
            ("Input Copy", 20_000, 100_000),
            ("Data Cast", 200_000, 100_000),
            ("Neural Engine - Data Copy", 400_000, 200_000),
            ("Output Transformation", 4_000_000, 100_000),
        ):
            prediction.event(event, offset, length)
        prediction.neural_engine(1_000_000, draws.around(2_000_000, 100))
        prediction.gpu(3_100_000, draws.around(500_000, 100))
    return scenario


def write_large(predictions: int, path: str) -> None:
    """Write that recording: a bundle where the path says so, else a folder with its export."""
    if path.endswith(".trace"):
        write_bundle(large(predictions), Path(path))
    else:
        Path(path).mkdir()
        write_export(large(predictions), Path(path))
