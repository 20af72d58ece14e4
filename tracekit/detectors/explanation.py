"""The page of a detector, put together from its metadata, as `tracekit explain` prints it."""

from __future__ import annotations

from tracekit.detectors.framework import ListedDetector, ModelFileDetector
from tracekit.detectors.options import option_infos
from tracekit.detectors.pages import page_text, unknown_check
from tracekit.detectors.plugins import listed_detectors

HEURISTIC = "*Heuristic*: chosen by judgment, not taken from a measurement or a documented limit."


def listed_page(check: str) -> str:
    """The page of any check that is listed, also of a plug-in's. Raises `UsageError` where there is none."""
    by_id = {detector.id: detector for detector in listed_detectors()}
    if check not in by_id:
        raise unknown_check(check, by_id)
    return page_markdown(by_id[check])


def page_markdown(detector: ListedDetector) -> str:
    """Markdown: what it is, how it is measured, thresholds and their basis, the fix, the sources."""
    return page_text(detector.id, detector.page, from_code(detector))


def from_code(detector: ListedDetector) -> str:
    """What a page takes from the code of its rule."""
    return f"{_needs_sentence(detector)}\n\n{_thresholds(detector)}"


def _needs_sentence(detector: ListedDetector) -> str:
    """What must have been recorded to evaluate the check, and what it uses where recorded."""
    if isinstance(detector, ModelFileDetector):
        return "Requires: a model file (`tracekit inspect`)."
    sentence = f"Requires: {', '.join(detector.needs)}." if detector.needs else "Requires: any recording."
    if detector.uses:
        sentence += f" Optional: {', '.join(detector.uses)}."
    if detector.origins:
        names = {"call-stacks": "call stacks", "hardware": "hardware", "signposts": "Core ML's signposts"}
        sentence += f" Also evaluates calls inferred from {' and '.join(names[origin] for origin in detector.origins)}."
    return sentence


def _thresholds(detector: ListedDetector) -> str:
    """A section with the options, and where each number comes from."""
    infos = option_infos(detector)
    if not infos:
        source = "the file says" if isinstance(detector, ModelFileDetector) else "was recorded"
        return f"## Thresholds\n\nNone. It reports whatever {source}."
    # A value that the option may have and has not by default.
    first = infos[0]
    other = next(each for each in (first.default * 2, first.default / 2) if first.minimum <= each <= first.maximum)
    command = "tracekit inspect MODEL" if isinstance(detector, ModelFileDetector) else "tracekit analyze PATH"
    lines = [
        "## Thresholds",
        "",
        "| option | default | unit | basis |",
        "|---|---|---|---|",
        *(f"| `{info.name}` | {info.default} | {info.unit} | {info.basis} |" for info in infos),
        "",
        *([HEURISTIC, ""] if any(info.basis.startswith("Heuristic: ") for info in infos) else []),
        f"To change one: `{command} --set {detector.id}.{first.name}={other}`.",
    ]
    return "\n".join(lines)
