"""Which tests run, and how many examples the properties among them try."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import is_hypothesis_test, settings

TESTS = Path(__file__).resolve().parents[1]

SLOW = (
    "cli",
    "comparison/test_latency.py",
    "detectors/test_plugins.py",
    "report/viewers/test_lane_columns.py",
    "documents/test_pictures.py",
    "documents/test_report_page.py",
    "documents/test_report_short.py",
    "documents/test_report_text.py",
    "recording/bundle/test_corpus.py",
    "recording/bundle/test_mutations.py",
    "recording/bundle/test_round_trip.py",
    "recording/export/test_handover.py",
    "recording/export/test_scanner_safety.py",
    "recording/test_bounds.py",
    "recording/test_corpus.py",
    "recording/test_hostile.py",
    "recording/writing/test_round_trip.py",
    "render/test_assets.py",
    "render/test_browser.py",
    "render/test_forms.py",
    "documents/test_diagnosis.py",
    "report/test_redact.py",
    "report/test_choice.py",
    "report/viewers/test_written.py",
    "suite",
    "support/test_samples.py",
    "test_benchmarks.py",
    "test_bundles_reported.py",
    "test_config.py",
    "test_config_file.py",
    "test_end_to_end.py",
    "test_import_hygiene.py",
    "test_mac.py",
    "test_makefile.py",
    "test_packaging.py",
    "test_readme.py",
    "test_view_page.py",
    "tui",
)
"""What `--quick` leaves out besides what is marked: tests that start programs or the terminal UI, and long ones."""

SWEEPS = (
    "cli/test_damaged_tables.py",
    "cli/test_doctor.py",
    "cli/test_error_table.py",
    "cli/test_foreign_code.py",
    "cli/test_hostile_text.py",
    "cli/test_inspect_reports.py",
    "cli/test_lake.py",
    "cli/test_model_files.py",
    "cli/test_pages.py",
    "cli/test_privacy.py",
    "cli/test_reader.py",
    "cli/test_record.py",
    "cli/test_signals.py",
    "cli/test_simulator.py",
    "cli/test_unusable_paths.py",
    "cli/test_watch.py",
    "detectors/test_first_check.py",
    "detectors/test_reported_inputs.py",
    "documents/test_one_value.py",
    "recording/bundle/test_corpus.py",
    "recording/bundle/test_mutations.py",
    "recording/export/test_handover.py",
    "recording/test_bounds.py",
    "recording/test_hostile.py",
    "render/test_assets.py",
    "render/test_browser.py",
    "report/viewers/test_written.py",
    "suite",
    "support/test_samples.py",
    "test_benchmarks.py",
    "test_bundles_reported.py",
    "test_end_to_end.py",
    "test_in_place.py",
    "test_mac.py",
    "test_packaging.py",
    "test_readme.py",
    "test_site.py",
    "test_view_page.py",
    "tui/commands",
    "tui/inspection",
    "tui/screens",
    "tui/test_every_key.py",
    "tui/test_narrowing.py",
    "tui/test_query.py",
    "tui/test_two_recordings.py",
)
"""What `make test` leaves to `make test-all` besides tests marked `sweep`: what goes over all samples, forms, keys and
labeled recordings, or needs other programs. It rarely breaks where the rest holds."""
PARTS = ("change", "sweeps")

EXAMPLES = {"quick": 0.0, "ci": 0.1, "fuzz": 10.0}
"""Profiles of hypothesis, and how much of the examples that a property names each of them tries."""
FEWEST_EXAMPLES = 10


def register_profiles() -> None:
    """Make the profiles known and choose `ci`; `--hypothesis-profile` chooses another one.

    The same examples in each run: what fails once fails again, on any machine and in any order of the tests. Only
    `fuzz` draws others each time.
    """
    for name in EXAMPLES:
        settings.register_profile(name, deadline=None, database=None, derandomize=name != "fuzz", print_blob=True)
    settings.load_profile("ci")


def scale_examples(function: Any) -> None:
    """Let a property try the share of its examples that the profile names. Other tests stay as they are."""
    if not is_hypothesis_test(function) or hasattr(function, "scaled"):
        return
    settings_of_test = function._hypothesis_internal_use_settings
    share = EXAMPLES.get(settings.get_current_profile_name(), 1.0)
    function._hypothesis_internal_use_settings = settings(
        settings_of_test, max_examples=max(FEWEST_EXAMPLES, round(settings_of_test.max_examples * share))
    )
    # Tests with parameters share their function.
    function.scaled = True


def sweep_rest(*values: Any) -> list[Any]:
    """Values of a parameter, of which all but the first are left to the sweeps; a tuple is one set of values."""
    first, *rest = (value if isinstance(value, tuple) else (value,) for value in values)
    return [pytest.param(*first), *(pytest.param(*value, marks=pytest.mark.sweep) for value in rest)]


def is_among(path: Path, names: tuple[str, ...]) -> bool:
    """Whether a folder or file of tests is one of those, given below `tests/`."""
    return path.is_relative_to(TESTS) and str(path.relative_to(TESTS)) in names


@cache
def is_swept(path: Path) -> bool:
    """Whether a file of tests, or a folder that holds it, is left to the sweeps as a whole."""
    return any(is_among(place, SWEEPS) for place in (path, *path.parents))


def is_left_out(path: Path, part: str | None) -> bool:
    """Whether a folder or file of tests holds nothing of this part, so that it need not be imported."""
    if part is None or not path.is_relative_to(TESTS):
        return False
    if part == "change":
        return is_among(path, SWEEPS)
    return path.suffix == ".py" and not is_swept(path) and "sweep" not in path.read_text(encoding="utf-8")


def is_of_part(item: pytest.Item, part: str | None) -> bool:
    """Whether a test belongs to this part."""
    if part is None:
        return True
    swept = is_swept(item.path) or item.get_closest_marker("sweep") is not None
    return swept == (part == "sweeps")


def left_to_turns(items: Iterable[pytest.Item]) -> Iterator[pytest.Item]:
    """Cases of tests marked `turns(n)` that an ordinary run leaves out: all but one in `n`, from the first on. Where
    parameters are stacked, `n` shares no divisor with the numbers of their values, so that each value has its turn."""
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("turns")
        if mark is not None:
            test = item.nodeid.partition("[")[0]
            if seen[test] % mark.args[0]:
                yield item
            seen[test] += 1
