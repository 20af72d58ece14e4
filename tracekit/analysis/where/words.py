"""Where a model ran, in one sentence."""

from __future__ import annotations

from tracekit.analysis.where.verdict import Answer, UnitUse, Whereabouts
from tracekit.trace.events import DEVICE_NAMES, Device
from tracekit.units import format_count, format_share


def unit_name(use: UnitUse) -> str:
    """As Apple calls it."""
    return DEVICE_NAMES[Device(use.unit)]


def where_words(where: Whereabouts) -> str:
    """`Neural Engine in 140 of 140 predictions (61% of their time), not on GPU or CPU`, and what is unknown."""
    used = any(each.answer == Answer.PROVEN for each in where.units)
    open_units = (each for each in where.units if each.answer == Answer.UNKNOWN and (used or each.unit == Device.ANE))
    unknown = [f"{unit_name(each)} unknown ({each.why})" for each in open_units]
    if not where.predictions:
        return unknown[0]
    # Where nothing is proven, what is unknown comes first.
    said = known_words(where)
    return "; ".join(filter(None, (said, *unknown) if used else (*unknown, said)))


def known_words(where: Whereabouts) -> str:
    """`where_words` without what is unknown; empty where all is."""
    used = sorted((each for each in where.units if each.answer == Answer.PROVEN), key=lambda use: -use.time_ns)
    worked = " and ".join(_count(where, use, first=not at) for at, use in enumerate(used))
    refuted = [unit_name(each) for each in where.units if each.answer == Answer.REFUTED]
    engine = DEVICE_NAMES[Device.ANE]
    if used and engine in refuted:
        refuted.remove(engine)
        worked = f"not on the {engine}: {worked}"
    return ", ".join(filter(None, (worked, f"not on {' or '.join(refuted)}" if refuted else "")))


def _count(where: Whereabouts, use: UnitUse, *, first: bool) -> str:
    noun = f" of {format_count(where.predictions, 'prediction')}" if first else ""
    share = f"{format_share(use.share_of_time)}{' of their time' if first else ''}" if use.share_of_time else ""
    share = f"at least {share}" if share and (use.why or use.maybe) else share
    details = "; ".join(filter(None, (share, use.why)))
    least = "at least " if use.maybe else ""
    return f"{unit_name(use)} in {least}{use.predictions:,}{noun}" + (f" ({details})" if details else "")


def predictions_words(where: Whereabouts, use: UnitUse) -> str:
    """`140 of 140`, `at least 22 of 40`."""
    count = f"{'at least ' if use.maybe and use.predictions else ''}{use.predictions:,} of {where.predictions:,}"
    return f"{count}, {where.left_out:,} without a duration" if where.left_out else count


def compute_words(use: UnitUse) -> str:
    """Share of compute, or its bounds: `57%`, `29% to 65%`; empty where nothing is known."""
    if use.least_share is None or use.most_share is None:
        return ""
    low, high = format_share(use.least_share), format_share(use.most_share)
    return low if low == high else f"{low} to {high}"
