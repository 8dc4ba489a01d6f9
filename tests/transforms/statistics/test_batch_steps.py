"""The kernel is compiled before the first batch."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import pyarrow as pa
from beam_bleu.transforms.native.compiling import CompiledFunction
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
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


LENGTHS = {
    "13a": "[[5, 0], [1, 1]]",
    "none": "[[3, 0], [1, 1]]",
    "intl": "[[5, 0], [1, 1]]",
    "zh": "[[5, 0], [1, 1]]",
    "char": "[[5, 0], [1, 1]]",
}
IN_EVERY_RUN = {("13a", "mixed"), ("intl", "lower")}  # the others start eight processes


@pytest.mark.parametrize(
    ("tokenize", "case", "lengths"),
    [
        pytest.param(
            tokenize,
            case,
            lengths,
            marks=() if (tokenize, case) in IN_EVERY_RUN else pytest.mark.slow,
        )
        for tokenize, lengths in LENGTHS.items()
        for case in ("lower", "mixed")
    ],
)
def test_setup_leaves_nothing_to_compile(tokenize: str, case: str, lengths: str) -> None:
    command = [sys.executable, "-c", PROGRAM, tokenize, case]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, lengths), done.stderr
