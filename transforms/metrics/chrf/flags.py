"""The flags that define chrF. They load no kernel."""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag
from beam_bleu.transforms.metrics.chrf.metric import (
    LARGEST_BETA,
    LARGEST_CHAR_ORDER,
    LARGEST_WORD_ORDER,
    ChrfConfig,
)

FLAGS = (
    MetricFlag(
        "chrf_char_order",
        "char_order",
        f"the largest order of n-grams of characters, 1 to {LARGEST_CHAR_ORDER}; "
        f"default {ChrfConfig.char_order}",
        "N",
        int,
        "-cc",
    ),
    MetricFlag(
        "chrf_word_order",
        "word_order",
        f"the largest order of n-grams of words, 0 to {LARGEST_WORD_ORDER}; 2 for chrF++; "
        f"default {ChrfConfig.word_order}",
        "N",
        int,
        "-cw",
    ),
    MetricFlag(
        "chrf_beta",
        "beta",
        f"how many times as important as precision recall is, 1 to {LARGEST_BETA}; "
        f"default {ChrfConfig.beta}",
        "N",
        int,
        changes_sums=False,
    ),
    MetricFlag("chrf_whitespace", "whitespace", "count white space as characters, too"),
    MetricFlag("chrf_lowercase", "lowercase", "lower-case the text before chrF is computed"),
    MetricFlag(
        "chrf_eps_smoothing",
        "eps_smoothing",
        "count all orders, and take the mean of their F-scores, as Popović's program, NLTK and "
        "Moses do",
        changes_sums=False,
    ),
)
