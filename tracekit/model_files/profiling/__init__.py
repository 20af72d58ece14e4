"""Runs models with Core ML on a Mac and times them: `profile(path, ...)` gives a `PerformanceReport` for each choice of
compute units. Only `core_ml.py` talks to Core ML, through the protocol in `runtime.py`."""

from tracekit.model_files.profiling.measure import Failure, Profile, profile
from tracekit.model_files.profiling.runtime import Loaded, Runtime

__all__ = ["Failure", "Loaded", "Profile", "Runtime", "profile"]
