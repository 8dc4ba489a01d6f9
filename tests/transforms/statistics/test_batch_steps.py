"""The kernel is compiled before the first batch."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import sys
import pyarrow as pa
from beam_bleu.transforms.native.compiling import CompiledFunction
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.statistics.batch_steps import CountMatches

def refuse(function, *types):
    sys.exit(f"{function} is compiled late")

def column(*texts):
    return pa.array(texts, pa.large_string())

lowercase = sys.argv[2] == "lower"
config = BleuConfig(sys.argv[1], lowercase, max_ngram_order=2, normalize="nfc")
counting = CountMatches([(config.text, BleuConfig(max_ngram_order=2))], threads=1)
counting.setup()
CompiledFunction.load = refuse
references = column("The c\\u00e1t <skipped> sat, 3.5!", None), column("It &amp; me-", "b")
batch = SegmentBatch((column("a \\u00c1 3-b", ""), column("x", "y")), references)
print(counting.work(batch)[0].counts[0][:, :, CANDIDATE_LENGTH].tolist())
"""


def test_setup_leaves_nothing_to_compile() -> None:
    command = [sys.executable, "-c", PROGRAM, "13a", "mixed"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[[5, 0], [1, 1]]"), done.stderr
