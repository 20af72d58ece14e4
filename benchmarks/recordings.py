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


def usual(predictions: int, models: int = 5, *, processes: int = 0, reload: bool = False) -> Scenario:
    """Predictions one after another with a copy and work on the Neural Engine, four rows each.

    `processes` draw on the GPU meanwhile, one after another; with `reload`, each model is loaded before every second of
    its predictions, which is a finding for each.
    """
    draws = Draws(5)
    scenario = Scenario(Process("Usual", 4711), duration_ns=(predictions + models + 10) * STEP)
    used = [Model(f"Model{number}") for number in range(models)]
    others = [Process(f"Other{number}", 5000 + number) for number in range(processes)]
    for number, model in enumerate(used):
        scenario.load(model, number * STEP, STEP // 2)
    for number in range(predictions):
        start, model = (number + models) * STEP, used[number % models]
        if reload and number // models % 2:
            scenario.load(model, start - STEP // 4, STEP // 5)
        prediction = scenario.predict(model, start, draws.around(STEP * 2 // 3, 30))
        prediction.event("Input Copy", 20_000, 100_000)
        prediction.neural_engine(1_000_000, draws.around(2_000_000, 100))
        if others:
            scenario.gpu_work(start + STEP // 2, STEP // 5, others[number % processes])
    return scenario


PER_MODEL = 400
"""Predictions of each model, or during the work of each process, in recordings that grow by these."""
GROWING = {
    "models": lambda count: usual(count * PER_MODEL, count),
    "processes": lambda count: usual(count * PER_MODEL, 5, processes=count),
    "findings": lambda count: usual(count * PER_MODEL, count, reload=True),
}
"""Recordings by what they have more and more of."""


def write_growing(what: str, count: int, path: str) -> None:
    """Write a bundle with so many of these."""
    write_bundle(GROWING[what](count), Path(path))


def write_usual(predictions: int, bundle: str, export: str) -> None:
    """Write one recording of five models in both forms."""
    scenario = usual(predictions)
    write_bundle(scenario, Path(bundle))
    Path(export).mkdir()
    write_export(scenario, Path(export))


def write_many(recordings: int, predictions: int, folder: str) -> None:
    """Write bundles of one app into a folder, none of them equal to another."""
    Path(folder).mkdir()
    for number in range(recordings):
        write_bundle(usual(predictions + number, 2), Path(folder) / f"{number}.trace")


def write_large(predictions: int, path: str) -> None:
    """Write that recording: a bundle where the path says so, else a folder with its export."""
    if path.endswith(".trace"):
        write_bundle(large(predictions), Path(path))
    else:
        Path(path).mkdir()
        write_export(large(predictions), Path(path))
