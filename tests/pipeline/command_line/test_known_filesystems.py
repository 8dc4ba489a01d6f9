"""A path on a filesystem whose library is missing is an error that says what to install."""

from __future__ import annotations

import pathlib
import re

import pytest
from command_line import EXAMPLE, PROJECT, REFERENCES, called, streams

from beam_bleu.pipeline.command_line import paths
from beam_bleu.pipeline.command_line.known_filesystems import FILESYSTEMS, has_module
from beam_bleu.transforms.text.tokenizers import TOKENIZERS


@pytest.mark.parametrize("scheme", FILESYSTEMS)
@pytest.mark.parametrize("flag", ["--candidates", "--references", "--output"])
def test_a_missing_library_is_named_before_the_job_runs(monkeypatch, scheme, flag):
    monkeypatch.setattr(paths, "has_module", lambda name: False)
    run = called(*EXAMPLE, flag, f"{scheme}://bucket/file.txt")
    library, remedy = FILESYSTEMS[scheme].library, FILESYSTEMS[scheme].remedy
    run.assert_failed(
        2,
        f"{flag} {scheme}://bucket/file.txt: the library for {scheme}:// is not installed here: "
        f"there is no module {library}\n  {remedy}\n",
    )


def test_an_unknown_filesystem_of_a_candidate_is_a_usage_error():
    run = called(*streams(["nope://bucket/file.txt"], REFERENCES))
    run.assert_failed(
        2, "--candidates nope://bucket/file.txt: there is no such filesystem", "s3://, gs://"
    )


def test_a_web_server_takes_no_output():
    run = called(*EXAMPLE, "--output", "https://example.org/scores")
    run.assert_failed(2, "--output https://example.org/scores: nothing can be written to a web")


@pytest.mark.parametrize(
    ("module", "there"),
    [
        ("json", True),
        ("os.path", True),
        ("no_such_package", False),
        ("no_such_package.part", False),
    ],
)
def test_modules_are_found_without_an_error(module, there):
    assert has_module(module) == there


def test_the_extras_that_messages_name_are_those_of_pyproject():
    pyproject = pathlib.Path(PROJECT, "pyproject.toml").read_text()
    named = {row.extra for row in TOKENIZERS.values() if row.extra}
    assert named == {"ja", "ko", "spm"}
    for extra in named:
        assert re.search(rf"^{extra} = \[", pyproject, re.MULTILINE), extra
