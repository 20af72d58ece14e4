"""Predictions that others hold up on a compute unit: one rule for all units.

How long each was held up, and for whom, is in the account of its time (`tracekit.analysis.ledger`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import tracekit.detectors as tk
from tracekit.analysis.breakdown.partition import breakdown
from tracekit.analysis.ledger.account import Account, ledger
from tracekit.analysis.ledger.explain import blockers
from tracekit.analysis.ledger.order import in_order
from tracekit.analysis.quantities import median_of
from tracekit.analysis.queues import Behind, all_waits
from tracekit.detectors.shared.wording import keep_loaded


class QueueOptions(tk.Options):
    """Thresholds of checks of a unit that works for others too."""

    wait_share: float = tk.option(
        0.2, "share of a prediction's time", "Heuristic: shorter waits are within the usual spread of latencies."
    )
    affected_share: float = tk.option(
        0.1, "share of predictions", "Heuristic: fewer predictions meet other work by chance."
    )
    cost_share: float = tk.option(
        0.02,
        "share of the model's time",
        "A fifth of a tenth, as `slowdown` and `affected_share` ask: less is not felt.",
    )
    min_predictions: int = tk.option(10, "predictions", "Heuristic: fewer predictions do not show a pattern.")


class SharedOptions(QueueOptions):
    """Thresholds where a unit may work for several at once: then others matter as far as predictions take longer."""

    slowdown: float = tk.option(
        1.2, "times a usual prediction", "Heuristic: the usual spread of latencies stays within a fifth."
    )
    explained_share: float = tk.option(
        0.5,
        "share of the extra time",
        "Heuristic: if other work explains less of the extra time, something else makes these predictions slow.",
    )


CALM = 4
"""A prediction that others hold up for one part in so many of `wait_share` counts as undisturbed (heuristic)."""
COMPARED = 5
"""So many undisturbed ones must be there to compare with (heuristic)."""


class Unit(NamedTuple):
    """A compute unit that works for others too, in the words of a rule."""

    device: tk.Device
    held_up: str
    """What predictions did: `queued behind other work on the GPU`."""
    apart: str = ""
    """What to record so that some predictions meet no other work; empty for a unit that works for one after the other,
    so that a wait shows without any."""
    hidden: str = ""
    """What is not recorded of other work: a sentence."""

    @property
    def name(self) -> str:
        """In a sentence."""
        return tk.DEVICE_NAMES[self.device]


def judge_unit(view: tk.ModelView, options: QueueOptions, unit: Unit) -> tk.Outcome:
    """Looks for predictions that take longer because the unit works for others."""
    ordered = in_order(view.trace)
    times = view.breakdown if ordered is view.trace else breakdown(ordered).of(view.predictions.id)
    on_unit = times.busy(unit.device).filled(0) > 0
    used = on_unit & (view.warm if unit.apart else True)
    count, account = int(used.sum()), ledger(view.trace).get(view.name)
    if not on_unit.any():
        return view.not_applicable(f"None of the recorded work ran on the {unit.name}.")
    if unit.device == tk.Device.ANE and (nameless := nameless_answer(view)):
        return nameless
    if count < options.min_predictions or account is None:
        return view.too_few_predictions(
            count,
            options.min_predictions,
            f"with {unit.name} work",
            adjective="warm" if unit.apart else "",
            record=keep_loaded(view, tk.RECORD_LONGER),
        )
    held_up = _held_up_ns(view.trace, account, unit.device)
    lost = held_up.sum(axis=1)
    met = account.cpu_met if unit.device == tk.Device.CPU else lost / np.maximum(view.durations, 1)
    disturbed, calm = used & (met >= options.wait_share), int((used & (met <= options.wait_share / CALM)).sum())
    if unit.apart and disturbed.sum() >= max(options.affected_share * count, 1) and calm < COMPARED:
        return view.unknown(
            f"The {unit.name} did other work during {disturbed.sum():,} of {tk.format_count(count, 'prediction')}, "
            f"and {f'only {calm:,}' if calm else 'none'} ran undisturbed; {COMPARED} needed to compare.",
            unit.apart,
        )
    delayed = disturbed & (lost > 0)
    affected = tk.above(
        "affected", f"predictions {unit.held_up}", delayed.sum() / count, "share", options.affected_share
    )
    words = f"{int(delayed.sum()):,} of {tk.format_count(count, 'prediction')} {unit.held_up}"
    if not affected.reached or not delayed.any():
        longest = tk.Metric("longest-wait", "most time lost to other work", int(lost.max()), "ns")
        said = (
            f"{words if delayed.any() else f'No prediction {unit.held_up}'} for {tk.format_share(options.wait_share)} "
        )
        said += f"or more of {'their' if delayed.any() else 'its'} time. {unit.hidden}"
        if disturbed.any() and not delayed.any():
            said = f"The {disturbed.sum():,} of {count:,} predictions that {unit.held_up} took no longer for that."
        return view.passed(said.rstrip(), (affected, longest))
    # As long as usual in the heat of its time.
    usual = account.usual_ns + np.maximum(account.ns.get(tk.Cause.HEAT, np.zeros(len(delayed), np.int64)), 0)
    return _judge_delayed(view, options, unit, delayed, (held_up[delayed], usual[delayed]), words, affected)


def _judge_delayed(
    view: tk.ModelView,
    options: QueueOptions,
    unit: Unit,
    delayed: tk.BoolArray,
    known: tuple[tk.IntArray, tk.IntArray],
    words: str,
    affected: tk.Metric,
) -> tk.Outcome:
    """The answer where enough predictions are delayed; `known` is for how long each is held up, and its usual time."""
    rows, (held_up, usual) = view.predictions.where(delayed), known
    lost = held_up.sum(axis=1)
    slowdown = median_of(rows.duration_ns / usual)
    explained = median_of(np.minimum(lost / np.maximum(rows.duration_ns - usual, 1), 1))
    times = tk.Intervals(rows.start_ns, rows.start_ns + lost).union()
    cost_ns = min(int(lost.sum()), times.covered_ns)
    cost = view.cost(
        cost_ns,
        f"Time by which other work on the {unit.name} made these predictions longer",
        longest_wait_ns=min(int(lost.max()), cost_ns),
        usual_ns=median_of(usual),
    )
    compared: tuple[tk.Metric, ...] = ()
    if isinstance(options, SharedOptions):
        compared = (
            tk.above("slowdown", "duration in usual ones", slowdown, "ratio", options.slowdown),
            tk.above("explained", "extra time explained by other work", explained, "share", options.explained_share),
        )
    median = median_of(lost)
    metrics = (
        affected,
        *compared,
        tk.above("cost", "time lost to other work", cost.share, "share", options.cost_share),
        tk.Metric("median-wait", "median time lost to other work", median, "ns"),
        tk.Metric("longest-wait", "most time lost to other work", int(lost.max()), "ns"),
    )
    summary = (
        f"{words}, which costs {tk.format_time(median)} of {tk.format_time(median_of(rows.duration_ns))} each (medians)"
    )
    if compared:
        summary += f"; they take {slowdown:.1f}x as long as usual"
    if compared and not compared[1].reached:
        share = tk.format_share(explained)
        return view.passed(f"{summary}, but other work explains only {share} of the extra time.", metrics)
    if not tk.all_reached(metrics):
        return view.passed(f"{summary}: {tk.format_share(cost.share)} of the model's time.", metrics)
    summary = f"{summary}. {_whose(view, unit, rows.id, held_up.sum(axis=0))}"
    return view.finding(summary, metrics, rows=rows, cost=cost, affected=times)


def nameless_answer(view: tk.ModelView) -> tk.NotEvaluated | None:
    """The answer where rows of the Neural Engine name no model, and others used it too; None anywhere else."""
    named = view.hardware.attribution.is_any(tk.Attribution.LABEL, tk.Attribution.EXACT)
    if (named & view.hardware.kind.is_any(tk.Kind.ANE_EXEC)).any() or not view.trace.sharing.is_shared:
        return None
    return view.unknown(
        "Neural Engine rows do not name a model here, and other work ran at the same time, so the model's own work "
        "cannot be distinguished.",
        "Record with a newer Xcode and OS, whose rows name the model, or record this model alone.",
    )


def _held_up_ns(trace: tk.Trace, account: Account, device: tk.Device) -> tk.IntArray:
    """Shape (predictions, 2): time in which other work of the app, and of other processes, held up each on a unit."""
    none = np.zeros(len(account.calls), np.int64)
    if device == tk.Device.CPU:
        return np.column_stack((account.ns.get(tk.Cause.SHARED_CPU, none), none))
    causes = (tk.Cause.QUEUED_MODELS, tk.Cause.QUEUED_PROCESSES)
    known = np.column_stack([account.ns.get(cause, none) for cause in causes])
    here, elsewhere = np.zeros_like(known), np.zeros_like(known)
    for unit, waits in all_waits(in_order(trace)).items():
        for column, behind in enumerate((Behind.MODELS, Behind.PROCESSES)):
            waited = tk.sums_by(account.calls.id, waits.call, waits.behind_ns[:, behind])
            (here if unit == device else elsewhere)[:, column] += waited
    # The GPU may also work for several at once.
    return np.maximum(known - elsewhere, 0) if device == tk.Device.GPU else np.minimum(known, here)


def _whose(view: tk.ModelView, unit: Unit, predictions: tk.IntArray, by_whom: tk.IntArray) -> str:
    """Sentence for whom it worked meanwhile. Other processes are not named: labels do not name them."""
    by_cause = blockers(view.trace, predictions)
    of_app = (*by_cause.get(tk.Cause.QUEUED_MODELS, ()), *by_cause.get(tk.Cause.SHARED_CPU, ()))
    names = dict.fromkeys(each.model for each in of_app if each.unit == unit.device and each.model)
    named = f" ({tk.format_names(list(names), 2)})" if names else ", such as drawing"
    share = by_whom[0] / by_whom.sum()
    if share >= NEARLY_ALL:
        return f"Nearly all of that work was the app's own{named}."
    if share <= 1 - NEARLY_ALL:
        return "Nearly all of that work was for other processes."
    return f"{tk.format_share(share)} of that work was the app's own{named}, the rest for other processes."


NEARLY_ALL = 0.9
"""Share from which on one side alone is named."""
