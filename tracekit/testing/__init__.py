"""Recordings with known contents, to test detectors and readers with.

Describe what happened as a `Scenario`, write it with `write_export` or `write_bundle`, and compare what an analysis
finds with `ground_truth`. Nothing here uses the rest of tracekit, so the two cannot share a mistake.
"""

from __future__ import annotations

from tracekit.testing.bundle import write_bundle
from tracekit.testing.expectations import Expected
from tracekit.testing.export_xml import write_export, write_single_export
from tracekit.testing.ground_truth import GroundTruth, ModelTruth, ground_truth
from tracekit.testing.machines import Machine, Process
from tracekit.testing.rng import Draws
from tracekit.testing.rows import Model, PointRow, SignpostRow, StateRow
from tracekit.testing.scenario import Prediction, Scenario

__all__ = [
    "Draws",
    "Expected",
    "GroundTruth",
    "Machine",
    "Model",
    "ModelTruth",
    "PointRow",
    "Prediction",
    "Process",
    "Scenario",
    "SignpostRow",
    "StateRow",
    "ground_truth",
    "write_bundle",
    "write_export",
    "write_single_export",
]
