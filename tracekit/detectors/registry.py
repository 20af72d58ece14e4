"""All detectors, in the order in which they are listed. Adding one is one file, one line here and one test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tracekit.detectors import (
    attached_late,
    cold_load,
    compile_at_runtime,
    compute_unit_ping_pong,
    concurrent_predictions,
    core_ml_not_instrumented,
    duplicate_instances,
    excess_data_copies,
    float_conversion,
    foreign_neural_engine_work,
    gpu_contention,
    growing_latency,
    latency_jitter,
    load_churn,
    main_thread_work,
    missed_deadline,
    neural_engine_contention,
    neural_engine_fragmentation,
    pipeline_gaps,
    reload_before_predict,
    run_issues,
    serial_predictions,
    serialized_specialization,
    shape_switching,
    thermal_throttling,
    truncated_recording,
    unaccounted_time,
    unexpected_device,
    unused_load,
    warm_up_spike,
)

if TYPE_CHECKING:
    from tracekit.detectors.framework import AnyDetector

DETECTORS: tuple[AnyDetector, ...] = (
    reload_before_predict.DETECTOR,
    excess_data_copies.DETECTOR,
    concurrent_predictions.DETECTOR,
    cold_load.DETECTOR,
    missed_deadline.DETECTOR,
    warm_up_spike.DETECTOR,
    compile_at_runtime.DETECTOR,
    load_churn.DETECTOR,
    latency_jitter.DETECTOR,
    thermal_throttling.DETECTOR,
    growing_latency.DETECTOR,
    shape_switching.DETECTOR,
    duplicate_instances.DETECTOR,
    unaccounted_time.DETECTOR,
    unused_load.DETECTOR,
    serialized_specialization.DETECTOR,
    neural_engine_contention.DETECTOR,
    core_ml_not_instrumented.DETECTOR,
    unexpected_device.DETECTOR,
    pipeline_gaps.DETECTOR,
    serial_predictions.DETECTOR,
    foreign_neural_engine_work.DETECTOR,
    compute_unit_ping_pong.DETECTOR,
    neural_engine_fragmentation.DETECTOR,
    run_issues.DETECTOR,
    attached_late.DETECTOR,
    truncated_recording.DETECTOR,
    gpu_contention.DETECTOR,
    float_conversion.DETECTOR,
    main_thread_work.DETECTOR,
)
