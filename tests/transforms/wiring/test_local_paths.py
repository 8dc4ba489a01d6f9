"""The kind of filesystem of a path."""

from __future__ import annotations

import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from beam_bleu.transforms.wiring.filesystems import is_local


@pytest.mark.parametrize("path", ["/a", "a", " /tmp/x", "a:/b", ""])
def test_a_path_without_a_scheme_is_local_as_for_beam(path: str) -> None:
    assert is_local(path)
    assert isinstance(FileSystems.get_filesystem(path), LocalFileSystem)
