"""The page of a detector, put together from its metadata, as `tracekit explain` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tracekit.detectors.options import option_infos

if TYPE_CHECKING:
    from tracekit.detectors.framework import Detector


def page_markdown(detector: Detector[Any]) -> str:
    """Markdown: what it is, how it is measured, thresholds and where they come from, the fix, the sources."""
    infos = option_infos(detector)
    thresholds = [
        "## Thresholds",
        "",
        "| option | default | unit | where the number comes from |",
        "|---|---|---|---|",
        *(f"| `{info.name}` | {info.default} | {info.unit} | {info.basis} |" for info in infos),
        "",
        f"Change one with `tracekit analyze PATH --set {detector.id}.{infos[0].name}={infos[0].default}`.",
    ]
    sources = ["## Sources", "", *(f"- [{source.title}]({source.url})" for source in detector.references)]
    parts = [
        f"# {detector.id}",
        f"**{detector.finding_title}.** {detector.why}",
        detector.description.strip(),
        f"Needs rows of: {', '.join(detector.needs)}.",
        "\n".join(thresholds),
        f"## Fix\n\n{detector.fix.strip()}",
        "\n".join(sources),
    ]
    return "\n\n".join(parts) + "\n"
