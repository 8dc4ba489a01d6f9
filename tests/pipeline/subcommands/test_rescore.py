"""beam-bleu rescore: the result of a run with other flags, to the last byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import called, typed
from saved_parts import lines_in, run_into

COMMON = ("--slice_by=domain",)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out: Path = tmp_path_factory.mktemp("out")
    run_into(out, *lines_in(out / "texts", slice(None), *COMMON, "--segment_scores"))
    return out


@pytest.mark.parametrize(
    "words",
    [
        "-s=add-k -sv=2 --max_ngram_order=3 --compare=all",
        "--reference_length=shortest --weights=1,0,2 --effective_order",
        "--preset=huggingface",
    ],
)
def test_it_is_the_result_of_a_run(words, folder, tmp_path):
    totals, flags = folder / "totals.json", words.split()
    found = called("rescore", totals, *flags, "--output", tmp_path / "out", "--quiet")
    assert found.code == 0, found.err
    run = called(*lines_in(tmp_path, slice(None), *COMMON, *flags), "--format=json", "--quiet")
    assert run.code == 0, run.err
    assert (tmp_path / "out" / "scores.json").read_bytes() == run.out
    again = called("rescore", tmp_path / "out" / "totals.json", "--format=json", "--quiet")
    assert again.out == run.out


def test_it_refuses_what_the_sums_do_not_have(folder):
    for words, cause in {
        "-tok=intl": "tokenize is intl, and the tokens were counted with",
        "-lc": "and the tokens were counted with lowercase",
        "--normalize=nfc": "normalize is nfc",
        "-l=zh": "tokenize is zh",
        "--preset=nltk": "tokenize is none, and the tokens",
        "--max_ngram_order=5": "sums of order 4 cannot be scored",
        "--weights=1,2 --max_ngram_order=4": "weights must be",
        "--baseline=dodo": "--baseline dodo",
        "--baseline=birch": "on slices, systems were compared only with",
    }.items():
        called("rescore", folder / "totals.json", *words.split()).assert_failed(2, cause)


def test_stderr_has_the_error_and_nothing_of_libraries(tmp_path):
    # As typed, because in this process Beam has been imported already.
    typed("rescore", tmp_path / "none.json").assert_failed(3, "there is no", "none.json")
