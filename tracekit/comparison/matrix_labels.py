"""What the columns of a matrix are called: as is asked for, or by what distinguishes the recordings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tracekit.errors import UsageError, unknown
from tracekit.units import format_count

if TYPE_CHECKING:
    from tracekit.comparison.matrix import Source

PLACEHOLDERS = ("{device}", "{system}", "{units}", "{name}")
"""What a label may take from the recording."""


def labels_of(sources: Sequence[Source], given: Sequence[str | None]) -> list[str]:
    """A label for each source: the one that is given, its placeholders filled in; else what distinguishes it from the
    others.

    That is what differs of device, system and compute units, or the name where that is not enough; names that occur
    more than once get a number.
    """
    facts = [(source.device, source.system, ", ".join(source.units) or None) for source in sources]
    differing = [index for index in range(3) if len({fact[index] for fact in facts}) > 1]
    told = [" · ".join(fact[index] or "not recorded" for index in differing) for fact in facts]
    if not differing or len(set(told)) < len(told):
        names = [source.name for source in sources]
        nth = [names[:at].count(name) + 1 for at, name in enumerate(names)]
        told = [f"{name} ({at})" if names.count(name) > 1 else name for name, at in zip(names, nth, strict=True)]
    return [
        differences if label is None else _label_text(label, source)
        for source, label, differences in zip(sources, given, told, strict=True)
    ]


def _label_text(label: str, source: Source) -> str:
    values = (source.device, source.system, ", ".join(source.units) or None, source.name)
    for placeholder, value in zip(PLACEHOLDERS, values, strict=True):
        label = label.replace(placeholder, value or "not recorded")
    return label


def expanded_labels(labels: Sequence[str], counts: Sequence[int]) -> list[str | None]:
    """The label of each recording, of labels for each path and the recordings that it means.

    One label counts for all paths. Raises `UsageError` for any other number than that of the paths, and for a
    placeholder that does not exist.
    """
    for placeholder in (match for label in labels for match in re.findall(r"\{\w*\}", label)):
        if placeholder not in PLACEHOLDERS:
            raise unknown("placeholder in --label", placeholder, PLACEHOLDERS)
    if not labels:
        return [None] * sum(counts)
    if len(labels) == 1:
        return [labels[0]] * sum(counts)
    if len(labels) != len(counts):
        raise UsageError(
            f"--label is given {len(labels)} times for {format_count(len(counts), 'path')}; give one for each, or "
            "one for all, such as '{device}'"
        )
    return [label for label, count in zip(labels, counts, strict=True) for _ in range(count)]
