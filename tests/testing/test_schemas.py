import plistlib
import re
import zlib

import pytest
from lxml import etree

from support.export_nodes import read_export
from tracekit.testing.machines import XCODES
from tracekit.testing.schemas import columns_of

REAL_EXPORTS = [
    ("xcode16.4-coreml-os-signpost-0rows", 16),
    ("xcode16.4-ane-hw-intervals-internal-0rows", 16),
    ("xcode16.4-os-signpost-coreml-0rows", 16),
    ("xcode16.4-mps-hw-intervals", 16),
    ("xcode27.0-potential-hangs", 27),
    ("xcode27.0-hang-risks", 27),
    ("xcode27.0-OSSignpostIntervals", 27),
    ("xcode27.0-PointsOfInterestEvents", 27),
    ("xcode15-device-thermal-state-intervals", 16),
]
IN_BUNDLES = [
    "graphics-compiler-activity-intervals",
    "metal-application-command-buffer-submissions",
    "metal-application-encoders-list",
    "metal-application-intervals",
    "metal-command-buffer-completed",
    "metal-gpu-intervals",
    "metal-gpu-state-intervals",
    "gpu-performance-state-intervals",
    "life-cycle-period",
    "time-info",
    "process-info",
]


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "family"), REAL_EXPORTS)
def test_columns_are_those_of_real_exports(corpus, name, family):
    node = read_export(corpus / "xml" / f"{name}.xml")[0]
    ours = [(column.mnemonic, column.name, column.type) for column in columns_of(node.schema, family)]
    assert ours == node.columns


@pytest.mark.corpus
@pytest.mark.parametrize("schema", IN_BUNDLES)
def test_columns_are_those_stored_in_a_real_bundle(corpus, schema):
    bundle = corpus / "bundles" / "quick_probe.trace"
    requirements = plistlib.loads((bundle / "open.creq").read_bytes())
    prefix = "com.apple.dt.etype."
    types = {
        key.removeprefix(prefix): re.findall(r"'([^']*)'", value[1])[0]
        for key, value in requirements.items()
        if key.startswith(prefix)
    }
    stores = (bundle / "corespace" / "run1" / "core" / "stores").glob("*/schema.xml")
    schemas = [etree.fromstring(zlib.decompress(store.read_bytes())) for store in stores]
    (real,) = [root for root in schemas if root.get("name") == schema]
    ours = [(column.mnemonic, column.name, column.type) for column in columns_of(schema, 16)]
    assert ours == [
        (column.get("mnemonic"), column.get("engineeringName"), types[column.get("engineeringType")])
        for column in real.iter("column")
    ]


def test_tables_change_with_the_version():
    assert len(columns_of("os-signpost", 16)) == 12
    assert [column.mnemonic for column in columns_of("os-signpost", 26)][-1] == "emit-location"
    assert XCODES["16.4"].neural_engine_schema == "ane-hw-intervals-internal"
    assert XCODES["27.2"].neural_engine_schema == "ane-hw-intervals"
    assert XCODES["26.3"].signpost_interval_schema == "os-signpost-interval"
    assert XCODES["27.0"].signpost_interval_schema == "OSSignpostIntervals"
