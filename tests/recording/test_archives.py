"""Archives that claim what no archive of exports would."""

from __future__ import annotations

import io
import stat
import struct
import zipfile
from contextlib import suppress

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording import limits, open_recording


def packed(*members: tuple[str | zipfile.ZipInfo, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content, compress_type=method)
    return buffer.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


@pytest.mark.parametrize("name", ["../escape.xml", "a/../../b.xml", "/etc/passwd", "C:/windows.xml", "a\\..\\b.xml"])
def test_a_path_out_of_the_archive_is_refused(write, name):
    with pytest.raises(UnreadableRecording, match="leads out of the archive"):
        open_recording(write(packed((name, b"<trace-toc/>")), "a.zip"))


def test_what_no_archive_of_exports_holds_is_refused(write):
    for content, sentence in (
        (packed(("name.xml", b"<trace-toc/>")).replace(b"name.xml", b"\0ame.xml"), "contains a file without a name"),
        (packed((link("link.xml"), b"/etc/passwd")), "contains the symbolic link 'link.xml'"),
        (packed(("inner.zip", packed(("a.xml", b"<trace-toc/>")))), "contains another archive, 'inner.zip'"),
        (packed(("a.xml", b"<trace-toc/>"), method=zipfile.ZIP_LZMA), "a method other than deflate"),
        (packed(), r"'a.zip' contains no recording; pass a .trace"),
        (packed(("run.trace/corespace/run1/x", b"\0"), ("run.trace/open.creq", b"\0")), "'a.zip' is an unfinished"),
    ):
        with pytest.raises(UnreadableRecording, match=sentence):
            open_recording(write(content, "a.zip"))


def test_an_encrypted_archive_is_refused(write):
    content = bytearray(packed(("a.xml", b"<trace-toc/>")))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(UnreadableRecording, match=r"'a.zip' is encrypted; unpack it"):
        open_recording(write(bytes(content), "a.zip"))


def test_a_zip_bomb_is_refused_before_it_is_opened(write):
    bomb = packed(("a.xml", b"<trace-toc>" + b" " * 20_000_000))
    assert len(bomb) < 100_000
    with pytest.raises(UnreadableRecording, match=r"has a compression ratio above 250 for 'a.xml', like a zip bomb"):
        open_recording(write(bomb, "a.zip"))


def test_members_that_share_bytes_are_refused(write):
    content = packed(*((f"{letter}.xml", bytes(range(256)) * 40) for letter in "ab"), method=zipfile.ZIP_STORED)
    first = content.index(b"PK\x01\x02")
    # The list of members names the first member fifty times, and the bytes of all of them are the same.
    entry = content[first : content.index(b"PK\x01\x02", first + 4)]
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 50, 50, len(entry) * 50, first, 0)
    with pytest.raises(UnreadableRecording, match="members that overlap, like a zip bomb"):
        open_recording(write(content[:first] + entry * 50 + end, "a.zip"))


def test_declared_sizes_beyond_any_recording_are_refused(write, xml, monkeypatch):
    content = packed(("a.xml", xml.toc('schema="a"').encode()))
    monkeypatch.setattr(limits, "MAX_UNPACKED_BYTES", 100)
    with pytest.raises(UnreadableRecording, match="would unpack to more than 100 bytes"):
        open_recording(write(content, "a.zip"))


def test_a_list_of_members_that_would_fill_the_memory_is_refused(write):
    content = bytearray(packed(("a.xml", b"<trace-toc/>")))
    end = content.index(b"PK\x05\x06")
    struct.pack_into("<2H", content, end + 8, 65_535, 65_535)
    with pytest.raises(UnreadableRecording, match="contains more than 10,000 files"):
        open_recording(write(bytes(content), "a.zip"))


def test_a_damaged_archive_is_refused_wherever_it_is_damaged(write, xml):
    rows = (f'<start-time id="{number}">{number * 7919}</start-time>' for number in range(1, 500))
    good = packed(("a.xml", xml.one_table("start:start-time", *rows).encode()))
    assert open_recording(write(good, "good.zip")).tables("sample")[0].rows == 499
    for index in range(0, len(good), 97):
        broken = bytearray(good)
        broken[index] ^= 0x5A
        for content in (bytes(broken), good[:index]):
            with suppress(UnreadableRecording):
                recording = open_recording(write(content, "a.zip"))
                # Only fields that nothing depends on may change unnoticed, such as dates.
                assert recording.tables("sample")[0].column("start").item(498) == 499 * 7919


def test_an_archive_that_was_cut_off_behind_another_one_is_damaged(write):
    """The list of members that is found then is that of an archive inside it."""
    inside = packed(("1.run", b"nothing"))
    whole = packed(("run.trace/open.creq", inside), ("run.trace/form.template", bytes(900)), method=zipfile.ZIP_STORED)
    cut = whole[: whole.index(inside) + len(inside) + 500]
    with pytest.raises(UnreadableRecording, match=r"is a damaged archive .*cut off\); copy it again"):
        open_recording(write(cut, "a.zip"))


def test_an_archive_whose_first_file_is_in_no_list_is_read(write):
    """Whoever deletes a file from an archive may leave its bytes."""
    both = io.BytesIO()
    with zipfile.ZipFile(both, "w") as archive:
        archive.writestr("deleted", b"nothing")
        archive.writestr("run.trace/corespace/run1/x", b"\0")
        archive.writestr("run.trace/open.creq", b"\0")
        del archive.NameToInfo["deleted"], archive.filelist[0]
    with pytest.raises(UnreadableRecording, match=r"'a.zip' is an unfinished recording"):
        open_recording(write(both.getvalue(), "a.zip"))
