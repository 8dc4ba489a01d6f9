"""Beam's own flags: values that would fail late, flags without effect in-process, kept views."""

from __future__ import annotations

import copy

import pytest
from apache_beam.options.pipeline_options import (
    PipelineOptions,
    StandardOptions,
)
from command_line import EXAMPLE, EXAMPLES, PROJECT, SYSTEMS, called

from beam_bleu.pipeline.command_line.beam_flags import KeptViews


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


def test_a_repeated_bundle_is_scored_once(tmp_path):
    flags = ["--direct_runner_bundle_repeat", "2", "--segment_scores", "--output", tmp_path]
    assert called(*EXAMPLE, *flags, "--format=json").document["segment_scores"]["rows"] == 3 * 72


@pytest.mark.parametrize(
    "mode", [pytest.param("multi_threading", marks=pytest.mark.slow), "multi_processing"]
)
def test_beams_workers_print_no_tracebacks(mode, tmp_path, capfd):
    bad = tmp_path / "bad.txt"
    bad.write_bytes(SYSTEMS["atlas"].read_bytes().replace(b"e", b"\xff", 1))
    run = called(*EXAMPLE, "--candidates", bad, "--direct_running_mode", mode)
    run.assert_failed(3, "line 1: invalid UTF-8", f": {bad}\n")
    assert capfd.readouterr().err == ""  # where the workers, which have fd 2, would write


RECORDS = EXAMPLES / "records"
WIDE = ["--candidate_columns", "hyp_*", "--reference_columns", "ref0,ref1"]
FORMS_OF_INPUT = {
    # the step that gives the batches, and the arguments
    "Read in lockstep": EXAMPLE,
    "Read records": ["--input", RECORDS / "paired.parquet", *WIDE],
    "Parse parts": [
        *("--input", RECORDS / "paired.tsv"),
        *("--candidate_columns", "mt", "--reference_columns", "ref"),
    ],
    "Join": [
        *("--references", RECORDS / "references.jsonl", "--join_on", "id"),
        *("--candidates", RECORDS / "outputs" / "atlas.jsonl"),
        *("--candidate_columns", "hyp", "--reference_columns", "ref"),
    ],
}


@pytest.mark.parametrize("arguments", FORMS_OF_INPUT.values(), ids=FORMS_OF_INPUT.keys())
def test_beam_finds_no_wrong_type_in_any_output_of_a_step(arguments, tmp_path):
    # With these flags, all steps that can have several outputs have them.
    flags = ["--output", tmp_path, "--segment_scores", "--on_bad_record", "reject"]
    run = called(*arguments, *flags, "--runtime_type_check")
    assert (run.code, run.out) == (0, called(*arguments).out)


def test_a_copy_has_its_own_values_in_all_of_its_views():
    # `beam.Pipeline` copies its options.
    options = KeptViews([])
    assert not options.view_as(StandardOptions).streaming
    copied = copy.deepcopy(options)
    copied.view_as(StandardOptions).streaming = True
    assert PipelineOptions.view_as(copied, StandardOptions).streaming
    assert not options.view_as(StandardOptions).streaming
