"""The verdict on a build: limits, findings, and the comparison with a baseline. Nothing passes in silence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from tracekit.comparison.against_baseline import (
    environment_items,
    held_models,
    method_items,
    model_items,
    new_finding_items,
)
from tracekit.comparison.against_settings import finding_items, limit_items, suppression_items
from tracekit.comparison.comparison import OF_ANSWERS, Comparison, check_repeats, compare, one_is_hot
from tracekit.comparison.doubts import Reason
from tracekit.comparison.figures import ModelFigures, figures_of
from tracekit.comparison.settings import CheckSettings, Floors
from tracekit.comparison.verdict import Item, Verdict

if TYPE_CHECKING:
    from tracekit.comparison.baseline import Baseline
    from tracekit.comparison.measurements import Measurements


@dataclass(frozen=True, slots=True)
class Allowed:
    """What would fail or stop a check, and is allowed for this one."""

    environment_change: bool = False
    missing: tuple[str, ...] = ()
    """Patterns of models that may be gone since the baseline."""
    no_baseline: bool = False
    """There is no baseline yet."""


SCHEMA_VERSION = 1
"""Raised when a key of the JSON changes its name or its meaning."""


@dataclass(frozen=True, slots=True)
class Gate:
    """All that was checked."""

    verdict: Verdict
    """Never `Verdict.NOT_COUNTED`."""
    items: tuple[Item, ...]
    """What decides first."""
    comparison: Comparison | None
    """With the baseline; None without one."""
    models: tuple[ModelFigures, ...] = ()
    """Those of the recordings, whether they have limits or not."""
    schema_version: int = SCHEMA_VERSION


def check(
    recordings: Sequence[Measurements],
    settings: CheckSettings,
    baseline: Baseline | None,
    *,
    today: date,
    allowed: Allowed | None = None,
    renames: Mapping[str, str] | None = None,
    floors: Floors | None = None,
    problems: Sequence[Item] = (),
) -> Gate:
    """Check recordings of one build. `renames` maps names of models in the baseline to those in the recordings;
    `problems` are items about recordings and a baseline that could not be read.

    Raises `UsageError` for a recording that is given twice, and where `compare` does.
    """
    allowed, floors = allowed or Allowed(), floors or Floors()
    check_repeats(recordings)
    models = figures_of(recordings)
    items = list(problems)
    if not recordings and not problems:
        items.append(Item(Verdict.ERROR, "input", None, "no recording, so nothing was checked"))
    comparison = None
    if baseline is not None and recordings:
        comparison = compare(baseline.recordings, recordings, renames=renames, floors=floors)
        comparison = replace(comparison, notes=tuple(one for one in comparison.notes if one not in OF_ANSWERS))
        # What makes all the rest doubtful comes first.
        items = [*environment_items(baseline, recordings, comparison, allowed=allowed.environment_change), *items]
    items += _inputs(recordings, allowed)
    if not items and not settings.limits and not settings.findings and baseline is None:
        text = "nothing to check against: 'tracekit init RECORDING' writes limits; or give --baseline"
        items.append(Item(Verdict.ERROR, "config", None, text))
    if recordings:
        items += limit_items(models, settings)
        items += finding_items(recordings, settings, today)
    items += suppression_items(recordings, settings, today)
    if baseline is not None and comparison is not None:
        items += method_items(baseline)
        held = held_models(baseline.recordings, recordings, comparison, floors)
        if one_is_hot(baseline.recordings, recordings) and not allowed.environment_change:
            held = {name: one and replace(one, passed=None, reason=Reason.HOT) for name, one in held.items()}
        items += model_items(comparison, held, allowed.missing)
        items += new_finding_items(comparison, baseline, settings, today)
    return gate_of(items, comparison, models)


def gate_of(items: Sequence[Item], comparison: Comparison | None = None, models: tuple[ModelFigures, ...] = ()) -> Gate:
    """The verdict on items: that of the worst. Without any, nothing was checked."""
    order = list(Verdict)
    ordered = tuple(sorted(items, key=lambda item: order.index(item.verdict)))
    verdict = ordered[0].verdict if ordered else Verdict.ERROR
    return Gate(Verdict.PASSED if verdict is Verdict.NOT_COUNTED else verdict, ordered, comparison, models)


def _inputs(recordings: Sequence[Measurements], allowed: Allowed) -> list[Item]:
    items = []
    for recording in recordings:
        if not any(model.predictions for model in recording.models):
            text = f"{recording.source} contains no predictions"
            items.append(Item(Verdict.ERROR, "input", None, text, recording.source))
    if allowed.no_baseline:
        text = "there is no baseline yet, so nothing was compared; save one with `tracekit check --save-baseline`"
        items.append(Item(Verdict.NOT_COUNTED, "baseline", None, text, None, ("baseline",)))
    return items
