"""Sources that several rules name."""

from __future__ import annotations

from tracekit.detectors.framework import Reference

CORE_ML_USAGE = Reference(
    "WWDC22 10027: Optimize your Core ML usage", "https://developer.apple.com/videos/play/wwdc2022/10027/"
)
ASYNC_PREDICTION = Reference(
    "WWDC23 10049: Improve Core ML integration with async prediction",
    "https://developer.apple.com/videos/play/wwdc2023/10049/",
)
ANALYZE_HANGS = Reference(
    "WWDC23 10248: Analyze hangs with Instruments", "https://developer.apple.com/videos/play/wwdc2023/10248/"
)
DEPLOY_MODELS = Reference(
    "WWDC24 10161: Deploy machine learning and AI models on-device with Core ML",
    "https://developer.apple.com/videos/play/wwdc2024/10161/",
)

COMPILE_MODEL = Reference(
    "MLModel.compileModel(at:)", "https://developer.apple.com/documentation/coreml/mlmodel/compilemodel(at:)-45ao6"
)
LOAD_MODEL = Reference(
    "MLModel.load(contentsOf:configuration:)",
    "https://developer.apple.com/documentation/coreml/mlmodel/load(contentsof:configuration:)",
)
COMPUTE_UNITS = Reference(
    "MLModelConfiguration.computeUnits",
    "https://developer.apple.com/documentation/coreml/mlmodelconfiguration/computeunits",
)
COMPUTE_PLAN = Reference("MLComputePlan", "https://developer.apple.com/documentation/coreml/mlcomputeplan-1w21n")
RESHAPE_FREQUENCY = Reference(
    "MLReshapeFrequencyHint", "https://developer.apple.com/documentation/coreml/mlreshapefrequencyhint"
)
SIGNPOSTER = Reference("OSSignposter", "https://developer.apple.com/documentation/os/ossignposter")
XCTRACE = Reference("xctrace(1)", "https://keith.github.io/xcode-man-pages/xctrace.1.html")

FLEXIBLE_SHAPES = Reference(
    "coremltools: Flexible Input Shapes",
    "https://apple.github.io/coremltools/docs-guides/source/flexible-inputs.html",
)
