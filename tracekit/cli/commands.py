"""Every command, once: what it is for, what it takes, and what runs. Imports nothing that a run needs."""

from __future__ import annotations

from dataclasses import dataclass

from tracekit.render.forms import REPORT_FORMS

TABLE_FORMATS = ("csv", "jsonl", "parquet", "xml")
"""As `tracekit.recording.writing.FORMATS` has them."""
BRIEF = "brief"
"""JSON of at most 8 kB, for programs with little room."""
GITHUB = "github"
"""Text with workflow commands, for the log of an action."""
SHELLS = ("bash", "zsh", "fish")


@dataclass(frozen=True, slots=True)
class Argument:
    """What a command takes beside its options."""

    name: str
    """In the namespace."""
    shown: str
    help: str
    nargs: str | None = None
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Command:
    """One word after `tracekit`."""

    name: str
    summary: str
    """Half a line, for the list of commands."""
    examples: tuple[str, ...]
    """Command lines; the first one is the usual one."""
    says: str
    """What there is to know before it is run."""
    arguments: tuple[Argument, ...]
    main: str
    """Options that help shows, with spaces between them."""
    more: str
    """Those that only `--help-all` shows."""
    forms: tuple[str, ...] = ()
    """What `--format` takes, the usual one first."""
    files: tuple[str, ...] = ()
    """Forms that only files have."""
    status: str = ""
    """What exit statuses mean, where that needs saying."""
    module: str = ""
    """Module of the command that it stands beside; empty for one that has a module of its own name."""

    @property
    def runs(self) -> str:
        """`module:function`, imported when the command runs. The function takes the arguments, does the work, and
        returns an `ExitStatus`, or the `Next` command line; it raises `TracekitError` for what the user can mend."""
        return f"tracekit.cli.{self.module}:run_{self.name}" if self.module else f"tracekit.cli.{self.name}:run"

    @property
    def options(self) -> list[str]:
        """Names of all its options."""
        return f"{self.main} {self.more} debug".split()


RECORDING = "a .trace bundle, export, folder or zip of one; - for standard input"
PATHS = Argument("path", "PATH", RECORDING, "+")
_PART = "from to signpost"
_READ = "reader timeout"
_SETTINGS = "config no-config"
_FILES = "model-file perf-report"

COMMANDS = (
    Command(
        "record",
        "record an app (on a Mac)",
        (
            "tracekit record --attach MyApp -o run.trace",
            "tracekit record --device --attach MyApp --time-limit 30s --analyze",
            "tracekit record -o run.trace --launch -- path/to/MyTool --flag",
        ),
        "Ctrl-C stops and saves. Start before the app loads its models: Core ML records model names only at load "
        "time. On other systems, prints the command to run on a Mac.",
        (Argument("launched", "COMMAND ...", "what --launch starts, last and after --", "*"),),
        "attach all-processes launch device time-limit memory frames output analyze compare-last dry-run",
        "template only-template instrument high-frequency no-prompt save-timeout quiet",
        files=("trace",),
    ),
    Command(
        "analyze",
        "find performance problems",
        (
            "tracekit analyze run.trace",
            "tracekit analyze run.trace -o report.html --open",
            "tracekit analyze run.trace --fail-on high --budget 30fps",
        ),
        "Reports findings, evidence, savings and fixes. Several recordings: a line each.",
        (PATHS,),
        "output open format json show verbose quiet model only skip budget fail-on",
        f"process {_PART} run expect memory-limit set {_FILES} {_SETTINGS} list rows folder sort commit jobs "
        f"{_READ} no-redact no-functions",
        (*REPORT_FORMS, BRIEF),
        files=("zip",),
        status="1 a finding at or above --fail-on, 2 error, 3 inconclusive",
    ),
    Command(
        "why",
        "why a prediction was slow",
        (
            "tracekit why run.trace",
            "tracekit why run.trace --model Segmenter --slowest 3",
            "tracekit why run.trace --without reload-before-predict",
        ),
        "Splits what a prediction took beyond a usual one of its model into parts that add up: queues, work, clocks, "
        "copies, its thread. Without options: the slowest one of the busiest model. --without replays the recording "
        "without what fixes take away, and prints latency and dropped frames before and after.",
        (PATHS,),
        "model slowest at frame percentile over without output format",
        f"json verbose quiet open process run {_FILES} {_SETTINGS} {_READ} no-redact no-functions",
        (*REPORT_FORMS, BRIEF),
        status="2 error, or no such finding; 3 too few predictions",
    ),
    Command(
        "compare",
        "what a change did; 3+: a table",
        (
            "tracekit compare before.trace after.trace",
            "tracekit compare runs/ --label '{device}' -o table.html",
            "tracekit compare --before a1.trace a2.trace --after b1.trace b2.trace",
            "tracekit compare lake/ --before \"commit = 'a1'\" --after \"commit = 'b2'\"",
        ),
        "Two recordings, or a set before and one after: which findings are fixed or new, and which models improved or "
        "regressed, where the 95% interval of the change of median latency says so. Three or more, a "
        "folder, a lake or performance reports: the figures of each model in a table, by time.",
        (Argument("path", "PATH", "recordings, reports, folders, a lake, or two models", "*"),),
        "before after label output open format model rename",
        f"json verbose quiet process {_PART} run jobs dask {_SETTINGS} {_READ}",
        (*REPORT_FORMS, BRIEF, "csv"),
        status="0 compared, even if slower; 2 error, 3 no model in common",
    ),
    Command(
        "check",
        "fail the build for a regression",
        (
            "tracekit check run.trace --first-load 1s",
            "tracekit check run.trace --baseline perf/iphone.json",
            "tracekit check good*.trace --baseline perf/iphone.json --save-baseline",
            "tracekit check --init good.trace",
        ),
        "Checks recordings of a build against a baseline, and against limits and allowed findings in tracekit.toml. "
        "A limit not checked does not pass. --init writes that file from a recording, and a workflow for GitHub.",
        (Argument("path", "PATH", "recordings of the build, their JSON reports, or folders", "*"),),
        "p95 first-load loads neural-engine baseline save-baseline init output format",
        "open json quiet update-baseline show-baseline force history p50 load cold-load copies in-flight "
        f"compiled late-frames unit rename allow-missing allow-no-baseline allow-environment-change model model-file "
        f"process {_PART} run jobs dask {_SETTINGS} {_READ}",
        (*REPORT_FORMS, BRIEF, "junit", "sarif", GITHUB),
        status="0 passed, 1 failed, 2 error, 3 inconclusive",
    ),
    Command(
        "view",
        "browse one, or two together",
        ("tracekit view run.trace", "tracekit view before.trace after.trace"),
        "Zoom the lanes, step through evidence, compare two recordings. Press ? for all keys.",
        (
            Argument("path", "PATH", "a .trace bundle, export, folder or zip of one"),
            Argument("other", "OTHER", "a second recording to compare with", "?"),
        ),
        f"model process {_PART} run theme",
        f"{_FILES} {_SETTINGS} {_READ}",
    ),
    Command(
        "inspect",
        "can the Neural Engine run it?",
        (
            "tracekit inspect Model.mlpackage",
            "tracekit inspect Models/ --chip M2 --system iOS16",
            "tracekit inspect Model.mlpackage --measure",
        ),
        "Whether the model will run on the Neural Engine, its facts, and findings, each marked by what it may affect. "
        "Of several models or a folder, a table. A compute plan beside a model overrules the file; of a performance "
        "report alone, times and where operations run.",
        (Argument("path", "PATH", "models, also zipped, folders of them, reports, JSON; - for stdin", "+"),),
        "output open format json verbose quiet system chip measure",
        f"unit units predictions folder only skip set {_SETTINGS} no-redact",
        (*REPORT_FORMS, BRIEF, "csv"),
    ),
    Command(
        "history",
        "which build got slower",
        (
            "tracekit history reports/",
            "tracekit history run.trace --commit 4f2a91c --add-to perf/history.jsonl",
            "tracekit history perf/history.jsonl -o history.html --open",
        ),
        "Follows latency, loads, predictions per second, compute units and findings of each model over builds, and "
        "finds change points and drift. A series is one model on one device and system. --add-to keeps the numbers of "
        "recordings in a file of a line each; tracekit check --history fails where the newest builds became worse.",
        (Argument("path", "PATH", "recordings, JSON reports, folders of either, history files", "+"),),
        "add-to commit output open format json verbose quiet model",
        f"process {_PART} run jobs dask {_SETTINGS} {_READ}",
        (*REPORT_FORMS, "csv"),
    ),
    Command(
        "fix",
        "fix a model file",
        (
            "tracekit fix Model.mlpackage",
            "tracekit fix Model.mlpackage interface-conversion -o Fixed.mlpackage",
            "tracekit fix Model.mlpackage --all -o Fixed.mlpackage",
            "tracekit fix A.mlpackage --function B.mlpackage -o Both.mlpackage",
        ),
        "Lists the findings that can be fixed in the model file; with FINDING or --all, writes the fixed model to -o "
        "with coremltools, on any machine. Says what changed, what must change in the app, and how to verify.",
        (
            Argument("path", "MODEL", "a .mlpackage or .mlmodel"),
            Argument("findings", "FINDING", "a check, as inspect or analyze names it", "*"),
        ),
        "output all shape weights function force format json quiet",
        f"open set {_SETTINGS}",
        REPORT_FORMS,
        files=("package", "model"),
    ),
    Command(
        "stacks",
        "call tree of the threads",
        (
            "tracekit stacks run.trace --functions app",
            "tracekit stacks run.trace --thread main",
            "tracekit stacks run.trace --open",
        ),
        "Shows the call tree of the running threads, and writes a flame graph. "
        "Samples measure CPU time: waiting threads are not sampled.",
        (PATHS,),
        f"model finding thread {_PART} functions invert output open format quiet",
        f"run {_READ} no-redact",
        ("text", "html", "collapsed", "speedscope"),
    ),
    Command(
        "export",
        "list and write tables",
        (
            "tracekit export run.trace",
            "tracekit export run.trace --folder tables --format csv",
            "tracekit export run.trace --schema coreml-os-signpost -o calls.csv",
            "tracekit export run.trace -o run.pftrace --open",
        ),
        "Lists the tables of a recording, writes all or some of them, or the timeline for the Perfetto UI (.pftrace) "
        "and the trace event format (.json). -o replaces an existing file; --folder does so only with --force. Private "
        "texts are replaced; --no-redact keeps tables as they were recorded.",
        (Argument("path", "PATH", RECORDING, "*"),),
        "folder output open format json schema json-schema force quiet",
        f"model process {_PART} run {_SETTINGS} {_READ} no-functions no-redact",
        ("text", "json", *TABLE_FORMATS, "perfetto", "chrome"),
    ),
    Command(
        "explain",
        "checks; symptoms of a run",
        ("tracekit explain", "tracekit explain reload-before-predict", "tracekit explain run.trace"),
        "A line for each check; with CHECK, its page: what it looks for, when it is not a problem, the fix, and "
        "where its thresholds come from. With a recording, the questions of the Core ML diagnostic tree (loading, "
        "performance, memory, accuracy) as far as it answers them, and what to check elsewhere.",
        (Argument("checks", "CHECK", "a check, as reports name it, or a recording", "*"),),
        "output open format json verbose quiet model",
        f"process {_PART} run {_FILES} {_SETTINGS} {_READ} no-redact",
        REPORT_FORMS,
    ),
    Command(
        "watch",
        "report on new recordings",
        ("tracekit watch runs/", "tracekit watch run.trace"),
        "Prints four lines on each new recording in a folder: what it is, the worst finding, what changed since the "
        "last one of the same app and device there, and what to do next. Ctrl-C ends it.",
        (Argument("path", "PATH", "folder of recordings; a recording is reported on at once"),),
        f"model process quiet {_SETTINGS}",
        _READ,
    ),
    Command(
        "doctor",
        "check this machine's setup",
        ("tracekit doctor", "tracekit doctor --target path/to/MyApp.app"),
        "Checks the Python packages and, on a Mac, Xcode, xctrace, templates, instruments and devices. Recording "
        "needs a Mac, analysis does not.",
        (),
        "target format json no-redact",
        "",
        ("text", "json"),
        status="2 a requirement is missing",
        module="record",
    ),
    Command(
        "sql",
        "ask in SQL",
        (
            'tracekit sql run.trace "from findings"',
            'tracekit sql run.trace "select model, p95_ns from models" --format csv',
            "tracekit sql run.trace --list",
        ),
        "Answers a query over the views of a recording: predictions, loads, hardware, models, findings and others, and "
        'raw."schema" for recorded tables. Without QUERY, asks for queries. Queries only read, and reach no file. Says '
        "so where a view was not recorded.",
        (Argument("path", "PATH", f"{RECORDING}, or a lake"), Argument("query", "QUERY", "one query", "?")),
        "file list output format json quiet",
        f"query-timeout dask run {_FILES} {_SETTINGS} {_READ} no-redact no-functions",
        ("text", "markdown", "csv", "json"),
        files=("parquet",),
        status="2 error, 3 a view was not recorded",
    ),
    Command(
        "lake",
        "keep many for SQL",
        (
            "tracekit lake add lake/ runs/",
            "tracekit lake add lake/ run.trace --commit 4f2a91c --app-version 1.2",
            "tracekit lake list lake/",
            "tracekit lake remove lake/ 3f2a",
            'tracekit sql lake/ "from runs"',
        ),
        "Adds the views of recordings to a folder of Parquet files, which sql, history and compare take in place of "
        "recordings. One that is there already changes nothing; one that cannot be read is named and skipped.",
        (
            Argument("action", "ACTION", "add, list or remove", None, ("add", "list", "remove")),
            Argument("lake", "LAKE", "folder of the lake; made where there is none"),
            Argument("path", "PATH", "recordings or folders of them; to remove: beginnings of their ids", "*"),
        ),
        "commit app-version jobs quiet",
        f"dask {_FILES} {_SETTINGS} {_READ} no-redact no-functions",
        status="2 error, or a recording was skipped",
        module="sql",
    ),
    Command(
        "mcp",
        "answer agents",
        ("tracekit mcp recordings", "tracekit mcp"),
        "Serves the Model Context Protocol on standard input and output: eight tools that only read recordings and "
        "models in the folders given, each answer at most 8 kB and redacted. An agent starts it.",
        (Argument("path", "FOLDER", "what may be read (default: the current folder)", "*"),),
        "",
        _SETTINGS,
    ),
    Command(
        "completion",
        "print a completion script",
        (
            'eval "$(tracekit completion bash)"                       # in ~/.bashrc',
            "mkdir -p ~/.zfunc && tracekit completion zsh > ~/.zfunc/_tracekit",
            "tracekit completion fish > ~/.config/fish/completions/tracekit.fish",
        ),
        "Prints a script that completes commands, options, files and checks.",
        (Argument("shell", "SHELL", ", ".join(SHELLS), None, SHELLS),),
        "",
        "",
        module="explain",
    ),
)
"""In the order of `tracekit --help`."""
FIRST, PLATFORMS = 8, 4
"""How many most need, and how many, the last ones, platforms and agents."""

ANSWERS = {
    **dict.fromkeys(("diff", "delta", "matrix", "table"), "compare {}"),
    **dict.fromkeys(
        ("slowest", "slow", "latency", "p99", "percentiles", "loads", "stats"), "analyze {} --show latency"
    ),
    **dict.fromkeys(("models", "where", "summary"), "analyze {} --show models"),
    **dict.fromkeys(("share", "report", "html", "send"), "analyze {} -o report.html --open"),
    **dict.fromkeys(("trace", "capture"), "record --attach MyApp -o run.trace"),
    **dict.fromkeys(("open", "browse", "timeline", "tui"), "view {}"),
    **dict.fromkeys(("gate", "ci", "assert"), "check {} --p95 20ms"),
    **dict.fromkeys(("profile", "benchmark", "measure"), "inspect {} --measure"),
    **dict.fromkeys(("bisect", "regressions", "trend", "builds"), "history {}"),
    "whatif": "why {} --without",
    "diagnose": "explain {}",
    "init": "check --init {}",
    "query": "sql {}",
    "calls": "stacks {}",
    "list": "explain",
    "checks": "explain",
}
"""Words that people type first, and the command that does it; `{}` stands for its arguments."""
