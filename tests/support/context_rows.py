"""Rows beside predictions, in every table that has such."""

from __future__ import annotations

from support.scenarios import derive_gpu_states
from tracekit.testing.machines import WINDOW_SERVER
from tracekit.testing.metal import encode_graphs
from tracekit.testing.rows import PointRow, SignpostRow, StateRow
from tracekit.testing.scenario import Scenario

MS = 1_000_000


def add_context(scenario: Scenario) -> None:
    """Adds work of others on the GPU, states, a hang, a point of interest and a signpost; two rows are at one time."""
    scenario.gpu_work(5 * MS, 600_000, WINDOW_SERVER, frame=7)
    scenario.gpu_work(6 * MS, 600_000, None, channel="Compute", label="")
    derive_gpu_states(scenario)
    scenario.thermal.append(StateRow(0, 2_000 * MS, "Fair"))
    scenario.gpu_performance.append(StateRow(50 * MS, 70 * MS, "Maximum"))
    encode_graphs(scenario)
    scenario.compile_shader(8 * MS, 2 * MS)
    scenario.compile_shader(9 * MS, MS, "Fragment", WINDOW_SERVER)
    scenario.hang(400 * MS, 120 * MS)
    scenario.points.append(PointRow(7 * MS, "Shutter", "com.example.camera", "photo 1"))
    scenario.signposts.append(SignpostRow(5 * MS, 60 * MS, "Frame", "com.example.camera", "render", "n=1"))
