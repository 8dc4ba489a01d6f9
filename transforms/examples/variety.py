"""How varied the outputs of a system are: the share of different n-grams, and self-BLEU.

distinct-n (Li et al. 2016, https://aclanthology.org/N16-1014) is the number of different n-grams of
a system's outputs, divided by the number of all. Of each order, the KEPT smallest hashes are kept.
If there are fewer, they are all; otherwise the number of different ones is (k - 1) / u, if u is the
largest of the k that are kept, as a part of all hashes (Bar-Yossef et al. 2002, Beyer et al. 2007).

Self-BLEU (Zhu et al. 2018, https://arxiv.org/abs/1802.01886) is the mean BLEU of each output, with
all others as its references: here of a random sample of SAMPLE outputs.

A token is a hash of its bytes, by constants, so that all machines get the same ones.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

import dataclasses
import math
import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.examples.sampling import STEP, Hashes, first_rows, mixed, sample_ranks
from beam_bleu.transforms.metrics.metric import Metric
from beam_bleu.transforms.native.arrays import Floats, Integers, Sums
from beam_bleu.transforms.native.compiling import compiled
from beam_bleu.transforms.native.memory import KeptMemory, load_word
from beam_bleu.transforms.native.text_columns import padded_texts
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.statistics.counting import PreparedBatch, count_batch
from beam_bleu.transforms.text.numbered_texts import number_texts
from beam_bleu.transforms.text.numbering import length_of, number_at
from beam_bleu.transforms.text.text import Text
from beam_bleu.transforms.text.tokens import TOKEN_BYTES

ORDERS = 4
KEPT = 1 << 16
SAMPLE = 500
_SEED = STEP, np.uint64(0xD1B54A32D192ED03)
_MEMORY = KeptMemory()
_MOST_BYTES = 1 << 24  # of the references that are compared at a time


@dataclasses.dataclass(frozen=True, eq=False)
class Variety(Sums):
    """The n-grams of a system's outputs in a part of a corpus, and a sample of these outputs.

    Attributes:
      ngrams: of each order, the number of all n-grams.
      smallest: of each order, the smallest hashes of n-grams, ascending, without repetitions.
      sample: (rank, number of the segment, tokens) of each output of the sample, in this order.
    """

    ngrams: tuple[int, ...]
    smallest: tuple[Hashes, ...]
    sample: tuple[tuple[float, int, Hashes], ...]

    def __add__(self, other: Variety) -> Variety:
        both = zip(self.smallest, other.smallest, strict=True)
        outputs = sorted((*self.sample, *other.sample), key=operator.itemgetter(0, 1))
        return Variety(
            tuple(map(operator.add, self.ngrams, other.ngrams)),
            tuple(np.union1d(*hashes)[:KEPT] for hashes in both),
            tuple(outputs[:SAMPLE]),
        )

    def measures(self, bleu: Metric) -> dict[str, Any]:
        different = [*map(_different, self.smallest, self.ngrams)]
        error = 1 / math.sqrt(KEPT - 2)
        return {
            "ngrams": self.ngrams,
            "different": different,
            "distinct": [
                number / all_ngrams if all_ngrams else None
                for number, all_ngrams in zip(different, self.ngrams, strict=True)
            ],
            "relative_errors": [error * (len(hashes) == KEPT) for hashes in self.smallest],
            "sample": len(self.sample),
            "self_bleu": self._self_bleu(bleu),
        }

    def _self_bleu(self, bleu: Metric) -> float | None:
        if len(self.sample) < 2:
            return None
        tokens = [tokens for _, _, tokens in self.sample]
        _, numbers = np.unique(np.concatenate(tokens), return_inverse=True)
        of_outputs = np.split(numbers, np.cumsum([*map(len, tokens)])[:-1])
        texts = [" ".join(map(str, of_output)) for of_output in of_outputs]
        mean = math.fsum(np.concatenate([*_scores_with_others(texts, bleu)])) / len(texts)
        return None if math.isnan(mean) else mean


def _different(smallest: Hashes, ngrams: int) -> int:
    if len(smallest) < KEPT:
        return len(smallest)
    return min(((KEPT - 1) << 64) // int(smallest[-1]), ngrams)


def _scores_with_others(texts: list[str], bleu: Metric) -> Iterator[Floats]:
    """The scores of texts of tokens, each with all others as its references."""
    count = len(texts)
    rows = max(_MOST_BYTES // (sum(map(len, texts)) + 1), 1)
    for first in range(0, count, rows):
        part = range(first, min(first + rows, count))
        candidates, *references = (
            padded_texts([texts[(row + turn) % count] for row in part]) for turn in range(count)
        )
        batch = SegmentBatch((candidates,), tuple(references))
        yield bleu.segment_scores(count_batch(batch, Text("none"), bleu).rows(0))


def varieties(batch: SegmentBatch, text: Text) -> Mapping[str, Variety]:
    """The varieties of all systems of a batch."""
    assert batch.numbers is not None
    ranks = sample_ranks(batch.numbers)
    chosen = first_rows(ranks, ranks, batch.numbers, SAMPLE)
    found = {}
    for system, column in zip(batch.systems, batch.candidates, strict=True):
        tokens, ends = _tokens(column, text)
        starts = np.append(0, ends)[:-1]
        ngrams = [*_ngrams(tokens, ends, starts)]
        sample = (
            (float(ranks[row]), int(batch.numbers[row]), tokens[starts[row] : ends[row]].copy())
            for row in chosen
        )
        found[system] = Variety(
            tuple(map(len, ngrams)),
            tuple(np.unique(hashes)[:KEPT] for hashes in ngrams),
            tuple(sample),
        )
    return found


def _ngrams(tokens: Hashes, ends: Integers, starts: Integers) -> Iterator[Hashes]:
    """The hashes of the n-grams of each order. An n-gram is an (n-1)-gram and a token."""
    left = np.repeat(ends, ends - starts) - np.arange(len(tokens))  # of the text, from a token on
    hashes = mixed(tokens)
    for order in range(1, ORDERS + 1):
        yield hashes[left[: len(hashes)] >= order]
        hashes = mixed(hashes[:-1] * STEP + tokens[order:])


def _tokens(column: pa.LargeStringArray, text: Text) -> tuple[Hashes, Integers]:
    """The tokens of all texts of a column, and where those of each text end among them."""
    # Only tokens of references are kept.
    ready = PreparedBatch(SegmentBatch((), (column,), systems=("",))).ready(text)
    texts, _memory = ready.numbered(_MEMORY)
    tokens = np.empty(int(ready.sizes.reference_bytes.sum()), np.uint64)
    ends = np.empty(len(column), np.int64)
    _write_tokens(texts._replace(seed=_SEED), tokens, ends)
    return tokens[: ends[-1] if len(ends) else 0], ends


@compiled
def _write_tokens(texts, tokens, ends):
    place = 0
    for row in range(texts.rows):
        number_texts(row, texts, False)
        for token in range(length_of(texts.bounds, 0)):
            number = number_at(texts.numbers, token)
            tokens[place] = load_word(texts.different + (number - 1) * TOKEN_BYTES)
            place += 1
        ends[row] = place
