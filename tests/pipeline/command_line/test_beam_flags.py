"""Beam's own flags: values that would fail late, flags without effect in-process, kept views."""

from __future__ import annotations

import copy

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import (
    DirectOptions,
    PipelineOptions,
    StandardOptions,
    TypeOptions,
)
from command_line import EXAMPLE, EXAMPLES, PROJECT, SYSTEMS, called

from beam_bleu.pipeline.command_line.beam_flags import KeptViews
from beam_bleu.transforms.wiring.coders import BatchCoder

NOT_IN_PROCESS = "is for an engine, but this job runs in-process"

USAGE_ERRORS = [
    (["--direct_num_workers", "-5"], ["--direct_num_workers must be 0 to 256, got -5"]),
    (["--direct_num_workers", "9" * 20], ["--direct_num_workers must be 0 to 256, got 999"]),
    (["--direct_runner_bundle_repeat=-1"], ["--direct_runner_bundle_repeat must be 0 to 1000"]),
    (["--num_workers", "-5"], ["--num_workers must be 0 to 2147483647, got -5"]),
    (["--max_cache_memory_usage_mb=-1"], ["must be 0 to 2147483647, got -1"]),
    (["--profile_cpu"], ["--profile_cpu is refused", "cProfile"]),
    (["--profile_memory"], ["--profile_memory is refused", "memory profiler"]),
    (["--profile-cpu", "--profile_location", "x"], ["--profile_cpu is refused"]),
    (["--direct_test_splits", '{"a": {}}'], ["--direct_test_splits is refused: it is for Beam's"]),
    (["--direct_test_splits", "-5"], ["--direct_test_splits must be a JSON object, got -5"]),
    (["--direct_test_splits", "x"], ["--direct_test_splits must be a JSON object, got 'x'"]),
    (["--beam_services", "x"], ["--beam_services must be a JSON object, got 'x'"]),
    (["--sdk_harness_log_level_overrides=-5"], ["log_level_overrides must be a JSON object"]),
    (["--transform_name_mapping", "[1]"], ["--transform_name_mapping must be a JSON object"]),
    (["--gcs_custom_audit_entries", "x"], ["--gcs_custom_audit_entries must be a JSON object"]),
    (["--gcs_custom_audit_entries=-5"], ["--gcs_custom_audit_entries must be a JSON object"]),
    (["--update_compatibility_version", "x"], ["must be a version of Beam, got x"]),
    (["--update_compatibility_version", "2.70.0"], ["an in-process job cannot be updated"]),
    (["--type_check_strictness", "ALL_REQUIRED"], ["not all steps of the job declare"]),
    (["--type_check_additional", "x"], ["--type_check_additional", "x"]),
    (["--resource_hint", "x"], ["resource hint", "x"]),
    (["--pickle_library", "dill"], ["--pickle_library dill needs dill", "apache-beam[dill]"]),
    (["--gbek", "x"], ["--gbek is refused"]),
    (["--dry_run", "true"], ["--dry_run is refused: the job would run anyway"]),
    (["--no_wait_until_finish"], ["--no_wait_until_finish is refused", "leave it out"]),
    (["--wait_until_finish_duration", "5"], ["the command waits until the job ends", "timeout"]),
    (["--on_success_matcher", "x"], ["--on_success_matcher is refused"]),
    (["--requirements_file", "nope.txt"], ["--requirements_file: there is no file nope.txt"]),
    (["--requirements_file="], ["--requirements_file: there is no file"]),
    (["--setup_file", str(PROJECT)], [f"--setup_file: there is no file {PROJECT}"]),
    (["--extra_package", "a.whl"], ["--extra_package: there is no file a.whl"]),
    (["--flink_master", "localhost:8081"], [f"--flink_master {NOT_IN_PROCESS}", "--runner"]),
    (["--flink-submit-uber-jar"], [f"--flink_submit_uber_jar {NOT_IN_PROCESS}"]),
    (["--parallelism", "4"], [f"--parallelism {NOT_IN_PROCESS}"]),
    (["--spark_master_url", "x"], [f"--spark_master_url {NOT_IN_PROCESS}"]),
    (["--job_endpoint", "localhost:8099"], [f"--job_endpoint {NOT_IN_PROCESS}"]),
    (["--environment_type", "LOOPBACK"], [f"--environment_type {NOT_IN_PROCESS}"]),
    (["--prism_location", "x", "--runner", "DirectRunner"], [f"--prism_location {NOT_IN_PROCESS}"]),
    (["--job_port", "5"], [f"--job_port {NOT_IN_PROCESS}"]),
    (["--", "--typo"], ["--typo comes after --", "this job runs in-process"]),
    (["--", "--some_engine_option=3"], ["--some_engine_option=3 comes after --"]),
    (["--", "file.txt"], ["file.txt comes after --"]),
]


@pytest.mark.parametrize(
    ("flags", "fragments"), USAGE_ERRORS, ids=[" ".join(row[0]) for row in USAGE_ERRORS]
)
def test_flags_that_cannot_be_used_are_refused_by_name(flags, fragments):
    called(*EXAMPLE, *flags).assert_failed(2, *fragments)


@pytest.mark.parametrize(
    "flags",
    [
        ["--direct_num_workers", "0"],
        ["--direct_num_workers", "3"],
        ["--direct_runner_bundle_repeat", "1"],
        ["--direct_test_splits", "{}"],
        ["--sdk_harness_log_level_overrides", '{"a": "INFO"}'],
        ["--job_name", "bleu", "--label", "a=b", "--project", "p", "--region", "r"],
        ["--experiments", "anything", "--user_agent", "x"],
        ["--save_main_session", "--pickle_library", "cloudpickle"],
        ["--setup_file", str(PROJECT / "pyproject.toml"), "--extra_package", "gs://bucket/a.whl"],
        ["--streaming"],
        ["--runtime_type_check"],
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


def test_an_engine_gets_the_flags_after_two_hyphens(tmp_path):
    # The error is about a job server, so the flags before it were accepted.
    on_engine = ["--runner", "PortableRunner", "--output", tmp_path, "--", "--typo"]
    called(*EXAMPLE, *on_engine).assert_failed(2, "PortableRunner needs --job_endpoint")


def test_an_engines_jar_that_is_missing_is_named_before_the_job(tmp_path):
    on_engine = ["--runner", "flink", "--output", tmp_path, "--extra_package", "beam.whl"]
    called(*EXAMPLE, *on_engine).assert_failed(2, "--extra_package: there is no file beam.whl")


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
    "Hand on segments": [
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


@pytest.mark.parametrize("step", FORMS_OF_INPUT)
def test_batches_that_are_read_have_their_own_coder(step, monkeypatch):
    found = set()

    class Coders(beam.pipeline.PipelineVisitor):
        def visit_transform(self, node):
            if step in node.full_label.split("/"):
                types = (output.element_type for output in node.outputs.values())
                found.update(type(beam.coders.registry.get_coder(each)) for each in types)

    run = beam.Pipeline.run

    def visited(pipeline, *arguments):
        pipeline.visit(Coders())
        return run(pipeline, *arguments)

    monkeypatch.setattr(beam.Pipeline, "run", visited)
    assert called(*FORMS_OF_INPUT[step]).code == 0
    assert BatchCoder in found


def test_a_view_is_made_once(monkeypatch):
    options = KeptViews(["--direct_num_workers=3"])
    first = options.view_as(DirectOptions)
    assert first.direct_num_workers == 3
    monkeypatch.setattr(PipelineOptions, "view_as", None)  # a second view would fail
    assert options.view_as(DirectOptions) is first


def test_views_share_their_values():
    options = KeptViews(["--streaming"])
    before = options.view_as(StandardOptions)
    assert before.streaming
    PipelineOptions.view_as(options, StandardOptions).streaming = False
    assert not before.streaming
    assert not options.view_as(StandardOptions).streaming
    assert options.view_as(TypeOptions).pipeline_type_check


def test_a_copy_has_its_own_values_in_all_of_its_views():
    # `beam.Pipeline` copies its options.
    options = KeptViews([])
    assert not options.view_as(StandardOptions).streaming
    copied = copy.deepcopy(options)
    copied.view_as(StandardOptions).streaming = True
    assert PipelineOptions.view_as(copied, StandardOptions).streaming
    assert not options.view_as(StandardOptions).streaming
