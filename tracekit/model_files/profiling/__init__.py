"""Runs models with Core ML on a Mac and times them: `profile(path, ...)` gives a `PerformanceReport` for each choice of
compute units. Only `core_ml.py` talks to Core ML."""
