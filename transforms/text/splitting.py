"""The steps of each tokenizer: changes of a text, and the rule that splits the result."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

import pyarrow as pa

from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.library_tokenizers import tokenized
from beam_bleu.transforms.text.normalizing import normalized
from beam_bleu.transforms.text.patterns import jiwer_rewritten, tercom_rewritten
from beam_bleu.transforms.text.rewriting import lowered, without_skipped
from beam_bleu.transforms.text.rouge import rouge_rewritten
from beam_bleu.transforms.text.spacing import spaced
from beam_bleu.transforms.text.squad import squad_rewritten
from beam_bleu.transforms.text.text import Lowercase, Text
from beam_bleu.transforms.text.tokenization import (
    ASCII_SPACE,
    CHARACTERS,
    MTEVAL_13A,
    SPACE,
    WHITE_SPACE,
)
from beam_bleu.transforms.text.tokenizers import ALL_TOKENIZERS, AnyTokenizerName

_Change = Callable[[pa.LargeStringArray], pa.LargeStringArray]


@dataclasses.dataclass(frozen=True)
class _Steps:
    """How a tokenizer splits texts.

    Attributes:
      rule: the rule that splits the rewritten texts.
      change: rewrites a padded column; None if texts stay, or for 13a and those of libraries.
      twice: whether references are rewritten twice.
    """

    rule: int
    change: _Change | None = None
    twice: bool = False


_SQUAD = _Steps(ASCII_SPACE, squad_rewritten)

_STEPS: dict[str, _Steps] = {
    "13a": _Steps(MTEVAL_13A),
    "intl": _Steps(WHITE_SPACE, partial(spaced, tokenize="intl")),
    "zh": _Steps(WHITE_SPACE, partial(spaced, tokenize="zh")),
    "char": _Steps(CHARACTERS),
    "none": _Steps(WHITE_SPACE),
    "ascii-space": _Steps(ASCII_SPACE),
    # Those of libraries.
    "ja-mecab": _Steps(WHITE_SPACE),
    "ko-mecab": _Steps(WHITE_SPACE),
    "spm": _Steps(WHITE_SPACE),
    # Those of metrics.
    "squad": _SQUAD,
    "squad-whole": _SQUAD,
}


def _steps(tokenize: AnyTokenizerName) -> _Steps:
    if tokenize.startswith("tercom"):
        # sacreBLEU splits a reference, and then the words of the result, but a candidate only once.
        # The second time can split more: from "1,.,2" come the words 1 , . ,2 and then 1 , . , 2.
        return _Steps(WHITE_SPACE, partial(tercom_rewritten, tokenize=tokenize), twice=True)
    if tokenize.startswith("jiwer"):
        rule = SPACE if "words" in tokenize else CHARACTERS
        return _Steps(rule, partial(jiwer_rewritten, tokenize=tokenize))
    if tokenize.startswith("rouge"):
        return _Steps(ASCII_SPACE, partial(rouge_rewritten, tokenize=tokenize))
    return _STEPS[tokenize]


def _rewritten(texts: TextColumns, text: Text) -> TextColumns:
    """The texts after the changes of a tokenizer; the same object if it changes none."""
    if text.tokenize == "13a":
        return without_skipped(texts)
    change = _steps(text.tokenize).change
    if ALL_TOKENIZERS[text.tokenize].extra is not None:
        change = partial(tokenized, text=text)
    if change is None:
        return texts
    return texts.changed(lambda column: padded(change(column)))


_CASES: dict[Lowercase, _Change | None] = {
    True: lowered,
    "ascii": partial(lowered, only_ascii=True),
    False: None,
}


def splittable(texts: TextColumns, text: Text, reference_count: int) -> TextColumns:
    """The texts after all steps before splitting; the same object if no step changes a text.

    Args:
      texts: the texts; references come first.
      text: the steps.
      reference_count: the number of columns with references.
    """
    steps = _steps(text.tokenize)
    change_case = _CASES[text.lowercase]
    if text.normalize is not None or change_case is not None:
        texts = texts.changed(lambda column: padded(_cased(column, text, change_case)))
    rewritten = _rewritten(texts, text)
    if not steps.twice or rewritten is texts:
        return rewritten
    references = TextColumns(rewritten.columns[:reference_count])
    again = _rewritten(references, text)
    return TextColumns([*again.columns, *rewritten.columns[reference_count:]])


def changed_alike(text: Text) -> Text:
    """Other steps for which `splittable` gives the same texts; these steps if there are none."""
    return dataclasses.replace(text, tokenize="squad") if text.tokenize == "squad-whole" else text


def _cased(
    column: pa.LargeStringArray, text: Text, change_case: _Change | None
) -> pa.LargeStringArray:
    """The column after normalization and the change of case."""
    if text.normalize is not None:
        column = normalized(column, text.normalize)
    cased = column if change_case is None else change_case(column)
    if text.normalize is not None and cased is not column:
        # A lower-case letter can have a composed form that its upper case does not have (U+01F0).
        cased = normalized(cased, text.normalize)
    return cased


def rule_of(tokenize: AnyTokenizerName) -> int:
    """The rule with which `tokenize` splits the texts from `splittable`."""
    return _steps(tokenize).rule
