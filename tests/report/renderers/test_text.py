"""The report on a screen."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from support.analyses import kept_analysis
from tracekit.characters import map_strings
from tracekit.report.renderers.markdown import render_markdown
from tracekit.report.renderers.text import NARROWEST, WIDEST, render_text
from tracekit.report.report import Report

REPORTS = ["full", "clean", "not_judged", "failed", "hostile", "hundred"]

ACTING = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories of characters that can do something to a screen."""

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def plain(report: Report, width: int = 100, **options: bool) -> str:
    return render_text(report, width=width, color=False, **options)


def flat(text: str) -> str:
    """Text without line breaks and indents."""
    return " ".join(text.split())


@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [30, 40, 60, 80, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_every_line_fits_the_width(name: str, width: int, verbose: bool, request: pytest.FixtureRequest) -> None:
    lines = plain(request.getfixturevalue(name), width, verbose=verbose).splitlines()
    assert max(map(cell_len, lines)) <= width
    assert all(line == line.rstrip() for line in lines)


def test_widths_beyond_reason_are_met_halfway(full: Report) -> None:
    assert plain(full, 1) == plain(full, NARROWEST)
    assert plain(full, 999) == plain(full, WIDEST)


def test_the_verdict_is_the_first_thing(full: Report, clean: Report, not_judged: Report) -> None:
    for report in (full, clean, not_judged):
        assert flat(plain(report)).startswith(report.summary.verdict)


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ("2025-06-03T10:15:00.000+02:00", "2025-06-03 10:15 ·"),
        ("2025-06-03T08:15:00.000+00:00", "2025-06-03 08:15 UTC ·"),
        ("2025-06-03T08:15:00Z", "2025-06-03 08:15 UTC ·"),
    ],
)
def test_a_start_in_utc_is_not_taken_for_the_time_of_the_place(full: Report, date: str, shown: str) -> None:
    dated = replace(full, recording=replace(full.recording, start_date=date))
    assert shown in flat(plain(dated))


def test_color_changes_nothing_but_the_color(full: Report) -> None:
    colored = render_text(full, width=80, color=True)
    assert "\x1b[" in colored
    assert [line.rstrip() for line in ANSI.sub("", colored).splitlines()] == plain(full, 80).splitlines()


def test_no_escape_is_written_without_color(full: Report) -> None:
    assert "\x1b" not in plain(full)


@pytest.mark.parametrize(
    "variable", ["COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM", "TTY_COMPATIBLE", "JUPYTER_COLUMNS"]
)
def test_the_environment_decides_nothing(full: Report, variable: str, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = plain(full, 70), render_text(full, width=70, color=True)
    monkeypatch.setenv(variable, "dumb" if variable == "TERM" else "20")
    assert (plain(full, 70), render_text(full, width=70, color=True)) == expected


def test_a_finding_gives_numbers_place_cost_and_fix_once(full: Report) -> None:
    text = flat(plain(full))
    assert "est. savings: up to 1.3 s (69% of this model's time)" in text
    assert "longest: 17.17 ms at 00:00.137, 17.17 ms at 00:00.274 (74 intervals)" in text
    assert "Estimated savings: up to 7.7 s in 6 models." in text
    of = replace(full.results[0], cost=replace(full.results[0].cost, of="the time from first to last prediction"))
    spoken = replace(full, results=(of, *full.results[1:]))
    assert "(69% of the time from first to last prediction)" in flat(plain(spoken))
    assert "| 69% of the time from first to last prediction |" in render_markdown(spoken)
    assert text.count("lazy var model = try? StyleTransfer(configuration: .init())") == 2
    assert "1 more model (-v)" in text


def test_findings_stand_before_what_was_not_evaluated_and_the_numbers(full: Report) -> None:
    text = plain(full)
    positions = [
        text.index(title) for title in ("FINDINGS", "CRITICAL", "LOW", "NOT EVALUATED", "MODELS", "EVENTS", "COVERAGE")
    ]
    assert positions == sorted(positions)


def test_verbose_adds_metrics_references_and_passed_checks(full: Report) -> None:
    text = flat(plain(full, verbose=True))
    for part in (
        "loads per prediction: 1 (reported at ≥ 0.5)",
        "loads used at most once: – (reported at ≥ 80%)",
        "how estimated: Time covered by the reloads.",
        "https://developer.apple.com/videos/play/wwdc2022/10027/",
        "The sentence of passed.",
        "Shows the whole machine.",
        "Half precision".lower(),
    ):
        assert part in text, part
    assert "(-v)" not in text


def test_the_models_are_added_up_without_inventing_quantiles(full: Report) -> None:
    line = next(line for line in plain(full, 120).splitlines() if "all models" in line)
    # 6 × 75 loads of 17.17 ms and predictions of 7.2 ms.
    assert line.split() == ["all", "models", "450", "7.73", "s", "17.17", "ms", "450", "3.24", "s", "7.20", "ms"]


def test_columns_go_by_rank_when_there_is_no_room(full: Report) -> None:
    headers = [
        next(line.split() for line in plain(full, width, verbose=True).splitlines() if line.startswith("  event "))
        for width in (120, 80, 40)
    ]
    assert set(headers[2]) < set(headers[1]) < set(headers[0])
    assert {"event", "count", "mean"} <= set(headers[2])


@pytest.mark.parametrize("sample", ["sharpen_8bit", "style_transfer_fixed", "captions_concurrent", "not_instrumented"])
def test_80_columns_have_room_for_every_name(sample: str, samples: Path) -> None:
    text = plain(kept_analysis(samples / f"{sample}.trace").report, width=80)
    assert "GPU execution, process " in text
    assert "…" not in text


def test_the_title_of_a_finding_hangs_beside_its_severity(full: Report) -> None:
    lines = plain(full, width=60).splitlines()
    title = next(index for index, line in enumerate(lines) if line.startswith("CRITICAL  The model is reloaded before"))
    assert lines[title + 1] == "          reload-before-predict"


def test_elapsed_stands_only_where_it_differs_from_the_sum(full: Report) -> None:
    lines = plain(full, 120).splitlines()
    request = next(line for line in lines if "GPU Request" in line)
    load = next(line for line in lines if line.startswith("    Load"))
    assert "202.50 ms" in request
    assert "200.00 ms" in request
    assert load.count("1.29 s") == 1
    assert "elapsed: time covered by at least one row" in flat("\n".join(lines))


def test_a_missing_value_is_a_dash_with_a_footnote_and_no_footnote_without_one(full: Report) -> None:
    assert "–: not recorded, or too few values" in plain(full)
    report = replace(full, aggregation=tuple(row for row in full.aggregation if row.label == "Vertex"))
    assert "too few values" not in plain(report)


def test_coverage_names_only_what_limits_the_conclusions(full: Report) -> None:
    text = plain(full).partition("COVERAGE")[2]
    assert "Not recorded   Thermal State (details: -v)" in text
    assert "recorded, no events: The Neural Engine instrument recorded no events" in flat(text)
    assert "Shows the whole machine" not in text
    assert "not recorded. Add the Thermal" in flat(plain(full, verbose=True))


def test_a_recording_that_cannot_be_judged_says_what_to_do_and_says_it_once(not_judged: Report) -> None:
    text = flat(plain(not_judged))
    assert text.count("get-task-allow") == 1
    assert text.count("Sign the app for development") == 1
    assert "Passed" not in text


def test_a_clean_report_has_no_findings_section(clean: Report) -> None:
    assert "FINDINGS" not in plain(clean)
    assert "Passed: reload-before-predict, excess-data-copies" in plain(clean)


def test_most_checks_that_could_not_look_are_counted_and_named_where_asked_for(full: Report) -> None:
    blind = next(check for check in full.results if check.outcome == "not_evaluated")
    report = replace(full, results=tuple(replace(blind, id=f"check-{n}") for n in range(20)))
    assert "20 checks (names: -v)" in flat(plain(report))
    assert "check-7, check-8" in flat(plain(report, verbose=True))


def test_a_check_that_looked_at_some_of_the_models_only_says_so(full: Report) -> None:
    assert "Passed: excess-data-copies (2 of 3 models)" in flat(plain(full))


def test_what_would_help_to_judge_more_follows_the_verdict_where_much_could_not_be_judged(full: Report) -> None:
    assert "To evaluate more checks" not in plain(full)
    blind = next(check for check in full.results if check.outcome == "not_evaluated")
    more = tuple(replace(blind, id=f"check-{n}", summary=f"Reason {n}.") for n in range(3))
    top = plain(replace(full, results=(*full.results, *more)), 120).split("\n\n")[0]
    assert "To evaluate more checks: record longer." in top.splitlines()


def test_a_failed_check_is_shown(failed: Report) -> None:
    assert "reload-before-predict, error on Watercolor KeyError: 'start_ns'" in flat(plain(failed))


@pytest.mark.parametrize("width", [40, 100])
def test_hostile_names_reach_no_terminal_and_no_markup(hostile: Report, width: int) -> None:
    text = plain(hostile, width, verbose=True)
    assert all(character == "\n" or character.isprintable() for character in text)
    assert "[bold]b[/bold]" in flat(plain(hostile, 120, verbose=True))
    styles = set(ANSI.findall(render_text(hostile, width=width, color=True)))
    assert styles <= set(ANSI.findall(render_text(renamed(hostile, "harmless"), width=width, color=True)))


def test_very_long_names_are_shortened_in_the_middle(many: Report) -> None:
    text = plain(many, 100)
    assert re.search(r"模型 0 x+…x+ Ünïcødé-0", text)
    assert len(text.splitlines()) < 120


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(min_size=1, max_size=60), width=st.integers(30, 120))
def test_any_model_name_leaves_the_layout_whole(hostile: Report, name: str, width: int) -> None:
    for line in plain(renamed(hostile, name), width, verbose=True).splitlines():
        assert cell_len(line) <= width
        assert {unicodedata.category(character) for character in line.replace("\u200d", "")}.isdisjoint(ACTING)


def renamed(report: Report, name: str) -> Report:
    """The report with another name in place of the hostile one."""
    return map_strings(report, lambda _, text: name if "\x1b" in text else text)


FIX_WITH_A_LIST = """Keep it:

```swift
func load() {
    let model = try await MLModel.load(contentsOf: url)
}
```

- Keep the path of the model, which
  is part of the key.
- Ship it.
"""


def test_code_that_wraps_goes_on_under_its_line_and_items_hang(full: Report) -> None:
    check = replace(next(check for check in full.results if check.outcome == "finding"), own_fix=FIX_WITH_A_LIST)
    lines = plain(replace(full, results=(check,)), 40).splitlines()
    line_number = lines.index("        let model = try await")
    assert lines[line_number : line_number + 4] == [
        "        let model = try await",
        "        MLModel.load(contentsOf: url)",
        "    }",
        "",
    ]
    assert lines[line_number + 4 : line_number + 7] == [
        "  - Keep the path of the model, which is",
        "    part of the key.",
        "  - Ship it.",
    ]


@pytest.mark.parametrize(
    ("extra_savings_ns", "shown"),
    [
        (1_300_000_000, "of this model's time) longest: "),
        (300_000_000, "of this model's time), 0.30 s of it not included above longest: "),
        (0, "of this model's time), already included above longest: "),
    ],
)
def test_time_that_findings_above_claim_is_told(full: Report, extra_savings_ns: int, shown: str) -> None:
    first = replace(full.results[0], extra_savings_ns=extra_savings_ns)
    assert first.cost is not None
    assert first.cost.ns == 1_300_000_000
    assert shown in flat(plain(replace(full, results=(first,))))
