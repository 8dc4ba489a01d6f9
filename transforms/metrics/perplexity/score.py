"""The perplexity of a corpus, with its parts, signature and warnings, and of each segment."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from beam_bleu.transforms.metrics.metric import Presentation, Scores
from beam_bleu.transforms.metrics.perplexity import presentation
from beam_bleu.transforms.metrics.perplexity.columns import SYMBOLS, surprisal
from beam_bleu.transforms.metrics.perplexity.metric import Perplexity
from beam_bleu.transforms.native.fixed_point import VALUE_ONE
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.text.text import TextName, own_signature

_BITS = math.log(2)


@dataclasses.dataclass(frozen=True, repr=False)
class PerplexityScore(Score):
    """A perplexity and its parts. `Score` explains the other attributes.

    Attributes:
      score: the perplexity, 1 or more, not rounded. Lower is better.
      log_probability: the natural logarithm of the probability of all texts.
      tokens: the number of their tokens; None if it is not known.
      words: the number of their words; None if it is not known.
      bytes: the number of their bytes; None if it is not known.
      bits_per_byte: -`log_probability` / (`bytes` log 2); None if `bytes` is None or 0.
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    log_probability: float
    tokens: int | None
    words: int | None
    bytes: int | None
    bits_per_byte: float | None


def perplexity_parts(columns: Sequence[int], metric: Perplexity) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell."""
    counts = {
        name: columns[symbol.column] if name in metric.counted else None
        for name, symbol in SYMBOLS.items()
    }
    total, size = surprisal(columns), counts["byte"]
    return {
        "score": metric.value(columns),
        "log_probability": -total / VALUE_ONE,
        "tokens": counts["token"],
        "words": counts["word"],
        "bytes": size,
        "bits_per_byte": total / (size * VALUE_ONE) / _BITS if size else None,
    }


def perplexity_signatures(text: TextName, metric: Perplexity, fewest: int, most: int) -> Signatures:
    """The signatures. Nothing depends on texts or references; sacreBLEU has none."""
    return Signatures(own_signature(text, {"log": "e", "per": metric.per}), None)


def perplexity_segment_fields(metric: Perplexity) -> Mapping[str, pa.DataType]:
    """The columns that only perplexity has. The symbols that are not counted have none."""
    counts = {f"{symbol}s": pa.int64() for symbol in metric.counted}
    return {"log_probability": pa.float64(), **counts}


def perplexity_segment_scores(statistics: BatchStatistics, metric: Perplexity) -> Scores:
    """The scores of a batch, system by system.

    A segment without the symbol, or whose perplexity is too large, has no score.
    """
    rows = statistics.counts.reshape(-1, statistics.counts.shape[2]).tolist()
    scores = [metric.value(row) if metric.has_value(row) else math.nan for row in rows]
    return np.array(scores, np.float64)


def perplexity_segment_columns(
    statistics: BatchStatistics, metric: Perplexity
) -> Mapping[str, Any]:
    """The parts of the scores of a batch: a row for each segment and system, system by system."""
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    return {
        "log_probability": [-surprisal(row) / VALUE_ONE for row in counts.tolist()],
        **{f"{symbol}s": counts[:, SYMBOLS[symbol].column] for symbol in metric.counted},
    }
