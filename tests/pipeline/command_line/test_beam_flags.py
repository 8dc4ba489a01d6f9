"""Beam's own flags: values that would fail late, flags without effect in-process, kept views."""

from __future__ import annotations

import copy

import pytest
from apache_beam.options.pipeline_options import (
    PipelineOptions,
    StandardOptions,
)
from command_line import EXAMPLE, PROJECT, SYSTEMS, called

from beam_bleu.pipeline.command_line.config import KeptViews


@pytest.mark.parametrize(
    "flags",
    [
        ["--direct_num_workers", "3"],
        ["--job_name", "bleu", "--label", "a=b", "--project", "p", "--region", "r"],
        ["--save_main_session", "--pickle_library", "cloudpickle"],
        ["--setup_file", str(PROJECT / "pyproject.toml"), "--extra_package", "gs://bucket/a.whl"],
        ["--streaming"],
        ["--parallelism", "-1", "--flink_master", "[auto]"],  # what they are by default
        ["--"],
    ],
    ids=" ".join,
)
def test_flags_that_beam_allows_change_no_number(flags, expected):
    assert called(*EXAMPLE, *flags).out == expected


@pytest.fixture(scope="module")
def expected() -> bytes:
    return called(*EXAMPLE).out


@pytest.mark.parametrize(
    "mode", [pytest.param("multi_threading", marks=pytest.mark.slow), "multi_processing"]
)
def test_beams_workers_print_no_tracebacks(mode, tmp_path, capfd):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(SYSTEMS["atlas"].read_bytes().replace(b"e", b"\xff", 1))
    run = called(*EXAMPLE, "--candidates", bad, "--direct_running_mode", mode)
    run.assert_failed(3, "line 1: invalid UTF-8", f": {bad}\n")
    assert capfd.readouterr().err == ""  # where the workers, which have fd 2, would write


def test_a_copy_has_its_own_values_in_all_of_its_views():
    # `beam.Pipeline` copies its options.
    options = KeptViews([])
    assert not options.view_as(StandardOptions).streaming
    copied = copy.deepcopy(options)
    copied.view_as(StandardOptions).streaming = True
    assert PipelineOptions.view_as(copied, StandardOptions).streaming
    assert not options.view_as(StandardOptions).streaming
