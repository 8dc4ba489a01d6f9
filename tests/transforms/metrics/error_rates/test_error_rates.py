"""The scores of WER and CER are those of jiwer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jiwer
import numpy as np
import pytest
from error_segments import counted
from hostile_texts import Segment, segments_with_references
from jiwer_counts import Config, jiwers
from scoring import group_totals, score_of_totals

from beam_bleu.transforms.metrics.error_rates.metric import CerConfig, ErrorRateScore, WerConfig
from beam_bleu.transforms.score.segment_table import segment_schema, segment_table
from beam_bleu.transforms.statistics.counting import BatchStatistics

BOTH: list[Config] = [WerConfig(), CerConfig()]


def score_of(segments: Sequence[Segment], config: Config) -> ErrorRateScore:
    totals = group_totals(counted(segments, config), with_products=True)
    score: Any = score_of_totals(totals, config)
    return score


def paired(candidates: Sequence[str], references: Sequence[str]) -> list[Segment]:
    return [
        (candidate, [reference])
        for candidate, reference in zip(candidates, references, strict=True)
    ]


# Scores


@pytest.mark.parametrize("config", BOTH, ids=str)
def test_the_score_of_a_corpus_is_jiwers_to_the_last_bit(config):
    segments = segments_with_references(5, 200, 1)
    candidates = [candidate for candidate, _ in segments]
    references = [reference for _, (reference,) in segments]
    score = score_of(segments, config)
    rate = jiwer.wer if isinstance(config, WerConfig) else jiwer.cer
    assert score.score == 100 * rate(references, candidates)
    output = jiwers(candidates, references, config)
    assert score.edits == output.substitutions + output.deletions + output.insertions
    assert score.substitutions == output.substitutions
    assert score.deletions == output.deletions
    assert score.insertions == output.insertions
    assert score.ref_length == output.hits + output.substitutions + output.deletions


@pytest.mark.parametrize("config", BOTH, ids=str)
def test_scores_of_segments_are_those_of_jiwer_to_the_last_bit(config):
    segments = segments_with_references(7, 300, 1)
    statistics = counted(segments, config)
    statistics = BatchStatistics(**{**vars(statistics), "numbers": np.arange(len(segments))})
    name, metric = config.metric.name.lower(), config.metric
    schema = segment_schema([metric])
    rows = segment_table(statistics, 0, name, metric, schema).to_pylist()
    for row, (candidate, (reference,)) in zip(rows, segments, strict=True):
        output = jiwers(candidate, reference, config)
        assert row["score"] == 100 * (output.wer if name == "wer" else output.cer)
        assert (row["substitutions"], row["deletions"], row["insertions"]) == (
            output.substitutions,
            output.deletions,
            output.insertions,
        )
        assert row["edits"] == output.substitutions + output.deletions + output.insertions
        assert row["ref_length"] == output.hits + output.substitutions + output.deletions


# The cases of jiwer's own test_wer.py, test_cer.py, test_measures.py and test_empty_ref.py. Those
# are left out that cannot apply: other measures (MER, WIL, WIP), texts or lists of texts as
# arguments, lists of different lengths (the pairing refuses them), other transforms, and functions
# that jiwer has taken away.
@pytest.mark.parametrize(
    ("references", "candidates", "wer", "cer"),
    [
        (["This is a test"], ["This is a test"], 0, 0),
        (["This is a test"], [""], 1, 14 / 14),
        (["This is a test"], ["This test"], 0.5, 5 / 14),
        (["X Y X"], ["X Z"], 2 / 3, 3 / 5),  # from Morris et al. 2004
        (["i", "am i good"], ["i am", "y good"], 0.75, 0.7),
        # Without a word in the references, the rate is the number of insertions.
        ([""] * 9, [""] * 9, 0, 0),
        ([""], ["a"], 1, 1),
        (["hello world", ""], ["hello world", "done"], 1 / 2, 4 / 11),
    ],
)
def test_known_scores(references, candidates, wer, cer):
    assert score_of(paired(candidates, references), WerConfig()).score == 100 * wer
    assert score_of(paired(candidates, references), CerConfig()).score == 100 * cer
    assert (jiwer.wer(references, candidates), jiwer.cer(references, candidates)) == (wer, cer)
