"""The flags that define ROUGE. They load no kernel."""

from __future__ import annotations

from beam_bleu.transforms.definition.choices import MetricFlag

FLAGS = (
    MetricFlag(
        "rouge_stemmer",
        "stemmer",
        "stem words, as use_stemmer of rouge_score does",
    ),
)
