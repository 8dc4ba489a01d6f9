"""The tokenizers that sacreBLEU does not have by a name, in the plainest way."""

from __future__ import annotations

import re
from collections.abc import Callable

import sentencepiece
import spm_models


def in_pieces(text: str, model: bytes | None = None) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor()
    processor.LoadFromSerializedProto(spm_models.model() if model is None else model)
    return processor.EncodeAsPieces(text.rstrip())  # as sacreBLEU strips it for its models


TOKENIZERS_BEYOND_SACREBLEU: dict[str, Callable[[str], list[str]]] = {
    # Other white space is like a letter.
    "ascii-space": lambda text: re.sub(r"[^\S\t-\r ]", "\U000f0000", text).split(),
    "spm": in_pieces,
}
"""By the name of a tokenizer, the tokens of a text. They have no white space, at which sacreBLEU
splits them."""
