"""BLEU from corpus totals, exactly as sacreBLEU computes it from the same integers.

The formula is Papineni et al. 2002 (https://aclanthology.org/P02-1040), section
2.3: BLEU = BP * exp(sum over n of log(p_n) / N), BP = exp(1 - r/c) if c < r. The
smoothing methods are those of Chen & Cherry 2014
(https://aclanthology.org/W14-3346) as sacreBLEU 2.6 implements them in
`BLEU.compute_bleu`; the same operations in the same order, so that the result
is the same to the last bit.
"""

from __future__ import annotations

import dataclasses
import math

from transforms.config import DEFAULT_SMOOTH_VALUES, BleuConfig
from transforms.score.signature import signature
from transforms.totals.corpus_totals import CorpusTotals

_LOG_OF_ZERO = -9999999999.0
"""What sacreBLEU takes for log 0: small enough that the score is 0.0."""


@dataclasses.dataclass(frozen=True)
class BleuScore:
    """BLEU and what it is made of.

    Attributes:
      score: BLEU, 0..100, not rounded (100.00000000000004 can occur, as in sacreBLEU).
      precisions: the (smoothed) n-gram precisions, 0..100; precisions[n - 1] is of order n.
      matches: clipped n-gram matches before smoothing; matches[n - 1] is of order n.
      totals: n-grams in the candidates before smoothing; totals[n - 1] is of order n.
      bp: the brevity penalty, 0..1.
      ratio: sys_len / ref_len, 0.0 if ref_len is 0.
      sys_len: tokens in the candidates.
      ref_len: tokens in the closest references (the shorter one of two equally close).
      segments: how many segments were scored.
      signature: the definition that this score follows.
    """

    score: float
    precisions: tuple[float, ...]
    matches: tuple[int, ...]
    totals: tuple[int, ...]
    bp: float
    ratio: float
    sys_len: int
    ref_len: int
    segments: int
    signature: str


def bleu_score(totals: CorpusTotals, config: BleuConfig) -> BleuScore:
    """The BLEU score of a corpus.

    Args:
      totals: the corpus's sums, made with the same config.
      config: the definition of BLEU.

    Raises:
      ValueError: the totals are of another n-gram order than the config.
    """
    if len(totals.matches) != config.max_ngram_order:
        raise ValueError(
            f"totals of order {len(totals.matches)} cannot be scored "
            f"with max_ngram_order {config.max_ngram_order}"
        )
    sys_len, ref_len = totals.candidate_length, totals.reference_length
    bp = brevity_penalty(sys_len, ref_len)
    precisions, orders = _precisions(totals, config)
    score = 0.0
    if any(totals.matches):
        # A plain left-to-right sum, as in sacreBLEU: fsum would round differently.
        logs = sum([_log(precision) for precision in precisions[:orders]])
        score = bp * math.exp(logs / orders)
    return BleuScore(
        score=score,
        precisions=tuple(precisions),
        matches=totals.matches,
        totals=totals.totals,
        bp=bp,
        ratio=sys_len / ref_len if ref_len else 0.0,
        sys_len=sys_len,
        ref_len=ref_len,
        segments=totals.segments,
        signature=signature(totals, config),
    )


def brevity_penalty(sys_len: int, ref_len: int) -> float:
    """exp(1 - r/c) for candidates shorter than their references, else 1; 0 if there is no token."""
    if sys_len >= ref_len:
        return 1.0
    return math.exp(1 - ref_len / sys_len) if sys_len > 0 else 0.0


def _precisions(totals: CorpusTotals, config: BleuConfig) -> tuple[list[float], int]:
    """(the smoothed precision of each order, 0..100; how many orders the mean is over)."""
    precisions = [0.0] * config.max_ngram_order
    orders = config.max_ngram_order
    if not any(totals.matches):
        return precisions, orders
    value = config.smooth_value
    if value is None:
        value = DEFAULT_SMOOTH_VALUES.get(config.smooth_method, 0.0)
    halvings = 1.0
    for n, (matches, total) in enumerate(zip(totals.matches, totals.totals, strict=True), 1):
        added = value if config.smooth_method == "add-k" and n > 1 else 0
        if total + added == 0:
            break  # no candidate is as long as this order
        if config.effective_order:
            orders = n
        if matches + added != 0:
            precisions[n - 1] = 100.0 * (matches + added) / (total + added)
        elif config.smooth_method == "exp":
            halvings *= 2
            precisions[n - 1] = 100.0 / (halvings * total)
        elif config.smooth_method == "floor":
            precisions[n - 1] = 100.0 * value / total
    return precisions, orders


def _log(value: float) -> float:
    return math.log(value) if value != 0.0 else _LOG_OF_ZERO
