"""Stands in for `xcrun`, `xctrace`, `xcode-select` and `codesign` where there is no Xcode.

The first argument is the name it was called by. What it answers follows `xctrace` of Xcode 16 to 27; environment
variables choose what goes wrong:

STANDIN_VERSION   what `version` prints
STANDIN_EXPORT    missing-template, malformed, crash, cut, no-node, hang, nothing, refused
STANDIN_ONLY      the schema, or `toc`, that this happens to; all by default
STANDIN_TIMES     how often it happens; STANDIN_STATE is the file that counts
STANDIN_DELAY     seconds that an export takes to start
STANDIN_RECORD    what `record` does, apart from recording well; several with commas:
                  54, crash, no-name, no-pid, chatter, over-limit
                  asks: it puts a question where `--no-prompt` is missing, and waits for the answer
                  never-starts, deaf (never starts and ignores Ctrl-C, as with simulators)
                  issues (saved, and complete), partly (failed, and yet complete), failed, not-allowed
                  hangs-saving, hangs-when-saved (stubborn: not even SIGTERM ends it), unfinished, full-disk
STANDIN_INSTRUMENTS  what there is, with commas
STANDIN_OPTIONS   what `record --show-recording-options` prints; `refused`: `--recording-options` ends with 57
STANDIN_BUNDLE    the bundle that `record` saves; a sample by default
STANDIN_BUNDLES   folder of bundles, of which it saves the one that is called as a word after `--launch`
STANDIN_LOG       file that receives the arguments of every call
STANDIN_SELECTED  what `xcode-select -p` prints
STANDIN_SIGNED    yes, no or unsigned: what `codesign` says
STANDIN_ENTITLEMENTS  JSON of the entitlements that it prints instead

A bundle is a folder that holds `form.template` and a folder `tables` of XML exports. Anything that is not imitated
ends with status 64, so that no test passes by accident.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path

SETTINGS = {name[8:].lower(): value for name, value in os.environ.items() if name.startswith("STANDIN_")}
NO_MATCH = '<?xml version="1.0"?>\n<trace-query-result>\n</trace-query-result>\n'
XPATH = re.compile(r'/trace-toc/run\[@number="(\d+)"\]/data/table\[@schema="([^"]+)"\]')
FLAGS = {"--no-prompt", "--all-processes", "--show-recording-options"}
OPTIONS = {
    "Hangs": {"detectPriorityInversions": False, "hangsThreshold": 250},
    "Time Profiler": {
        "contextSwitchSampling": False,
        "highFrequencySampling": False,
        "recordKernelStacks": False,
        "recordWaitingThreads": False,
    },
    "os_signpost": {"dynamicTracingEnabledSubsystems": []},
}
"""Names and defaults that `xctrace` of Xcode 27 prints, as public notes have them."""
LISTED = "Points of Interest,Thermal State,Hangs,GPU,os_signpost,Activity Monitor,Hitches,Display,Run Loops"
INSTRUMENTS = SETTINGS.get("instruments", LISTED).split(",")
SAMPLE = Path(__file__).resolve().parents[2] / "sample_traces" / "sharpen_8bit.trace"
FAILED_TOC = """<?xml version="1.0"?>

<trace-toc>
    <run number="1">
        <info>
            <target>
                <device platform="macOS" model="Mac mini" name="Example Mac" os-version="26.3.1 (25D2128)" uuid="0"/>
                <all-processes/>
            </target>
            <summary>
                <start-date/>
                <end-date/>
                <duration>0.000000</duration>
                <instruments-version/>
                <recording-mode/>
            </summary>
        </info>
        <processes/>
        <data>
            <table schema="coreml-os-signpost"/>
        </data>
        <tracks/>
    </run>
</trace-toc>"""
HELP = "usage: xctrace <command>\n\n    export\n    help\n    list\n    record\n    triage\n    version\n"
HELPED = {"export": ("--input", "--output", "--toc", "--xpath"), "record": ("--output", "--template", "--attach")}
"""Subcommands, and options of some; a guess at their form. Xcode 27 has `triage`."""
DEVICES = """== Devices ==
Example Mac (00000000-0000-0000-0000-000000000001)
Phone (blue) (18.5) (00000000-0000000000000002)

== Devices Offline ==
Old Phone (16.1) (00000000-0000000000000003)

== Simulators ==
iPhone 16 (18.5) (00000000-0000-0000-0000-000000000004)
"""
TEMPLATES = "== Standard Templates ==\nActivity Monitor\nCore ML\nTime Profiler\n\n== Custom Templates ==\nMine\n"


def main() -> None:
    name, *arguments = sys.argv[1:]
    if "log" in SETTINGS:
        with Path(SETTINGS["log"]).open("a", encoding="utf-8") as log:
            log.write(json.dumps([name, *arguments]) + "\n")
    if name == "xcrun":
        if arguments[:1] in (["coremlcompiler"], ["swiftc"]):
            build(*arguments)
        if not arguments or (arguments[0] != "xctrace" and arguments != ["--find", "xctrace"]):
            refuse(f"xcrun {arguments}")
        if SETTINGS.get("selected", "").endswith("CommandLineTools"):
            leave(72, errors='xcrun: error: unable to find utility "xctrace", not a developer tool or in PATH\n')
        if arguments[0] == "--find":
            leave(0, SETTINGS.get("selected", "/Applications/Xcode.app/Contents/Developer") + "/usr/bin/xctrace\n")
        name, arguments = "xctrace", arguments[1:]
    if name == "xcode-select" and arguments == ["-p"]:
        leave(0, SETTINGS.get("selected", "/Applications/Xcode.app/Contents/Developer") + "\n")
    if name == "codesign":
        codesign()
    command, *rest = arguments
    if command == "help":
        leave(0, HELP if not rest else "".join(f"    {each} <value>\n" for each in HELPED.get(rest[0], ())))
    if command == "version":
        leave(0, SETTINGS.get("version", "xctrace version 16.0 (16F6)") + "\n")
    if command == "list" and rest == ["instruments"]:
        leave(0, "\n".join(("== Standard Instruments ==", *INSTRUMENTS, "")))
    if command == "list" and rest in (["devices"], ["templates"]):
        leave(0, DEVICES if rest == ["devices"] else TEMPLATES)
    if command == "export":
        export(options(rest, {"--input", "--output", "--xpath"}, {"--toc"}))
    if command == "record":
        record(rest)
    refuse(" ".join(arguments))


def build(tool: str, *arguments: str) -> None:
    """Make what the tool is asked to make, without anything in it."""
    if tool == "coremlcompiler" and arguments[0] == "compile":
        (Path(arguments[2]) / f"{Path(arguments[1]).stem}.mlmodelc").mkdir()
    elif tool == "swiftc" and "-o" in arguments:
        Path(arguments[arguments.index("-o") + 1]).touch()
    else:
        refuse(f"{tool} {' '.join(arguments)}")
    leave(0)


def leave(status: int, output: str = "", errors: str = "") -> None:
    sys.stdout.write(output)
    sys.stderr.write(errors)
    sys.stdout.flush()
    sys.stderr.flush()
    sys.exit(status)


def refuse(what: str) -> None:
    leave(64, errors=f"the stand-in does not imitate: {what}\n")


def crash() -> None:
    sys.stdout.flush()
    os.kill(os.getpid(), signal.SIGTRAP)


def options(words: list[str], valued: set[str], flags: set[str]) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word == "--launch" and "--launch" in valued:
            if rest[:1] != ["--"]:
                refuse("--launch without --")
            values["--launch"], rest = rest[1:], []
        elif word in flags:
            values[word] = []
        elif word in valued and rest:
            values.setdefault(word, []).append(rest.pop(0))
        else:
            refuse(word)
    return values


def codesign() -> None:
    import plistlib

    if SETTINGS.get("signed") == "unsigned":
        leave(1, errors="App: code object is not signed at all\n")
    allowed = SETTINGS.get("signed", "yes") == "yes"
    entitlements = json.loads(SETTINGS.get("entitlements", "null"))
    if entitlements is None:
        entitlements = {"com.apple.security.get-task-allow": allowed}
    leave(0, plistlib.dumps(entitlements).decode(), "Executable=App\n")


def happens(what: str) -> str | None:
    """The failure to imitate for this table, if its turn has come."""
    failure = SETTINGS.get("export")
    return failure if failure and SETTINGS.get("only", what) == what and turn_has_come() else None


def turn_has_come() -> bool:
    """Whether it did not happen often enough yet."""
    if "times" not in SETTINGS:
        return True
    state = Path(SETTINGS["state"])
    count = int(state.read_text()) if state.exists() else 0
    state.write_text(str(count + 1))
    return count < int(SETTINGS["times"])


def export(given: dict[str, list[str]]) -> None:
    trace = Path(given["--input"][0])
    time.sleep(float(SETTINGS.get("delay", "0")))
    if "--toc" in given:
        what, text = "toc", (trace / "tables" / "toc.xml").read_text(encoding="utf-8")
    else:
        match = XPATH.fullmatch(given["--xpath"][0])
        if match is None:
            refuse(given["--xpath"][0])
        what, text = match[2], answer(trace, match[1], match[2])
    failure = happens(what)
    if failure == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN) if "stubborn" in SETTINGS else None
        time.sleep(600)
    if failure in ("missing-template", "malformed"):
        text = {
            "missing-template": "Document Missing Template Error",
            "malformed": "Trace is malformed - run data is missing",
        }[failure]
        leave(10, errors=f"Export failed: {text}\n")
    if failure == "refused":
        leave(1, errors="Something that nobody has seen yet.\n")
    if failure == "no-node":
        text = NO_MATCH
    target = given.get("--output", [None])[0]
    if failure in ("crash", "cut"):
        text = text[: len(text) // 2]
    if target is None:
        sys.stdout.write(text)
    elif failure != "nothing":
        Path(target).write_text(text, encoding="utf-8")
    if failure == "crash":
        crash()
    leave(0, f"Finished export to the file: {target}\n" if target else "")


def answer(trace: Path, run: str, schema: str) -> str:
    nodes: list[str] = []
    for path in sorted((trace / "tables").glob("*.xml")):
        matches = re.findall(r"<node .*?</node>", path.read_text(encoding="utf-8"), re.DOTALL)
        nodes += [node for node in matches if f"/run[{run}]/" in node and f'<schema name="{schema}"' in node]
    if not nodes:
        return NO_MATCH
    return f'<?xml version="1.0"?>\n<trace-query-result>\n{"".join(nodes)}</trace-query-result>\n'


def record(words: list[str]) -> None:
    valued = {"--output", "--template", "--instrument", "--device", "--time-limit", "--attach", "--launch"}
    given = options(words, {*valued, "--recording-options"}, FLAGS)
    if "--show-recording-options" in given:
        refused = SETTINGS.get("options") in (None, "refused")
        leave(0, json.dumps(OPTIONS) if refused else SETTINGS["options"])
    for path in given.get("--recording-options", []):
        # A part of what it prints is refused.
        passed = json.loads(Path(path).read_text(encoding="utf-8"))
        whole = {name: set(of) for name, of in passed.items()} == {name: set(of) for name, of in OPTIONS.items()}
        if SETTINGS.get("options") == "refused" or not whole:
            leave(57, errors="The recording options could not be decoded.\n")
        if "log" in SETTINGS:
            Path(f"{SETTINGS['log']}.options").write_text(json.dumps(passed), encoding="utf-8")
    modes = set(SETTINGS.get("record", "").split(","))
    output = Path(given["--output"][0])
    if output.exists():
        leave(1, errors="the output exists\n")
    refuse_target(modes, given)
    stopped: list[int] = []
    signal.signal(signal.SIGINT, signal.SIG_IGN if "deaf" in modes else lambda *_: stopped.append(1))
    if "asks" in modes and "--no-prompt" not in given:
        ask(stopped)
    say(f"Starting recording with the {given['--template'][0]} template.")
    if "chatter" in modes:
        sys.stderr.write("xctrace[123:456] a warning of some library\n")
        sys.stderr.flush()
    if "crash" in modes:
        crash()
    if "deaf" in modes or "never-starts" in modes:
        output.mkdir()
        (output / "RunIssues.storedata").touch()
        wait(stopped, 60)
        leave(1)
    say("Ctrl-C to stop the recording")
    record_until_stopped(modes, given, stopped)
    save(modes, output, stopped, bundle_for(given))


def record_until_stopped(modes: set[str], given: dict[str, list[str]], stopped: list[int]) -> None:
    if "--launch" in given:
        wait(stopped, 0.1)
        say("Target app exited, ending recording...")
    elif "--time-limit" in given and "over-limit" not in modes:
        wait(stopped, 0.1)
        if not stopped:
            say("Reached specified time limit, ending recording...")
    else:
        wait(stopped, 60)


def ask(stopped: list[int]) -> None:
    sys.stdout.write("Recording may capture private data. Continue? [y/n] ")
    sys.stdout.flush()
    answer: list[str] = []
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        answer.append(sys.stdin.readline().strip())
    except KeyboardInterrupt:
        leave(1)
    signal.signal(signal.SIGINT, lambda *_: stopped.append(1))
    if answer != ["y"]:
        leave(1, errors="Recording was not allowed.\n")


def refuse_target(modes: set[str], given: dict[str, list[str]]) -> None:
    target = given.get("--attach", [""])[0]
    if "no-name" in modes and turn_has_come():
        leave(19, errors=f"Cannot find process matching name: {target}\n")
    if "no-pid" in modes:
        leave(21, errors=f"Cannot find process for provided pid: {target}\n")
    for name in given.get("--instrument", []):
        if name not in INSTRUMENTS:
            leave(56, errors=f"Instrument with name '{name}' cannot be found\n")


ISSUES = {
    "issues": (
        "Recording of 'Hangs' is not supported in the Simulator.",
        "Remove the `Hangs` instrument and try again.",
    ),
    "partly": ("Hangs is not supported on this platform.", ""),
    "failed": ("Allocations cannot handle a target type of 'All Processes'", ""),
    "not-allowed": (
        "Permission to debug App was denied.",
        "The app must be debuggable and signed with 'get-task-allow'.",
    ),
}


def bundle_for(given: dict[str, list[str]]) -> Path:
    """What is saved."""
    launched = [Path(SETTINGS.get("bundles", "")) / f"{word}.trace" for word in given.get("--launch", [])]
    return next((path for path in launched if path.exists()), Path(SETTINGS.get("bundle", SAMPLE)))


def save(modes: set[str], output: Path, stopped: list[int], bundle: Path) -> None:
    failed = bool(modes & {"failed", "not-allowed", "partly"})
    say(f"Recording {'failed with errors' if failed else 'completed'}. Saving output file...")
    output.mkdir()
    (output / "RunIssues.storedata").touch()
    if "full-disk" in modes:
        leave(1, errors="The file couldn't be saved: No space left on device\n")
    if "hangs-saving" in modes:
        hang(modes)
    if modes & {"failed", "not-allowed"}:
        (output / "form.template").touch()
        (output / "tables").mkdir()
        (output / "tables" / "toc.xml").write_text(FAILED_TOC, encoding="utf-8")
    elif "unfinished" not in modes and len(stopped) < 2:
        import shutil

        shutil.copytree(bundle, output, dirs_exist_ok=True)
    if "hangs-when-saved" in modes:
        hang(modes)
    say(f"Output file saved as: {output.name}")
    errors = ""
    for issue, suggestion in (ISSUES[mode] for mode in sorted(modes & ISSUES.keys())):
        errors = f"Run issues were detected (trace is still ready to be viewed):\n* [Error] {issue}\n\n"
        errors += f"\t* [Error] Recovery Suggestion: {suggestion}\n\n" if suggestion else ""
    leave(54 if "54" in modes else 2 if failed else 0, errors=errors)


def hang(modes: set[str]) -> None:
    """Deaf to Ctrl-C, and to SIGTERM, too, where it is stubborn."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if "stubborn" in modes:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    time.sleep(60)


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def wait(stopped: list[int], seconds: float) -> None:
    end = time.monotonic() + seconds
    while not stopped and time.monotonic() < end:
        time.sleep(0.02)
