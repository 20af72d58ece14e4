"""`core-ml-not-instrumented`: models ran, and Core ML recorded nothing of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tracekit.analysis.code import Api, all_sites
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
    format_time,
    option,
    reached,
)
from tracekit.detectors.shared.wording import listed
from tracekit.recording.table import TableState
from tracekit.trace.frames import texts_in
from tracekit.trace.instruments.catalogue import CORE_ML, GPU, NEURAL_ENGINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from tracekit.analysis.code import CallSite


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
        "Heuristic: Neural Engine rows name no process, and a few may always belong to the system. A "
        "feature in use makes more.",
    )


def detect(trace: Trace, options: Options) -> Outcome:
    """Looks for calls and work of models that Core ML's own table knows nothing of."""
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
            f"Core ML recorded no events, but {others} did, so the models may not have run through Core ML.",
            "If the app uses Core ML too, check that the target has com.apple.security.get-task-allow.",
        )
    target_rows, unattributed = _own_work(trace), _unnamed_work(trace)
    sites = [site for site in all_sites(trace) if site.calls is not None and site.function is not None]
    metrics = (
        above("Core ML calls in call stacks", _calls(trace, sites), "count", 1),
        above("GPU rows of the target that name a model", _known(trace, GPU, target_rows), "count", 1),
        above("Neural Engine executions", _known(trace, NEURAL_ENGINE, unattributed), "count", options.min_executions),
    )
    if reached(metrics, "GPU rows of the target that name a model"):
        return _finding(trace, target_rows, metrics, sites, is_certain=True)
    if reached(metrics, "Core ML calls in call stacks"):
        return _finding(trace, target_rows, metrics, sites, is_certain=True)
    if reached(metrics, "Neural Engine executions") and not is_absent:
        return _finding(trace, unattributed, metrics, sites, is_certain=False)
    return unknown


def _other_frameworks(trace: Trace) -> str:
    """Tables of other frameworks that hold rows, as words; empty where there is none."""
    return " and ".join(entry.schema for entry in trace.run.tables if entry.schema in OTHER_FRAMEWORKS and entry.rows)


def _known(trace: Trace, instrument: str, rows: pd.DataFrame) -> int | None:
    """Number of rows of an instrument; None where it was not recorded or cannot be read."""
    return len(rows) if trace.coverage_of(instrument).recorded else None


def _calls(trace: Trace, sites: Sequence[CallSite]) -> int | None:
    """Calls of the app that samples show; None where no samples were recorded."""
    return None if trace.sampled is None else sum(site.calls or 0 for site in sites)


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


def _finding(
    trace: Trace, rows: pd.DataFrame, metrics: tuple[Metric, ...], sites: Sequence[CallSite], *, is_certain: bool
) -> Finding:
    busy = format_time(covered_ns(rows))
    names = sorted(texts_in(rows["model"]))
    if not len(rows):
        what = f"The target called Core ML ({_called(sites)} in its call stacks)"
    elif is_certain:
        what = f"The target ran {listed(names, _MAX_NAMES)} on the GPU ({format_count(len(rows), 'row')}, {busy})"
    else:
        models = f" of {listed(names, _MAX_NAMES)}" if names else ""
        what = f"The Neural Engine executed {format_count(len(rows), 'request')}{models} ({busy})"
    nothing = (
        "the Core ML instrument was not recorded"
        if trace.coverage_of(CORE_ML).state is TableState.MISSING
        else "the Core ML table is empty"
    )
    doubt = "" if is_certain else " Neural Engine rows name no process, so another process may have made them."
    return finding(
        model=None,
        summary=f"{what}, but {nothing}.{doubt}{_cause(trace)}",
        metrics=metrics,
        rows=rows,
        call_sites=tuple(sites),
    )


def _called(sites: Sequence[CallSite]) -> str:
    """`at least 1 load and 9 predictions`."""
    nouns = {Api.LOAD: "load", Api.COMPILE: "compilation", Api.PREDICTION: "prediction"}
    counts = {noun: sum(site.calls or 0 for site in sites if site.api == api) for api, noun in nouns.items()}
    words = [format_count(count, noun) for noun, count in counts.items() if count]
    return f"at least {' and '.join(words)}"


def _cause(trace: Trace) -> str:
    """What this recording shows of the cause; empty where it shows nothing."""
    if any(_CORRUPT in issue.casefold() for issue in trace.run.issues or ()):
        return " Instruments reported a damaged log archive, which leaves this table empty."
    if trace.coverage_of(CORE_ML).state is TableState.EMPTY and trace.run.imported_from is not None:
        return (
            f" The recording was imported from {trace.run.imported_from}: `xctrace import` loses the rows of Core ML "
            "and of all other signposts."
        )
    signposts = [name for name in ("signposts", "signpost_events") if len(trace.context.get(name, ()))]
    if trace.coverage_of(CORE_ML).state is TableState.EMPTY and signposts:
        return " Other signposts were recorded, so the likely cause is a missing entitlement."
    return ""


DESCRIPTION = """
Core ML reports to Instruments only from processes signed with the entitlement `com.apple.security.get-task-allow`.
Xcode adds it to what it builds to run or profile, in Debug and in Release. Command-line tools built without Xcode,
Python and apps from the App Store lack it: Core ML records no events for them, as if no model had run.

## On the timeline

    Core ML        .                                          problem
    Neural Engine  |exec| |exec| |exec| |exec| |exec|

    Core ML        |Prediction| |Prediction| |Prediction|     expected
    Neural Engine    |exec|       |exec|       |exec|

## How it is measured

Reported when the Core ML table is empty or was not recorded, and other tables show that models ran:

- Call stacks show functions of the app that called Core ML. One call is enough. The report then says which ones, how
  often at least, and what they were busy with; see "What ran nevertheless" there.
- The target has GPU rows whose labels name a model, as only Core ML's work does. One is enough. tracekit infers
  predictions from such rows, so much of the analysis still works.
- The Neural Engine has `min_executions` executions or more. Its table covers the whole device and names no process, so
  the finding then says that it is possible but not certain that they belong to the target.

MPS graphs and other GPU work prove nothing, because apps also use them without Core ML. Without any such sign, the
check is not evaluated.

## Not a problem when

- The app runs no model while the system uses the Neural Engine, for example for photos or dictation.
- Models run through Core AI or Foundation Models, and their tables have rows.
- The Core ML table was not exported: the recording itself may have rows.
"""

FIX = """
Sign the target with get-task-allow (`tracekit doctor --target PATH` checks it), and start recording before the model
loads.

With Xcode, profile a Release build (Product > Profile): Xcode signs Debug and Release builds for development with the
entitlement (on iOS it is named `get-task-allow`). Archives exported for distribution do not have it, nor do builds with
`CODE_SIGN_INJECT_BASE_ENTITLEMENTS = NO`.

Sign a command-line tool, or a Python of your own, like this:

```shell
cat > entitlements.plist <<'PLIST'
<?xml version="1.0" encoding="UTF-8"?>
<plist version="1.0"><dict>
  <key>com.apple.security.get-task-allow</key><true/>
</dict></plist>
PLIST
# Replaces the old entitlements: add those that the tool needs to the file.
codesign --force --sign - --entitlements entitlements.plist ./mytool
xcrun xctrace record --template 'Core ML' --launch -- ./mytool
```

If the Core ML instrument was not recorded at all, record with the template named Core ML. The signature matters then
too.

If the target is already signed like this, check that the right process was recorded, that the recording started before
the work, and whether Instruments reported a damaged log archive. A recording that was recovered with `xctrace import`
loses Core ML's rows as well.
"""

DETECTOR = RecordingDetector(
    id="core-ml-not-instrumented",
    title="Core ML recorded the models that ran",
    finding_title="Models ran, but Core ML recorded no events",
    pattern=Pattern.RECORDING,
    description=DESCRIPTION,
    why="Without Core ML's events, loads, copies and most of each prediction are invisible.",
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
    uses=("Neural Engine", "GPU", "Call Stacks"),
    options=Options,
    detect=detect,
)
