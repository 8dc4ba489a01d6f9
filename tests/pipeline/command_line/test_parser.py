"""The words of a command line: each one is ours, Beam's, a value or a reference, in any order."""

from __future__ import annotations

import itertools
import operator

import pytest
from command_line import called

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.transforms.metrics.bleu.presets import PRESETS

OURS = [["--lowercase"], ["--tokenize", "none"], ["--max-ngram-order=2"], ["-s", "floor"]]
BEAMS = [["--job_name", "a.txt"], ["--label=x=y"], ["--streaming"], ["--parallelism", "-1"]]


def read(*words: str):
    """The patterns of the references, and the names and patterns of the systems."""
    source = parse(words).job.source
    references = [stream.pattern for stream in source.references]
    candidates = [stream.pattern for stream in source.candidates]
    return references, list(zip(source.systems, candidates, strict=True))


@pytest.mark.parametrize("flag", [*OURS, *BEAMS], ids=" ".join)
def test_references_may_be_before_and_after_a_flag(flag):
    expected = ["r1", "r2"], [("h1", "h1"), ("h2", "h2")]
    systems = ["-i", "h1", "h2"]
    assert read("r1", "r2", *flag, *systems) == expected
    assert read("r1", *flag, "r2", *systems) == expected
    assert read(*flag, "r1", "r2", *systems) == expected
    assert read("r1", "r2", *systems, *flag) == expected


def test_the_values_of_flags_are_no_references_in_any_order():
    parts = [["r1", "r2"], ["--job_name", "j"], ["-lc"], ["-tok", "none"]]
    for order in itertools.permutations(parts):
        words = [*itertools.chain.from_iterable(order), "-i", "h"]
        arguments = parse(words)
        assert read(*words) == (["r1", "r2"], [("h", "h")])
        assert arguments.beam.get_all_options()["job_name"] == "j"
        assert arguments.job.metrics.lengths.tokenize == "none"
        assert arguments.job.metrics.lengths.lowercase is True


def test_a_value_that_may_be_left_out_is_not_taken_from_the_references():
    assert read("--compare_presets", "r", "-i", "h")[0] == ["r"]
    assert read("--compare-presets", "all", "r", "-i", "h")[0] == ["r"]
    (metric,) = parse(["r", "--compare_presets", "all", "-i", "h"]).job.scorings.values()
    assert [*metric.presets] == [*PRESETS]


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["-f", "json"], ["--format", "json"]),
        (["-fjson"], ["--format", "json"]),
        (["-lc"], ["--lowercase"]),
        (["-tok=intl"], ["--tokenize", "intl"]),
        (["-s", "floor", "-sv", "0.2"], ["--smooth_method", "floor", "--smooth_value", "0.2"]),
        (["-bw2"], ["--score-only", "--width", "2"]),
        (["-qb"], ["--quiet", "--score-only"]),
        (["-e", "UTF8"], []),
        (["-m", "bleu"], []),
    ],
    ids=lambda words: " ".join(words),
)
def test_a_short_spelling_means_the_flag(words, same):
    texts = ["r", "-i", "h"]
    one, other = parse([*texts, *words]), parse([*texts, *same])
    assert (one.job.metrics, one.job.source) == (other.job.metrics, other.job.source)
    shown = operator.attrgetter("format", "width", "score_only", "quiet")
    assert shown(one.flags) == shown(other.flags)


@pytest.mark.parametrize("word", ["-to", "-x", "-lowercase", "-input"])
def test_a_short_spelling_that_does_not_exist_is_unknown(word):
    called("r", "-i", "h", word).assert_failed(2, f"unknown flag {word}")
