"""Recordings with known contents, to test a detector with. What is listed here stays; the modules below may change.

Ways to describe a recording, from the exact to the lifelike:

- `Scenario`: row by row. `predict`, `load`, `gpu_work` and so on add what happened, to the nanosecond.
- `App`, by `start_recording`: one thread of an app. `predict` with steps (`cpu`, `gpu`, `neural_engine`) moves the time
  on and writes the rows that belong to them. The modules `apps` and `threads` have whole apps and usual threads.
- `CoreAIChat`, `Session`: requests to a language model, added to a `Scenario`.
- `Simulation`: several models, threads or processes that queue for the same hardware. The module `frames` has a screen
  on which an app shows frames meanwhile.

`read_rows` gives the rows that somebody attached to an issue (`tracekit analyze -o findings.zip --rows`), for the
`other_tables` of a `Scenario`. `App.finish` and `Simulation.run` give a `Scenario`. `write_export` and
`write_bundle` write it as files that tracekit reads. What must be found follows from the description; nothing here
uses the rest of tracekit, so the two cannot share a mistake.
"""

from __future__ import annotations

from tracekit.testing import apps, frames, threads
from tracekit.testing.bundle.write import write_bundle
from tracekit.testing.export_xml import write_export, write_single_export
from tracekit.testing.language_models import CoreAIChat, Session
from tracekit.testing.machines import Machine, Process
from tracekit.testing.recorder import App, start_recording
from tracekit.testing.rng import Draws
from tracekit.testing.rows import LoggedRow, MemoryRow, Model, PointRow, ShaderRow, SignpostRow, StateRow
from tracekit.testing.scenario import Prediction, Scenario
from tracekit.testing.schemas import read_rows
from tracekit.testing.simulation import Simulation
from tracekit.testing.work import Stage, Step, cpu, gpu, neural_engine

__all__ = [
    "App",
    "CoreAIChat",
    "Draws",
    "LoggedRow",
    "Machine",
    "MemoryRow",
    "Model",
    "PointRow",
    "Prediction",
    "Process",
    "Scenario",
    "Session",
    "ShaderRow",
    "SignpostRow",
    "Simulation",
    "Stage",
    "StateRow",
    "Step",
    "apps",
    "cpu",
    "frames",
    "gpu",
    "neural_engine",
    "read_rows",
    "start_recording",
    "threads",
    "write_bundle",
    "write_export",
    "write_single_export",
]
