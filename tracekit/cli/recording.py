"""What `tracekit record` says while it records, and what it asks and checks before."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tracekit.cli.output import is_interactive, narrate, narrate_in_place
from tracekit.errors import TracekitError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tracekit.recording.xctrace.tool import ListedDevice, Tool
    from tracekit.recording.xctrace.watching import Phase


class Narrator:
    """Reports on standard error what becomes of a recording, and how long it takes: on a terminal every second, else
    each minute of waiting."""

    def __init__(self) -> None:
        self._shown = ""
        self._minutes = 0

    def on_message(self, text: str) -> None:
        """A clause of our own."""
        self.close()
        narrate(f"tracekit: {text}")

    def pass_on(self, text: str) -> None:
        """A line of `xctrace`."""
        self.close()
        narrate(f"xctrace: {text.strip()}")

    def count(self, phase: Phase, seconds: float) -> None:
        """How long the phase lasts so far."""
        minutes, rest = divmod(int(seconds), 60)
        if not self._show(f"  {phase.value} {minutes}:{rest:02}") and minutes != self._minutes:
            self._minutes = minutes
            if minutes and phase.value != "recording":
                narrate(f"tracekit: {phase.value} for {minutes} min so far")

    def close(self) -> None:
        """Remove the line with the time."""
        self._show("")

    def _show(self, text: str) -> bool:
        """Show a line in place of the last one. False where that cannot be."""
        if text == self._shown:
            return True
        shown = narrate_in_place(text)
        self._shown = text if shown else ""
        return shown


def choose_device(tool: Tool, wanted: str) -> ListedDevice:
    """The device that the user means, chosen from a list where several fit. Raises `UsageError` where none does, or
    where it cannot be recorded on."""
    from tracekit.recording.xctrace.devices import check_device, find_devices
    from tracekit.recording.xctrace.tool import list_devices, read_version

    matching = find_devices(list_devices(tool), wanted)
    rest = [each for each in matching if not each.is_simulator]
    if rest != matching and rest and read_version(tool).hangs_on_simulators:
        matching = rest
    device = matching[0] if len(matching) == 1 else _device_of_number(matching, wanted)
    check_device(device, lambda: read_version(tool))
    return device


def _device_of_number(devices: Sequence[ListedDevice], wanted: str) -> ListedDevice:
    """The one whose number is typed. Raises `UsageError` where nobody can type, or types something else."""
    listed = [f"{each.name} ({', '.join(filter(None, (each.os_version, each.kind)))})" for each in devices]
    if not is_interactive():
        which = f"several devices match '{wanted}'" if wanted else "--device needs a value where there is no terminal"
        choices = ", ".join(f"{text} {each.identifier}" for text, each in zip(listed, devices, strict=True))
        raise UsageError(f"{which}; use the name or the UDID of one: {choices}")
    for number, line in enumerate(listed, 1):
        narrate(f"{number:3}  {line}")
    narrate(f"tracekit: which device? type a number from 1 to {len(devices)} (Enter: 1, {devices[0].name})")
    answer = sys.stdin.readline()
    chosen = (answer.strip() or "1") if answer else ""
    if not chosen.isdecimal() or not 1 <= int(chosen) <= len(devices):
        raise UsageError(f"no device was chosen; expected a number from 1 to {len(devices)}")
    return devices[int(chosen) - 1]


def check_signature(launch: Sequence[str], narrator: Narrator) -> None:
    """Say where a program that is to be launched on this Mac cannot be traced; where that cannot be found out, xctrace
    will say so."""
    from tracekit.recording.xctrace.signing import read_signature

    if not launch:
        return
    program = Path(launch[0])
    try:
        signature = read_signature(program)
    except TracekitError:
        return
    if not signature.is_traceable:
        narrator.on_message(
            f"{program.name} lacks get-task-allow, so Core ML events will be missing; to sign it, see: tracekit doctor "
            f"--target {program}"
        )
