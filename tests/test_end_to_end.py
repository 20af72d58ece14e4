"""From files to findings: what the report says of a recording is what its ground truth holds, and nothing else."""

from datetime import datetime

import pytest

from support.analyses import kept_analysis
from support.ground_truth import ground_truth
from support.samples import FINDINGS, SAMPLES
from tracekit.detectors.registry import DETECTORS
from tracekit.report.serialize import to_dict

US = 1_000


def findings(report):
    keys = ((check.id, check.model) for check in report.results if check.outcome == "finding")
    return sorted(keys, key=lambda key: (key[0], key[1] or ""))


def assert_models(report, truth):
    models = {model.name: model for model in report.models}
    assert set(models) == {model.name for model in truth.models}
    for expected in truth.models:
        model = models[expected.name]
        assert (model.level, model.loads, model.predictions) == (expected.level, expected.loads, expected.predictions)
        for statistics, total in (
            (model.load, expected.load_total_ns),
            (model.prediction, expected.prediction_total_ns),
        ):
            assert (statistics.total_ns if statistics else 0) == total


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_gives_exactly_the_findings_that_it_was_made_for(samples, name):
    report = kept_analysis(samples / f"{name}.trace").report
    truth = ground_truth(SAMPLES[name]())
    assert findings(report) == sorted(FINDINGS.get(name, ()))
    # Requests to a language model are judged without Core ML.
    assert report.summary.evaluated == (truth.judgeable or name in ("local_chat", "meal_planner"))
    assert_models(report, truth)


@pytest.mark.turns(4)
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_and_its_export_give_the_same_report(samples, exports, name):
    bundle, export = (to_dict(kept_analysis(path).report) for path in (samples / f"{name}.trace", exports / name))
    assert_same_recording(bundle.pop("recording"), export.pop("recording"))
    # The export lists the tables of these without holding them.
    instruments = {"GPU State", "Signposts", "Call Stacks"}
    covers = [
        [each for each in report.pop("coverage") if each["instrument"] not in instruments]
        for report in (bundle, export)
    ]
    assert covers[0] == covers[1]
    assert len(covers[0]) > 5
    assert_same_tables(bundle.pop("tables"), export.pop("tables"))
    # Only exports hold the path of the target.
    for report in (bundle, export):
        report["specializations"]["launch"]["path"] = None
    # Only bundles hold the issues of a run, and only exports list call stacks without holding them.
    left_out = {"run-issues", *(each.id for each in DETECTORS if "Call Stacks" in each.needs)}
    for report in (bundle, export):
        for part in ("results", "rules"):
            report[part] = [each for each in report[part] if each["id"] not in left_out]
        report["summary"] = {
            key: report["summary"][key] for key in ("findings", "not_applicable", "errors", "evaluated")
        }
    assert bundle.keys() == export.keys() >= {"summary", "results", "models", "aggregation"}
    for part in bundle:
        assert bundle[part] == export[part], part


def assert_same_recording(bundle, export):
    """What is said of a recording is the same but for its form, and for what bundles tell otherwise."""
    assert (bundle.pop("source"), bundle.pop("input_type")) == (f"{export.pop('source')}.trace", "trace bundle")
    assert export.pop("input_type") == "xctrace export XML"
    # Bundles do not say how the target was chosen, nor in which time zone; exports cut durations to µs.
    assert (bundle.pop("target_kind"), export.pop("target_kind") in {"attached", "launched"}) == (None, True)
    starts = [datetime.fromisoformat(each.pop("start_date")) for each in (bundle, export)]
    assert starts[0] == starts[1]
    assert bundle.pop("duration_ns") // US * US == export.pop("duration_ns")
    assert bundle == export


def assert_same_tables(bundle, export):
    """The bundle holds all that the export holds, in the same state with as many rows and columns."""

    def held(tables):
        return {
            (table["schema"], table["attributes"].get("category")): (table["state"], table["rows"], table["columns"])
            for table in tables
            if table["state"] != "unreadable"
        }

    assert len(held(export)) >= 9
    assert held(export).items() <= held(bundle).items()


def test_what_is_not_instrumented_is_not_clean(samples):
    report = kept_analysis(samples / "not_instrumented.trace").report
    others = {check.outcome for check in report.results if check.pattern != "the recording itself"}
    assert others == {"not_evaluated"}
    assert report.models == ()
    core_ml = next(entry for entry in report.coverage if entry.instrument == "Core ML")
    assert core_ml.state == "empty"
    assert "get-task-allow" in core_ml.conclusion + core_ml.advice
