"""`run-issues`: Instruments noted that something went wrong while it recorded."""

from __future__ import annotations

import tracekit.detectors as tk

MEANINGS = (
    ("log archive is corrupt", "tables made from signposts, including the Core ML table, may lack rows or be empty"),
    ("permission to debug", "Instruments cannot trace the target, so the Core ML table stays empty"),
    ("failed to gain authorization", "Instruments cannot trace the target, so its tables may be empty"),
    ("failed to attach", "the target was not traced, so its tables may be empty"),
    ("not supported", "the named instrument recorded nothing"),
    ("cannot handle a target type", "the named instrument recorded nothing"),
)
"""Parts of messages as seen or reported, and what follows; the first that fits counts."""

_MAX_ISSUES = 3
"""Most issues that the summary quotes."""
_MAX_CHARACTERS = 160
"""Characters of a message that the summary quotes."""


def detect(view: tk.RecordingView, _options: tk.NoOptions) -> tk.Outcome:
    """Passes on the issues that Instruments reported."""
    noted = view.trace.run.issues
    if noted is None and view.trace.contents.form == "trace bundle":
        why = "The list of issues that Instruments reported is damaged in this bundle."
        return view.unknown(why, "Copy the bundle again from the Mac that recorded it.")
    if noted is None:
        return view.unknown(
            "Exports do not contain the issues that Instruments reported.", "Analyze the .trace bundle to see them."
        )
    issues = tk.issues_about_data(noted)
    about_display = len(noted) - len(issues)
    metrics = (
        tk.above("issues", "issues", len(issues), "count", 1),
        tk.Metric("about-display", "issues about the live display only", about_display, "count"),
    )
    if not issues:
        rest = f" except {tk.format_count(about_display, 'issue')} about its live display" if about_display else ""
        return view.passed(f"Instruments reported no issues while recording{rest}.", metrics)
    quoted = "; ".join(_issue_words(issue) for issue in issues[:_MAX_ISSUES])
    more = f"; and {len(issues) - _MAX_ISSUES} more" if len(issues) > _MAX_ISSUES else ""
    summary = f"Instruments reported {tk.format_count(len(issues), 'issue')} while recording: {quoted}{more}."
    return tk.Finding(None, summary, metrics, cost=None, evidence=())


def _issue_words(issue: str) -> str:
    """A message, and what follows from it where that is known."""
    text = " ".join(issue.split()).rstrip(".")
    text = f"{text[:_MAX_CHARACTERS].rstrip()}…" if len(text) > _MAX_CHARACTERS else text
    meaning = next((meaning for part, meaning in MEANINGS if part in issue.casefold()), "")
    return f'"{text}"' + (f" ({meaning})" if meaning else "")


DETECTOR = tk.RecordingDetector(options=tk.NoOptions, detect=detect)
