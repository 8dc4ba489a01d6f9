"""The words of ROUGE, as rouge_score's default tokenizer makes them, with and without its stemmer.

The function is in `rouge_rewriting.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from beam_bleu.transforms.text.tokenizers import ALL_SCRIPTS, RougeName, Tokenizer

_WORDS = "runs of the letters a-z and of the digits 0-9 in the lower-cased text"

IS_STEMMED: Mapping[RougeName, bool] = {"rouge": False, "rouge-stemmed": True}
"""By tokenizer, whether words are stemmed."""

ROUGE_TOKENIZERS: Mapping[RougeName, Tokenizer] = {
    name: Tokenizer(
        name,
        f"{_WORDS}; NLTK's Porter stemmer stems those of more than 3 characters"
        if is_stemmed
        else _WORDS,
        "rouge_score",
        takes_tokenized_text=True,
        # It ignores most of them. ROUGE itself warns about text of which it sees little.
        splits=ALL_SCRIPTS,
    )
    for name, is_stemmed in IS_STEMMED.items()
}
"""The tokenizers, by name."""
