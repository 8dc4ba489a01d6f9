"""The flags that define WER and CER. They load no kernel."""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag

FLAGS = (
    MetricFlag("wer_lowercase", "lowercase", "lower-case the text before WER and CER are computed"),
    MetricFlag(
        "wer_no_punct", "no_punct", "remove punctuation marks before WER and CER are computed"
    ),
)
