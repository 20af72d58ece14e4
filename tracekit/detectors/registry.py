"""All detectors, in the order in which they are listed. How to add one: docs/new-detector.md."""

from __future__ import annotations

from tracekit.detectors.framework import AnyDetector
from tracekit.detectors.pages import rule

RULES = (
    "reload-before-predict",
    "excess-data-copies",
    "concurrent-predictions",
    "cold-load",
    "slow-load",
    "missed-deadline",
    "warm-up-spike",
    "new-shape-spike",
    "compile-at-runtime",
    "load-churn",
    "latency-jitter",
    "thermal-throttling",
    "growing-latency",
    "shape-switching",
    "slow-after-idle",
    "duplicate-instances",
    "unaccounted-time",
    "unused-load",
    "serialized-specialization",
    "neural-engine-contention",
    "core-ml-not-instrumented",
    "unexpected-device",
    "pipeline-gaps",
    "serial-predictions",
    "foreign-neural-engine-work",
    "compute-unit-ping-pong",
    "neural-engine-fragmentation",
    "run-issues",
    "attached-late",
    "truncated-recording",
    "gpu-contention",
    "cpu-contention",
    "float-conversion",
    "main-thread-work",
    "state-copies",
    "load-on-main-thread",
    "element-wise-access",
    "app-conversion",
    "memory-growth",
    "unreturned-load",
    "duplicate-memory",
    "memory-peak",
    "load-before-first-token",
    "prompt-reprocessing",
    "rebuilt-instructions",
    "slowing-generation",
    "work-outside-model",
    "queued-requests",
    "slow-tool-calls",
    "full-context-window",
    "request-errors",
)
"""Ids."""

DETECTORS: tuple[AnyDetector, ...] = tuple(rule("rules", name) for name in RULES)
