"""The steps of each tokenizer: changes of a text, and the rule that splits the result."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Callable
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.text_columns import TextColumns, padded
from beam_bleu.transforms.text.byte_classes import WHITE_CODES, code_points_of
from beam_bleu.transforms.text.library_tokenizers import normalized, tokenized
from beam_bleu.transforms.text.rewriting import lowered, without_skipped
from beam_bleu.transforms.text.rouge import rouge_rewritten
from beam_bleu.transforms.text.spacing import spaced, squad_rewritten
from beam_bleu.transforms.text.text import NormalizationName, Text
from beam_bleu.transforms.text.tokenization import (
    ASCII_SPACE,
    CHARACTERS,
    MTEVAL_13A,
    SPACE,
    WHITE_SPACE,
)

_WHITE_SPACE = "".join(map(chr, WHITE_CODES))

# Expressions, and what replaces their matches. As in 13a, &amp;lt; becomes <, but &amp;quot;
# becomes &quot;.
_REPLACED = (
    ("\n-", ""),
    ("\n", " "),
    ("&quot;", '"'),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
    (f"[{_WHITE_SPACE}]+$", ""),
    (r"([!-&(-+/:-@\[-`{-~])", r" \1 "),
    (r"'s( |$)", r" 's "),
    (r"(^|[^0-9])([.,])", r"\1 \2 "),
    (r"([.,])([^0-9]|$)", r" \1 \2"),
    (r"([0-9])(-)", r"\1 \2 "),
)
_ASIAN_MARKS = (
    "\u3001\u3002\u3008-\u3011\u3014-\u301f\uff61-\uff65\u30fb"  # Asian punctuation
    "\uff0e\uff0c\uff1f\uff1a\uff1b\uff01\uff02\uff08\uff09"  # full-width punctuation
)
_CHINESE = "\u2e80-\u2eff\u31c0-\u31ef\u3200-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f"
_MARKS = '.,?:;!"()'


def tercom_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The texts after Tercom's changes, which are then split at white space: the expressions of
    sacreBLEU's `tokenizer_ter.py`, in order, except what changes no word: overlapping ranges of
    Asian characters, and three expressions for hiragana and katakana, which never match.
    """
    choices = text.tokenizer.choices
    is_normalized, is_asian = "norm" in choices, "asian" in choices
    if is_normalized:
        for pattern, new in _REPLACED:
            column = pc.replace_substring_regex(column, pattern, new)
        if is_asian:
            column = pc.replace_substring_regex(column, f"([{_CHINESE}{_ASIAN_MARKS}])", r" \1 ")
    if "no-punct" in choices:
        removed = _MARKS + (_ASIAN_MARKS if is_asian else "")
        column = pc.replace_substring_regex(column, f"[{removed}]", "")
    if is_normalized:  # for references, which are normalized again
        column = pc.replace_substring_regex(column, f"[{_WHITE_SPACE}]+", " ")
    return column


def jiwer_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    """The texts after a normalizer, if there is one, and jiwer's default transforms, except the
    split at spaces: a single tab or no-break space stays a part of a word.
    """
    if text.tokenizer.normalizer is not None:
        column = normalized(column, text.tokenizer.normalizer.name)
    if "no-punct" in text.tokenizer.choices:
        column = pc.replace_substring_regex(column, f"[{code_points_of('P')}]+", "")
    if text.tokenizer.family == "jiwer-words":
        column = pc.replace_substring_regex(column, f"[{_WHITE_SPACE}]{{2,}}", " ")
    return pc.utf8_trim(column, _WHITE_SPACE)


def split_words(column: pa.LargeStringArray) -> Integers:
    """The number of words of each text, int64 (rows,), as in `re.split`: white space at an end
    makes an empty word, and an empty text has one; 0 for a null.
    """
    runs = pc.count_substring_regex(column, f"[{_WHITE_SPACE}]+").to_numpy(zero_copy_only=False)
    words: Integers = np.nan_to_num(runs + 1).astype(np.int64)
    return words


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
    "flores101": (WHITE_SPACE, tokenized),
    "flores200": (WHITE_SPACE, tokenized),
    "spBLEU-1K": (WHITE_SPACE, tokenized),
    # Those of metrics, which read their choices.
    "squad": (ASCII_SPACE, squad_rewritten),
    "tercom": (WHITE_SPACE, tercom_rewritten),
    "jiwer-words": (SPACE, jiwer_rewritten),
    "jiwer-characters": (CHARACTERS, jiwer_rewritten),
    "rouge": (ASCII_SPACE, rouge_rewritten),
}
"""By family of tokenizers: the rule that splits texts, and what changes a padded column before."""

_FORMS: dict[NormalizationName, Literal["NFC", "NFKC"]] = {"nfc": "NFC", "nfkc": "NFKC"}


def splittable(texts: TextColumns, text: Text, reference_count: int) -> TextColumns:
    """The texts, references first, before they are split; the same object if nothing changes."""
    if text.normalize is not None or text.lowercase:
        texts = texts.changed(lambda column: padded(_cased(column, text)))
    if text.tokenize == "13a":  # all columns at once: few texts change
        return without_skipped(texts)
    _, change = _STEPS[text.tokenizer.family]
    if change is None:
        return texts
    changed = texts.changed(lambda column: padded(change(column, text)))
    if changed is texts or text.tokenizer.family != "tercom":
        return changed
    # sacreBLEU splits a reference, and then the words of the result, but a candidate only once.
    # The second time can split more: from "1,.,2" come the words 1 , . ,2 and then 1 , . , 2.
    references = [padded(change(column, text)) for column in changed.columns[:reference_count]]
    return TextColumns([*references, *changed.columns[reference_count:]])


def changed_alike(text: Text) -> Text:
    return dataclasses.replace(text, tokenize="squad") if text.tokenize == "squad-whole" else text


def _cased(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    if text.normalize is not None:
        column = _normalized(column, text.normalize)
    if not text.lowercase:
        return column
    cased = lowered(column, only_ascii=text.lowercase == "ascii")
    # A lower-case letter can have a composed form that its upper case does not have (U+01F0).
    return cased if text.normalize is None else _normalized(cased, text.normalize)


def _normalized(column: pa.LargeStringArray, form: NormalizationName) -> pa.LargeStringArray:
    texts = column.to_pylist()
    changed = [text and unicodedata.normalize(_FORMS[form], text) for text in texts]
    return column if changed == texts else pa.array(changed, pa.large_string())


def rule_of(text: Text) -> int:
    return _STEPS[text.tokenizer.family][0]
