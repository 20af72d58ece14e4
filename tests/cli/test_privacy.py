"""A secret in every field that a recording can hold, and none of them in any output."""

from __future__ import annotations

import json
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from standin.core_ml import StandIn

from support.performance_reports import PRIVATE, wwdc22
from tracekit.cli.dispatch import COMMANDS
from tracekit.model_files.profiling import core_ml
from tracekit.model_files.read import message_types
from tracekit.query.views import VIEWS
from tracekit.recording import open_contents
from tracekit.recording.table import TableState
from tracekit.testing import Machine, Model, Process, Scenario, write_bundle, write_export
from tracekit.testing.machines import Thread
from tracekit.testing.rows import CommandBufferRow, GraphRow, PointRow, SignpostRow, StateRow
from tracekit.testing.schemas import Column, TableContent
from tracekit.testing.stacks import LOAD, Frame, SampleRow, Stack, c_function
from tracekit.tui import export as copied
from tracekit.tui.opening import judge_session, read
from tracekit.tui.state import EventFilter
from tracekit.tui.viewport import Span

MS = 1_000_000
KEPT = ("HushApp", "HushModel", "HushRecording", "HushTemplate", "HushFunction", "HushInterval", "HushPoint(?!Message)")
"""What `docs/privacy.md` says stays: names of the target, its models, the recording's file, its template, functions and
signposts of the target."""

PATH = "/Users/HushUser/HushFolder/HushApp.app/HushApp"
TARGET = Process("HushApp", 412, PATH)
DAEMON = Process("HushDaemon", 77, "/Users/HushDaemonUser/HushDaemon")
SILENT = Process("HushSilent", 78, "/Users/HushSilentUser/HushSilent")
PHONE = Machine("iOS", "iPhone 14 Pro", "18.5 (22F76)", "HushOwner's phone", "HUSHDEVICEID-77", "A16 GPU")
MAC = Machine("macOS", "Mac Studio", "15.6 (24G84)", "HushHost", "HUSHHOSTID-78", "M2 Ultra")

PROMPTS = (
    *("model-request-id", "turn-index", "plot-label", "agent-name", "prompt", "response", "instruction"),
    *("instructions", "tokens", "content", "error-message"),
)
"""Columns of text of the Foundation Models instrument. Source: the schema of `ModelInferenceTable` in Xcode 27."""

PROFILE = f"""<?xml version="1.0"?><trace-query-result>
<node xpath="//trace-toc[1]/run[1]/data[1]/table[{{position}}]"><schema name="time-profile">{{columns}}</schema>
<row><sample-time id="1" fmt="x">{{time}}</sample-time>
<thread id="2" fmt="HushThread (0x9) (HushApp, pid: 412)"><tid id="3" fmt="0x9">9</tid>
<process id="4" fmt="HushApp (412)"><pid id="5" fmt="412">412</pid></process></thread><process ref="4"/>
<core id="6" fmt="CPU 1">1</core><thread-state id="7" fmt="Running">Running</thread-state>
<weight id="8" fmt="1 ms">1000000</weight><tagged-backtrace id="9" fmt="x"><backtrace id="10">
<frame id="11" name="HushFunction()" addr="0x100000142">
<binary id="12" name="HushApp" UUID="X" arch="arm64" load-addr="0x100000000" path="{PATH}"/>
<source id="13" line="31"><path id="14">/Users/HushSourceUser/HushSources/load.swift</path></source></frame>
</backtrace></tagged-backtrace></row>
<row><sample-time id="21" fmt="x">{{later}}</sample-time>
<thread id="22" fmt="HushWorker (0x19) (HushDaemon, pid: 77)"><tid id="23" fmt="0x19">25</tid>
<process id="24" fmt="HushDaemon (77)"><pid id="25" fmt="77">77</pid></process></thread><process ref="24"/>
<core ref="6"/><thread-state ref="7"/><weight ref="8"/><tagged-backtrace id="29" fmt="x"><backtrace id="30">
<frame id="31" name="work()" addr="0x300000142">
<binary id="32" name="HushDaemon" UUID="Y" arch="arm64" load-addr="0x300000000"
 path="/Users/HushDaemonUser/HushDaemon"/></frame></backtrace></tagged-backtrace></row></node></trace-query-result>"""
"""Two samples: of the target and of another process."""

STACK = Stack(
    (
        LOAD,
        Frame("", "HushFunction", "_HushFunction", file="/Users/HushSourceUser/HushSources/load.swift", line=31),
        c_function("/Users/HushLibraryUser/HushFolder/libHushFunction.dylib", "begin"),
    )
)
"""Of every sample in the bundles."""

SETTINGS = """
[check.findings]
high = 0
[check.limits."*"]
p50 = "1ms"
"""

SAMPLES = {
    "time": "sample-time",
    "thread": "thread",
    "process": "process",
    "core": "core",
    "thread-state": "thread-state",
    "weight": "weight",
    "stack": "tagged-backtrace",
}


def planted(start_date: str) -> Scenario:
    """An app that reloads its model before each prediction, with a secret wherever one fits."""
    scenario = Scenario(
        TARGET,
        duration_ns=4_000 * MS,
        xcode_version="16.4",
        device=PHONE,
        host=MAC,
        template="HushTemplate",
        start_date=start_date,
        arguments="--token HushArgument --out /Users/HushUser/HushOutput",
        environment={"HUSHVARIABLE": "HushValue"},
        thread="HushThread",
        processes=[DAEMON, SILENT],
        issues=["HushDaemon (77) dropped events at /Users/HushIssueUser/x; see HushOwner's phone"],
    )
    model = Model("HushModel")
    for number in range(24):
        start = 100 * MS + number * 120 * MS
        end = scenario.load(model, start, 60 * MS)
        prediction = scenario.predict(model, end + MS, 20 * MS)
        prediction.event("Input Copy", MS, 8 * MS)
        prediction.neural_engine(10 * MS, 8 * MS)
        scenario.other_neural_engine(end + 30 * MS, 5 * MS, "HushForeign_main__Op0_AneInference Prediction")
        scenario.gpu_work(start, 4 * MS, DAEMON, label="HushLabel:Render")
        scenario.compile_shader(start, MS, process=DAEMON)
        encoder = Thread(40 + DAEMON.pid, DAEMON, "HushWorker")
        row = CommandBufferRow(start, MS, "HushLabel", 9 + number, 1_009 + number, MS, start + 2 * MS, encoder)
        scenario.command_buffers.append(row)
        scenario.graphs.append(GraphRow(start, MS, number, encoder))
        for process in (TARGET, DAEMON):
            scenario.samples.append(SampleRow(start + 5 * MS, Thread(40 + process.pid, process, "HushWorker"), STACK))
    scenario.hang(100 * MS, 400 * MS)
    scenario.thermal.append(StateRow(0, 4_000 * MS, "Nominal"))
    scenario.signposts.append(SignpostRow(MS, 9 * MS, "HushInterval", "com.HushSubsystem", "HushCategory", "HushSaid"))
    scenario.points.append(PointRow(2 * MS, "HushPoint", "com.HushSubsystem", "HushPointMessage"))
    text = [Column(name, name, "string") for name in PROMPTS]
    scenario.other_tables.append(
        TableContent(
            "ModelInferenceTable",
            (("target-pid", "SINGLE"), ("device-name", "HushAttribute")),
            (Column("start", "Start", "start-time"), Column("duration", "Duration", "duration"), *text),
            ((MS, MS, *(f"HushPrompt{name.title().replace('-', '')}" for name in PROMPTS)),),
        )
    )
    return scenario


@pytest.fixture(scope="module")
def recordings(tmp_path_factory, unchanged_folders: set[Path]) -> dict[str, Path]:
    """The scenario as an export and as a bundle, and a second bundle to compare with."""
    folder = tmp_path_factory.mktemp("HushParent")
    first, second = planted("2025-06-03T10:15:00.000+02:00"), planted("2025-06-04T10:15:00.000+02:00")
    second.coreml[1] = replace(second.coreml[1], duration_ns=21 * MS)
    export = folder / "HushRecordingXml"
    write_export(replace(first, imported_from="/Users/HushImport/HushImported/HushRecording.logarchive"), export)
    toc = (export / "toc.xml").read_text(encoding="utf-8")
    position = [line for line in toc.splitlines() if "<table " in line].index(
        next(line for line in toc.splitlines() if 'schema="time-profile"' in line)
    )
    columns = "".join(
        f"<col><mnemonic>{name}</mnemonic><name>{name}</name><engineering-type>{kind}</engineering-type></col>"
        for name, kind in SAMPLES.items()
    )
    profile = PROFILE.format(position=position + 1, columns=columns, time=120 * MS, later=121 * MS)
    (export / "time-profile.xml").write_text(profile, encoding="utf-8")
    (folder / "tracekit.toml").write_text(SETTINGS, encoding="utf-8")
    write_bundle(first, folder / "HushRecording.trace", rows_per_block=64)
    write_bundle(second, folder / "HushRecording2.trace", rows_per_block=64)
    unchanged_folders.add(folder)
    bundles = {"bundle": folder / "HushRecording.trace", "other": folder / "HushRecording2.trace"}
    return {"export": export, **bundles, "config": folder / "tracekit.toml"}


def leaks(text: str) -> set[str]:
    """Secrets in a text, which may have wrapped them, or put something without width into them."""
    joined = re.sub(r"[\s\u2060\\]|&#8288;", "", text)
    matches = re.findall(r"(?i)hush(?:(?!hush)[a-z])*", joined)
    kept = re.compile(rf"(?:{'|'.join(KEPT)})", re.IGNORECASE)
    return {word for word in matches if not kept.match(word)}


def test_the_secrets_are_in_the_recordings_and_are_found(tracekit, recordings: dict[str, Path]) -> None:
    assert b"HushValue" in (recordings["bundle"] / "form.template").read_bytes()
    symbols = b"".join(path.read_bytes() for path in recordings["bundle"].glob("symbols/stores/*"))
    assert b"HushSourceUser" in symbols
    kept = tracekit("analyze", recordings["export"], "--json", "--no-redact", "--no-config").out
    assert {"HushOwner", "HushArgument", "HushDaemon"} <= leaks(kept)
    assert leaks(tracekit("stacks", recordings["export"], "--no-redact").out) == {"HushDaemon"}
    everything = "".join(path.read_text(encoding="utf-8") for path in recordings["export"].iterdir())
    assert {
        "HUSHVARIABLE", "HushValue", "HushSilent", "HUSHDEVICEID", "HUSHHOSTID", "HushThread",
        "HushCategory", "HushSaid", "HushPointMessage", "HushPromptPrompt", "HushPromptResponse", "HushAttribute",
        "HushLabel", "HushForeign", "HushSourceUser", "HushImport",
    } <= leaks(everything)  # fmt: skip


BOTH_FORMS = {
    "analyze": ("-v", "--no-config", *(part for end in ("txt", "md", "html", "json") for part in ("-o", f"out.{end}"))),
    "explain": ("--no-config",),
    "why": ("--no-config", *(part for end in ("txt", "md", "html", "json") for part in ("-o", f"out.{end}"))),
    "why --without": ("--no-config",),
    "export": ("--json",),
    "history": (
        "--no-config",
        *(part for end in ("txt", "md", "html", "json", "csv") for part in ("-o", f"out.{end}")),
    ),
    "history --add-to out.jsonl": ("--no-config",),
    "check": ("--format", "github", *(part for end in ("txt", "md", "json", "xml") for part in ("-o", f"out.{end}"))),
    "analyze -q": ("-o", "out.zip", "--no-config"),
    "export -o out.pftrace": (),
    "export -o out.json": (),
    "export --folder out": (),
    "export --folder out --format xml": (),
    "stacks --format speedscope": (),
}
"""All that a command writes comes from one run of it, since reading takes the time."""
WITHOUT_RECORDING = {"completion", "doctor", "record"}
"""Commands that read none; what `record` prints of a new one is what `analyze` prints."""
ONE_FORM = [
    ("analyze", "--no-config"),
    ("analyze", "--no-config", "--process", "nobody"),
    ("analyze", "--no-config", "--model", "nobody"),
    ("export",),
    ("stacks",),
    ("stacks", "--format", "collapsed"),
    ("explain", "--no-config", "--format", "json"),
    ("why", "--no-config", "--model", "nobody"),
    ("why", "--without", "--no-config", "--json"),
    ("analyze", "--no-config", "--list"),
]


def written_texts(printed: str, folder: Path) -> dict[str, str]:
    """What a command printed, and the files that it wrote."""
    texts = {"printed": printed}
    for path in (path for path in folder.rglob("*") if path.is_file()):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as packed:
                texts |= {name: packed.read(name).decode() for name in packed.namelist()}
        else:
            # The texts in a binary file are whole.
            texts[path.name] = path.read_bytes().decode("utf-8", "replace")
    return texts


@pytest.mark.parametrize("form", ["export", "bundle"])
@pytest.mark.parametrize("command", BOTH_FORMS)
def test_no_command_tells_a_secret(
    tracekit, recordings: dict[str, Path], tmp_path: Path, monkeypatch, command: str, form: str
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = [*BOTH_FORMS[command], *(["--config", recordings["config"]] if command == "check" else [])]
    if "pftrace" in command:
        pytest.importorskip("perfetto")
    name, *options = command.split()
    result = tracekit(name, recordings[form], *options, *flags)
    # The check fails, since its limit is far below the latency.
    assert result.status == (1 if command == "check" else 0)
    texts = written_texts(result.out + result.err, tmp_path)
    written = {"history": 5, "history --add-to out.jsonl": 1}
    written |= {
        "analyze": 4,
        "check": 4,
        "why": 4,
        "analyze -q": 5,
        "export -o out.pftrace": 1,
        "export -o out.json": 1,
    }
    assert len(texts) == 1 + written.get(command, 0) or ("--folder" in command and len(texts) > 12)
    assert {output: leaks(text) for output, text in texts.items()} == {output: set() for output in texts}
    if "stacks" in command or command == "analyze":
        assert any("HushFunction" in text for text in texts.values())


def test_functions_go_on_request(tracekit, recordings: dict[str, Path], tmp_path: Path) -> None:
    for flags, named in (((), True), (("--no-functions",), False)):
        archive = tmp_path / f"{named}.zip"
        assert tracekit("analyze", recordings["export"], "-o", archive, "--no-config", *flags).status == 0
        with zipfile.ZipFile(archive) as packed:
            texts = [packed.read(name).decode() for name in packed.namelist()]
            for kept in ("HushFunction", "HushInterval", "HushPoint"):
                assert any(kept in text for text in texts) == named


@pytest.mark.parametrize("command", ONE_FORM, ids=" ".join)
def test_no_form_of_a_command_tells_a_secret(tracekit, recordings: dict[str, Path], command: tuple[str, ...]) -> None:
    result = tracekit(command[0], recordings["export"], *command[1:])
    assert result.status == (2 if "nobody" in command else 0)
    assert result.out or result.err
    assert leaks(result.out + result.err) == set()


@pytest.mark.parametrize("form", ["export", "bundle"])
def test_no_view_and_no_recorded_table_tells_a_secret(tracekit, recordings: dict[str, Path], form: str) -> None:
    pytest.importorskip("duckdb")
    run = open_contents(recordings[form]).runs[-1]
    tables = {f'raw."{entry.schema}"' for entry in run.tables if entry.state is TableState.ROWS}
    assert 'raw."ModelInferenceTable"' in tables
    query = " union all ".join(f"select each::varchar as texts from {name} each" for name in (*VIEWS, *tables))  # noqa: S608
    for more in ((), ("--no-redact",)):
        result = tracekit("sql", recordings[form], query, "--json", "--no-config", *more)
        assert len(result.json["rows"]) > 200
        assert bool(leaks(result.out + result.err)) == bool(more)
        assert leaks(tracekit("sql", recordings[form], "from raw.HushTable", *more).err) <= {"HushTable"}


def test_a_lake_tells_no_secret(tracekit, recordings: dict[str, Path], tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    for lake, more in (("lake", ()), ("open", ("--no-redact",))):
        added = tracekit("lake", "add", tmp_path / lake, recordings["bundle"], "--no-config", *more)
        texts = [str(path.relative_to(tmp_path)) for path in (tmp_path / lake).rglob("*")]
        files = (tmp_path / lake).rglob("*.parquet")
        texts += [str(parquet.read_table(path, partitioning=None).to_pylist()) for path in files]
        texts += [path.read_text("utf-8") for path in (tmp_path / lake).rglob("*.json")]
        assert len(texts) > 30
        assert (added.status, bool(leaks(added.err + "".join(texts)))) == (0, bool(more))


def test_no_answer_to_an_agent_tells_a_secret(recordings: dict[str, Path]) -> None:
    pytest.importorskip("mcp")
    import anyio
    from mcp import Client

    from support.servers import recordings_in
    from tracekit.mcp_server.server import server_of

    path, other = recordings["bundle"].name, recordings["other"].name
    calls = [
        *((name, {"path": path}) for name in ("analyze", "why", "schema", "stacks")),
        ("finding", {"path": path, "id": "reload-before-predict"}),
        ("finding", {"path": path, "id": "ushDaemon"}),
        ("analyze", {"path": "ushRecording"}),
        ("why", {"path": path, "model": "ushForeign"}),
        ("stacks", {"path": path, "app_only": False, "function": "u"}),
        ("query", {"path": path, "sql": "select * from hardware order by random()", "limit": 200}),
        ("compare", {"before": [path], "after": [other]}),
    ]

    async def talk() -> list[str]:
        async with Client(server_of(lambda: recordings_in(recordings["bundle"].parent))) as client:
            return [(await client.call_tool(name, more)).content[0].text for name, more in calls]

    texts = anyio.run(talk)
    assert {name: leaks(text) for (name, _), text in zip(calls, texts, strict=True) if leaks(text)} == {}
    assert "HushFunction" in texts[3]


NAMING = {
    "analyze": ("--model", "--process", "--signpost"),
    "compare": ("--model", "--signpost", "--rename", "--label"),
    "explain": ("--model", "--process", "--signpost"),
    "why": ("--model", "--process"),
    "stacks": ("--model", "--thread", "--finding", "--signpost"),
    "export": ("--schema",),
}
"""Options that name something of a recording."""


@pytest.mark.parametrize("command", NAMING)
def test_no_error_about_an_unknown_name_tells_a_secret(tracekit, recordings, tmp_path: Path, command: str) -> None:
    paths = [recordings["bundle"], *([recordings["other"]] if command == "compare" else [])]
    more = ("--folder", tmp_path / "out") if command == "export" else ()
    for option in NAMING[command]:
        # Nearly those of signposts, processes, threads and models: one might be offered.
        for name in ("ushInterval", "ushDaemon", "ushSilent", "ushWorker", "ushForeign"):
            value = {"--rename": f"{name}=x", "--label": f"{{{name}}}"}.get(option, name)
            result = tracekit(command, *paths, option, value, *more)
            assert result.status in ((0, 2) if option == "--thread" else (2,))
            assert leaks(result.out + result.err) == set()


def test_no_command_is_forgotten() -> None:
    recordings = {name.split()[0] for name in (*BOTH_FORMS, *(command for command, *_ in ONE_FORM))}
    others = {"mcp", "sql", "lake", "compare", "view", "inspect", "fix", "watch"}
    assert {command.name for command in COMMANDS} == recordings | others | WITHOUT_RECORDING


def test_settings_and_new_recordings_tell_no_secret_but_the_path_that_was_typed(
    tracekit, recordings: dict[str, Path], tmp_path, monkeypatch
) -> None:
    *lines, command = tracekit("watch", recordings["other"], "--no-config").out.splitlines()
    assert (len(lines), leaks("".join(lines))) == (3, set())
    assert str(recordings["other"]) in command

    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    assert tracekit("check", "--init", recordings["bundle"]).status == 0
    assert leaks((tmp_path / "tracekit.toml").read_text("utf-8")) == set()


def test_reports_of_several_recordings_tell_no_secret(tracekit, recordings: dict[str, Path], tmp_path: Path) -> None:
    pair = (recordings["bundle"], recordings["other"])
    printed = tracekit("analyze", *pair, "--no-config")
    assert (printed.status, leaks(printed.out + printed.err)) == (0, set())
    saved = tracekit("analyze", *pair, "--no-config", "--folder", f"{tmp_path}/", "--format", "html")
    files = list(tmp_path.iterdir())
    # And a page that lists them.
    assert len(files) == 3
    written = "".join(path.read_text(encoding="utf-8") for path in files)
    assert (saved.status, leaks(saved.out + saved.err + written)) == (0, set())


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A model file with secrets in all of its metadata, in a private folder."""
    described = message_types().Model(specificationVersion=1)
    metadata = described.description.metadata
    metadata.author = "hushauthor@example.com"
    metadata.userDefined["source"] = "/Users/HushUser/model.pt"
    described.neuralNetwork.SetInParent()
    folder = tmp_path / "HushModels"
    folder.mkdir()
    path = folder / "HushModel.mlmodel"
    path.write_bytes(described.SerializeToString())
    return path


def test_model_files_tell_no_secret(tracekit, recordings: dict[str, Path], tmp_path: Path, model: Path) -> None:
    for options in ((), ("-v",), ("--format", "markdown"), ("--json",)):
        shown = tracekit("inspect", model, *options)
        assert "HushModel" in shown.out
        assert leaks(shown.out + shown.err) == set()
    for ending in ("txt", "md", "html", "json"):
        out = tmp_path / f"joined.{ending}"
        joined = tracekit("analyze", recordings["bundle"], "--no-config", "--model-file", model, "-o", out)
        written = out.read_text(encoding="utf-8")
        assert "HushModel.mlmodel" in written
        assert leaks(joined.out + joined.err + written) == set()


def test_performance_reports_and_profiles_tell_no_secret(
    tracekit, tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "YOLOv3.mlperf.json"
    path.write_text(json.dumps(wwdc22()), encoding="utf-8")
    for command in (("inspect", path), ("inspect", path, "--json"), ("compare", path, path, "--no-config")):
        shown = tracekit(*command)
        assert "YOLOv3" in shown.out
        assert [secret for secret in PRIVATE if secret in shown.out + shown.err] == []

    failing = {"load cpuAndGPU": RuntimeError("cannot read /Users/HushUser/HushModel.mlmodelc")}
    monkeypatch.setattr(core_ml, "runtime", lambda: StandIn(failing=failing))
    out = tmp_path / "reports"
    out.mkdir()
    shown = tracekit("inspect", model, "--measure", "--predictions", "1", "--folder", out)
    written = "".join(path.read_text(encoding="utf-8") for path in out.iterdir())
    assert "cannot read" in shown.out + shown.err + written
    assert leaks(shown.out + shown.err + written) == set()


def test_no_comparison_tells_a_secret(tracekit, recordings: dict[str, Path], tmp_path: Path) -> None:
    pair = (recordings["bundle"], recordings["other"])
    for command, endings in (("pair", ("html", "md", "json")), ("table", ("html", "md", "csv", "json"))):
        files = [tmp_path / f"{command}.{ending}" for ending in endings]
        result = tracekit("compare", *pair, *(part for file in files for part in ("-o", file)), "--no-config")
        written = "".join(file.read_text(encoding="utf-8") for file in files)
        assert (result.status, leaks(result.out + result.err + written)) == (0, set())
    baseline = tmp_path / "base.json"
    saved = tracekit("check", "--save-baseline", "--baseline", baseline, *pair, "--no-config")
    assert (saved.status, leaks(saved.out + saved.err + baseline.read_text(encoding="utf-8"))) == (0, set())
    checked = tracekit("check", recordings["bundle"], "--baseline", baseline, "--no-config")
    assert leaks(checked.out + checked.err) == set()


def test_nothing_that_leaves_the_screen_holds_a_secret(recordings: dict[str, Path], tmp_path: Path) -> None:
    session = judge_session(read(str(recordings["bundle"])))
    report = session.report
    texts = [copied.finding_markdown(session, number) for number in range(len(report.results))]
    everything = EventFilter()
    texts.append(copied.statistics_markdown(session, None, everything, named=True))
    labels = [*session.trace.hardware.label.held()]
    texts.append(copied.row_markdown([session.trace], [*["label"] * len(labels), "process"], [*labels, "HushDaemon"]))
    for span in (None, Span(0, 1_000 * MS)):
        for ending in (".md", ".html", ".json", ".txt"):
            path = tmp_path / f"saved{ending}"
            copied.save_report(session, span, path, replace=True)
            texts.append(path.read_text(encoding="utf-8"))
    assert {word for text in texts for word in leaks(text)} == set()
