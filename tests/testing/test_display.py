import re

import pytest
from lxml import etree

from tracekit.testing.export_xml import duration_text, integer_text, time_text


def test_durations_are_rounded_half_to_even_and_times_are_cut_to_microseconds():
    for duration_ns, text in (
        (319_125, "319.12 µs"),
        (91_375, "91.38 µs"),
        (259_167, "259.17 µs"),
        (4_531_561_613, "4.53 s"),
        (234_838_875, "234.84 ms"),
        (1, "1 ns"),
        (1_000, "1.00 µs"),
    ):
        assert duration_text(duration_ns) == text
    assert (time_text(60_505_087_750), time_text(0)) == ("01:00.505.087", "00:00.000.000")


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        ("boolean", 0, "No"),
        ("boolean", 1, "Yes"),
        ("metal-command-buffer-id", 0xA79439F, "0xa79439f"),
        ("os-signpost-identifier", 1, "0x1"),
        ("os-signpost-identifier", 17216892719917625070, "OS_SIGNPOST_ID_EXCLUSIVE"),
        ("uint64", 1_310_232_665, "1,310,232,665"),
        ("uint64-hex-lowercase", 4_551_885_936, "10f504470"),
        ("gpu-frame-number", 1, "Frame 1"),
        ("layout-id", 3, "3"),
    ],
)
def test_integers_show_as_their_type_asks(kind, value, text):
    assert integer_text(kind, value) == text


@pytest.mark.corpus
@pytest.mark.parametrize(
    "name", ["xcode16.4-mps-hw-intervals", "xcode27.0-potential-hangs", "xcode15-device-thermal-state-intervals"]
)
def test_real_exports_show_the_same_texts(corpus, name):
    plain = re.compile(r"\d+")
    compared = 0
    for element in etree.parse(corpus / "xml" / f"{name}.xml").iter():
        if "id" in element.attrib and plain.fullmatch(element.text or ""):
            assert integer_text(element.tag, int(element.text or "")) == element.get("fmt")
            compared += 1
    assert compared >= 4
