"""Performance reports as Xcode, CoreMLProfiler and coremltools write them, built from figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

ALL = ("cpu", "gpu", "neuralEngine")
CPU_ONLY, ALL_UNITS = 0, 2
"""Raw values of `MLComputeUnits`."""
PRIVATE = ("F2LXSERIAL", "00008112-000A", "Ada's iPad", "/Users/ada/")
"""What Xcode writes about the device and the file, and nobody should see."""


def device(name: str) -> dict[str, Any]:
    """A compute device as Xcode writes it."""
    return {"deviceType": {name: {}}}


def constant(name: str) -> dict[str, Any]:
    """A constant: neither cost nor usage."""
    return {"operatorName": "const", "inputs": {}, "blocks": [], "outputs": [{"name": name, "type": {}}]}


def operation(
    name: str, kind: str, unit: str, supported: Sequence[str] = ALL, cost: float | None = None
) -> dict[str, Any]:
    """An operation of an ML program in Xcode's report."""
    states = [
        entry
        for each in ALL
        for entry in (device(each), {"supported": {}} if each in supported else {"unsupported": {"reason": "too big"}})
    ]
    usage = {"preferred": device(unit), "supported": [device(each) for each in supported], "allSupportStates": states}
    built: dict[str, Any] = {
        "operatorName": kind,
        "inputs": {},
        "blocks": [],
        "outputs": [{"name": name, "type": {}}],
        "deviceUsage": usage,
    }
    return built if cost is None else {**built, "cost": {"weight": cost}}


def many(count: int, kind: str, unit: str, supported: Sequence[str] = ALL) -> list[dict[str, Any]]:
    """Operations that differ in their name only."""
    return [operation(f"{kind.rpartition('.')[2]}_{unit}_{number}", kind, unit, supported) for number in range(count)]


def experiments(first: Sequence[float], rest: Sequence[float]) -> list[float]:
    """Samples of experiments in one list, as Xcode writes them: the first of each is cold."""
    return [value for cold in first for value in (cold, *rest)]


def xcode_json(
    name: str,
    operations: Iterable[dict[str, Any]] | None = (),
    *,
    units: int = ALL_UNITS,
    device_name: str = "iPhone 13 Pro",
    system: str = "iOS 16.0",
    predict: Sequence[float] = (),
    load: Sequence[float] = (),
    compile_: Sequence[float] = (),
    per_experiment: tuple[int, int] = (3, 3),
) -> dict[str, Any]:
    """Xcode's report; times in seconds, all experiments in one list. `per_experiment`: loads and predictions."""
    results: dict[str, Any] = {
        "perfRunConfig": {
            "loadCount": per_experiment[0],
            "experimentIterations": 3,
            "predictionCount": per_experiment[1],
        },
        "availableComputeDevices": [device(each) for each in ALL],
    }
    for key, samples in (("predict", predict), ("load", load), ("compile", compile_)):
        if samples:
            results[key] = {"startTime": 803778910.98, "numOperations": 3, "samples": list(samples)}
    if operations is not None:
        function = {"inputs": [], "block": {"inputs": [], "outputNames": [], "operations": list(operations)}}
        results["modelStructure"] = {"program": {"_0": {"functions": {"main": function}}}}
    return {
        "jsonVersion": 1,
        "deviceResultVersion": 4,
        "deviceInfo": {
            "modelName": device_name,
            "osNameAndVersionWithoutBuildNumber": system,
            "serialNumber": PRIVATE[0],
            "deviceID": PRIVATE[1],
            "displayName": PRIVATE[2],
        },
        "computeUnit": units,
        "modelMetadata": {
            "fileName": name,
            "modelType": "ML Program",
            "modelUrl": f"file://{PRIVATE[3]}{name}.mlpackage",
        },
        "deviceResults": results,
    }


def wwdc22() -> dict[str, Any]:
    """WWDC22 session 10027: YOLOv3 on an iPhone, median prediction 22.19 ms, 54 layers on the GPU, 32 on the Neural
    Engine; load about 400 ms, compile about 940 ms."""
    layers = [*many(54, "ios15.conv", "gpu"), *many(32, "ios15.conv", "neuralEngine")]
    return xcode_json(
        "YOLOv3",
        layers,
        predict=experiments([0.9, 0.04, 0.04], [0.02218, 0.0222]),
        load=experiments([1.2, 0.9, 0.9], [0.4, 0.4]),
        compile_=[0.94, 0.94, 0.94],
    )


def article_2026(*, cpu_only: bool = False) -> dict[str, Any]:
    """Apple's article of 2026: DepthAnythingV2SmallF16P6 on a Mac. With all units 22.93 / 45.20 / 127.08 ms and 764
    operations: CPU 3, GPU 21, Neural Engine 740; with the CPU alone 54.49 / 37.32 / 122.28 ms."""
    prediction, load, compiled = (0.05449, 0.03732, 0.12228) if cpu_only else (0.02293, 0.0452, 0.12708)
    operations = (
        many(764, "ios16.conv", "cpu", ["cpu"])
        if cpu_only
        else [
            operation("cast_0", "ios16.cast", "cpu", ["cpu", "gpu"]),
            *many(21, "ios16.upsample_bilinear", "gpu"),
            *many(740, "ios16.conv", "neuralEngine"),
            *many(2, "ios16.add", "cpu"),
        ]
    )
    return xcode_json(
        "DepthAnythingV2SmallF16P6",
        operations,
        units=CPU_ONLY if cpu_only else ALL_UNITS,
        device_name="MacBook Pro",
        system="macOS 26.2",
        predict=experiments([0.3, 0.1, 0.1], [prediction, prediction]),
        load=experiments([4.0, 3.0, 3.0], [load, load]),
        compile_=[compiled] * 3,
    )


COSTLY = 0.25
"""Share of the one operation of `whole_report` that costs most."""


def whole_report() -> dict[str, Any]:
    """The report of 2026 with all that Xcode writes around the figures: constants before each operation, what each is
    given, costs that sum up to 1, and 3 experiments of 40 predictions and 3 loads each."""
    document = article_2026()
    results = document["deviceResults"]
    function = results["modelStructure"]["program"]["_0"]["functions"]["main"]
    operations = function["block"]["operations"]
    rest = (1 - COSTLY) / (len(operations) - 1)
    listed = []
    for number, entry in enumerate(operations):
        weights = f"weights_{number}"
        given = {
            "x": {"bindings": [{"name": {"_0": f"value_{number}"}}]},
            "weight": {"bindings": [{"name": {"_0": weights}}]},
        }
        listed += [constant(weights), entry | {"inputs": given, "cost": {"weight": rest if number else COSTLY}}]
    function["inputs"] = [{"name": "image", "type": {}}]
    function["block"] = {"inputs": [], "outputNames": ["depth"], "operations": listed}
    results["perfRunConfig"] = {"loadCount": 3, "experimentIterations": 3, "predictionCount": 40}
    results["predict"]["samples"] = experiments([0.3, 0.1, 0.1], [0.02293] * 39)
    return document


def profiler_json(*, full: bool = True) -> dict[str, Any]:
    """CoreMLProfiler's `compute_plan.json`; its full profile adds times, in ms, of a median prediction of 20 ms."""
    operations: list[dict[str, Any]] = [
        {"operatorName": "ios16.conv", "cost": 0.75, "preferred_device": "ANE", "supported_devices": "CPU, GPU, ANE"},
        {"operatorName": "ios16.topk", "cost": 0.25, "preferred_device": "CPU", "supported_devices": "CPU, GPU"},
    ]
    for number, entry in enumerate(operations, 1):
        entry |= {"op_number": number, "outputs": [{"name": f"out_{number}", "type": ""}], "blocks": []}
        if full:
            entry["op_time"] = entry["cost"] * 20
    return {"main": {"inputs": [], "block": {"inputs": [], "outputs": [], "operations": operations}}}


def dumped_json(tool: str) -> Any:
    """A plan as public tools dump it, each with the keys and spellings in its source: a convolution on the Neural
    Engine, 0.75 of the cost, and `topk` on the CPU, which the Neural Engine cannot run; before them a constant."""

    def dumped(keys: Sequence[str], units: Sequence[str], nothing: Sequence[Any], **more: Any) -> list[dict[str, Any]]:
        """Entries with keys for operator, output, preferred and supported units and cost, in this order."""
        cpu, gpu, engine = units
        rows = (
            ("const", "weights", *nothing),
            ("ios18.conv", "y", engine, [cpu, gpu, engine], 0.75),
            ("ios18.topk", "best", cpu, [cpu, gpu], 0.25),
        )
        entries = [
            more | {key: value for key, value in zip(keys, row, strict=True) if value is not ...} for row in rows
        ]
        for entry in entries:
            if keys[1].startswith("output"):
                entry[keys[1]] = [entry[keys[1]]]
        return entries

    if tool == "camel case":
        keys = ("operatorName", "outputNames", "preferredDevice", "supportedDevices", "estimatedCostWeight")
        listed = dumped(keys, ALL, ("unknown", [], 0), functionName="main")
        return {"modelName": "Net", "computeUnits": "all", "operationCount": 3, "operations": listed}
    if tool == "short":
        keys = ("op", "outputs", "preferred", "supported", "cost")
        listed = dumped(keys, ("cpu", "gpu", "ane"), (..., ..., ...), function="main")
        return {"model": "Net.mlmodelc", "compute_units": "all", "plan_load_ms": 12.5, "ops": listed}
    if tool == "paths":
        keys = ("operator", "outputs", "preferred_device", "supported_devices", "estimated_cost_weight")
        listed = dumped(keys, ("cpu", "gpu", "ane"), (None, None, None), scope="model/functions/main")
        return {"model_name": "Net.mlpackage", "compute_units": "all", "schema_version": 1, "operations": listed}
    if tool == "rows":
        keys = ("operator_type", "identity", "preferred_compute_device", "supported_compute_devices")
        listed = dumped((*keys, "estimated_cost_weight"), ("CPU", "GPU", "NEURAL_ENGINE"), (None, [], None))
        around = {"configuration": {"compute_units": "ALL", "function_name": None}}
        return {"model": f"{PRIVATE[3]}Net.mlpackage", "structure": {"kind": "program", "rows": listed}} | around
    if tool == "nested":
        keys = ("operator", "index", "preferred", "supported", "estimated_cost_weight")
        listed = dumped(keys, ("CPU", "GPU", "NEURAL_ENGINE"), (None, [], None), function="main")
        plan = {"status": "PLANNED", "model_structure": "MLProgram", "operations": listed}
        return {"neural_engine_present": True, "supported_compute_devices": ["CPU"], "mlcomputeplan": plan}
    assert tool == "list"
    keys = ("operation", "name", "preferred", "supported", "estimatedCostWeight")
    return dumped(keys, ("CPU", "GPU", "Neural Engine"), ("unknown", [], ...))


def coremltools_json() -> dict[str, Any]:
    """A plan that coremltools got from a device: `ComputePlan.to_dict` with the list that devices send."""

    def info(name: str, unit: str, supported: Sequence[str], cost: float | None) -> dict[str, Any]:
        usage = {"preferred": {unit: {}}, "supported": [{each: {}} for each in supported]}
        components = [
            {"program": {}},
            {"programFunction": {"data": {"name": "main"}}},
            {"programBlock": {"data": {"index": -1}}},
            {"programOperation": {"data": {"outputName": name}}},
        ]
        return {"deviceUsage": usage, "estimatedCost": cost, "path": {"components": components}}

    return {"infos": [info("a", "neuralEngine", ALL, 0.9), info("b", "gpu", ["cpu", "gpu"], None)]}
