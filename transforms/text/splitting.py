"""The steps of each tokenizer: changes of a text, and the rule that splits the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pyarrow as pa

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.jiwer import JIWER, JiwerSymbols
from beam_bleu.transforms.text.jiwer_rewriting import jiwer_rewritten
from beam_bleu.transforms.text.library_tokenizers import tokenized
from beam_bleu.transforms.text.normalizing import normalized
from beam_bleu.transforms.text.rewriting import lowered, without_skipped
from beam_bleu.transforms.text.rouge import IS_STEMMED
from beam_bleu.transforms.text.rouge_rewriting import rouge_rewritten
from beam_bleu.transforms.text.spacing import spaced
from beam_bleu.transforms.text.squad_rewriting import squad_rewritten
from beam_bleu.transforms.text.tercom import TERCOM, Tercom
from beam_bleu.transforms.text.tercom_rewriting import tercom_rewritten
from beam_bleu.transforms.text.text import Lowercase, Text
from beam_bleu.transforms.text.tokenization import (
    ASCII_SPACE,
    CHARACTERS,
    MTEVAL_13A,
    SPACE,
    WHITE_SPACE,
)
from beam_bleu.transforms.text.tokenizers import AnyTokenizerName

_Rewrite = Callable[[TextColumns, Text], TextColumns]
_ChangeCase = Callable[[pa.LargeStringArray], pa.LargeStringArray]


class _Tokenizer(NamedTuple):
    """A tokenizer.

    Attributes:
      rewrite: a function that rewrites texts.
      rule: the rule that splits the rewritten texts.
      twice: whether references are rewritten twice.
      alike: another tokenizer that rewrites texts in the same way; None if none comes before this
        one in the table.
    """

    rewrite: _Rewrite
    rule: int
    twice: bool = False
    alike: AnyTokenizerName | None = None


def _unchanged(texts: TextColumns, _text: Text) -> TextColumns:
    return texts


def _as_13a(texts: TextColumns, _text: Text) -> TextColumns:
    return without_skipped(texts)


def _with_spaces(texts: TextColumns, text: Text) -> TextColumns:
    return texts.changed(lambda column: spaced(column, text.tokenize))


def _as_tercom(texts: TextColumns, _text: Text, choices: Tercom) -> TextColumns:
    return texts.changed(lambda column: padded(tercom_rewritten(column, choices)))


def _as_squad(texts: TextColumns, _text: Text) -> TextColumns:
    return texts.changed(squad_rewritten)


def _as_jiwer(texts: TextColumns, _text: Text, choices: JiwerSymbols) -> TextColumns:
    return texts.changed(lambda column: padded(jiwer_rewritten(column, choices)))


def _as_rouge(texts: TextColumns, _text: Text, is_stemmed: bool) -> TextColumns:
    return rouge_rewritten(texts, is_stemmed)


def _by_library(texts: TextColumns, text: Text) -> TextColumns:
    return texts.changed(lambda column: padded(tokenized(column, text)))


_TOKENIZERS: dict[str, _Tokenizer] = {
    "13a": _Tokenizer(_as_13a, MTEVAL_13A),
    "intl": _Tokenizer(_with_spaces, WHITE_SPACE),
    "zh": _Tokenizer(_with_spaces, WHITE_SPACE),
    "char": _Tokenizer(_unchanged, CHARACTERS),
    "none": _Tokenizer(_unchanged, WHITE_SPACE),
    "ascii-space": _Tokenizer(_unchanged, ASCII_SPACE),
    "ja-mecab": _Tokenizer(_by_library, WHITE_SPACE),
    "ko-mecab": _Tokenizer(_by_library, WHITE_SPACE),
    "spm": _Tokenizer(_by_library, WHITE_SPACE),
    # sacreBLEU splits a reference, and then the words of the result, but a candidate only once. The
    # second time can split more: from "1,.,2" come the words 1 , . ,2 and then 1 , . , 2.
    **{
        name: _Tokenizer(partial(_as_tercom, choices=choices), WHITE_SPACE, twice=True)
        for name, choices in TERCOM.items()
    },
    "squad": _Tokenizer(_as_squad, ASCII_SPACE),
    "squad-whole": _Tokenizer(_as_squad, ASCII_SPACE, alike="squad"),
    **{
        name: _Tokenizer(
            partial(_as_jiwer, choices=choices), SPACE if choices.symbol == "word" else CHARACTERS
        )
        for name, choices in JIWER.items()
    },
    **{
        name: _Tokenizer(partial(_as_rouge, is_stemmed=is_stemmed), ASCII_SPACE)
        for name, is_stemmed in IS_STEMMED.items()
    },
}


def _ascii_lowered(column: pa.LargeStringArray) -> pa.LargeStringArray:
    return lowered(column, only_ascii=True)


def _same(column: pa.LargeStringArray) -> pa.LargeStringArray:
    return column


_CASES: dict[Lowercase, _ChangeCase] = {
    True: lowered,
    "ascii": _ascii_lowered,
    False: _same,
}


def splittable(texts: TextColumns, text: Text, reference_count: int) -> TextColumns:
    """The texts after all steps before splitting; the same object if no step changes a text.

    Args:
      texts: the texts; references come first.
      text: the steps.
      reference_count: the number of columns with references.
    """
    tokenizer = _TOKENIZERS[text.tokenize]
    change_case = _CASES[text.lowercase]
    if text.normalize is not None or change_case is not _same:
        texts = texts.changed(lambda column: padded(_cased(column, text, change_case)))
    rewritten = tokenizer.rewrite(texts, text)
    if not tokenizer.twice or rewritten is texts:
        return rewritten
    references = TextColumns(rewritten.columns[:reference_count])
    again = tokenizer.rewrite(references, text)
    return TextColumns([*again.columns, *rewritten.columns[reference_count:]])


def changed_alike(text: Text) -> Text:
    """Other steps for which `splittable` gives the same texts; these steps if there are none."""
    alike = _TOKENIZERS[text.tokenize].alike
    return text if alike is None else dataclasses.replace(text, tokenize=alike)


def _cased(
    column: pa.LargeStringArray, text: Text, change_case: _ChangeCase
) -> pa.LargeStringArray:
    """The column after normalization and the change of case."""
    if text.normalize is not None:
        column = normalized(column, text.normalize)
    cased = change_case(column)
    if text.normalize is not None and cased is not column:
        # A lower-case letter can have a composed form that its upper case does not have (U+01F0).
        cased = normalized(cased, text.normalize)
    return cased


def rule_of(tokenize: AnyTokenizerName) -> int:
    """The rule with which `tokenize` splits the texts from `splittable`."""
    return _TOKENIZERS[tokenize].rule
