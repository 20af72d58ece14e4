"""The report on a screen."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from support.analyses import kept_analysis
from support.choice import sweep_rest
from support.forms import long_text, markdown, short_text, too_long
from tracekit.characters import map_strings
from tracekit.detectors.outcomes import Unknown
from tracekit.documents.report import report_document, summary_line
from tracekit.documents.report_findings import finding_savings, savings_words
from tracekit.render.blocks import Document, Prose, Role
from tracekit.render.forms import render
from tracekit.render.text import NARROWEST, WIDEST
from tracekit.report.report import Report

REPORTS = ["full", "clean", "not_judged", "failed", "hostile", pytest.param("hundred", marks=pytest.mark.sweep)]

ACTING = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
"""Unicode categories of characters that can do something to a screen."""

ANSI = re.compile(r"\x1b\[[0-9;]*m")


def plain(report: Report, width: int = 100, *, verbose: bool = True) -> str:
    return long_text(report, width=width) if verbose else short_text(report, width=width)


def events(report: Report, width: int = 100) -> str:
    """The statistics of events, which text has only where they are asked for."""
    return render(report_document(report, show=("events",)), "text", width=width)


def prose(source: str) -> list[str]:
    return render(Document("", "", Role.PLAIN, blocks=(Prose(source),)), "text", width=38).splitlines()


def flat(text: str) -> str:
    """Text without line breaks and indents."""
    return " ".join(text.split())


@pytest.mark.turns(5)
@pytest.mark.parametrize("name", REPORTS)
@pytest.mark.parametrize("width", [30, 80, 120])
@pytest.mark.parametrize("verbose", [False, True])
def test_every_line_fits_the_width(name, width, verbose, request):
    report = request.getfixturevalue(name)
    text = plain(report, width, verbose=verbose)
    assert not too_long(text, width, report.results)
    assert all(line == line.rstrip() for line in text.splitlines())


def test_widths_beyond_reason_are_met_halfway(full):
    assert plain(full, 1) == plain(full, NARROWEST)
    assert plain(full, 999) == plain(full, WIDEST)


def test_the_verdict_is_the_first_thing(full, clean, not_judged):
    for report in (full, clean):
        assert flat(plain(report)).startswith(summary_line(report))
    assert flat(plain(not_judged)).startswith(not_judged.summary.verdict)


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ("2025-06-03T10:15:00.000+02:00", "recorded 2025-06-03 10:15, "),
        ("2025-06-03T08:15:00.000+00:00", "recorded 2025-06-03 08:15 UTC, "),
        ("2025-06-03T08:15:00Z", "recorded 2025-06-03 08:15 UTC, "),
    ],
)
def test_a_start_in_utc_is_not_taken_for_the_time_of_the_place(full, date, shown):
    dated = replace(full, recording=replace(full.recording, start_date=date))
    assert shown in flat(plain(dated))


def test_color_changes_nothing_but_the_color(full):
    colored = long_text(full, width=80, color=True)
    assert "\x1b[" in colored
    assert [line.rstrip() for line in ANSI.sub("", colored).splitlines()] == plain(full, 80).splitlines()


def test_the_environment_decides_nothing(clean, monkeypatch):
    expected = plain(clean, 70), long_text(clean, width=70, color=True)
    for variable in ("COLUMNS", "FORCE_COLOR", "NO_COLOR", "TERM", "TTY_COMPATIBLE", "JUPYTER_COLUMNS"):
        with monkeypatch.context() as environment:
            environment.setenv(variable, "dumb" if variable == "TERM" else "20")
            assert (plain(clean, 70), long_text(clean, width=70, color=True)) == expected, variable


def test_a_finding_gives_numbers_place_cost_and_fix_once(full):
    text = flat(plain(full))
    assert "est. savings up to 7.7 s" in text
    assert re.search(r"Watercolor .*? 1\.3 s +69% 1\.644 s", text)
    assert "longest of 444: 17.2 ms at 1.644 s" in text
    of = replace(full.results[0], savings=replace(full.results[0].savings, of="the time from first to last prediction"))
    spoken = replace(full, results=(of, *full.results[1:]))
    assert "| 69% of the time from first to last prediction |" in markdown(spoken)
    assert "lazy var model" not in text
    assert markdown(full).count("lazy var model = try? StyleTransfer(configuration: .init())") == 2
    assert "more (-v)" not in text
    assert "more (-v)" not in plain(full, verbose=False).partition("MODELS")[0]


def test_the_time_of_which_a_fix_saves_a_part_is_named(full):
    saved = replace(full.results[0].savings, of="the time from first to last prediction")
    check = replace(full.results[0], savings=saved)
    text = flat(plain(replace(full, results=(check,))))
    assert "saves up to 1.3 s (69% of the time from first to last prediction)" in text


def test_the_long_text_adds_metrics_references_and_passed_checks(full):
    one = replace(full, results=full.results[:1])
    for report, part in (
        (one, "loads per prediction 1 (≥ 0.5)"),
        (one, "loads used at most once – (≥ 80%)"),
        (one, "how the savings are estimated: Time covered by the reloads."),
        (full, "Watercolor, Mosaic: excess-data-copies"),
    ):
        assert part in flat(plain(report)), part
        assert part not in flat(plain(report, verbose=False))
    for part in ("https://developer.apple.com/videos/play/wwdc2022/10027/", "Shows the whole machine."):
        assert part in markdown(full)
        assert part not in plain(full)
    assert "(-v)" not in plain(full)


def test_columns_go_by_rank_when_there_is_no_room(full):
    headers = [
        next(line.split() for line in events(full, width).splitlines() if line.startswith("    event "))
        for width in (120, 80, 40)
    ]
    assert set(headers[2]) < set(headers[1]) < set(headers[0])
    assert {"event", "count", "mean"} <= set(headers[2])


@pytest.mark.parametrize(
    "sample", sweep_rest("sharpen_8bit", "style_transfer_fixed", "captions_concurrent", "not_instrumented")
)
def test_80_columns_have_room_for_every_name(sample, samples):
    text = events(kept_analysis(samples / f"{sample}.trace").report, width=80)
    assert "GPU execution, process " in text
    assert "…" not in text.partition("EVENTS BY MODEL")[2]


def test_the_title_of_a_finding_hangs_beside_its_severity(full):
    lines = plain(full, width=75).splitlines()
    title = next(index for index, line in enumerate(lines) if line.startswith("CRITICAL  reload-before-predict: the"))
    assert lines[title + 1] == "          prediction"


def test_elapsed_stands_only_where_it_differs_from_the_sum(full):
    lines = events(full, 120).partition("EVENTS BY MODEL")[2].splitlines()
    request = next(line for line in lines if "GPU Request" in line)
    load = next(line for line in lines if line.startswith("    Load"))
    assert "202 ms" in request
    assert "200 ms" in request
    assert load.count("1.29 s") == 1
    assert "elapsed: time covered by at least one row" in flat("\n".join(lines))


def test_a_missing_value_is_a_dash_with_a_footnote_and_no_footnote_without_one(full):
    assert "–: not recorded, or too few values" in plain(full)
    report = replace(full, aggregation=tuple(row for row in full.aggregation if row.label == "Vertex"))
    assert "too few values" not in events(report)


@pytest.mark.parametrize("name", REPORTS)
def test_predictions_over_time_explain_dashes_where_there_are_some(name, request):
    part = plain(request.getfixturevalue(name)).partition("PREDICTIONS OVER TIME")[2]
    above, note, _ = re.split(r"\n(?=[A-Z])", part)[0].partition("–: not recorded")
    assert bool(note) == (" –" in above)


def test_a_recording_that_cannot_be_judged_says_what_to_do(not_judged):
    text = flat(plain(not_judged, verbose=False))
    assert text.count("get-task-allow") == 1
    assert text.lower().count("sign the app for development") == 1


def test_most_checks_that_could_not_look_are_counted_and_named_where_asked_for(full):
    blind = next(check for check in full.results if check.outcome == "not_evaluated")
    report = replace(full, results=tuple(replace(blind, id=f"check-{n}") for n in range(20)))
    assert "20 checks: record longer" in flat(plain(report, verbose=False))
    assert "check-7, check-8" in flat(markdown(report))


def test_a_failed_check_is_shown(failed):
    assert "reload-before-predict, error on Watercolor: KeyError: 'start_ns'" in flat(plain(failed))


@pytest.mark.parametrize("width", [40, 100])
def test_hostile_names_reach_no_terminal_and_no_markup(hostile, width):
    text = plain(hostile, width)
    assert all(character == "\n" or character.isprintable() for character in text)
    assert "[bold]b[/bold]" in flat(plain(hostile, 120))
    styles = set(ANSI.findall(long_text(hostile, width=width, color=True)))
    assert styles <= set(ANSI.findall(long_text(renamed(hostile, "harmless"), width=width, color=True)))


def test_a_command_is_never_parted(full):
    text = plain(full, 30)
    assert "tracekit view style_transfer.xml" in text
    assert "tracekit explain ID" in plain(full, 30, verbose=False)


def test_the_long_text_says_its_summary_once_and_has_each_finding_whole(full):
    lines = plain(full).splitlines()
    headings = [line.split()[0] for line in lines if re.match(r"(CRITICAL|LOW|MODELS|NOT EVALUATED)\b", line)]
    assert headings == ["CRITICAL", "LOW", "MODELS", "NOT"]
    assert flat(plain(full)).count(summary_line(full)) == 1
    assert "reload-before-predict" not in lines
    first, second, models = (next(at for at, line in enumerate(lines) if line.startswith(h)) for h in headings[:3])
    details = [at for at, line in enumerate(lines) if line.startswith("  EVIDENCE")]
    assert first < details[0] < second < details[-1] < models


def test_very_long_names_are_shortened_in_the_middle(many):
    text = plain(many, 100, verbose=False)
    assert re.search(r"模型 0 x+…x+ Ünïcødé-0", text)
    assert len(text.splitlines()) <= 60


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(min_size=1, max_size=60), width=st.integers(30, 120))
def test_any_model_name_leaves_the_layout_whole(hostile, name, width):
    report = renamed(hostile, name)
    text = plain(report, width)
    assert not too_long(text, width, report.results)
    for line in text.splitlines():
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


def test_code_that_is_too_long_stays_a_line_and_items_hang():
    lines = prose(FIX_WITH_A_LIST)
    line_number = lines.index("      let model = try await MLModel.load(contentsOf: url)")
    assert lines[line_number + 1 : line_number + 3] == ["  }", ""]
    assert lines[line_number + 3 : line_number + 6] == [
        "- Keep the path of the model, which is",
        "  part of the key.",
        "- Ship it.",
    ]


FIX_WITH_COMMENTS = """Keep it:

```swift
// Load the model once, and keep it for as long as the app predicts.
let model = load()  // opens the model and gets its program
```
"""


def test_a_comment_that_wraps_goes_on_as_a_comment():
    lines = prose(FIX_WITH_COMMENTS)
    at = lines.index("  // Load the model once, and keep it")
    assert lines[at + 1 : at + 5] == [
        "  // for as long as the app predicts.",
        "  // opens the model and gets its",
        "  // program",
        "  let model = load()",
    ]


@pytest.mark.parametrize("width", [60, 80, 100])
@pytest.mark.parametrize("verbose", [False, True])
def test_bars_are_whole_and_have_a_legend_or_neither_is_there(width, verbose, samples):
    for name in ("sharpen_8bit", "style_transfer_fixed"):
        lines = plain(kept_analysis(samples / f"{name}.trace").report, width, verbose=verbose).splitlines()
        bars = [bar for line in lines for bar in re.findall("[█▓▒░…]{3,}", line)]
        assert all(len(bar) == 20 and "…" not in bar for bar in bars)
        legend = "█ compute units, ▒ data, ░ rest" if name == "sharpen_8bit" else "█▓ compute units, ░ rest"
        assert bool(bars) == any(legend in line for line in lines)


def test_a_short_text_ends_with_a_clause(samples):
    report = kept_analysis(samples / "style_transfer_reload.trace").report
    for width in (60, 80):
        lines = plain(report, width, verbose=False).splitlines()
        assert not any(line.endswith("…") for line in lines)


@pytest.mark.parametrize(
    ("extra_ns", "shown"),
    [
        (1_300_000_000, "of the model's 1.88 s in Core ML (69%) Watercolor: "),
        (1_236_000_000, "of the model's 1.88 s in Core ML (69%) Watercolor: "),
        (1_234_000_000, "of the model's 1.88 s in Core ML (69%), 1.2 s of it not counted above Watercolor: "),
        (300_000_000, "of the model's 1.88 s in Core ML (69%), 0.30 s of it not counted above Watercolor: "),
        (66_000_000, "of the model's 1.88 s in Core ML (69%), 66 ms of it not counted above Watercolor: "),
        (64_000_000, "of the model's 1.88 s in Core ML (69%), part of the savings above Watercolor: "),
        (0, "of the model's 1.88 s in Core ML (69%), part of the savings above Watercolor: "),
    ],
)
def test_time_that_findings_above_claim_is_told(full, extra_ns, shown):
    saved = full.results[0].saved
    assert saved is not None
    assert saved.total_ns == 1_300_000_000
    first = replace(full.results[0], savings=replace(saved, extra_ns=extra_ns))
    assert shown in flat(plain(replace(full, results=(first,))))


def test_savings_that_are_unknown_say_why_and_what_is_hidden_saves_nothing(samples):
    report = kept_analysis(samples / "sharpen_8bit.trace").report
    found = report.results[0]
    assert found.saved is not None
    assert found.saved.each is not None
    unknown = replace(found, savings=Unknown("nothing shows it"))
    nothing = replace(found.saved, total_ns=0, extra_ns=0, each=None)
    hidden = replace(found, savings=nothing)
    each = replace(found, savings=replace(nothing, each=replace(found.saved.each, saved_ns=2_000_000)))
    assert finding_savings(found) == "up to 4.18 of 12.4 ms per prediction (34%)"
    assert finding_savings(unknown) == "unknown: nothing shows it"
    assert finding_savings(hidden) == "nothing: other work hides it"
    assert finding_savings(each) == "up to 2.00 of 12.4 ms per prediction (16%)"
    assert [savings_words(check) for check in (found, unknown, hidden, each)] == ["0.59 s", "–", "none", "2.0 ms each"]
