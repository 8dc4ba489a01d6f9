"""The flags that define perplexity. They load no kernel."""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag
from beam_bleu.transforms.metrics.perplexity.columns import SYMBOLS
from beam_bleu.transforms.metrics.perplexity.metric import PerplexityConfig

FLAGS = (
    MetricFlag(
        "logprob_column",
        "logprob_column",
        "the column of the natural logarithms of probabilities: a list with one for each token, or "
        f"their sum; default {PerplexityConfig.logprob_column}",
        "COLUMN",
    ),
    MetricFlag(
        "token_count_column",
        "token_count_column",
        "the column with the number of tokens, if --logprob_column has sums",
        "COLUMN",
    ),
    MetricFlag(
        "text_column",
        "text_column",
        "the column of the texts whose words and bytes are counted for perplexity",
        "COLUMN",
    ),
    MetricFlag(
        "word_count_column",
        "word_count_column",
        "the column with the number of words, in place of --text_column",
        "COLUMN",
    ),
    MetricFlag(
        "byte_count_column",
        "byte_count_column",
        "the column with the number of bytes, in place of --text_column",
        "COLUMN",
    ),
    MetricFlag(
        "perplexity_per",
        "per",
        f"what the perplexity is of: {', '.join(SYMBOLS)}; default {PerplexityConfig.per}",
        "NAME",
        changes_sums=False,
    ),
)
