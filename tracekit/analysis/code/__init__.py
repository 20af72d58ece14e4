"""The code behind loads and predictions: who called, and what the call was busy with.

All of it is inferred from samples of call stacks and from names of functions of the system. Threads that wait are not
sampled: samples are never added up to elapsed time, and a gap between two of them ends nothing.
"""

from tracekit.analysis.code.app_work import AppWork, conversions, element_access
from tracekit.analysis.code.call_sites import call_sites, of_model
from tracekit.analysis.code.calls import sampled_calls, surrounding_calls
from tracekit.analysis.code.patterns import Api, LoadPhase, Unit
from tracekit.analysis.code.sites import (
    Busy,
    CallSite,
    Place,
    all_sites,
    is_inferred,
    main_thread_sites,
    of_sites,
    site_of,
    sites_of,
)
from tracekit.analysis.code.threads import (
    Between,
    Blocking,
    core_ml_time,
    evidence_rows,
    main_thread_loads,
    main_thread_predictions,
    runs_interface,
    work_between,
)

__all__ = [
    "Api",
    "AppWork",
    "Between",
    "Blocking",
    "Busy",
    "CallSite",
    "LoadPhase",
    "Place",
    "Unit",
    "all_sites",
    "call_sites",
    "conversions",
    "core_ml_time",
    "element_access",
    "evidence_rows",
    "is_inferred",
    "main_thread_loads",
    "main_thread_predictions",
    "main_thread_sites",
    "of_model",
    "of_sites",
    "runs_interface",
    "sampled_calls",
    "site_of",
    "sites_of",
    "surrounding_calls",
    "work_between",
]
