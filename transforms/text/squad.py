"""The words of answers to questions, as SQuAD's evaluation has them. squad_rewriting.py finds them.

Both tokenizers have the same words. A clause without spaces is one of them. A measure that counts
words needs more, but one that compares whole answers does not.
"""

from __future__ import annotations

from collections.abc import Mapping

from beam_bleu.transforms.text.tokenizers import ALL_SCRIPTS, SquadName, Tokenizer

_WORDS = (
    "words between white space, after ASCII punctuation marks and the articles a, an and the are "
    "removed"
)
_EQUALS = "SQuAD's evaluate-v2.0.py, for lower-cased text"

SQUAD_TOKENIZERS: Mapping[SquadName, Tokenizer] = {
    "squad": Tokenizer(
        "squad",
        _WORDS,
        _EQUALS,
        takes_tokenized_text=True,
        remedy="chrF, which needs no words",
    ),
    "squad-whole": Tokenizer(
        "squad-whole", _WORDS, _EQUALS, takes_tokenized_text=True, splits=ALL_SCRIPTS
    ),
}
"""The tokenizers, by name."""
