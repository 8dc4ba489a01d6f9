"""The flags that define TER. They load no kernel."""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag

FLAGS = (
    MetricFlag(
        "ter_normalized",
        "normalized",
        "replace entities, and make words of punctuation marks and of the English 's",
    ),
    MetricFlag("ter_no_punct", "no_punct", "remove punctuation marks"),
    MetricFlag(
        "ter_asian_support",
        "asian_support",
        "with --ter_normalized, make a word of each Chinese character and Asian punctuation mark; "
        "with --ter_no_punct, remove these marks",
    ),
    MetricFlag(
        "ter_case_sensitive", "case_sensitive", "do not lower-case the text before it is scored"
    ),
)
