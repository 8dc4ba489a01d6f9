"""--segment_scores: every row once and in place, and what the files hold."""

from __future__ import annotations

import pyarrow.parquet as pq
import pytest
from command_line import EXAMPLE, called
from sacrebleu.metrics import BLEU
from scoring import of_segments
from segment_corpus import SEGMENTS, SMALL_UNITS, SYSTEMS, assert_clean, part_files, rows

import beam_bleu.pipeline.folder.data_files as module
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import preset


def test_the_scores_are_sacrebleus_sentence_scores(corpus, out):
    run = called(*corpus.asked, "--output", out)
    assert run.code == 0, run.err
    found, bleu = rows(out), BLEU(effective_order=True)
    for name, text in zip(SYSTEMS, corpus.texts, strict=False):
        for index, candidate in [*enumerate(text)][::5]:
            references = [reference[index] for reference in corpus.texts[3:]]
            score = bleu.sentence_score(candidate, references).score
            assert found[index, name]["score"] == score


@pytest.mark.parametrize(
    ("range_bytes", "threads"),
    [(3000, 5), (1 << 26, 1), pytest.param(16, 5, marks=pytest.mark.slow)],
)
def test_rows_are_complete_and_in_place(corpus, expected, plain, out, range_bytes, threads):
    flags = [f"--range_bytes={range_bytes}", f"--threads={threads}"]
    run = called(*corpus.asked, *flags, "--output", out)
    assert (run.code, run.err) == (0, "")
    assert rows(out) == expected
    assert_clean(out)
    document = run.document
    (metric,) = document["metrics"]
    of_segments = {
        name: metric[name].replace("eff:no", "eff:yes")
        for name in ("signature", "sacrebleu_signature")
    }
    assert document.pop("segment_scores") == {
        "metrics": [{"metric": "bleu", **of_segments}],
        "rows": 3 * SEGMENTS,
    }
    assert document == plain.document  # the counters, too
    assert (out / "scores.json").read_bytes() == run.out


def test_a_long_bundle_is_cut_into_part_files_and_row_groups(corpus, expected, out, monkeypatch):
    monkeypatch.setattr(module, "_ROW_GROUP_BYTES", 13_000)
    monkeypatch.setattr(module, "_PART_FILE_BYTES", 66_000)
    assert called(*corpus.asked, SMALL_UNITS, "--output", out).code == 0
    assert rows(out) == expected
    files = [pq.read_metadata(out / "segment_scores" / name) for name in part_files(out)]
    assert len(files) > 2
    assert max(file.num_row_groups for file in files) > 2


@pytest.mark.parametrize(
    ("flags", "config", "signature"),
    [
        (
            ["--smooth_method=none", "--segment_smooth_method=floor", "--segment_smooth_value=1"],
            {"smooth_method": "floor", "smooth_value": 1.0},
            "smooth:floor[1.00]",
        ),
        # These need 5-grams. Neither result has them.
        (["--segment_smooth_method=nltk-method5"], {"smooth_method": "nltk-method5"}, "method5"),
        (["--max_ngram_order=6", "--lowercase"], {"max_ngram_order": 6, "lowercase": True}, "lc"),
    ],
    ids=str,
)
def test_segments_can_have_another_smoothing(corpus, out, flags, config, signature):
    run = called(*corpus.asked, *flags, "--output", out)
    assert run.code == 0, run.err
    assert rows(out) == corpus.expected(of_segments(BleuConfig(**config)))
    document = run.document
    assert signature in document.pop("segment_scores")["metrics"][0]["signature"]
    of_corpus = [flag for flag in flags if not flag.startswith("--segment")]
    assert document == called(*corpus.plain, *of_corpus).document


def test_segments_can_be_scored_without_effective_order(corpus, out):
    flags = ["--preset=mteval13a", "--no_effective_order"]
    assert called(*corpus.asked, *flags, "--output", out).code == 0
    assert rows(out) == corpus.expected(preset("mteval13a"))


@pytest.mark.parametrize(
    ("flags", "cause"),
    [
        (["--segment_scores"], "--segment_scores needs --output"),
        (["--segment_smooth_value=1"], "--segment_smooth_value needs --segment_scores"),
        (
            ["--segment_scores", "--output={}", "--segment_smooth_value=0.1"],
            "smooth_value 0.1 cannot be used with smooth_method 'exp'",
        ),
    ],
)
def test_impossible_choices_are_refused(flags, cause, out):
    called(*EXAMPLE, *(flag.format(out) for flag in flags)).assert_failed(2, cause)
    assert not out.exists()


# One run after the other
