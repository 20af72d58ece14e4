"""What the user says, and the devices that it may mean."""

import pytest

from tracekit.errors import UsageError
from tracekit.recording.xctrace.tool import ListedDevice, find_devices

MAC = ListedDevice("Devices", "Kim\u2019s Mac", "00000000-0000-0000-0000-000000000001", None)
PHONE = ListedDevice("Devices", "Kim\u2019s iPhone", "00008120-00000000000000AB", "26.1")
OFFLINE = ListedDevice("Devices Offline", "Old iPhone", "00008120-00000000000000AC", "16.1")
OLD = ListedDevice("Simulators", "iPhone 16", "00000000-0000-0000-0000-000000000004", "18.5")
NEW = ListedDevice("Simulators", "iPhone 16", "00000000-0000-0000-0000-000000000005", "26.1")
DEVICES = [MAC, PHONE, OFFLINE, OLD, NEW]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ("", [PHONE, MAC, OLD, NEW]),
        ("00008120-00000000000000ab", [PHONE]),
        ("00000000-0000-0000-0000-000000000005", [NEW]),
        ("Kim's iPhone", [PHONE]),
        ("kim", [MAC, PHONE]),
        ("iphone", [PHONE]),
        ("iPhone 16", [OLD, NEW]),
        ("16", [OLD, NEW]),
        ("old", [OFFLINE]),
    ],
)
def test_a_device_is_found_by_id_by_name_or_by_a_part_of_it(wanted, expected):
    assert find_devices(DEVICES, wanted) == expected


def test_an_unknown_device_is_told_with_those_that_there_are():
    with pytest.raises(UsageError, match=r"unknown device 'iPad' \(available: .*Old iPhone, iPhone 16\)"):
        find_devices(DEVICES, "iPad")
