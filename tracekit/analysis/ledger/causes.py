"""What makes a prediction longer than a usual one, and how that is known."""

from __future__ import annotations

from enum import StrEnum


class Cause(StrEnum):
    """What a part of the difference is due to."""

    QUEUED_OWN = "queued_own"
    """A compute unit worked for other predictions of its model."""
    QUEUED_MODELS = "queued_models"
    """For other models, or drawing, of the process."""
    QUEUED_PROCESSES = "queued_processes"
    SHARED_CPU = "shared_cpu"
    """Other models, loads or threads of the app had the cores meanwhile."""
    PIPELINES = "pipelines"
    """The system compiled GPU code for the app."""
    SPECIALIZING = "specializing"
    """The model was prepared for a compute unit: compiled, specialized, or looked up in the cache."""
    COPIES = "copies"
    """Copies and conversions of inputs and outputs."""
    UNIT = "unit"
    """It ran on another compute unit."""
    HEAT = "heat"
    """The same work, in a hotter thermal state."""
    CLOCK = "clock"
    """The same work, in a performance state of the GPU in which it takes longer."""
    LEVEL = "level"
    """The same work takes longer from some time on, in the same thermal state."""
    PAUSE = "pause"
    """It follows a long pause, after which predictions take longer."""
    FIRST = "first"
    """It is the first after its load."""
    SHAPE = "shape"
    """It is the first of an amount of work, as of a new input shape."""
    GROWTH = "growth"
    """Predictions take longer the longer their sequence is."""
    WORK = "work"
    """Compute units worked longer for it, as for a larger input."""
    BLOCKED = "blocked"
    """Its thread did not run."""
    NOT_VISIBLE = "not_visible"
    """Nothing that was recorded shows it."""


QUEUED = (Cause.QUEUED_OWN, Cause.QUEUED_MODELS, Cause.QUEUED_PROCESSES)
"""In the order of `tracekit.analysis.queues.Behind`."""
OWN = tuple(cause for cause in Cause if cause not in QUEUED)
"""All but waits for units."""
PREPARING = (Cause.SPECIALIZING, Cause.PIPELINES)
"""No part of a usual prediction, however many spend time on it."""


class Known(StrEnum):
    """What a part is known from."""

    ROWS = "rows"
    """Rows that name their model, or lie in this prediction alone."""
    SAMPLES = "samples"
    """Call stacks."""
    STATES = "states"
    """What the thread was waiting for in each sample."""
    ORDER = "order"
    """Rows that could be of several predictions in flight, in the order of submission."""
    COINCIDENCE = "coincidence"
    """Something that happened meanwhile: a state, a compilation, a hang, a thread that was not sampled."""
    PATTERN = "pattern"
    """What many predictions have in common: their place after a load or a pause, or in a sequence."""
    REST = "rest"
    """What is left over."""


NAMES = {
    Cause.QUEUED_OWN: "queued behind predictions of this model",
    Cause.QUEUED_MODELS: "queued behind other work of the app",
    Cause.QUEUED_PROCESSES: "queued behind other processes",
    Cause.SHARED_CPU: "CPU shared with other work of the app",
    Cause.PIPELINES: "compiling Metal pipelines",
    Cause.SPECIALIZING: "specialization",
    Cause.COPIES: "copies and conversions",
    Cause.UNIT: "another compute unit",
    Cause.HEAT: "heat",
    Cause.CLOCK: "slower clock of the GPU",
    Cause.LEVEL: "lasting slowdown",
    Cause.PAUSE: "first after a gap",
    Cause.FIRST: "first after a load",
    Cause.SHAPE: "first with this amount of work",
    Cause.GROWTH: "growth with the sequence",
    Cause.WORK: "work of its own",
    Cause.BLOCKED: "blocked thread",
    Cause.NOT_VISIBLE: "not visible in the recording",
}
"""What a part is called in a few words."""
