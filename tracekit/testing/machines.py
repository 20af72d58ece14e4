"""Devices, processes and versions of Xcode that recordings come from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Machine:
    """A device or the Mac beside it. Name and uuid are invented."""

    platform: str
    """`macOS`, `iOS` or `iOS Simulator`."""
    model: str
    os_version: str
    """Version with build."""
    name: str
    uuid: str
    gpu: str
    """Name of its Metal device."""


IPHONE = Machine("iOS", "iPhone 14 Pro", "18.5 (22F76)", "Test iPhone", "00008120-0000000000000001", "A16 GPU")
"""A phone of the Xcode 16 years."""
NEW_IPHONE = Machine("iOS", "iPhone Air", "27.2 (24B5089g)", "Test iPhone", "00008150-0000000000000002", "A19 Pro GPU")
"""A phone of the Xcode 27 years."""
MAC = Machine("macOS", "Mac Studio", "15.6 (24G84)", "Test Mac", "00006022-0000000000000003", "M2 Ultra")
"""A Mac of the Xcode 16 years."""
NEW_MAC = Machine("macOS", "Mac mini", "27.0 (26A5353q)", "Test Mac", "00008132-0000000000000004", "M4")
"""A Mac of the Xcode 27 years."""


@dataclass(frozen=True, slots=True)
class Process:
    """A process of the device."""

    name: str
    pid: int
    path: str = "Unknown"


WINDOW_SERVER = Process(
    "WindowServer", 502, "/System/Library/PrivateFrameworks/SkyLight.framework/Resources/WindowServer"
)
"""Draws the screen of a Mac, and so fills GPU tables."""
BACKBOARD = Process("backboardd", 66, "/usr/libexec/backboardd")
"""Draws the screen of a phone."""


@dataclass(frozen=True, slots=True)
class Xcode:
    """What a version of Xcode writes into recordings."""

    instruments_version: str
    """As in the table of contents. The first number misleads; the build decides."""
    family: int
    """Release family: 16, 26 or 27."""

    @property
    def neural_engine_schema(self) -> str:
        """Schema of the Neural Engine instrument: renamed in 27."""
        return "ane-hw-intervals" if self.family >= 27 else "ane-hw-intervals-internal"

    @property
    def signpost_interval_schema(self) -> str:
        """Schema of paired signposts: replaced in 27."""
        return "OSSignpostIntervals" if self.family >= 27 else "os-signpost-interval"

    @property
    def documented(self) -> bool:
        """Whether tables carry a `documentation` attribute."""
        return self.family >= 27


XCODES: dict[str, Xcode] = {
    "16.4": Xcode("16.0 (16F6)", 16),
    "26.3": Xcode("26.0 (17C529)", 26),
    "26.5": Xcode("16.0 (17F113)", 26),
    "27.0": Xcode("27.0 (27A266a)", 27),
    "27.2": Xcode("27.2 (27B5019j)", 27),
}
"""By marketing version."""


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of a process."""

    tid: int
    process: Process
    name: str = ""
    """`Main Thread` for the main one."""


_MIN_TID = 0x1200
"""Thread numbers of a scenario start here, so that they differ from process numbers."""


def main_thread(process: Process, name: str = "Main Thread") -> Thread:
    """The main thread of a process."""
    return Thread(_MIN_TID + process.pid * 8, process, name)
