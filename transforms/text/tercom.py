"""The words of TER: the choices of Tercom's tokenizer, as sacreBLEU has them.

Each combination of the choices is a tokenizer with a name of its own. The functions are in
`tercom_rewriting.py`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

from beam_bleu.transforms.definition.choices import require_flag
from beam_bleu.transforms.text.tokenizers import TercomName, Tokenizer


@dataclasses.dataclass(frozen=True)
class Tercom:
    """How a text becomes words, which are the parts between white space.

    Attributes:
      normalized: whether entities are replaced, and punctuation marks and the English 's become
        words.
      no_punct: whether punctuation marks are removed.
      asian_support: whether the other choices are also for Asian characters: if normalized, each
        Chinese character and each Asian punctuation mark becomes a word; if `no_punct`, these marks
        are removed.

    Raises:
      ValueError: a field is neither True nor False.
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            require_flag(field.name, getattr(self, field.name))

    @property
    def name(self) -> TercomName:
        """The name of the tokenizer, a key of `TERCOM_TOKENIZERS`."""
        return next(name for name, choices in TERCOM.items() if choices == self)


_WORDS = {"normalized": "norm", "no_punct": "no-punct", "asian_support": "asian"}


def _name(choices: Mapping[str, bool]) -> TercomName:
    words = (_WORDS[choice] for choice, chosen in choices.items() if chosen)
    name: TercomName = "-".join(["tercom", *words])  # type: ignore[assignment]
    return name


_ALL = [
    dict(zip(_WORDS, chosen, strict=True)) for chosen in itertools.product([False, True], repeat=3)
]

TERCOM: Mapping[TercomName, Tercom] = {_name(choices): Tercom(**choices) for choices in _ALL}
"""All combinations of the choices, by the name of the tokenizer."""

TERCOM_TOKENIZERS: Mapping[TercomName, Tokenizer] = {
    name: Tokenizer(
        name,
        "words between white space, after Tercom's changes of the text",
        "sacreBLEU 2.6",
        takes_tokenized_text=True,
        splits=("chinese",) if choices.normalized and choices.asian_support else (),
        remedy="chrF, which needs no words, or, for Chinese, TER with --ter_normalized and "
        "--ter_asian_support",
    )
    for name, choices in TERCOM.items()
}
