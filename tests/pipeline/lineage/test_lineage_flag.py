"""What is wrong with --lineage is found before anything runs."""

from __future__ import annotations

import pytest
from command_line import REFERENCES, SYSTEMS, called

from beam_bleu.pipeline.command_line import paths

WORDS = [REFERENCES[0], "-i", SYSTEMS["atlas"]]


def test_without_the_library_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "has_module", lambda name: False)
    run = called(*WORDS, "--output", tmp_path / "out", "--lineage=news")
    run.assert_failed(2, "there is no module openlineage.client", "lineage")
    assert not (tmp_path / "out").exists()


def test_it_needs_an_output():
    called(*WORDS, "--lineage=news").assert_failed(2, "--lineage needs --output")


@pytest.mark.parametrize("job", ["", " ", "a\nb"])
def test_a_job_needs_a_name(tmp_path, job):
    run = called(*WORDS, "--output", tmp_path, f"--lineage={job}")
    run.assert_failed(2, "cannot be the name of a job")
