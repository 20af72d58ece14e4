"""The order of findings, what fixing each one would save beyond those before it, and which lead to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import accumulate, pairwise

from tracekit.detectors.framework import Judgment
from tracekit.detectors.outcomes import Finding, Savings, Severity, Unknown, lost_ns, severity_of
from tracekit.grouping import grouped


class Relation(StrEnum):
    """What another finding may be to this one, as detectors know of each other: no recording shows what caused what."""

    CAUSED_BY = "possible_cause"
    CAUSES = "possible_effect"


@dataclass(frozen=True, slots=True)
class Related:
    """Another finding of the same report that may share its cause with this one."""

    id: str
    """The check."""
    model: str | None
    """Model of the finding; None for the whole recording."""
    relation: Relation
    """Whether it is a possible cause or a possible effect."""


@dataclass(frozen=True, slots=True)
class RankedFinding:
    """A finding in its place."""

    judgment: Judgment
    savings: Savings | Unknown | None
    """What its fix saves, in its place among the others."""
    related: tuple[Related, ...]


def rank(
    judgments: Iterable[Judgment], together: Callable[[Sequence[str]], int] = lambda _: 0
) -> tuple[RankedFinding, ...]:
    """The findings among the judgments, by detector: the worst severity first, of the same severity causes before what
    they bring about, and then the time that is lost to the findings of a detector, largest first. The findings of a
    detector in the same way. `together` gives what the fixes of some detectors save.
    """
    groups = grouped(
        (judgment.detector.id, judgment) for judgment in judgments if isinstance(judgment.outcome, Finding)
    )
    for group in groups.values():
        group.sort(key=lambda entry: (*_weight([entry]), entry.outcome.model or ""))
    names = sorted(groups, key=lambda name: (*_weight(groups[name]), name))
    names = _causes_first(names, groups)
    order = [entry for name in names for entry in groups[name]]
    own = {name: [_saved_ns(_finding(entry)) for entry in groups[name]] for name in names}
    extra = _extra(names, own, together)
    related = _related_findings(order)
    # Several findings of a check share what all of them save.
    shares = {name: len(saved) > 1 and None not in saved for name, saved in own.items()}
    alone = (each for name in names for each in (_spread(together([name]), own[name]) if shares[name] else own[name]))
    return tuple(
        RankedFinding(
            entry,
            replace(savings, total_ns=own_ns or 0, extra_ns=extra_ns or 0)
            if isinstance(savings := _finding(entry).savings, Savings)
            else savings,
            links,
        )
        for entry, own_ns, extra_ns, links in zip(order, alone, extra, related, strict=True)
    )


def _weight(group: Sequence[Judgment]) -> tuple[int, int, float]:
    """What orders findings of checks, smallest first: worst severity, which the first has, time lost, share not as
    asked."""
    findings = [_finding(entry) for entry in group]
    lost = sum(lost_ns(finding) for finding in findings)
    return list(Severity).index(severity_of(findings[0])), -lost, -(findings[0].missed or 0.0)


def _causes_first(names: Sequence[str], groups: Mapping[str, Sequence[Judgment]]) -> list[str]:
    """The names, sorted by weight, with causes before what they bring about among those of the same severity."""
    severity = {name: _weight(groups[name])[0] for name in names}
    ordered: list[str] = []

    def place(name: str, effects: tuple[str, ...] = ()) -> None:
        causes = groups[name][0].detector.caused_by
        for cause in names:
            if cause in causes and severity[cause] == severity[name] and cause not in (*ordered, *effects, name):
                place(cause, (*effects, name))
        if name not in ordered:
            ordered.append(name)

    for name in names:
        place(name)
    return ordered


def _extra(
    names: Sequence[str], own: Mapping[str, Sequence[int | None]], together: Callable[[Sequence[str]], int]
) -> Iterator[int | None]:
    """For each finding, what its fix saves beyond those of the checks before it: what all save together, spread over
    the findings of a check as they save alone."""
    known = [name for name in names if None not in own[name]]
    total_ns, before_ns = together(known), 0
    for name in names:
        if name not in known:
            yield from (None for _ in own[name])
            continue
        # What two fixes save only together counts for the later one.
        with_this_ns = min(max(together(known[: known.index(name) + 1]), before_ns), total_ns)
        yield from _spread(with_this_ns - before_ns, own[name])
        before_ns = with_this_ns


def _spread(total_ns: int, alone: Sequence[int | None]) -> Iterator[int]:
    """A time spread over findings as they save alone."""
    parts = [*accumulate(each or 0 for each in alone)] if any(alone) else [1] * len(alone)
    yield from (end - start for start, end in pairwise((0, *(total_ns * part // parts[-1] for part in parts))))


def _finding(judgment: Judgment) -> Finding:
    assert isinstance(judgment.outcome, Finding)  # noqa: S101 - tells mypy what `rank` has just chosen
    return judgment.outcome


def _saved_ns(finding: Finding) -> int | None:
    return finding.savings.total_ns if isinstance(finding.savings, Savings) else None


def _related_findings(order: Sequence[Judgment]) -> list[tuple[Related, ...]]:
    """For each finding those that can cause it or be caused by it, in order. O(findings + pairs that are related)."""
    by_id: dict[str, dict[str | None, list[int]]] = {}
    for index, entry in enumerate(order):
        by_id.setdefault(entry.detector.id, {}).setdefault(entry.outcome.model, []).append(index)
    pairs_of: list[list[tuple[int, Related]]] = [[] for _ in order]
    for effect, entry in enumerate(order):
        for name in dict.fromkeys(entry.detector.caused_by):
            for cause in _meeting(by_id.get(name, {}), entry.outcome.model):
                # Evidence shows all models, unless it is a selection.
                one, other = (_finding(judgment).models for judgment in (order[cause], entry))
                if one is not None and other is not None and one.isdisjoint(other):
                    continue
                model = order[cause].outcome.model
                pairs_of[effect].append((cause, Related(name, model, Relation.CAUSED_BY)))
                pairs_of[cause].append((effect, Related(entry.detector.id, entry.outcome.model, Relation.CAUSES)))
    return [tuple(related for _, related in sorted(pairs, key=lambda pair: pair[0])) for pairs in pairs_of]


def _meeting(by_model: dict[str | None, list[int]], model: str | None) -> list[int]:
    """Indices of the findings about this model or the recording; all of them for a finding about the recording."""
    if model is None:
        return [index for indices in by_model.values() for index in indices]
    return [*by_model.get(model, ()), *by_model.get(None, ())]
