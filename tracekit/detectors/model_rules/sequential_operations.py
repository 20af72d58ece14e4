"""`sequential-operations`: recurrent layers and control flow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.framework import ModelFileDetector
from tracekit.detectors.model_rules.shared import UNITS, NoOptions, code, listed, no_operations
from tracekit.detectors.outcomes import Finding, Metric, Passed
from tracekit.detectors.patterns import Pattern
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.detectors.framework import InspectedModel
    from tracekit.detectors.outcomes import Outcome

RECURRENT = ("lstm", "gru", "rnn", "uni_directional_lstm", "bi_directional_lstm", "simple_recurrent")
"""Operations of programs and layers of networks that go through a sequence step by step."""
CONTROL_FLOW = (
    "while_loop",
    "cond",
    "loop",
    "branch",
    "make_list",
    "list_read",
    "list_write",
    "list_gather",
    "list_scatter",
)


def detect(view: InspectedModel, _options: NoOptions) -> Outcome:
    """Counts them."""
    model = view.model
    counts = dict(model.counts)
    if not counts:
        return no_operations(model)
    sequential = {name: counts[name] for name in (*RECURRENT, *CONTROL_FLOW) if name in counts}
    metrics = (Metric("recurrent and control-flow operations", sum(sequential.values()), "count"),)
    if not sequential:
        return Passed(model.name, "No recurrent or control-flow operation.", metrics)
    words = listed(f"{count:,} {code(name)}" for name, count in sequential.items())
    total = sum(counts.values())
    among = f" among {format_count(total, 'operation')}" if total > sum(sequential.values()) else ""
    return Finding(
        model.name,
        f"{words}{among}: may run on the CPU{', and may split the rest' if among else ''}.",
        metrics,
        None,
        (),
    )


DESCRIPTION = """
Recurrent layers (`lstm`, `gru`, `rnn`), loops, conditions and lists go step by step. They may not run on the Neural
Engine, and work that goes from unit to unit may cost more than it saves.

## How it is measured

Operations of these types are counted, in loops too.

## Not a problem when

- The step is small beside the rest of the model.
- The model is meant for the CPU.
"""

FIX = """
Take the steps out of the model, as far as it allows:

- Run one step per prediction and keep the hidden state between predictions: as `MLState` (iOS 18, macOS 15 or later),
  or as an input and an output.
- Replace recurrent layers by convolutions or attention over a fixed window.
- Unroll loops whose number of steps is fixed, and take conditions out of the model: two models, or two functions of one
  (iOS 18, macOS 15 or later).
"""

DETECTOR = ModelFileDetector(
    id="sequential-operations",
    title="No recurrent or control-flow operations",
    finding_title="Recurrent or control-flow operations may keep work off the Neural Engine",
    pattern=Pattern.SLOW_ON_ONE_DEVICE,
    description=DESCRIPTION,
    why="They may run on the CPU, and the work before and after them may be split.",
    fix=FIX,
    references=(UNITS,),
    options=NoOptions,
    detect=detect,
)
