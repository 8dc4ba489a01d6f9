"""The perplexities of the LM Evaluation Harness, as its `lm_eval/api/metrics.py` publishes them.

The formulas are those of `weighted_perplexity`, `bits_per_byte` and `perplexity` (version 0.4), and
the counts those of `PerplexityTask` in `lm_eval/api/task.py`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

LogsAndCounts = Sequence[tuple[float, int]]
"""For each text the sum of its log-probabilities, and the number of its words or bytes."""


def weighted_mean(items: LogsAndCounts) -> float:
    return math.fsum(log for log, _ in items) / sum(count for _, count in items)


def weighted_perplexity(items: LogsAndCounts) -> float:
    return math.exp(-weighted_mean(items))


def bits_per_byte(items: LogsAndCounts) -> float:
    return -weighted_mean(items) / math.log(2)


def perplexity(logs: Sequence[float]) -> float:
    return math.exp(-math.fsum(logs) / len(logs))


def words_of(text: str) -> int:
    return len(re.split(r"\s+", text))


def bytes_of(text: str) -> int:
    return len(text.encode())
