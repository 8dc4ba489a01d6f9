"""The kind of filesystem of a path."""

from __future__ import annotations

import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.io.localfilesystem import LocalFileSystem

from beam_bleu.transforms.wiring.filesystems import is_local


@pytest.mark.parametrize("path", ["/a", "a", " /tmp/x", "2a://x", "/a://b", "a:/b", ""])
def test_a_path_without_a_scheme_is_local_as_for_beam(path: str) -> None:
    assert is_local(path)
    assert isinstance(FileSystems.get_filesystem(path), LocalFileSystem)


@pytest.mark.parametrize("path", ["nope://a", "file:///a", "FILE:///a"])
def test_a_scheme_that_beam_does_not_know_is_an_error(path: str) -> None:
    with pytest.raises(ValueError, match="Unable to get filesystem"):
        is_local(path)
