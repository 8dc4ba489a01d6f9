"""BLEU of one short segment at a time, for programs that make a call for each sentence.

The compiled functions are those that count and score batches. For one sentence they take a tenth
of the time of making their arguments, so the arguments are made once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beam_bleu.transforms.metrics.bleu.columns import bleu_basis
from beam_bleu.transforms.metrics.bleu.kernel import bound_count
from beam_bleu.transforms.metrics.bleu.metric import Bleu
from beam_bleu.transforms.metrics.bleu.row_scores import bound_score
from beam_bleu.transforms.metrics.bleu.scoring import counted_order
from beam_bleu.transforms.statistics.counting import MOST_BYTES_OF_ONE
from beam_bleu.transforms.text.splitting import find_changed, rule_of
from beam_bleu.transforms.text.text import Text


class OneSegment:
    """Scores segments with the same number of references, one at a time, on one thread.

    Args:
      text: the steps from a text to its tokens, for which there is a `find_changed`.
      metric: BLEU of a segment.
      references: the number of references.
    """

    def __init__(self, text: Text, metric: Bleu, references: int) -> None:
        scoring, texts = metric.scoring, references + 1
        places = np.zeros((2, texts, 1), np.int64)
        self._starts_and_ends = places.reshape(2, texts)
        both = places[0], places[1]
        counts = np.empty((1, 1, bleu_basis(counted_order([scoring])).width), np.int64)
        self._scores = np.empty(1)
        self._is_changed = find_changed(text).bound(both, np.empty((texts, 1), np.bool_))
        self._count, self._memory = bound_count(
            both, rule_of(text.tokenize), counts, MOST_BYTES_OF_ONE
        )
        self._score = bound_score(scoring, counts[0], self._scores)

    def score(self, bounds: Sequence[Sequence[int]]) -> float | None:
        """The score of a segment; nan if it is not defined.

        Args:
          bounds: the addresses of the texts, and those of their ends; references come first.
            They have `MOST_BYTES_OF_ONE` at most, and can be read further, as padded texts.

        Returns:
          None if only the code for batches can score the segment.
        """
        self._starts_and_ends[:] = bounds
        if self._is_changed() or not self._count()[0]:
            return None
        self._score()
        return float(self._scores[0])


def one_segment(text: Text, metric: Bleu, references: int) -> OneSegment | None:
    """What scores single segments by a definition; None if only the code for batches can."""
    return None if find_changed(text) is None else OneSegment(text, metric, references)
