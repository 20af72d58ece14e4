"""The page of a detector, put together from its metadata, as `tracekit explain` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors.options import option_infos

if TYPE_CHECKING:
    from tracekit.detectors.framework import AnyDetector


def page_markdown(detector: AnyDetector) -> str:
    """Markdown: what it is, how it is measured, thresholds and where they come from, the fix, the sources."""
    sources = ["## Sources", "", *(f"- [{source.title}]({source.url})" for source in detector.references)]
    parts = [
        f"# {detector.id}",
        f"**{detector.finding_title}.** {detector.why}",
        f"Pattern of the Core ML diagnostic tree: {detector.pattern}.",
        detector.description.strip(),
        needs_sentence(detector),
        _thresholds(detector),
        f"## Fix\n\n{detector.fix.strip()}",
        "\n".join(sources),
    ]
    return "\n\n".join(parts) + "\n"


def needs_sentence(detector: AnyDetector) -> str:
    """What must have been recorded for the detector to look, and what it uses beside that."""
    sentence = f"Needs rows of: {', '.join(detector.needs)}." if detector.needs else "Looks at every recording."
    if detector.uses:
        sentence += f" Uses where recorded: {', '.join(detector.uses)}."
    if detector.on_inferred:
        sentence += " Can judge predictions inferred from hardware."
    return sentence


def _thresholds(detector: AnyDetector) -> str:
    infos = option_infos(detector)
    if not infos:
        return "## Thresholds\n\nNone: it reports what it sees."
    lines = [
        "## Thresholds",
        "",
        "| option | default | unit | where the number comes from |",
        "|---|---|---|---|",
        *(f"| `{info.name}` | {info.default} | {info.unit} | {info.basis} |" for info in infos),
        "",
        f"Change one with `tracekit analyze PATH --set {detector.id}.{infos[0].name}={infos[0].default}`.",
    ]
    return "\n".join(lines)
