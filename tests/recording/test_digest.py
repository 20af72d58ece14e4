"""SHA-256 of a recording, worked out again from its definition."""

from __future__ import annotations

import hashlib

import pytest

from tracekit.errors import UnreadableRecording
from tracekit.recording.sources import digest_of


def sha(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_a_file_has_the_hash_of_its_bytes(tmp_path):
    (tmp_path / "a.xml").write_bytes(b"<a/>")
    digest = digest_of([tmp_path / "a.xml"])
    assert (digest.sha256, digest.of, digest.files, digest.bytes) == (sha(b"<a/>"), "file", 1, 4)


def test_a_folder_has_the_hash_of_its_sorted_list(tmp_path):
    bundle = tmp_path / "run.trace"
    (bundle / "b").mkdir(parents=True)
    (bundle / "empty").mkdir()
    for name, content in (("b/1", b"one"), ("a", b""), ("b.x", b"two!"), (".DS_Store", b"Finder")):
        (bundle / name).write_bytes(content)
    (bundle / "link").symlink_to("b")
    listed = [("a", b""), ("b.x", b"two!"), ("b/1", b"one"), ("link", b"b")]
    text = "".join(f"{sha(content)}  {len(content)}  {name}\n" for name, content in listed)
    digest = digest_of([bundle])
    assert (digest.sha256, digest.of, digest.files, digest.bytes) == (sha(text.encode()), "folder", 4, 8)
    assert digest_of([bundle.rename(tmp_path / "other.trace")]) == digest


def test_a_byte_or_a_name_changes_it(tmp_path):
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "b").write_bytes(b"2")
    before = digest_of([tmp_path])
    (tmp_path / "b").write_bytes(b"3")
    assert digest_of([tmp_path]) != before
    (tmp_path / "b").write_bytes(b"2")
    assert digest_of([tmp_path]) == before
    (tmp_path / "b").rename(tmp_path / "c")
    assert digest_of([tmp_path]) != before


def test_several_files_are_listed_by_name_in_any_order(tmp_path):
    paths = [tmp_path / "toc.xml", tmp_path / "table.xml"]
    for path in paths:
        path.write_bytes(path.name.encode())
    text = "".join(f"{sha(name)}  {len(name)}  {name.decode()}\n" for name in (b"table.xml", b"toc.xml"))
    assert digest_of(paths) == digest_of(paths[::-1])
    assert digest_of(paths).sha256 == sha(text.encode())


def test_what_cannot_be_read_has_none(tmp_path):
    assert digest_of(["-"]) is None
    with pytest.raises(UnreadableRecording, match=r"cannot read .*gone: No such file"):
        digest_of([tmp_path / "gone"])
