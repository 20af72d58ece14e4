"""The sample recordings in `sample_traces/`, as scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from support.samples.album import album_memory
from support.samples.captions import captions_concurrent
from support.samples.hitches import camera_hitches
from support.samples.language_models import meal_planner
from support.samples.not_instrumented import not_instrumented
from support.samples.runtimes import dictation, frame_camera, local_chat
from support.samples.sharpen import sharpen_8bit, sharpen_float16
from support.samples.style_transfer import style_transfer_fixed, style_transfer_reload
from tracekit.testing.schemas import LANGUAGE_MODELS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tracekit.testing.scenario import Scenario

SAMPLES: dict[str, Callable[[], Scenario]] = {
    "style_transfer_reload": style_transfer_reload,
    "style_transfer_fixed": style_transfer_fixed,
    "sharpen_8bit": sharpen_8bit,
    "sharpen_float16": sharpen_float16,
    "captions_concurrent": captions_concurrent,
    "not_instrumented": not_instrumented,
    "local_chat": local_chat,
    "meal_planner": meal_planner,
    "dictation": dictation,
    "frame_camera": frame_camera,
    "album_memory": album_memory,
    "camera_hitches": camera_hitches,
}
"""By name."""

FINDINGS: dict[str, tuple[tuple[str, str | None], ...]] = {
    "style_transfer_reload": tuple(
        ("reload-before-predict", style) for style in ("InkWash", "Mosaic", "Pointillism", "StainedGlass", "Watercolor")
    ),
    "sharpen_8bit": (("excess-data-copies", "SharpenFilter"), ("float-conversion", "SharpenFilter")),
    "captions_concurrent": (("concurrent-predictions", "CaptionEncoder"),),
    "not_instrumented": (("core-ml-not-instrumented", None),),
    # Nothing is loaded before the first request, and the last one is refused.
    "meal_planner": (("load-before-first-token", None), ("request-errors", None)),
    "album_memory": (("unreturned-load", "PhotoTagger"),),
    "camera_hitches": (("model-delays-frames", "PersonSegmenter"),),
}
"""What each sample was made to show: check and model. The others are clean."""

WITH_EXPORT = ("style_transfer_reload", "captions_concurrent")
"""Samples that are also there as exports, one in the form of Xcode 16.4 and one in that of 27.2."""

EXPORTED: tuple[str, ...] = (
    "coreml-os-signpost",
    "ane-hw-intervals",
    "ane-hw-intervals-internal",
    "metal-gpu-intervals",
    "mps-hw-intervals",
    "metal-application-intervals",
    "metal-application-encoders-list",
    "metal-application-command-buffer-submissions",
    "metal-command-buffer-completed",
    "graphics-compiler-activity-intervals",
    "os-signpost",
    "device-thermal-state-intervals",
    "sysmon-process",
    "metal-current-allocated-size",
    "time-profile",
    "life-cycle-period",
    "process-info",
    "time-info",
    *LANGUAGE_MODELS,
)
"""Tables that a user exports for tracekit; the exports list the others without holding them."""
