"""Several metrics count the same prepared texts, with the integers that each one has alone."""

from __future__ import annotations

import subprocess
import sys

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


PROGRAM = """
import sys
import pyarrow as pa
from beam_bleu.transforms.native.compiling import CompiledFunction
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.statistics.batch_steps import CountMatches

def refuse(function, *types):
    sys.exit(f"{function.function} is compiled late")

def column(*texts):
    return pa.array(texts, pa.large_string())

lowercase = sys.argv[2] == "lower"
config = BleuConfig(sys.argv[1], lowercase, max_ngram_order=2, normalize="nfc")
counting = CountMatches([(config.text, BleuConfig(max_ngram_order=2))], threads=1)
counting.setup()
CompiledFunction._kept_or_compiled = refuse
references = column("The c\\u00e1t <skipped> sat, 3.5!", None), column("It &amp; me-", "b")
batch = SegmentBatch((column("a \\u00c1 3-b", ""), column("x", "y")), references)
print(counting.work(batch)[0].counts[0][:, :, CANDIDATE_LENGTH].tolist())
"""


def test_setup_leaves_nothing_to_compile() -> None:
    command = [sys.executable, "-c", PROGRAM, "13a", "mixed"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[[5, 0], [1, 1]]"), done.stderr
