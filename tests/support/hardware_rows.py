"""Hardware rows for a trace in tests, and whose they were found to be."""

from support.rows import records_of

MS = 1_000_000
GPU = "start duration event-label process cmdbuffer-id"
"""Columns of `metal-gpu-intervals` that tests write."""


def engine_label(model, operation=0, verb=" Prediction"):
    """Label of a row of the Neural Engine that names its model."""
    return f"{model}_main__Op{operation}_AneInference{verb}"


def gpu_label(model, operation=0, buffer=0):
    """Label of a GPU row that names its model; `buffer` counts the command buffers of the operation before it."""
    return f"{model}_main__Op{operation}_MpsGraphInference{'+' * buffer}:Compute Command 0   (app (42)) 0x1"


def graph_label(buffer):
    """Label of an MPS graph."""
    return f"MPSGraph:0x13af0a280 (CommandBuffer: 0x{buffer:x})"


def graphs(make, *rows):
    """A table of MPS graphs."""
    return make.table("mps-hw-intervals", "start duration event-label process", *rows)


def answers(trace):
    """(row of the prediction in the Core ML table, model, attribution) of each hardware row, by lane and row."""
    of_call = {None: None} | dict(enumerate(trace.activity.row.tolist()))
    hardware = sorted(records_of(trace.hardware), key=lambda row: (row["table"], row["row"]))
    return [(of_call[row["prediction"]], row["model"], row["attribution"]) for row in hardware]
