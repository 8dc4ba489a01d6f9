"""Several metrics count the same prepared texts, with the integers that each one has alone."""

from __future__ import annotations

import dataclasses

import hostile_texts
import pytest

from beam_bleu.transforms.chosen_metrics import definition_of
from beam_bleu.transforms.known_metrics import config_type
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.statistics.counting import PreparedBatch, count_batch

NAMES = ["bleu", "chrf", "ter", "wer", "cer", "exact_match", "token_f1"]
DEFINITIONS = {name: definition_of(config_type(name)()) for name in NAMES}
BATCH = to_batch(hostile_texts.hostile_segments(200))


def counted(prepared: PreparedBatch, name: str) -> BatchStatistics:
    text, definition = DEFINITIONS[name]
    return prepared.count(text, definition.metric)


@pytest.mark.parametrize("names", [NAMES, NAMES[::-1]], ids=["in order", "reversed"])
def test_each_metric_counts_what_it_counts_alone(names):
    prepared = PreparedBatch(BATCH)
    for name in names:
        together = counted(prepared, name)
        text, definition = DEFINITIONS[name]
        alone = count_batch(BATCH, text, definition.metric)
        assert together.counts.tolist() == alone.counts.tolist(), name
        assert together.reference_bytes.tolist() == alone.reference_bytes.tolist()
        for sign in dataclasses.fields(together.signs):
            ours, theirs = (getattr(each.signs, sign.name) for each in (together, alone))
            assert ours.tolist() == theirs.tolist()
