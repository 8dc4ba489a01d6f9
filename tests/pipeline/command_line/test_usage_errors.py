"""Usage errors end the command before anything runs, with exit code 2."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from command_line import (
    EXAMPLE,
    PROJECT,
    SYSTEMS,
    called,
    typed,
)

ATLAS, BIRCH, COBALT = SYSTEMS.values()


USAGE_ERRORS = [
    (["--smoth_method", "exp"], ["unknown flag --smoth_method", "did you mean --smooth_method?"]),
    (["--smoth-method=exp"], ["unknown flag --smoth-method", "--smooth_method?"]),
    (["--zzz"], ["unknown flag --zzz"]),
    (["-x"], ["unknown flag -x"]),
    (["--flink_mastr=x"], ["unknown flag --flink_mastr", "--flink_master?"]),
    (["--lower"], ["unknown flag --lower", "--lowercase?"]),
    (["--tokenize", "14a"], ["--tokenize", "14a", "13a", "none"]),
    (["--smooth_method", "expo"], ["--smooth_method", "expo", "exp", "floor", "add-k", "none"]),
    (
        ["--smooth_method", "nltk-method5"],
        ["--smooth_method", "'nltk-method5' is for segment scores only", "the last segment"],
    ),
    (
        ["--allow", "other-documents,other_document"],
        ["--allow other_document: there is no", "did you mean other-documents? choose one of"],
    ),
    (["--preset", "sacre"], ["--preset", "sacre", "sacrebleu", "papineni2002"]),
    (["--compare_presets=some"], ["--compare_presets some: there is no such", "same, all"]),
    (["--lowercase", "--no_lowercase"], ["--lowercase and --no_lowercase contradict"]),
    (["-q", "--progress", "on"], ["--progress on and --quiet contradict", "leave one"]),
    (["--quiet", "--progress=on"], ["--progress on and --quiet contradict"]),
    (["-vx"], ["-v"]),
    (["--metrics_label", "corpus=news"], ["--metrics_label needs --output"]),
    (["--metrics_slices=2"], ["--metrics_slices needs --output"]),
    (["--metrics_slices=1001"], ["must be a whole number, 0 to 1000, got 1001"]),
    (["--metrics_label=news"], ["--metrics_label news must be NAME=VALUE"]),
    (["--metrics_label=a="], ["--metrics_label a= must be NAME=VALUE"]),
    (["--metrics_label=a-b=c"], ["Prometheus knows no label 'a-b'"]),
    (["--metrics_label=1a=b"], ["Prometheus knows no label '1a'"]),
    (["--metrics_label=__a=b"], ["Prometheus knows no label '__a'"]),
    (["--metrics_label=system=b"], ["beam-bleu has a label system of its own"]),
    (["--metrics_label=job=b"], ["Prometheus has a label job of its own"]),
    (["--metrics_label=a=b", "--metrics_label=a=c"], ["--metrics_label names a twice"]),
    (["--weights", "a,b"], ["--weights", "numbers, separated by commas, got 'a,b'"]),
    (["--weights", "9,9"], ["weights must sum to 16 at most, got (9.0, 9.0)"]),
    (["--preset", "nltk", "--effective_order"], ["effective_order cannot be used with", "nltk-m"]),
    (
        ["--smooth_method", "nltk-method4", "--smooth_value", "1e-310"],
        ["smooth_value must be 1e-06 or more", "got 1e-310"],
    ),
    (["--weights", "0,0"], ["one of the --weights must be above 0, got (0.0, 0.0)"]),
    (["--weights", "0.5,-0.5"], ["weights must be", "got (0.5, -0.5)"]),
    (["--weights", "0.5,nan"], ["weights must be", "got (0.5, nan)"]),
    (
        ["--weights", "0.5,0.5", "--max_ngram_order", "3"],
        ["--weights must be --max_ngram_order = 3 numbers, got (0.5, 0.5)"],
    ),
    (["--reference_length", "mean"], ["--reference_length", "mean", "closest_first", "average"]),
    (
        ["--preset", "nltk", "--smooth_value", "1"],
        ["--smooth_method nltk-method0, which --preset nltk sets"],
    ),
    (["--format", "xml"], ["--format", "xml", "text", "json"]),
    (["--max_ngram_order", "0"], ["max_ngram_order must be 1 to 16, an int, got 0"]),
    (["--max_ngram_order", "17"], ["max_ngram_order must be 1 to 16, an int, got 17"]),
    (["--max_ngram_order", "four"], ["--max_ngram_order", "four"]),
    (
        ["--smooth_value", "0.1"],
        ["--smooth_value cannot be used with --smooth_method exp, the default"],
    ),
    (
        ["--smooth_method", "none", "--smooth_value", "0.1"],
        [
            "--smooth_method none\n",
            "--smooth_method floor, add-k, add-k-all, epsilon, nltk-method1, ",
        ],
    ),
    (["--smooth_method", "floor", "--smooth_value", "-1"], ["must be 0 to 1000000, got -1"]),
    (["--smooth_method", "floor", "--smooth_value", "nan"], ["must be 0 to 1000000, got nan"]),
    (["--smooth_method", "add-k", "--smooth_value", "inf"], ["must be 0 to 1000000, got inf"]),
    (["--smooth_method", "floor", "--smooth_value", "x"], ["--smooth_value", "'x'"]),
    (["--threads", "0"], ["--threads", "at least 1, got 0"]),
    (["--range_bytes", "15"], ["--range_bytes must be 16 to 1099511627776, got 15"]),
    (["--lowercase=no"], ["--lowercase", "'no'"]),
    (["--candidates"], ["--candidates", "expected one argument"]),
    (["--candidates", str(ATLAS)], ["two systems are called atlas", "NAME=PATTERN"]),
    (["--candidates", f"birch={ATLAS}"], ["two systems are called birch", "NAME=PATTERN"]),
    (["--candidates", f"={ATLAS}"], ["the system name '' cannot be shown", "NAME=PATTERN"]),
    (["--candidates", f"two\nlines={ATLAS}"], ["the system name 'two\\nlines'"]),
    (["--candidates", f"\x1bc={ATLAS}"], ["the system name '\\x1bc'"]),  # clears a screen
    (["--candidates", "/tmp/h\udcff.txt"], ["the system name 'h\\udcff'"]),  # not UTF-8
    (["--candidates", "/tmp/.zst"], ["the system name ''"]),
    (["--candidates", "name="], ["--candidates is empty"]),
    (["--references", ""], ["--references is empty"]),
    (["--output", ""], ["--output is empty"]),  # --output "$UNSET"
    (["--references", "nope://host/file"], ["nope://host/file: there is no such filesystem"]),
    (["--", "--runner", "DaskRunner"], ["--runner comes after --"]),
    (["--", "--lower-case", "--threads=2"], ["--threads=2 comes after --"]),
    (["--smooth_method", "add-k", "--smooth_value", "1e308"], ["0 to 1000000, got 1e+308"]),
    (["--range_bytes", "1" + "0" * 30], ["--range_bytes must be 16 to 1099511627776"]),
    (["--candidates", "/data/part-*"], ["/data/part-*", "NAME=PATTERN"]),  # no stem to name it by
    (["--candidates", "part-?"], ["part-?", "NAME=PATTERN"]),
    (["--candidates", "part-[0-9]"], ["part-[0-9]", "NAME=PATTERN"]),
    (["extra.txt"], ["unexpected argument 'extra.txt'", "--candidates and --references"]),
    (["--runner", "DaskRunner"], ["DaskRunner is refused", "lost without an error"]),
    (["--runner", "dask"], ["dask is refused"]),
    (["--runner", "spark", "--output", "x", "--streaming"], ["--streaming: Spark never ends"]),
    (["--runner", "FastRunner"], ["FastRunner: there is no such runner", "FlinkRunner"]),
    (["--runner", "FlinkRunner"], ["FlinkRunner needs --output"]),  # no user would see the result
    (["--runner", "dataflow"], ["dataflow needs --output"]),
    (["--num_workers", "many"], ["--num_workers", "many"]),  # one of Beam's flags
    (["--references", str(PROJECT)], ["references 3", "is a folder", f"{PROJECT}/*"]),
    (["--candidates", f"x={PROJECT}/"], ["candidates x", "is a folder", f"{PROJECT}/*"]),
    (["--candidates", f"{PROJECT}/"], ["this is a folder", f"name its files: {PROJECT}/*"]),
    (["--references", "/dev/null"], ["references 3: ", ": /dev/null\n", "save its text in a file"]),
    (["--output", str(ATLAS)], ["--output", "is a file", "name a folder"]),
]


@pytest.mark.parametrize(
    ("flags", "fragments"), USAGE_ERRORS, ids=[" ".join(row[0]) for row in USAGE_ERRORS]
)
def test_usage_errors_show_the_value_and_the_choices(flags, fragments):
    called(*EXAMPLE, *flags).assert_failed(2, *fragments)


@pytest.mark.parametrize("flag", ["--threads", "--range_bytes"])
def test_the_error_of_a_bad_number_names_the_flag_and_no_function(flag):
    run = called(*EXAMPLE, flag, "many")
    run.assert_failed(2, flag, "many")
    assert "_positive" not in run.err  # a name from inside the program


@pytest.mark.parametrize("missing", ["candidates", "references"])
def test_streams_that_are_not_given_are_named(missing):
    given = "candidates" if missing == "references" else "references"
    called(f"--{given}", ATLAS).assert_failed(2, f"--{missing} is missing")


def test_an_unknown_flag_as_typed(tmp_path):
    run = typed(*EXAMPLE, "--smoth_method", "exp", "--output", tmp_path / "out")
    run.assert_failed(2, "unknown flag --smoth_method", "did you mean --smooth_method?")
    assert not (tmp_path / "out").exists()


def test_no_arguments():
    run = called()
    assert (run.code, run.out) == (2, b"")
    assert run.err.startswith("usage: beam-bleu REF... -i ")
    assert run.err.count("\n  beam-bleu ") == 3  # examples
    assert "--help" in run.err


def test_a_pipe_among_the_files_of_a_pattern_does_not_hang(tmp_path):
    shutil.copy(ATLAS, tmp_path / "part-1")
    os.mkfifo(tmp_path / "part-2")
    try:
        run = typed(*EXAMPLE, "--candidates", f"x={tmp_path}/part-*")
    except subprocess.TimeoutExpired:
        pytest.fail("the command waits until a program writes to the pipe")
    assert run.code in (2, 3)
    run.assert_failed(run.code, "part-2")


def test_flags_for_an_engine_are_mentioned_only_if_an_engine_is_named():
    called(*EXAMPLE, "--zzz").assert_failed(2, "unknown flag --zzz\n  see --help\n")
    run = called(*EXAMPLE, "--zzz", "--runner", "FlinkRunner", "--output", "out")
    run.assert_failed(2, "unknown flag --zzz\n", "put flags that only the engine knows after --")


def test_the_smoothing_methods_of_segments_are_offered_only_for_segments(tmp_path):
    run = called(*EXAMPLE, "--smooth_value", "1")
    run.assert_failed(2, "nltk-method4\n")
    flags = ("--segment_scores", "--output", tmp_path / "out", "--segment_smooth_value", "1")
    run = called(*EXAMPLE, *flags)
    run.assert_failed(2, "--segment_smooth_method exp, the method of the corpus", "nltk-method7")
