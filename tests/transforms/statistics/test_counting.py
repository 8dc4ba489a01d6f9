"""Several metrics count the same prepared texts, with the integers that each one has alone."""

from __future__ import annotations

import hostile_texts

from beam_bleu.transforms.chosen_metrics import definition_of
from beam_bleu.transforms.known_metrics import config_type
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import PreparedBatch, count_batch

NAMES = ["bleu", "chrf", "ter", "wer", "cer", "exact_match", "token_f1"]
DEFINITIONS = {name: definition_of(config_type(name)()) for name in NAMES}
BATCH = to_batch(hostile_texts.hostile_segments(200))


def test_each_metric_counts_what_it_counts_alone():
    for names in [NAMES, NAMES[::-1]]:
        counted = [(DEFINITIONS[name][0], DEFINITIONS[name][1].metric) for name in names]
        together = PreparedBatch(BATCH).count(counted)
        for place, name in enumerate(names):
            alone = count_batch(BATCH, *counted[place])
            assert together.counts[place].tolist() == alone.counts[0].tolist(), name
            assert together.reference_bytes.tolist() == alone.reference_bytes.tolist()
            assert together.signs.tolist() == alone.signs.tolist()
