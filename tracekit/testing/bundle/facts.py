"""Write what a bundle says of a run besides its tables: configuration, span, run information, issues."""

from __future__ import annotations

import io
import sqlite3
import struct
import uuid
import zipfile
from collections.abc import Sequence
from contextlib import closing

from tracekit.testing.bundle.archive import Coded, Mutable, MutableText, archive, numbered_dictionary
from tracekit.testing.bundle.values import Values
from tracekit.testing.machines import Machine
from tracekit.testing.scenario import Scenario

_INSTRUMENTS: dict[str, tuple[str, ...]] = {
    "Core ML": ("coreml-os-signpost",),
    "Neural Engine": ("{neural engine}",),
    "GPU": ("metal-gpu-intervals", "metal-gpu-state-intervals", "mps-hw-intervals"),
    "Metal Application": ("metal-application-command-buffer-submissions", "metal-application-encoders-list"),
    "Time Profiler": ("time-profile",),
}
"""Instruments of the Core ML template with tables that only they show."""

_BEFORE_START = (
    b"\x04\x0bstreamtyped\x81\xe8\x03\x84\x01@\x84\x84\x84\x05XRRun\x0b\x84\x84\x08NSObject\x00\x85\x92"
    b"\x84\x84\x84\x08NSNumber\x00\x84\x84\x07NSValue\x00\x94\x84\x01*\x84\x84\x01d\x98\x83"
)
"""Beginning of an archived `XRRun`. The start follows, as a double that 0x83 announces."""
_BEFORE_END = b"\x86\x92\x84\x96\x97\x98\x98\x83"
_BEFORE_NUMBER = b"\x86\x92\x84\x96\x97\x84\x84\x01q\x99"
_AFTER_NUMBER = (
    b"\x86\x92\x85\x92\x84\x96\x97\x84\x84\x01c\x9a\x00\x86\x92\x9c\x92\x9c\x92\x85\x92\x9c\x92\x85\x92"
    b"\x84\x84\x84\rNSMutableData\x00\x84\x84\x06NSData\x00\x94\x84\x01i"
)

_NOISE = "Data stream: Time Mapping"
"""Issue that every real run has."""
_ISSUE_TABLE = (
    "CREATE TABLE ZISSUE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOUNT INTEGER,"
    " ZRELATIVETIMESTAMP INTEGER, ZSUBTYPE INTEGER, ZTYPE INTEGER, ZPARENT INTEGER, Z_FOK_PARENT INTEGER,"
    " ZMESSAGE VARCHAR)"
)
_CORES = 8
_NOBODY = 0xFFFF_FFFF
"""Reference of a process that no row mentions."""


def configuration(run: Scenario) -> bytes:
    """`exposedTableInfo.plist`: the target, and on what it was recorded.

    Raises ValueError for a recording of all processes.
    """
    if run.all_processes:
        raise ValueError("what a bundle holds instead of a target was never seen; write an export")
    version = "osx-version" if run.device.platform == "macOS" else "ios-version"
    major, minor, patch, *_ = [*map(int, run.device.os_version.split(" ")[0].split(".")), 0, 0]
    binding = {
        # 18.5 as 180500.
        version: major * 10_000 + minor * 100 + patch,
        "timebase-numerator": 125,
        "timebase-denominator": 3,
        "targets-already-running": not run.launched,
        "target-is-application": False,
        "windowed-recording": False,
        "model-interactively": False,
        "is-import": 0,
        "logical-cpu-count": _CORES,
        "physical-cpu-count": _CORES,
        "hangsThreshold": 500,
        "recordKernelStacks": False,
    }
    root = {
        "biproductTableIDs": frozenset(),
        "inputTableIDs": frozenset(),
        "readOnlySpecsByID": numbered_dictionary(()),
        "bindingParameters": binding,
        "modelingParameters": {"target-pid": run.target.pid},
    }
    return archive(root=root)


def instrument_files(runs: Sequence[Scenario]) -> dict[str, bytes]:
    """One file for each instrument and run, by path inside the bundle."""
    files = {}
    for number, run in enumerate(runs, start=1):
        for name, schemas in _INSTRUMENTS.items():
            if run.template is None and name == "Time Profiler":
                continue
            file_schemas = [schema.replace("{neural engine}", run.xcode.neural_engine_schema) for schema in schemas]
            folder = str(uuid.uuid5(uuid.NAMESPACE_OID, name)).upper()
            # An archive with one member, without the time of day.
            stream = io.BytesIO()
            with zipfile.ZipFile(stream, "w") as archived:
                member = zipfile.ZipInfo(f"{number}.run", (1980, 1, 1, 0, 0, 0))
                member.compress_type = zipfile.ZIP_DEFLATED
                member.create_system = 3
                archived.writestr(member, _run(run, file_schemas))
            files[f"instrument_data/{folder}/run_data/{number}.run.zip"] = stream.getvalue()
    return files


def run_information(runs: Sequence[Scenario], values: Sequence[Values]) -> bytes:
    """`form.template`: what `xctrace export --toc` states of each run."""
    numbers = range(1, len(runs) + 1)
    information: dict[object, object] = {
        number: Mutable(_run_data(run, shared)) for number, run, shared in zip(numbers, runs, values, strict=True)
    }
    everything = {"XRRunListAllRunsDataKey": Mutable({})}
    listed = Coded("XRRunListData", {"$0": list(numbers), "$1": Mutable(information | everything), "$2": len(runs) + 1})
    roots: dict[str, object] = {
        "com.apple.xray.owner.template": runs[0].template,
        "com.apple.xray.owner.template.version": 2.1,
        "com.apple.xray.run.data": listed,
    }
    return archive(**roots)


def run_issues(warnings: Sequence[str]) -> bytes:
    """`RunIssues.storedata`: a database with the issue that every run has, and warnings."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("PRAGMA page_size = 4096")
        database.execute(_ISSUE_TABLE)
        database.execute("INSERT INTO ZISSUE VALUES (1, 1, 1, 1, 0, 0, 2, NULL, NULL, ?)", (_NOISE,))
        for key, message in enumerate(warnings, start=2):
            database.execute("INSERT INTO ZISSUE VALUES (?, 1, 1, 1, 0, 0, 1, NULL, NULL, ?)", (key, message))
        database.commit()
        data = bytearray(database.serialize())
    # Else the bytes would show at this place which SQLite wrote them.
    struct.pack_into(">I", data, 96, 3_043_000)
    return bytes(data)


def _run(run: Scenario, schemas: list[str]) -> bytes:
    """An archived `XRRun`: start, end, number, and the tables of the instrument."""
    start = run.start_ns
    specs = [Coded("XRAnalysisCoreTableSpec", {"schemaName": schema, "engineeringName": schema}) for schema in schemas]
    tables = archive(root={"tables": specs})
    length = struct.pack("<H", len(tables))
    return b"".join(
        (
            _BEFORE_START,
            struct.pack("<d", start / 1e9),
            _BEFORE_END,
            struct.pack("<d", (start + run.duration_ns) / 1e9),
            _BEFORE_NUMBER,
            b"\x01",
            _AFTER_NUMBER,
            b"\x81" + length + b"\x84\x06[" + str(len(tables)).encode() + b"c]" + tables + b"\x86\x86",
        )
    )


def _run_data(run: Scenario, values: Values) -> dict[object, object]:
    """One run of `form.template`."""
    processes = [
        Mutable({"coreValueSignature": reference, "displayName": process.name, "_pid": process.pid})
        for process, reference in values.processes.items()
    ]
    kernel = Mutable({"coreValueSignature": _NOBODY, "displayName": "kernel.release", "_pid": 0})
    threads = numbered_dictionary(
        (
            thread.tid,
            Coded(
                "XRThread",
                {
                    "pid": thread.process.pid,
                    "tid": thread.tid,
                    "preferredName": f"{thread.name}  0x{thread.tid:x}",
                    "coreValueSignature": reference,
                },
            ),
        )
        for thread, reference in values.threads.items()
    )
    return {
        "runInfo": _run_information(run),
        "processDatas": [kernel, *processes],
        "threadsByTID": threads,
        "startTime": run.start_ns,
        "runningTime": run.duration_ns,
        "numberOfCpus": _CORES,
    }


def _run_information(run: Scenario) -> Coded:
    start = run.start_ns
    return Coded(
        "XRRunInfo",
        {
            "_templateName": run.template,
            "_instrumentVersion": run.xcode.instruments_version,
            "_targetProcessName": run.target.name,
            "_targetProcessPid": str(run.target.pid),
            "_targetExitStatus": "0" if run.launched else None,
            "_targetTerminationInformation": None,
            "_endReason": run.end_reason,
            "_recordingMode": "Deferred",
            "_timeLimit": MutableText(run.time_limit),
            "_arguments": run.arguments,
            "_environment": dict(run.environment),
            "_recordingSettings": {},
            "_rawStartTime": start / 1e9,
            "_rawEndTime": (start + run.duration_ns) / 1e9,
            "_rawDuration": run.duration_ns / 1e9,
            "_rawWindowStartTime": start / 1e9,
            **_machine("_target", run.device),
            **_machine("_host", run.host),
            **_machine("_paired", None),
        },
    )


def _machine(side: str, machine: Machine | None) -> dict[str, object]:
    """Fields of a device; empty texts where there is none."""
    fields = {"Platform": "platform", "Model": "model", "OperatingSystem": "os_version", "Name": "name", "UUID": "uuid"}
    return {f"{side}{key}": getattr(machine, field) if machine else "" for key, field in fields.items()}
