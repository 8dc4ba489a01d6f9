"""The words of WER and the characters of CER, as jiwer's default transforms make them.

The words are `wer_default`, the characters `cer_default`. `no_punct` is jiwer's `RemovePunctuation`
before it. Each combination of the choices is a tokenizer with a name of its own. The functions are
in `jiwer_rewriting.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.text.tokenizers import ALL_SCRIPTS, JiwerName, Tokenizer

SymbolName = Literal["word", "character"]


@dataclasses.dataclass(frozen=True)
class JiwerSymbols:
    """What a text is made of.

    Attributes:
      symbol: words or characters.
      no_punct: whether punctuation marks are removed: the code points of Unicode's category P, by
        this Python's own tables.

    Raises:
      ValueError: `no_punct` is neither True nor False.
    """

    symbol: SymbolName
    no_punct: bool = False

    def __post_init__(self) -> None:
        require_flag("no_punct", self.no_punct)

    @property
    def name(self) -> JiwerName:
        """The name of the tokenizer, a key of `JIWER_TOKENIZERS`."""
        return next(name for name, choices in JIWER.items() if choices == self)


JIWER: Mapping[JiwerName, JiwerSymbols] = {
    "jiwer-words": JiwerSymbols("word"),
    "jiwer-words-no-punct": JiwerSymbols("word", no_punct=True),
    "jiwer-characters": JiwerSymbols("character"),
    "jiwer-characters-no-punct": JiwerSymbols("character", no_punct=True),
}
"""All combinations of the choices, by the name of the tokenizer."""

_DESCRIPTIONS: Mapping[SymbolName, str] = {
    "word": "words between spaces, after runs of white space became a space",
    "character": "characters, after white space at both ends was removed",
}

JIWER_TOKENIZERS: Mapping[JiwerName, Tokenizer] = {
    name: Tokenizer(
        name,
        _DESCRIPTIONS[choices.symbol],
        "jiwer 4",
        takes_tokenized_text=True,
        splits=ALL_SCRIPTS if choices.symbol == "character" else (),
        remedy="CER, which needs no words",
        by_unicode=choices.no_punct,
    )
    for name, choices in JIWER.items()
}
