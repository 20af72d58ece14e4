"""Answers of the database, what it refuses, and what it says of what was not recorded."""

import threading
from dataclasses import replace
from decimal import Decimal
from time import process_time

import pytest
from query.conftest import MS, RENDERER, database, scenario

from support.analyses import kept_trace
from support.choice import sweep_rest
from support.handover import trace_of
from tracekit import open_recording
from tracekit.columns import Type
from tracekit.errors import UsageError
from tracekit.query import database as query_database
from tracekit.query.columns import SQL_TYPES
from tracekit.query.private import MODELS, OF_REPORT, SAFE, SIGNPOSTS, TEXTS, public_tables
from tracekit.query.views import VIEWS
from tracekit.recording.table import TableState


def test_a_view_has_the_columns_that_it_declares(known):
    for name, view in VIEWS.items():
        rows = known.answer(f"describe {name}").rows
        assert [(name, kind) for name, kind, *_ in rows] == [
            (column.name, SQL_TYPES[column.type]) for column in view.columns
        ]


def test_a_view_that_was_not_recorded_has_the_same_columns_and_says_so(sample):
    answer = sample.answer("from thermal")
    assert answer.columns == tuple(column.name for column in VIEWS["thermal"].columns)
    (coverage,) = answer.coverage
    assert (answer.rows, coverage.recorded) == ([], False)
    assert "Thermal State was not recorded" in coverage.note

    answer = sample.answer("from signposts")
    assert (answer.rows, [(each.view, each.recorded, each.note) for each in answer.coverage]) == (
        [],
        [("signposts", True, "")],
    )


def test_numbers_are_those_of_the_recording(known):
    (row,) = known.answer("from by_model('predictions')").rows
    # 20 predictions of 5, 6, … 24 ms; the quantile lies between the 19th and the 20th.
    assert row == ("Segmenter", 20, 290 * MS, 14.5 * MS, pytest.approx(23.05 * MS), 24 * MS)
    assert known.answer("select sum(is_first_after_load::int), ms(max(duration_ns)) from predictions").rows == [
        (1, 24.0)
    ]
    assert known.answer("select sum(neural_engine_ns), sum(duration_ns) from breakdown").rows == [(60 * MS, 290 * MS)]
    assert known.answer("select loads, predictions, p50_ns from models").rows == [(1, 20, 15 * MS)]
    assert known.answer(
        "select count(*) from with_prediction('neural_engine') where prediction_model = 'Segmenter'"
    ).rows == [(20,)]
    overlap = "select sum(overlap_ns(p.start_ns, p.end_ns, g.start_ns, g.end_ns)) from predictions p, gpu g"
    assert known.answer(overlap).rows == [(2 * MS,)]


def test_a_recorded_table_is_there_under_its_schema(sample):
    answer = sample.answer('select event_label, count(*) from raw."coreml-os-signpost" group by 1 order by 2 desc')
    assert sum(count for _, count in answer.rows) == 1_105
    with pytest.raises(UsageError, match=r"unknown table 'coreml-os-signposts'; did you mean 'coreml-os-signpost'\?"):
        sample.answer('from raw."coreml-os-signposts"')


def test_texts_sort_as_texts_and_what_is_measured_keeps_names_types_and_order(known):
    # Neither is so for the numbers of categories.
    kinds = [kind for (kind,) in known.answer("select distinct kind from activity order by kind").rows]
    assert kinds == sorted(kinds)
    assert known.answer("select count(*) from predictions where model = 'nobody'").rows == [(0,)]

    answer = known.answer(
        "select 'b' as a, [1] as a, null as \"x y\", 1.5::decimal(4, 1) as d "
        "union all select 'c', [2], null, 2 order by 1 desc; --"
    )
    assert (answer.columns, answer.types) == (
        ("a", "a", "x y", "d"),
        ("VARCHAR", "INTEGER[]", '"NULL"', "DECIMAL(11,1)"),
    )
    assert answer.rows == [("c", [2], None, Decimal("2.0")), ("b", [1], None, Decimal("1.5"))]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "no query given"),
        ("select 1; select 2", r"one query at a time \(got 2\)"),
        ("selec 1", "syntax error"),
        ("select nope from gpu", 'column "nope" not found'),
        ("from gpus", "unknown view 'gpus'; did you mean 'gpu'"),
        ("drop table gpu", "only queries that read"),
        ("create table t as select 1", "only queries that read"),
        ("insert into gpu values (1)", "only queries that read"),
        ("copy gpu to 'out.csv'", "only queries that read"),
        ("attach 'x.db'", "only queries that read"),
        ("install httpfs", "only queries that read"),
        ("set memory_limit = '64GB'", "only queries that read"),
        ("pragma database_list", "only queries that read"),
        ("call pragma_version()", "only queries that read"),
        ("from 'pyproject.toml'", "unknown view"),
        ("from read_text('pyproject.toml')", r"not read_text\(\)"),
        ("from read_csv('/etc/passwd')", r"not read_csv\(\)"),
        ("from Read_Parquet('samples/*/*/*/*.parquet')", r"not read_parquet\(\)"),
        ("from glob('*')", r"not glob\(\)"),
        ("from histogram(gpu, start_ns)", r"not histogram\(\)"),
        ("from json_execute_serialized_sql(json_serialize_sql('from thermal'))", r"not json_execute_serialized_sql"),
        ("from query_table('ther' || 'mal')", "takes the name of a view, as in: from query_table"),
        ("from query_table(['gpu', 'ther' || 'mal'])", "takes the name of a view"),
        ("from by_model((select 'thermal'))", "takes the name of a view"),
        ("from query_table('pg_settings')", "unknown view"),
        ("select current_setting('memory_limit')", r"not current_setting\(\)"),
        ("from gpu where label = Current_Setting('temp_directory')", r"not current_setting\(\)"),
        ("with pg_settings as (from pg_settings) from pg_settings", "no part of a query is named 'pg_settings'"),
        ('from "rows of gpu" where 1 in (with "rows of gpu" as (select 1) select 1)', "is named 'rows of gpu'"),
        ("from query_table('main.gpu'), (with \"main.gpu\" as (select 1) select 1)", r"is named 'main\.gpu'"),
        ('from query_table(\'"gpu"\'), (with """gpu""" as (select 1) select 1)', """is named '"gpu"'"""),
        ("from 'a.parquet', (with \"a.parquet\" as (select 1) select 1)", r"is named 'a\.parquet'"),
        ("select json_serialize_plan('from duckdb_settings()', optimize := true)", r"not json_serialize_plan\(\)"),
        ("select try(error('x'))", "^TRY can not be used"),
        ("select list_transform([1], x -> x)", r"^deprecated lambda arrow .*before DuckDB's next release\.$"),
        ("select " + "(" * 2_000 + "1" + ")" * 2_000, r"^max expression depth limit of 1000 exceeded\.$"),
        ("with tables as (select 1) from information_schema.tables", r"not information_schema\.tables"),
        ("with t as (select 1) from system.main.t", r"not main\.t"),
        ("from trace", "unknown view"),
        ("select getenv('HOME')", "getenv"),
        ("from query('drop table gpu')", r"not query\(\)"),
        ("from query('from thermal')", r"not query\(\)"),
        ("from duckdb_settings()", r"not duckdb_settings\(\)"),
        ("from Pragma_Table_Info('gpu')", r"not pragma_table_info\(\)"),
        ("show tables", "--list has the views"),
        ("describe", "--list has the views"),
        ("select * from (" * 500 + "select 1" + ")" * 500, "nested too deep"),
    ],
)
def test_what_is_no_question_about_the_recording_is_refused(known, query, sentence):
    trace = "a local that no query can see"
    with pytest.raises(UsageError, match=sentence) as refused:
        known.answer(query)
    assert "\n" not in str(refused.value)
    assert trace
    assert known.answer("select count(*) from gpu").rows == [(1,)]


def test_a_name_of_a_megabyte_is_refused_at_once(known):
    before = process_time()
    with pytest.raises(UsageError, match="unknown view 'xxx"):
        known.answer(f'from "{"x" * 1_000_000}"')
    # It was compared with each view: 40 s.
    assert process_time() - before < 10


def test_names_of_views_are_those_of_sql_also_several(known):
    query = "with Known as (from Predictions) select count(*) from known, (select count(*) from BY_MODEL('GPU'))"
    answer = known.answer(query)
    assert (answer.rows, {each.view for each in answer.coverage}) == ([(20,)], {"predictions", "gpu"})

    for given, rows in (("'GPU'", 1), ("gpu", 1), ("['gpu', 'Loads'], true", 2)):
        answer = known.answer(f"with two as (select 1) select count(*) from query_table({given})")  # noqa: S608
        assert answer.rows == [(rows,)]
        assert {each.view for each in answer.coverage} == {"gpu", "loads"} if rows == 2 else {"gpu"}
    assert known.answer("select count(*) from range(3), unnest([1, 2]), json_each('[1]')").rows == [(6,)]


def test_files_in_the_folder_of_temporary_files_are_not_reached(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".tmp").mkdir()
    (tmp_path / ".tmp" / "words.txt").write_text("secret words")
    open_ = database(trace_of(scenario()))
    with pytest.raises(Exception, match="file system operations are disabled"):
        open_._connection.execute(f"from read_text('{tmp_path}/.tmp/words.txt')")


def test_a_query_that_takes_too_long_ends_and_the_next_one_is_answered():
    limited = database(trace_of(scenario()), seconds=0.2)
    with pytest.raises(UsageError, match=r"took longer than 0.2 s"):
        limited.answer("select count(*) from range(100000000) a, range(100000000) b where a.range + b.range = 7")
    assert limited.answer("select count(*) from loads").rows == [(1,)]


def test_no_thread_outlives_its_query(known):
    """One that drops the connection while Python ends aborts the process."""
    before = threading.enumerate()
    known.answer("from loads")
    assert threading.enumerate() == before


def test_a_query_that_heeds_no_interrupt_is_left_to_itself_and_the_next_one_is_answered(monkeypatch):
    monkeypatch.setattr(query_database, "_HEEDED_S", 0.1)
    limited, may_end = database(trace_of(scenario()), seconds=0.2), threading.Event()
    with pytest.raises(UsageError, match=r"took longer than 0.2 s"):
        # As DuckDB within one cell.
        limited._within_limits(lambda _: may_end.wait(60))
    assert [thread.name for thread in threading.enumerate() if thread.name == "tracekit query"]
    assert limited.answer("select count(*) from loads").rows == [(1,)]
    may_end.set()


@pytest.mark.parametrize(
    "query",
    sweep_rest(
        "select repeat('x', 17000000)", "select 1, range(3000000)", "select null, 'é' || repeat('x', 17000000)::blob"
    ),
)
def test_a_row_is_measured_before_it_becomes_an_object(known, query):
    with pytest.raises(UsageError, match=r"^a row of the answer has more than 16 MB; ask for less of it$"):
        known.answer(query)
    assert known.answer("select length(repeat('x', 17000000))").rows == [(17_000_000,)]


def test_the_memory_of_the_process_is_watched(known, monkeypatch):
    peaks = iter((1 << 30, 2 << 30, (3 << 30) + 1))
    monkeypatch.setattr(query_database, "_peak_bytes", lambda: next(peaks))
    with pytest.raises(UsageError, match="more than 2GB of memory"):
        known.answer("select count(*) from range(100000000) a, range(100000000) b where a.range + b.range = 7")


def test_a_query_that_needs_too_much_memory_ends(known, monkeypatch):
    limit = "select current_setting('memory_limit')"
    assert known._connection.execute(limit).fetchall() == [("1.8 GiB",)]
    # To fill a tenth of it takes a tenth of the time.
    monkeypatch.setitem(query_database._LOCKED, "memory_limit", "200MB")
    with pytest.raises(UsageError, match="more than 2GB of memory"):
        database(trace_of(scenario())).answer("select list(a.range) from range(40000000) a")


def test_more_cells_than_are_held_are_not_fetched(known, monkeypatch):
    monkeypatch.setattr("tracekit.query.database.MOST_CELLS", 40)
    query = "select model, start_ns from predictions"
    assert len(known.answer(query).rows) == 20
    said = r"more than 20 rows of 2 columns; ask for fewer \(limit 20\), or write them as Parquet \(-o rows.parquet\)$"
    with pytest.raises(UsageError, match=said):
        known.answer(f"{query} union all select 'Net', 1")
    assert len(known.answer(f"{query} limit 20").rows) == 20


def test_private_texts_are_replaced_and_stay_apart(known):
    assert known.answer("select process, label from gpu").rows[0][0] == "process A"
    assert known.answer("select name, start_message from signposts").rows == [("name A", "<private>")]
    open_ = database(trace_of(scenario()), redact=False)
    assert open_.answer("select name, start_message from signposts").rows == [("Frame", "secret words")]


def test_beside_a_table_that_cannot_be_read_others_of_its_schema_are_made_public(samples):
    recording = open_recording(samples / "captions_concurrent.trace")
    [table] = recording.tables("coreml-os-signpost")
    lost = replace(table, cells=(), rows=0, state=TableState.UNREADABLE)
    public = public_tables(kept_trace(samples / "captions_concurrent.trace"))
    [alone] = public([table])
    unread, beside = public([lost, table])
    assert unread == lost
    assert [str(beside.column("event-label").item(row)) for row in range(table.rows)] == [
        str(alone.column("event-label").item(row)) for row in range(table.rows)
    ]


def test_every_text_column_of_a_view_has_a_way_to_be_shown():
    known = SAFE | TEXTS | MODELS | SIGNPOSTS | {"file", "thread"}
    private = {"identifier", "start_message", "end_message", "message"}
    texts = {
        column.name
        for view in VIEWS.values()
        if view.name not in OF_REPORT
        for column in view.columns
        if column.type is Type.TEXT
    }
    assert texts - known == private


def test_a_redacted_answer_keeps_what_metal_says_of_shaders_of_others():
    made = scenario()
    made.compile_shader(MS, MS)
    made.compile_shader(MS, 2 * MS, "Fragment", RENDERER)
    answer = database(trace_of(made)).answer("select pid, label, kind, compiler from shader_compilations order by pid")
    assert answer.rows == [
        (7, "Compile Compute shader (App (7))", "Compute", "Metal Shader Compiler"),
        (99, "Compile Fragment shader (process A (99))", "Fragment", "Metal Shader Compiler"),
    ]


def test_inferred_calls_are_said_to_be_inferred():
    made = scenario()
    made.emptied = {"coreml-os-signpost"}
    (coverage,) = database(trace_of(made)).answer("select count(*) from predictions").coverage
    assert coverage.recorded
    assert "inferred" in coverage.note
    (data,) = database(trace_of(made)).answer("from data").coverage
    assert not data.recorded
