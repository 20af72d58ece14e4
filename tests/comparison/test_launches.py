"""Launches of an app with a simulated cache: which of them compiled a model, when, and why again."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING

import jsonschema
import pytest

from support.analyses import kept_trace
from support.handover import trace_of
from support.made_histories import recorded as made_recorded
from tracekit.analysis.specialization import specializations
from tracekit.api import judge
from tracekit.cli.dispatch import main
from tracekit.comparison.gate import check, history_items
from tracekit.comparison.history import Recorded, history_of
from tracekit.comparison.launches import Launched, launches_of, newest_word
from tracekit.comparison.measuring import environment_of
from tracekit.comparison.settings import CheckSettings, Floors
from tracekit.comparison.verdict import Verdict
from tracekit.documents.launches import launches_section
from tracekit.measured import measured_trace
from tracekit.render.blocks import Document, Role, present
from tracekit.render.forms import render
from tracekit.report.build import recording_info
from tracekit.report.serialize import schema_text
from tracekit.request import ALL
from tracekit.testing import Draws, Model, Process, Scenario, write_bundle, write_export
from tracekit.testing.machines import MAC, Thread
from tracekit.testing.recorder import start_recording
from tracekit.testing.rows import LOAD, LOAD_CACHED, LOAD_COLD, NeuralEngineRow
from tracekit.testing.stacks import SampleRow, Stack, app_function

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tracekit.trace.trace import Trace

MS = 1_000_000
COLD_MS, WARM_MS = 3_200, 200


@dataclass(frozen=True)
class Build:
    """What the system keys its cache by."""

    system: str = "15.6 (24G84)"
    path: str = "/Applications/Talk.app/Contents/MacOS/Talk"
    signature: int = 0
    operations: tuple[int, ...] = (0, 4, 9)
    unit: str = "ane"
    arguments: str = ""
    commit: str | None = None
    emptied: bool = False
    """Just before this launch."""


def container(number: int) -> str:
    return f"/var/containers/Bundle/Application/0BADF00D-0000-4000-8000-{number:012}/Talk.app/Talk"


def at(turn: int, launches: int, **changed: object) -> list[Build]:
    """Builds that change before a launch and stay so."""
    return [replace(Build(), **(changed if number >= turn else {})) for number in range(launches)]


CAUSES = {
    "each build signed ad hoc": (lambda n, _: [Build(signature=each) for each in range(n)], ()),
    "each commit signed": (lambda n, _: [Build(signature=each, commit=f"c{each}") for each in range(n)], ("build",)),
    "system update": (lambda n, turn: at(turn, n, system="15.7 (24G222)"), ("system",)),
    "update of a system of unknown build": (
        lambda n, turn: [Build(system="15.6.1" if each >= turn else "15.6") for each in range(n)],
        ("system",),
    ),
    "path changed": (lambda n, turn: at(turn, n, path="/Users/me/Talk.app/Contents/MacOS/Talk"), ("path of the app",)),
    "a random folder each time": (lambda n, _: [Build(path=container(each)) for each in range(n)], ("installation",)),
    "model changed": (lambda n, turn: at(turn, n, operations=(0, 3, 5, 8)), ("operations of the model",)),
    "configuration changed": (lambda n, turn: at(turn, n, unit="gpu"), ("compute units",)),
    "command line names another file": (
        lambda n, turn: at(turn, n, arguments="--model /Models/B.mlmodelc", signature=1),
        ("command line",),
    ),
    "cache emptied": (lambda n, turn: [Build(emptied=each == turn) for each in range(n)], ()),
    "first install": (lambda n, _: [Build()] * n, ()),
}  # fmt: skip
"""Builds of so many launches, with a change before the launch of this number; and what of it a recording shows."""


def compiled_in(builds: Sequence[Build], *, warm: bool = False) -> list[bool]:
    """Whether each launch finds nothing in the cache; `warm`: an earlier one has filled it for the first."""
    held, answers = set(), []
    for number, build in enumerate(builds):
        key = replace(build, commit=None, emptied=False)
        if build.emptied:
            held.clear()
        answers.append(key not in held and not (warm and not number))
        held.add(key)
    return answers


def recorded(
    builds: dict[str, Sequence[Build]], compiled: dict[str, Sequence[bool]], number: int, idle_ns: int = 0
) -> Scenario:
    """A launch in which each model is loaded, and predicts after a while."""
    build = next(iter(builds.values()))[number]
    made = Scenario(
        Process("Talk", 400 + number, build.path),
        duration_ns=9_000 * MS,
        device=replace(MAC, os_version=build.system),
        host=None,
        arguments=build.arguments,
        start_date=(datetime(2026, 6, 3, 10, tzinfo=UTC) + timedelta(hours=number)).isoformat(timespec="milliseconds"),
    )
    now = 100 * MS
    for name, of in builds.items():
        model, cold = Model(name), compiled[name][number]
        now = made.load(
            model, now, (COLD_MS if cold else WARM_MS) * MS + number * 1_000, LOAD_COLD if cold else LOAD_CACHED
        )
        now += idle_ns
        for _ in range(3):
            now += 40 * MS
            prediction = made.predict(model, now, 20 * MS)
            for place, operation in enumerate(of[number].operations):
                work = prediction.neural_engine if of[number].unit == "ane" else prediction.gpu
                work((2 + 4 * place) * MS, 3 * MS, operation=operation)
    return made


def launched(scenario: Scenario, name: str, commit: str | None = None) -> Launched:
    return of_trace(trace_of(scenario), name, commit)


def of_trace(trace: Trace, name: str, commit: str | None = None) -> Launched:
    facts = recording_info(trace, ())
    return Launched(name, environment_of(asdict(facts), None), facts.start_date, commit, specializations(trace))


def pattern(compiled: Sequence[bool]) -> str:
    if all(compiled) or not any(compiled):
        return "each" if compiled[0] else "never"
    return "once" if compiled[0] and not any(compiled[1:]) else "some"


@pytest.mark.parametrize("launches", [2, 3, 5, 8, 12])
@pytest.mark.parametrize("cause", CAUSES)
def test_which_launches_compiled_and_why_is_right(cause: str, launches: int) -> None:
    make, shown = CAUSES[cause]
    for warm in (False, True):
        builds = make(launches, max(launches // 2, 1))
        truth = compiled_in(builds, warm=warm)
        every = [
            launched(recorded({"Talker": builds}, {"Talker": truth}, number), f"{number}.trace", build.commit)
            for number, build in enumerate(builds)
        ]
        (series,) = launches_of(every[::-1])
        assert [one.recording for one in series.launches] == [one.source for one in every]
        assert [one.answer for one in series.launches] == ["compiled" if cold else "cached" for cold in truth]
        assert series.pattern == pattern(truth)
        for number, one in enumerate(series.launches):
            again = truth[number] and number > 0
            assert (one.again, one.causes) == (again, shown if again else ())
            assert one.ns == (COLD_MS if truth[number] else WARM_MS) * MS + number * 1_000
        # A system update, another model and another container are no fault.
        expected = shown in (("system",), ("operations of the model",), ("installation",))
        assert (series.severity is not None) == (any(truth[1:]) and not expected)
        assert ("each of" in series.lines[0]) == (all(truth) and launches > 2)


def test_of_several_models_only_the_one_that_is_made_anew_is_compiled_at_each_launch() -> None:
    builds = {"Kept": [Build()] * 6, "Made": [Build(signature=each) for each in range(6)]}
    truth = {name: compiled_in(of) for name, of in builds.items()}
    kept, made = launches_of([launched(recorded(builds, truth, number), f"{number}") for number in range(6)])
    assert (kept.model, kept.pattern, kept.severity) == ("Kept", "once", None)
    assert (made.model, made.pattern, made.severity) == ("Made", "each", "critical")
    assert made.lines[0] == "compiled in each of 6 launches on Mac Studio, 3.20 s each, 19.2 s in all"
    assert "codesign -dv" in made.lines[1]
    assert made.lines[2].startswith("from the launch to its first prediction, the user waits")
    assert made.lines[3].startswith("fix: keep the compiled model at one path")


def plain_load(scenario: Scenario) -> Scenario:
    """As systems before iOS 17 write it."""
    scenario.coreml[:] = [replace(row, label=LOAD) if row.label.startswith(LOAD) else row for row in scenario.coreml]
    return scenario


def without_load(scenario: Scenario) -> Scenario:
    """As attached after it."""
    scenario.coreml[:] = [row for row in scenario.coreml if not row.label.startswith(LOAD)]
    return replace(scenario, launched=False)


def engine_alone(scenario: Scenario) -> Scenario:
    """Core ML recorded nothing, and the Neural Engine compiled."""
    cold = next((row for row in scenario.coreml if row.label == LOAD_COLD), None)
    if cold is not None:
        label = cold.model.engine_label(1, "Compile")
        scenario.neural_engine.append(NeuralEngineRow(cold.start_ns, cold.duration_ns, label))
    scenario.coreml.clear()
    return scenario


@pytest.mark.parametrize(
    ("change", "answer", "lines"),
    [
        (
            plain_load,
            "unknown",
            "unknown whether it was compiled in any of 2 launches on Mac Studio: its load rows do not tell",
        ),
        (
            without_load,
            "not_loaded",
            "unknown whether it was compiled in any of 2 launches on Mac Studio: loaded before",
        ),
        (engine_alone, "compiled", "first launch (0): compiled, 3.20 s; second launch (1): compiled, 3.20 s"),
    ],
)
def test_what_a_recording_does_not_tell_is_unknown(change, answer: str, lines: str) -> None:
    builds = {"Talker": [Build(signature=each) for each in range(2)]}
    truth = {"Talker": [True, True]}
    (series,) = launches_of([launched(change(recorded(builds, truth, each)), str(each)) for each in range(2)])
    assert [one.answer for one in series.launches] == [answer] * 2
    assert series.lines[0].startswith(lines)
    assert (series.severity is None) == (answer != "compiled")


def test_compilations_of_the_neural_engine_are_named_where_call_stacks_alone_show_the_load() -> None:
    app = start_recording(Draws(1), jitter=0, noise=False, code=True)
    model = Model("Talker")
    app.load(model, COLD_MS * MS, LOAD_COLD)
    scenario = app.finish()
    scenario.neural_engine.append(NeuralEngineRow(300 * MS, 2_000 * MS, model.engine_label(1, "Compile")))
    scenario.coreml.clear()
    notes = " ".join(judge(trace_of(scenario)).recording.notes)
    assert "Calls are inferred from call stacks" in notes
    assert "Inferred from Neural Engine rows, which name no process: 1 compilation of Talker (2.00 s)." in notes


@pytest.mark.parametrize(("busy", "answer"), [(1.0, "compiled"), (0.6, "compiled"), (0.4, "unknown"), (0.0, "unknown")])
def test_a_compiler_of_the_system_that_is_busy_during_a_load_compiled_it(busy: float, answer: str) -> None:
    scenario = plain_load(recorded({"Talker": [Build()]}, {"Talker": [True]}, 0))
    service = Process("ANECompilerService", 233)
    scenario.processes.append(service)
    threads = (Thread(9, service, "Compiler"), Thread(8, scenario.target, "Main Thread"))
    for at_ms in range(100, 100 + COLD_MS):
        thread = threads[at_ms >= 100 + busy * COLD_MS]
        scenario.samples.append(SampleRow(at_ms * MS, thread, Stack((app_function("run"),))))
    trace = trace_of(scenario)
    (model,) = specializations(trace).models
    assert (model.answer, model.evidence) == (
        answer,
        ("the system's compiler for the Neural Engine was busy",) if answer == "compiled" else (),
    )
    notes = [note for note in judge(trace).recording.notes if "compiler for the Neural Engine ran for" in note]
    assert len(notes) == bool(busy)


@pytest.mark.parametrize(
    ("path", "name", "words"),
    [
        ("/Users/me/Library/Developer/Xcode/DerivedData/Talk-abc/Build/Talk", "Talk", "a development build"),
        ("/private/var/folders/x/AppTranslocation/0BADF00D-0000-4000-8000-000000000001/d/Talk", "Talk", "Gatekeeper"),
        ("/opt/homebrew/bin/python3.12", "python3.12", "CompiledMLModel"),
        ("/Applications/Talk.app/Contents/MacOS/Talk", "Talk", ""),
    ],
)
def test_path_and_name_of_the_app_say_what_to_look_at(path: str, name: str, words: str) -> None:
    builds = {"Talker": [Build(path=path, signature=each) for each in range(3)]}
    made = (recorded(builds, {"Talker": [True] * 3}, number) for number in range(3))
    named = [replace(one, target=replace(one.target, name=name)) for one in made]
    (series,) = launches_of([launched(one, str(number)) for number, one in enumerate(named)])
    assert words in series.hint
    assert (series.hint in series.lines) == bool(words)
    assert "/Users" not in repr(series)


def test_the_page_begins_with_what_was_compiled_again_and_names_models_that_never_were_together() -> None:
    builds = {"Kept": [Build()] * 3, "Held": [Build()] * 3, "Once": [Build()] * 3, "Made": [Build()] * 3}
    truth = {"Kept": [False] * 3, "Held": [False] * 3, "Once": [True, False, False], "Made": [True, False, True]}
    series = launches_of([launched(recorded(builds, truth, each), str(each)) for each in range(3)])
    assert [newest_word(one) for one in series] == ["", "", "", "compiled again (3.20 s)"]
    lines = render(
        Document("", "", Role.PLAIN, blocks=present(launches_section(series))), "text", width=200
    ).splitlines()
    said = [line.strip() for line in lines if line.strip()]
    assert said[1].startswith("CRITICAL compiled-again: Made: compiled in 2 of 3 launches on Mac Studio")
    assert said[-2].startswith("Once: compiled at the first launch (3.20 s), cached in the other 2 (200 ms)")
    assert said[-1] == "Kept, Held: cached in each of 3 launches"
    assert launches_section(series[:2], quiet=True) is None


def test_what_launches_do_not_record_may_be_the_cause() -> None:
    builds = CAUSES["path changed"][0](2, 1)
    made = [recorded({"Talker": builds}, {"Talker": [True, True]}, number) for number in range(2)]
    unknown = [replace(one, target=replace(one.target, path=""), launched=False) for one in made]
    for scenarios, words in (
        (made, "likely because the path of the app changed: the cache is kept by path"),
        (
            unknown,
            "system, operations of the model and compute units equal to the launch before; path of the app and command "
            "line not recorded; likely because of one of these, or of what no recording shows: another signature",
        ),
    ):
        (series,) = launches_of([launched(one, str(number)) for number, one in enumerate(scenarios)])
        assert series.lines[1].startswith(words)


def test_a_launch_that_does_not_tell_makes_neither_each_nor_once() -> None:
    builds = {"Talker": [Build()] * 3}
    for truth in ([True, True, True], [True, False, False]):
        made = [recorded(builds, {"Talker": truth}, each) for each in range(3)]
        plain_load(made[1])
        (series,) = launches_of([launched(one, str(number)) for number, one in enumerate(made)])
        assert series.pattern == "unclear"
        assert "1 unknown" in series.lines[0]
        assert "each of" not in series.lines[0]


def test_other_apps_and_devices_are_launches_of_their_own_and_copies_count_once() -> None:
    builds, truth = {"Talker": [Build()] * 2}, {"Talker": [True, False]}
    first, second = (recorded(builds, truth, number) for number in range(2))
    other = replace(second, target=Process("Other", 9))
    phone = replace(second, device=replace(MAC, model="MacBook Air"))
    assert launches_of([launched(first, "a"), launched(first, "copy")]) == ()
    assert launches_of([launched(first, "a"), launched(other, "b")]) == ()
    assert launches_of([launched(first, "a"), launched(phone, "b")]) == ()


@pytest.fixture
def written(tmp_path: Path):
    """Writes launches of a cause as bundles or exports, and gives their paths, newest first, and the truth."""
    numbers = count()

    def write(cause: str, form: str, launches: int = 3) -> tuple[list[str], list[bool]]:
        builds = CAUSES[cause][0](launches, 1)
        truth, folder = compiled_in(builds), tmp_path / str(next(numbers))
        folder.mkdir()
        paths = []
        for number in range(launches):
            scenario = recorded({"Talker": builds}, {"Talker": truth}, number)
            path = folder / (f"{number}.trace" if form == "bundle" else f"{number}_xml")
            (write_bundle if form == "bundle" else write_export)(scenario, path)
            paths.append(str(path))
        return paths[::-1], truth

    return write


@pytest.mark.parametrize(
    ("cause", "form"),
    [("path changed", "export"), ("each build signed ad hoc", "export"), ("system update", "bundle")],
)
def test_bundles_exports_and_lakes_say_the_same(written, tmp_path: Path, capsys, cause: str, form: str) -> None:
    paths, truth = written(cause, form)
    lake = tmp_path / "lake"
    assert main(["lake", "add", str(lake), *paths, "--no-config", "--jobs", "1", "-q"]) == 0
    capsys.readouterr()
    shown = tuple(name for name in CAUSES[cause][1] if name != "build")
    for command, *given in (("compare", *paths), ("compare", str(lake)), ("analyze", *paths), ("history", *paths)):
        assert main([command, *given, "--json", "--no-config", "--jobs", "1", "-q"]) == 0
        document = json.loads(capsys.readouterr().out)
        if command == "history":
            jsonschema.validate(document, json.loads(schema_text("history")))
        (series,) = document["launches"]
        assert [one["answer"] == "compiled" for one in series["launches"]] == truth
        assert series["pattern"] == pattern(truth)
        for number, one in enumerate(series["launches"]):
            assert tuple(one["causes"]) == (shown if truth[number] and number else ())


def test_compiling_at_each_launch_counts_though_nobody_waits_for_it(tmp_path: Path, capsys) -> None:
    builds, truth = {"Talker": [Build()] * 2}, {"Talker": [True, True]}
    paths = [str(tmp_path / f"{number}.trace") for number in range(2)]
    for number, path in enumerate(paths):
        write_bundle(recorded(builds, truth, number, 4_000 * MS), path)
    for severity, status in (("medium", 1), (None, 0)):
        more = [] if severity is None else ["--fail-on", severity]
        assert main(["analyze", *paths, *more, "--no-config", "--jobs", "1", "-q"]) == status
        said = "2 recordings: 2 without findings; over these launches 1 finding (critical)"
        assert said in capsys.readouterr().out


@pytest.mark.parametrize(
    ("most", "cold", "change", "verdict"),
    [
        (0, True, None, Verdict.FAILED),
        (1, True, None, Verdict.PASSED),
        (0, False, None, Verdict.PASSED),
        (0, True, plain_load, Verdict.INCONCLUSIVE),
        (0, True, without_load, Verdict.INCONCLUSIVE),
        (1, True, plain_load, Verdict.PASSED),
    ],
)
def test_a_gate_allows_so_many_compiled_models_and_does_not_pass_what_is_unknown(most, cold, change, verdict) -> None:
    scenario = recorded({"Talker": [Build()]}, {"Talker": [cold]}, 0)
    measured = measured_trace(trace_of(change(scenario) if change else scenario), ALL)
    gate = check([measured], CheckSettings(compiled=most), None, today=date(2026, 6, 3))
    assert gate.verdict is verdict


@pytest.mark.parametrize(
    ("earlier", "words"),
    [
        ([0] * 7, "compiled in this build, and in none of the 5 builds before it that tell"),
        ([0, 0, 0, 1, 0], None),
        ([None], None),
    ],
)
def test_a_history_says_that_only_the_newest_build_was_compiled(earlier, words: str | None) -> None:
    def of(number: int, compiled: int | None) -> Recorded:
        return made_recorded(number, {"Net": {"p50_ns": 8e6} | ({} if compiled is None else {"compiled": compiled})})

    newest = [of(len(earlier), 1)]
    history = history_of([of(*pair) for pair in enumerate(earlier)], newest)
    said = [item.text for item in history_items(history, newest, Floors()) if "compiled" in item.text]
    assert said == ([words] if words else [])


def test_the_public_pair_answers_in_one_line(corpus: Path) -> None:
    pair = ("quick_probe.trace", "fp16_w8_60s_all.trace")
    # By their dates, the one that was cached came first.
    (series,) = launches_of([of_trace(kept_trace(corpus / "bundles" / name), name) for name in pair])
    cached, compiled = "fp16_w8_60s_all.trace): cached, 217 ms", "quick_probe.trace): compiled, 3.23 s"
    assert series.lines[0] == f"first launch ({cached}; second launch ({compiled}"
