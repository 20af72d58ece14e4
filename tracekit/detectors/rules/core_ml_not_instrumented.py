"""`core-ml-not-instrumented`: models ran, and neither Core ML nor call stacks show their calls."""

from __future__ import annotations

import tracekit.detectors as tk

OTHER_FRAMEWORKS = {"CoreAIProfile": "Core AI", "ODIEProfile": "Core AI", "ModelInferenceTable": "Foundation Models"}
"""Tables of frameworks that run models without Core ML."""

_CORRUPT = "log archive is corrupt"
"""In the run issue that comes with empty signpost tables (reported)."""


class Options(tk.Options):
    min_executions: int = tk.option(
        20,
        "executions",
        "Heuristic: Neural Engine rows name no process, and a few may always belong to the system. A "
        "feature in use makes more.",
    )


def detect(view: tk.RecordingView, options: Options) -> tk.Outcome:
    """Looks for work of models whose calls nothing shows. Where call stacks show them, the other checks judge them."""
    trace = view.trace
    core_ml = trace.coverage_of(tk.CORE_ML)
    if core_ml.state is tk.TableState.ROWS:
        return view.passed(f"Core ML recorded {tk.format_count(core_ml.rows or 0, 'event')}.")
    unknown = view.unknown(core_ml.conclusion, core_ml.advice)
    is_absent = core_ml.state is tk.TableState.MISSING
    if core_ml.state is tk.TableState.UNREADABLE or (is_absent and not trace.contents.has_table_of_contents):
        return unknown
    tables = [entry.schema for entry in trace.run.tables if entry.rows]
    others = " and ".join(dict.fromkeys(OTHER_FRAMEWORKS[name] for name in tables if name in OTHER_FRAMEWORKS))
    if others:
        return view.unknown(
            f"Core ML recorded no events, but {others} did, so the models may not have run through Core ML.",
            "If the app uses Core ML too, check that the target has com.apple.security.get-task-allow.",
        )
    if trace.activity.origin.is_any(tk.Origin.CALL_STACKS).any():
        return view.not_applicable("Core ML recorded no events, and its calls are inferred from call stacks instead.")
    hardware = trace.hardware
    own = ~hardware.attribution.is_any(tk.Attribution.FOREIGN)
    named_gpu = own & hardware.lane.is_any(tk.Lane.GPU) & hardware.model.known
    target_rows = hardware.where(named_gpu)
    unattributed = hardware.where(own & hardware.kind.is_any(tk.Kind.ANE_EXEC))
    # None where the instrument was not recorded or cannot be read.
    gpu_rows, executions = (
        len(rows) if trace.coverage_of(instrument).recorded else None
        for instrument, rows in ((tk.GPU, target_rows), (tk.NEURAL_ENGINE, unattributed))
    )
    metrics = (
        tk.above("gpu-rows", "GPU rows of the target that name a model", gpu_rows, "count", 1),
        tk.above("executions", "Neural Engine executions", executions, "count", options.min_executions),
    )
    if metrics[0].reached:
        return _finding(view, target_rows, metrics, is_certain=True)
    if tk.reached(metrics, "executions") and not is_absent:
        return _finding(view, unattributed, metrics, is_certain=False)
    return unknown


def _finding(
    view: tk.RecordingView, rows: tk.Events, metrics: tuple[tk.Metric, ...], *, is_certain: bool
) -> tk.Outcome:
    busy = tk.format_time(tk.covered_ns(rows))
    names = sorted(rows.model.held())
    if is_certain:
        what = f"The target ran {tk.format_names(names)} on the GPU ({tk.format_count(len(rows), 'row')}, {busy})"
    else:
        models = f" of {tk.format_names(names)}" if names else ""
        what = f"The Neural Engine executed {tk.format_count(len(rows), 'request')}{models} ({busy})"
    nothing = (
        "the Core ML instrument was not recorded"
        if view.trace.coverage_of(tk.CORE_ML).state is tk.TableState.MISSING
        else "the Core ML table is empty"
    )
    doubt = "" if is_certain else " Neural Engine rows name no process, so another process may have made them."
    return view.finding(f"{what}, but {nothing}.{doubt}{_cause(view.trace)}", metrics, rows=rows)


def _cause(trace: tk.Trace) -> str:
    """What this recording shows of the cause; empty where it shows nothing."""
    if any(_CORRUPT in issue.casefold() for issue in trace.run.issues or ()):
        return " Instruments reported a damaged log archive, which leaves this table empty."
    if trace.coverage_of(tk.CORE_ML).state is tk.TableState.EMPTY and trace.run.imported_from is not None:
        return (
            f" The recording was imported from {trace.run.imported_from}: `xctrace import` loses the rows of Core ML "
            "and of all other signposts."
        )
    signposts = [name for name in ("signposts", "signpost_events") if len(trace.context.get(name, ()))]
    if trace.coverage_of(tk.CORE_ML).state is tk.TableState.EMPTY and signposts:
        return " Other signposts were recorded, so the likely cause is a missing entitlement."
    return ""


DETECTOR = tk.RecordingDetector(uses=("Neural Engine", "GPU", "Call Stacks"), options=Options, detect=detect)
