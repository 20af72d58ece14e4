"""The code behind loads and predictions: who called, and what the call was busy with.

All of it is inferred from samples of call stacks and from names of functions of the system. Threads that wait are not
sampled: samples are never added up to elapsed time, and a gap between two of them ends nothing.
"""

from tracekit.analysis.code.call_sites import call_sites, of_model
from tracekit.analysis.code.calls import SAMPLE_NS, sampled_calls, surrounding_calls
from tracekit.analysis.code.patterns import Api, LoadPhase, Unit
from tracekit.analysis.code.sites import Busy, CallSite, Place, all_sites, is_inferred, sites_of

__all__ = [
    "SAMPLE_NS",
    "Api",
    "Busy",
    "CallSite",
    "LoadPhase",
    "Place",
    "Unit",
    "all_sites",
    "call_sites",
    "is_inferred",
    "of_model",
    "sampled_calls",
    "sites_of",
    "surrounding_calls",
]
