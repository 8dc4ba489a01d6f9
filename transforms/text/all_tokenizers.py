"""The tokenizers of all metrics."""

from __future__ import annotations

from collections.abc import Mapping

from beam_bleu.transforms.text.jiwer import JIWER_TOKENIZERS
from beam_bleu.transforms.text.rouge import ROUGE_TOKENIZERS
from beam_bleu.transforms.text.squad import SQUAD_TOKENIZERS
from beam_bleu.transforms.text.tercom import TERCOM_TOKENIZERS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, Tokenizer

ALL_TOKENIZERS: Mapping[str, Tokenizer] = {
    row.name: row
    for row in (
        *TOKENIZERS.values(),
        *TERCOM_TOKENIZERS.values(),
        *SQUAD_TOKENIZERS.values(),
        *JIWER_TOKENIZERS.values(),
        *ROUGE_TOKENIZERS.values(),
    )
}
"""All tokenizers, by name."""
