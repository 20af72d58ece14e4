"""The patterns of the Core ML diagnostic tree, and which of them a recording can show at all.

Source: the project's own diagnostic guide for Core ML (load failure, performance, memory, accuracy, conversion).
"""

from __future__ import annotations

from enum import StrEnum


class Pattern(StrEnum):
    """A leaf of the diagnostic tree; the value is what the report calls it."""

    UNSUPPORTED_VERSION = "1a unsupported model version"
    NO_COMPUTE_PLAN = "1b no compute plan"
    OTHER_LOAD_FAILURE = "1c other load failure"
    SLOW_FIRST_LOAD = "2a cache miss or slow first load"
    SLOW_PREDICTIONS = "2b all predictions slow"
    SLOW_ON_ONE_DEVICE = "2c slow on one device"
    MEMORY_GROWS = "3a memory grows"
    OUT_OF_MEMORY_ON_LOAD = "3b out of memory on load"
    PALETTIZATION_ACCURACY = "4a accuracy after palettization"
    QUANTIZATION_ACCURACY = "4b accuracy after quantization"
    PRUNING_ACCURACY = "4c accuracy after pruning"
    UNSUPPORTED_OPERATION = "5a operation not supported"
    WRONG_OUTPUT = "5b wrong output"
    RECORDING = "the recording itself"
    """Not of the tree: whether the recording shows what it should."""
