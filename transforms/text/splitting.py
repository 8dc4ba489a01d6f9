"""The steps of each tokenizer: changes of a text, and the rule that splits the result."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable
from typing import Literal

import pyarrow as pa

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.library_tokenizers import tokenized
from beam_bleu.transforms.text.patterns import jiwer_rewritten, tercom_rewritten
from beam_bleu.transforms.text.rewriting import lowered, without_skipped
from beam_bleu.transforms.text.rouge import rouge_rewritten
from beam_bleu.transforms.text.spacing import spaced
from beam_bleu.transforms.text.squad import squad_rewritten
from beam_bleu.transforms.text.text import NormalizationName, Text
from beam_bleu.transforms.text.tokenization import (
    ASCII_SPACE,
    CHARACTERS,
    MTEVAL_13A,
    SPACE,
    WHITE_SPACE,
)
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, AnyTokenizerName

_Change = Callable[[pa.LargeStringArray, Text], pa.LargeStringArray]

_STEPS: dict[str, tuple[int, _Change | None]] = {
    "13a": (MTEVAL_13A, None),
    "intl": (WHITE_SPACE, spaced),
    "zh": (WHITE_SPACE, spaced),
    "char": (CHARACTERS, None),
    "none": (WHITE_SPACE, None),
    "ascii-space": (ASCII_SPACE, None),
    "ja-mecab": (WHITE_SPACE, tokenized),
    "ko-mecab": (WHITE_SPACE, tokenized),
    "spm": (WHITE_SPACE, tokenized),
    # Those of metrics: how their names begin. The choices come after it.
    "squad": (ASCII_SPACE, squad_rewritten),
    "tercom": (WHITE_SPACE, tercom_rewritten),
    "jiwer-words": (SPACE, jiwer_rewritten),
    "jiwer-characters": (CHARACTERS, jiwer_rewritten),
    "rouge": (ASCII_SPACE, rouge_rewritten),
}
"""For each tokenizer, the rule that splits the changed texts, and what changes a padded column."""


_FORMS: dict[NormalizationName, Literal["NFC", "NFKC"]] = {"nfc": "NFC", "nfkc": "NFKC"}


def _steps(tokenize: AnyTokenizerName) -> tuple[int, _Change | None]:
    if tokenize in TOKENIZERS:
        return _STEPS[tokenize]
    return next(steps for name, steps in _STEPS.items() if tokenize.startswith(name))


def splittable(texts: TextColumns, text: Text, reference_count: int) -> TextColumns:
    """The texts, references first, before they are split; the same object if nothing changes."""
    if text.normalize is not None or text.lowercase:
        texts = texts.changed(lambda column: padded(_cased(column, text)))
    if text.tokenize == "13a":  # all columns at once: few texts change
        return without_skipped(texts)
    _, change = _steps(text.tokenize)
    if change is None:
        return texts
    changed = texts.changed(lambda column: padded(change(column, text)))
    if changed is texts or not text.tokenize.startswith("tercom"):
        return changed
    # sacreBLEU splits a reference, and then the words of the result, but a candidate only once.
    # The second time can split more: from "1,.,2" come the words 1 , . ,2 and then 1 , . , 2.
    references = [padded(change(column, text)) for column in changed.columns[:reference_count]]
    return TextColumns([*references, *changed.columns[reference_count:]])


def changed_alike(text: Text) -> Text:
    """Other steps for which `splittable` gives the same texts; these steps if there are none."""
    return dataclasses.replace(text, tokenize="squad") if text.tokenize == "squad-whole" else text


def _cased(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The column after normalization and the change of case."""
    if text.normalize is not None:
        column = _normalized(column, text.normalize)
    if not text.lowercase:
        return column
    cased = lowered(column, only_ascii=text.lowercase == "ascii")
    # A lower-case letter can have a composed form that its upper case does not have (U+01F0).
    return cased if text.normalize is None else _normalized(cased, text.normalize)


def _normalized(column: pa.LargeStringArray, form: NormalizationName) -> pa.LargeStringArray:
    """The column in a normal form of Unicode, by the tables of the running Python."""
    texts = column.to_pylist()
    changed = [text and unicodedata.normalize(_FORMS[form], text) for text in texts]
    return column if changed == texts else pa.array(changed, pa.large_string())


def rule_of(tokenize: AnyTokenizerName) -> int:
    """The rule with which `tokenize` splits the texts from `splittable`."""
    return _steps(tokenize)[0]
