"""`core-ml-not-instrumented`: models ran, and Core ML recorded nothing of them (reference, section on empty tables)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.detectors import (
    Attribution,
    Finding,
    InsufficientData,
    Kind,
    Lane,
    Metric,
    Outcome,
    Passed,
    Pattern,
    RecordingDetector,
    Reference,
    Trace,
    above,
    covered_ns,
    finding,
    format_count,
    format_duration,
    option,
    reached,
)
from tracekit.detectors.shared.wording import listed
from tracekit.recording.table import TableState
from tracekit.trace.instruments.catalogue import CORE_ML

if TYPE_CHECKING:
    import pandas as pd


OTHER_FRAMEWORKS = ("CoreAIProfile", "ODIEProfile", "ModelInferenceTable")
"""Tables of Core AI and Foundation Models, which run models without Core ML."""

_MAX_NAMES = 3
"""Most models that the summary names."""

_CORRUPT = "log archive is corrupt"
"""In the run issue that comes with empty signpost tables (reported)."""


@dataclass(frozen=True, slots=True)
class Options:
    """Thresholds."""

    min_executions: int = option(
        20,
        "executions",
        "Rows of the Neural Engine name no process. A few may always be the system's; a feature that somebody records "
        "makes more (our judgement).",
    )


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for work of models on the hardware that Core ML's own table knows nothing of."""
    core_ml = trace.coverage_of(CORE_ML)
    if core_ml.state is TableState.ROWS:
        return Passed(None, f"Core ML recorded {format_count(core_ml.rows or 0, 'event')}.")
    unknown = InsufficientData(None, core_ml.conclusion, core_ml.advice)
    is_absent = core_ml.state is TableState.MISSING
    if core_ml.state is TableState.UNREADABLE or (is_absent and not trace.contents.has_table_of_contents):
        return unknown
    if others := _other_frameworks(trace):
        return InsufficientData(
            None,
            f"Core ML recorded nothing, but {others} did, so that the models may not have run through Core ML.",
            "If the app uses Core ML too, check that its target carries com.apple.security.get-task-allow.",
        )
    own, unattributed = _own_work(trace), _unnamed_work(trace)
    metrics = (
        above("GPU rows of the target that name a model", len(own), "count", 1),
        above("Neural Engine executions", len(unattributed), "count", options.min_executions),
    )
    if reached(metrics, "GPU rows of the target that name a model"):
        return _finding(trace, own, metrics, is_certain=True)
    if reached(metrics, "Neural Engine executions") and not is_absent:
        return _finding(trace, unattributed, metrics, is_certain=False)
    return unknown


def _other_frameworks(trace: Trace) -> str:
    """Tables of other frameworks that hold rows, as words; empty where there is none."""
    return " and ".join(entry.schema for entry in trace.run.tables if entry.schema in OTHER_FRAMEWORKS and entry.rows)


def _own_work(trace: Trace) -> pd.DataFrame:
    """GPU rows that name a model and are not of another process."""
    hardware = trace.hardware
    named = (hardware["lane"] == Lane.GPU) & hardware["model"].notna()
    return hardware[(named & (hardware["attribution"] != Attribution.FOREIGN)).to_numpy(dtype=bool)]


def _unnamed_work(trace: Trace) -> pd.DataFrame:
    """Executions on the Neural Engine, less those of models that only other processes use."""
    hardware = trace.hardware
    executed = hardware["kind"] == Kind.ANE_EXEC
    return hardware[(executed & (hardware["attribution"] != Attribution.FOREIGN)).to_numpy(dtype=bool)]


def _finding(trace: Trace, rows: pd.DataFrame, metrics: tuple[Metric, ...], *, is_certain: bool) -> Finding:
    busy = format_duration(covered_ns(rows))
    names = sorted(str(name) for name in rows["model"].dropna().unique())
    if is_certain:
        what = f"The GPU ran {listed(names, _MAX_NAMES)} for the target ({format_count(len(rows), 'row')}, {busy})"
    else:
        models = f" of {listed(names, _MAX_NAMES)}" if names else ""
        what = f"The Neural Engine executed {format_count(len(rows), 'request')}{models} ({busy})"
    nothing = (
        "the Core ML instrument was not recorded"
        if trace.coverage_of(CORE_ML).state is TableState.MISSING
        else "the table of Core ML is empty"
    )
    doubt = (
        ""
        if is_certain
        else " Rows of the Neural Engine name no process: that they are the app's own is possible, not certain."
    )
    return finding(
        model=None,
        summary=f"{what}, and {nothing}.{doubt}{_cause(trace)}",
        metrics=metrics,
        rows=rows,
    )


def _cause(trace: Trace) -> str:
    """What this recording tells of the cause; empty where it tells nothing."""
    if any(_CORRUPT in issue.casefold() for issue in trace.run.issues or ()):
        return " Instruments noted that its log archive is damaged, which empties this table."
    signposts = [name for name in ("signposts", "signpost_events") if len(trace.context.get(name, ()))]
    if trace.coverage_of(CORE_ML).state is TableState.EMPTY and signposts:
        return " Other signposts were recorded, so the log is intact and a missing entitlement the likely cause."
    return ""


DESCRIPTION = """
Core ML reports to Instruments only from processes that allow it: those signed with the entitlement
`com.apple.security.get-task-allow`, as Xcode signs apps that it builds for debugging. From command-line tools, Python
and apps of the App Store the table of Core ML stays empty, and looks as if no model had run.

## On the lanes

    Core ML        .                                          problem
    Neural Engine  |exec| |exec| |exec| |exec| |exec|

    Core ML        |Prediction| |Prediction| |Prediction|     as it should be
    Neural Engine    |exec|       |exec|       |exec|

## How it is measured

The table of Core ML was recorded and is empty (or was not recorded at all), and the hardware shows work of models:

- GPU rows of the target whose labels name a model, as only Core ML's work does. One is enough. From such rows tracekit
  puts predictions together, so that much of the analysis works all the same.
- Executions of the Neural Engine, from `min_executions` on. Its table shows the whole machine and names no process, so
  the finding then says that it is possible, not certain, that they were the target's.

MPS graphs and other GPU work prove nothing: apps use them without Core ML. Without any such sign the answer is that the
recording does not tell.

## What can look like it and is not

- An app that runs no model while the system uses the Neural Engine for photos or dictation.
- Models that run through Core AI or Foundation Models, whose tables then hold rows.
- An export without the table of Core ML: there the table may well have rows.
"""

FIX = """
Sign the target so that Instruments may look into it, and record again from before the model loads.

Apps that Xcode builds and signs for development carry the entitlement (on iOS it is called `get-task-allow`); builds
for distribution do not. For a tool, or a Python of your own:

```shell
cat > entitlements.plist <<'PLIST'
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
  <key>com.apple.security.get-task-allow</key><true/>
</dict></plist>
PLIST
codesign --force --sign - --entitlements entitlements.plist ./mytool
xcrun xctrace record --template 'Core ML' --launch -- ./mytool
```

Was the Core ML instrument not recorded at all? Record with the template named Core ML; the signature matters then too.

Is the target signed so already? Then check that the right process was recorded, that recording began before the work,
and whether Instruments noted a damaged log archive.
"""

DETECTOR = RecordingDetector(
    id="core-ml-not-instrumented",
    title="Core ML recorded the models that ran",
    finding_title="Models ran, and Core ML recorded nothing of them",
    pattern=Pattern.RECORDING,
    description=DESCRIPTION,
    why="Without the events of Core ML, loads, copies and most of what a prediction does stay invisible.",
    fix=FIX,
    references=(
        Reference(
            "Apple: what get-task-allow allows, and which builds carry it",
            "https://developer.apple.com/documentation/security/resolving-common-notarization-issues",
        ),
        Reference(
            "Apple developer forums 739159: Core ML instrument and entitlements",
            "https://developer.apple.com/forums/thread/739159",
        ),
    ),
    uses=("Neural Engine", "GPU"),
    options=Options,
    detect=detect,
)
