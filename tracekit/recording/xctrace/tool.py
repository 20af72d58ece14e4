"""Finding `xctrace`, its version, what it lists, and which of the devices it lists is meant; what `xctrace record`
prints, and what that means. Texts and exit codes as seen with Xcode 26.3 and 27."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tracekit.errors import TracekitError, UsageError, unknown

if TYPE_CHECKING:
    from tracekit.recording.xctrace.running import Completed

TIMEOUT_S: Final = 900.0
"""For the export of one table. 412 MB took about 190 s, large traces up to 20 minutes."""
PATIENCE_S: Final = 120.0
"""For short questions. The first call after an update of Xcode takes tens of seconds."""
HOW_TO_INSTALL: Final = (
    "install Xcode from the App Store or developer.apple.com, then select it with "
    "`sudo xcode-select -s /Applications/Xcode.app/Contents/Developer`; the Command Line Tools do not include xctrace"
)
USE_DEVICE: Final = "record on a device, or select another version of Xcode with xcode-select"
GO_ONLINE: Final = "connect and unlock it, trust this Mac, and turn on Developer Mode in its settings"
_VERSION: Final = re.compile(r"^xctrace version (\S+)(?: \((\S+)\))?$", re.MULTILINE)
_FAMILIES: Final = {17: 26}
"""Leading digits of the build and the release of Xcode, where they differ."""
_HANGS_ON_SIMULATORS: Final = re.compile(r"17[D-Z]|27A")
"""Builds of Xcode 26.4 to 27.0: recording a simulator never ends, whatever the time limit. 26.3 (17C) does not hang
(public reports, such as software-mansion/argent#350)."""
_DEVICE: Final = re.compile(r"(?P<name>.*?)(?: \((?P<os>[0-9][0-9.]*)\))? \((?P<id>[0-9A-Fa-f-]{8,})\)")


Tool = tuple[str, ...]
"""The words by which `xctrace` is called."""


@dataclass(frozen=True, slots=True)
class Version:
    """What `xctrace version` printed."""

    text: str
    """The whole line without its first two words, as it is where it has another form."""
    build: str | None = None
    family: int | None = None
    """Release of Xcode by the build. The number before it can be years behind (`16.0 (17F113)` is Xcode 26)."""

    @property
    def hangs_on_simulators(self) -> bool:
        """Whether recording a simulator is known to hang."""
        return _HANGS_ON_SIMULATORS.match(self.build or "") is not None


@dataclass(frozen=True, slots=True)
class ListedDevice:
    """One line of `xctrace list devices`. Name and id are private."""

    section: str
    name: str
    identifier: str
    os_version: str | None
    """None for the Mac itself."""

    @property
    def is_host(self) -> bool:
        """Whether it is this Mac."""
        return self.os_version is None and self.section == "Devices"

    @property
    def is_simulator(self) -> bool:
        """Whether it runs on this Mac."""
        return self.section == "Simulators"

    @property
    def is_offline(self) -> bool:
        """Whether it is known to this Mac, but out of reach."""
        return self.section == "Devices Offline"

    @property
    def kind(self) -> str:
        """What it is, in a word or two."""
        if self.is_host:
            return "this Mac"
        named = {"Devices": "device", "Devices Offline": "offline", "Simulators": "simulator"}
        return named.get(self.section, self.section.lower())


def find_tool() -> Tool | None:
    """`xcrun xctrace` or `xctrace`, whichever PATH has; None elsewhere than on a Mac with developer tools."""
    if shutil.which("xcrun"):
        return "xcrun", "xctrace"
    return ("xctrace",) if shutil.which("xctrace") else None


def read_version(tool: Tool) -> Version:
    """Version and build. Raises `TracekitError` where the tool does not run."""
    answer = ask(tool, "version")
    match = _VERSION.search(answer)
    if match is None:
        return Version(answer.strip())
    build = match[2]
    digits = re.match(r"\d+", build or "")
    number = int(digits[0]) if digits else None
    return Version(match[0].removeprefix("xctrace version "), build, _FAMILIES.get(number, number) if number else None)


def list_names(tool: Tool, what: str) -> list[str]:
    """Names of all `templates`, or of all `instruments` that can be added to one."""
    return [line for _, line in _entries(ask(tool, "list", what))]


def list_devices(tool: Tool) -> list[ListedDevice]:
    """Devices and simulators. Lines of another form are left out."""
    matches = [(section, _DEVICE.fullmatch(line)) for section, line in _entries(ask(tool, "list", "devices"))]
    return [ListedDevice(section, match["name"], match["id"], match["os"]) for section, match in matches if match]


def first_line(text: str) -> str:
    """What a tool says, as it may stand in a message."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "no output")
    return "".join(character if character.isprintable() else "?" for character in line[:300]).rstrip(".")


def failure(what: str, completed: Completed, timeout_s: float) -> TracekitError:
    """The error for a call that did not end well."""
    if completed.timed_out:
        return TracekitError(f"{what} did not respond within {timeout_s:g} s and was stopped; try again")
    if "unable to find utility" in completed.errors or "requires Xcode" in completed.errors:
        return TracekitError(f"the selected developer tools do not include xctrace; {HOW_TO_INSTALL}")
    message = first_line(completed.errors or completed.output)
    return TracekitError(f"{what} failed with exit status {completed.status}: {message}")


def ask(tool: Tool, *arguments: str) -> str:
    """What `xctrace` answers. Raises `TracekitError`."""
    from tracekit.recording.xctrace.running import run_command

    completed = run_command([*tool, *arguments], PATIENCE_S)
    if completed.timed_out or completed.status:
        raise failure(f"xctrace {' '.join(arguments)}", completed, PATIENCE_S)
    # `list` of some versions answers on standard error.
    return completed.output if completed.output.strip() else completed.errors


def _entries(text: str) -> list[tuple[str, str]]:
    """Section and text of each line of a list."""
    section = ""
    entries = []
    for line in map(str.strip, text.splitlines()):
        if line.startswith("== ") and line.endswith(" =="):
            section = line[3:-3]
        elif line:
            entries.append((section, line))
    return entries


def find_devices(devices: Sequence[ListedDevice], wanted: str) -> list[ListedDevice]:
    """Those that `wanted` may mean: by id, else by name, else by a part of the name in any case. Connected devices
    before simulators before those that are offline, and only the first of these kinds that fits. Nothing means all that
    can be chosen, in this order, this Mac behind its devices.

    Raises `UsageError` where there is none.
    """
    if not wanted:
        can_be_chosen = [device for device in devices if not device.is_offline]
        return sorted(can_be_chosen, key=lambda device: (device.is_simulator, device.is_host))
    ways: tuple[Callable[[ListedDevice], bool], ...] = (
        lambda device: device.identifier.lower() == wanted.lower(),
        lambda device: device.name == wanted,
        lambda device: _typeable_name(wanted) in _typeable_name(device.name),
    )
    for way in ways:
        matching = sorted(filter(way, devices), key=_preference)
        if matching:
            return [device for device in matching if _preference(device) == _preference(matching[0])]
    raise unknown("device", wanted, dict.fromkeys(device.name for device in devices))


def _typeable_name(name: str) -> str:
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


RUNNING: Final = "Ctrl-C to stop the recording"
"""The line that says that the recording really runs."""
TARGET_EXITED: Final = "Target app exited"
SAVING: Final = ("Recording completed", "Recording failed")
_TOLD: Final = ("Starting recording with", RUNNING, "Reached specified time limit", TARGET_EXITED, *SAVING)
"""Lines that are repeated in our own words, or say nothing new."""
_SAVED: Final = "Output file saved as: "
ENDED_WITH_TARGET: Final = 54
"""Exit code of launched targets, although the recording is complete."""
NOT_FOUND: Final = 19
"""Exit code where no process has the name."""
_ISSUES: Final = "Run issues were detected"
_ISSUE: Final = re.compile(r"^(\t?)\* \[(Error|Warning)\] (.*)$")
_NOT_ALLOWED: Final = ("get-task-allow", "Permission to debug", "Failed to gain authorization", "Failed to attach")
ON_MAC: Final = "com.apple.security.get-task-allow"
ON_DEVICE: Final = "get-task-allow"
"""The name on iOS, iPadOS, tvOS, watchOS and visionOS. macOS ignores it."""
ADDED: Final = ("Hangs", "Thermal State")
"""Instruments that `main-thread-work` and `thermal-throttling` need, and that the Core ML template does not have."""
MEMORY: Final = ("Activity Monitor",)
"""What is recorded too where memory is asked for."""
FRAMES: Final = ("Hitches", "Display", "Run Loops")
"""What is recorded too where late frames are asked for."""


@dataclass(frozen=True, slots=True)
class RunIssue:
    """One thing that went wrong while recording."""

    level: str
    """`Error` or `Warning`."""
    text: str
    suggestion: str = ""


def run_issues(errors: str) -> tuple[RunIssue, ...]:
    """The run issues on standard error; a suggestion is indented below its issue."""
    issues: list[RunIssue] = []
    for line in errors.splitlines():
        match = _ISSUE.match(line)
        if match is None:
            continue
        text = match[3].strip()
        if match[1] and issues:
            suggestion = text.removeprefix("Recovery Suggestion: ")
            issues[-1] = RunIssue(issues[-1].level, issues[-1].text, suggestion)
        else:
            issues.append(RunIssue(match[2], text))
    return tuple(issues)


def reports_success(output: str) -> bool:
    """Whether the tool says that it recorded and saved without errors."""
    lines = output.splitlines()
    return any(line.startswith(_SAVED) for line in lines) and not any(line.startswith(SAVING[1]) for line in lines)


def is_news(line: str) -> bool:
    """Whether a line is passed on: neither repeated in our own words, nor a run issue, which are shown at the end."""
    patterns = (*_TOLD, _SAVED, _ISSUES)
    return bool(line.strip()) and not line.startswith(patterns) and _ISSUE.match(line) is None


def how_to_build(*, on_device: bool) -> str:
    """What to do about an app without the entitlement, whatever it is built for."""
    return (
        f"Instruments can only trace apps signed with {ON_DEVICE if on_device else ON_MAC}: build the app with Xcode's "
        "automatic development signing (Product > Profile does)"
    )


def advice_for(issues: Sequence[RunIssue], *, on_device: bool) -> str | None:
    """What to do where the target cannot be traced. on_device: whether the recording is not of this Mac."""
    texts = " ".join(f"{issue.text} {issue.suggestion}" for issue in issues)
    if not any(word in texts for word in _NOT_ALLOWED):
        return None
    return f"{how_to_build(on_device=on_device)}; check it with `tracekit doctor --target APP`"


def failure_reason(completed: Completed, issues: Sequence[RunIssue], *, on_device: bool, problem: str) -> str:
    """One clause: what went wrong, and what to do. problem: what is wrong with the bundle."""
    elsewhere = "" if on_device else "; for an app on an iPhone, add --device"
    known = {
        NOT_FOUND: f"start the app first, or pass its process ID{elsewhere}",
        21: f"the process may have ended; check its ID with `ps`{elsewhere}",
        56: "list them with `xcrun xctrace list instruments` (templates such as System Trace are not instruments); "
        "--only-template leaves out Hangs and Thermal State",
    }
    if completed.status in known:
        return f"{first_line(completed.errors or completed.output)}; {known[completed.status]}"
    if issues:
        first = issues[0]
        advice = advice_for(issues, on_device=on_device) or first.suggestion.rstrip(".")
        if any(f"`{name}`" in advice for name in ADDED):
            advice = "use --only-template"
        # As a part of a sentence of ours; a name at its beginning keeps its capital.
        starts_plainly = first.text.startswith(("Permission ", "Failed ", "Recording "))
        clause = f"{first.text[:1].lower() if starts_plainly else first.text[:1]}{first.text[1:]}".rstrip(".")
        return "; ".join(filter(None, [clause, advice]))
    if completed.crashed:
        return "xctrace crashed; try again with fewer instruments or a shorter time limit"
    if completed.errors.strip():
        return f"{first_line(completed.errors)} (xctrace exited with status {completed.status})"
    return f"{problem}, and xctrace exited with status {completed.status}" if completed.status else problem
