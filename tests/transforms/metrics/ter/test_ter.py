"""TER as a metric: definitions, scores and standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hostile_texts import Segment
from metric_segments import assert_scores_of_many_sums
from scoring import corpus_sums
from ter_segments import columns_of, counted, hostile, sacrebleus

from beam_bleu.transforms.metrics.ter.columns import (
    WIDTH,
)
from beam_bleu.transforms.metrics.ter.kind import KINDS
from beam_bleu.transforms.metrics.ter.metric import Ter, TerConfig
from beam_bleu.transforms.metrics.ter.score import TerScore
from beam_bleu.transforms.score.corpus_score import corpus_score
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics

HOSTILE = hostile(11, 400, 2)


def score_of(segments: Sequence[Segment], config: TerConfig | None = None) -> TerScore:
    config = TerConfig() if config is None else config
    sums = corpus_sums(counted(segments, config), 0, with_products=True)
    score: Any = corpus_score(KINDS["ter"], sums, config.text.name, config.metric)
    return score


@pytest.mark.parametrize(
    ("choices", "reason"),
    [
        ({"normalized": 1}, "normalized must be True or False, got 1"),
        ({"no_punct": "no"}, "no_punct must be True or False, got 'no'"),
        ({"asian_support": None}, "asian_support must be True or False, got None"),
        ({"case_sensitive": "ascii"}, "case_sensitive must be True or False, got 'ascii'"),
        ({"normalize": "nfd"}, "normalize must be one of nfc, nfkc, got 'nfd'"),
    ],
)
def test_an_impossible_definition_is_refused(choices, reason):
    with pytest.raises(ValueError, match=reason):
        TerConfig(**choices)


# Scores


@pytest.mark.parametrize("references", [1, 2])
@pytest.mark.parametrize("config", [TerConfig(), TerConfig(True, True, True, True)], ids=str)
def test_scores_and_signatures_are_those_of_sacrebleu(references, config):
    segments = hostile(references, 120, references)
    candidates, columns = columns_of(segments)
    expected = sacrebleus(config)
    corpus = expected.corpus_score(candidates, columns)
    found = score_of(segments, config)
    assert (found.score, found.edits, found.ref_length) == (
        corpus.score,
        corpus.num_edits,
        corpus.ref_length,
    )
    assert found.sacrebleu_signature == str(expected.get_signature())
    assert config.metric.name == corpus.name


@pytest.mark.parametrize("references", [3, 5])
def test_with_more_references_only_the_rounding_differs(references):
    segments = hostile(references, 120, references)
    corpus = sacrebleus(TerConfig()).corpus_score(*columns_of(segments))
    found = score_of(segments)
    assert found.edits == corpus.num_edits
    # sacreBLEU adds up rounded means; here the exact sum is rounded once.
    assert found.score == pytest.approx(corpus.score, rel=1e-13)
    assert found.ref_length == pytest.approx(corpus.ref_length, rel=1e-13)


def test_scores_of_segments_are_those_of_sacrebleu_to_the_last_bit():
    segments = hostile(7, 300, 3)
    statistics = counted(segments)
    statistics = BatchStatistics(**{**vars(statistics), "numbers": np.arange(len(segments))})
    schema = segment_schema([KINDS["ter"].segment_fields(Ter())])
    rows = segment_table(statistics, "ter", KINDS["ter"], Ter(), schema).to_pylist()
    for row, (candidate, references) in zip(rows, segments, strict=True):
        present = [each for each in references if each is not None]
        expected = sacrebleus(TerConfig()).sentence_score(candidate, present)
        assert (row["score"], row["edits"], row["ref_length"]) == (
            expected.score,
            expected.num_edits,
            expected.ref_length,
        )


@pytest.mark.parametrize(
    ("segments", "score"),
    [
        ([("a b", ["a b"])], 0.0),
        ([("", [""])], 0.0),
        ([("a", [""])], 100.0),
        ([("a b c", [""]), ("a", ["a"])], 300.0),
        ([("a b c", ["d"])], 300.0),
        ([("", ["a b"])], 100.0),
        ([("a", ["a b c", ""])], 100 * (1 / 1.5)),
    ],
)
def test_scores_of_small_corpora(segments, score):
    assert score_of(segments).score == score
    expected = sacrebleus(TerConfig()).corpus_score(*columns_of(segments))
    assert expected.score == score


def test_many_sums_at_once_have_the_scores_of_each():
    assert_scores_of_many_sums(Ter(), WIDTH, 500)


def test_other_columns_are_refused():
    with pytest.raises(ValueError, match="TER needs 6 columns, got 5"):
        Ter().value([1] * 5)
    with pytest.raises(ValueError, match="TER needs 6 columns, got 7"):
        Ter().values(np.ones((2, 7), np.int64))


def test_signatures_show_each_choice():
    assert score_of([("a", ["b"])]).signature.startswith(
        "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no|unicode:"
    )
    config = TerConfig(True, True, True, True, "nfkc")
    score = score_of([("a", ["b", "c"]), ("a", ["b", None])], config)
    assert score.signature.startswith(
        "nrefs:var|case:mixed|tok:tercom|norm:yes|punct:no|asian:yes|normalize:nfkc|unicode:"
    )
    assert score.sacrebleu_signature is None


def test_normalized_texts_need_no_edit():
    segments = [("e\u0301", ["\u00e9"])]
    assert score_of(segments).edits == 1
    assert score_of(segments, TerConfig(normalize="nfc")).edits == 0


# Uncertainty


@pytest.mark.parametrize(
    ("segment", "reason"),
    [
        (("a", ["a"]), "no candidate needs an edit"),
        (("a", [""]), "no reference has a word"),
    ],
)
def test_without_edits_or_words_there_is_no_standard_error(segment, reason):
    score = score_of([segment] * 40)
    assert score.standard_error is None
    assert any(reason in warning for warning in score.warnings)


def test_a_definition_survives_as_json():
    assert KINDS["ter"].decoded(KINDS["ter"].encoded(Ter())) == Ter()
    with pytest.raises(TypeError):
        KINDS["ter"].decoded({"more": 1})
