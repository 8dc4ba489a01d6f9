"""The tokenizers that sacreBLEU does not have by a name, in the plainest way."""

from __future__ import annotations

import re
from collections.abc import Callable

import sentencepiece
import spm_models


def _in_pieces(text: str) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(spm_models.model())
    return processor.EncodeAsPieces(text)


TOKENIZERS_BEYOND_SACREBLEU: dict[str, Callable[[str], list[str]]] = {
    "ascii-space": lambda text: [word for word in re.split(r"[\t-\r ]+", text) if word],
    "spm": _in_pieces,
}
"""By the name of a tokenizer, the tokens of a text."""
