"""Which device to record on: from what the user says to one line of `xctrace list devices`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tracekit.errors import UsageError, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tracekit.recording.xctrace.tool import ListedDevice, Version

USE_DEVICE: Final = "record on a device, or select another version of Xcode with xcode-select"
GO_ONLINE: Final = "connect and unlock it, trust this Mac, and turn on Developer Mode in its settings"


def find_devices(devices: Sequence[ListedDevice], wanted: str) -> list[ListedDevice]:
    """Those that `wanted` may mean: by id, else by name, else by a part of the name in any case. Connected devices
    before simulators before those that are offline, and only the first of these kinds that fits. Nothing means all that
    can be chosen, in this order, this Mac behind its devices.

    Raises `UsageError` where there is none.
    """
    if not wanted:
        can_be_chosen = [each for each in devices if not each.is_offline]
        return sorted(can_be_chosen, key=lambda each: (each.is_simulator, each.is_host))
    ways: tuple[Callable[[ListedDevice], bool], ...] = (
        lambda each: each.identifier.lower() == wanted.lower(),
        lambda each: each.name == wanted,
        lambda each: _typed(wanted) in _typed(each.name),
    )
    for way in ways:
        matching = sorted(filter(way, devices), key=_preference)
        if matching:
            return [each for each in matching if _preference(each) == _preference(matching[0])]
    raise unknown("device", wanted, dict.fromkeys(each.name for each in devices))


def _typed(name: str) -> str:
    """A name as people type it: iOS puts a typographic apostrophe into names such as "Kim's iPhone"."""
    return name.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").lower()


def _preference(device: ListedDevice) -> int:
    return 2 if device.is_offline else 1 if device.is_simulator else 0


def check_device(device: ListedDevice, version: Callable[[], Version]) -> None:
    """Raise `UsageError` for a device that cannot be recorded on. The version is asked for only where it matters."""
    if device.is_offline:
        raise UsageError(f"{device.name} is offline; {GO_ONLINE}")
    if device.is_simulator and version().hangs_on_simulators:
        raise UsageError(
            f"cannot record {device.name}: xctrace of Xcode 26.4 to 27.0 hangs on simulators; {USE_DEVICE}"
        )
