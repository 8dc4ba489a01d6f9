"""Streams and the files that they are made of."""

from __future__ import annotations

import pytest

from beam_bleu.transforms.pairing.files.streams import compression


@pytest.mark.parametrize(
    ("path", "suffix"),
    [
        ("a.txt", None),
        ("a.gz", ".gz"),
        ("a.txt.bz2", ".bz2"),
        ("a.zst", ".zst"),
        ("a.xz", ".xz"),
        ("A.TXT.GZ", ".gz"),  # upper case, too
        ("a.gz.txt", None),  # the last suffix decides
        ("/data.gz/a", None),  # the suffix of a folder is not the file's
    ],
)
def test_the_suffix_alone_tells_the_compression(path, suffix):
    assert compression(path) == suffix
