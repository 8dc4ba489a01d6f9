"""The scores and signatures of TER are those of sacreBLEU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hostile_texts import Segment, segments_with_references
from scoring import group_totals, score_of_totals
from ter_segments import columns_of, counted, sacrebleus

from beam_bleu.transforms.metrics.ter.metric import TerConfig, TerScore
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.counting import BatchStatistics


def score_of(segments: Sequence[Segment], config: TerConfig | None = None) -> TerScore:
    config = TerConfig() if config is None else config
    totals = group_totals(counted(segments, config), with_products=True)
    score: Any = score_of_totals(totals, config)
    return score


# Scores


@pytest.mark.parametrize("references", [1, 2])
@pytest.mark.parametrize("config", [TerConfig(), TerConfig(True, True, True, True)], ids=str)
def test_scores_and_signatures_are_those_of_sacrebleu(references, config):
    segments = segments_with_references(references, 120, references)
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
    segments = segments_with_references(references, 120, references)
    corpus = sacrebleus(TerConfig()).corpus_score(*columns_of(segments))
    found = score_of(segments)
    assert found.edits == corpus.num_edits
    # sacreBLEU adds up rounded means; here the exact sum is rounded once.
    assert found.score == pytest.approx(corpus.score, rel=1e-13)
    assert found.ref_length == pytest.approx(corpus.ref_length, rel=1e-13)


def test_scores_of_segments_are_those_of_sacrebleu_to_the_last_bit():
    segments = segments_with_references(7, 300, 3)
    statistics = counted(segments)
    statistics = BatchStatistics(**{**vars(statistics), "numbers": np.arange(len(segments))})
    schema = segment_schema([TerConfig()])
    rows = segment_table(statistics, 0, "ter", TerConfig(), schema).to_pylist()
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
