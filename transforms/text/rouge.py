"""The words of ROUGE: what rouge_score's `tokenize` makes of a text, separated by white space.

It lower-cases the text like `str.lower`, and replaces all but a-z and 0-9 by spaces. Of characters
beyond ASCII, the Kelvin sign becomes k, and U+0130 becomes i and a combining dot. The texts keep
their sizes, and so their places. Newlines stay, because they separate the sentences of ROUGE-Lsum.
A tab takes the place of a character beyond ASCII, and a space that of all others.

The stemmer is Porter's (1980, https://tartarus.org/~martin/PorterStemmer/def.txt) with NLTK's
extensions: irregular words; `ies` and `ied` become `ie` in words of 4 letters, and otherwise `i`;
`y` becomes `i` only after a consonant that is not the first letter; a stem of a vowel and a
consonant ends like a short syllable, too; `bli` stands for `abli`, `alli` is tried before all other
rules of step 2, and there are rules for `fulli` and `logi`. Digits are consonants.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import compiled, inlined, inner
from beam_bleu.transforms.native.memory import (
    BLOCK,
    READ_AHEAD,
    address_of,
    clear_lowest_bit,
    load_byte,
    load_int,
    load_word,
    lowest_bit,
    store_byte,
)
from beam_bleu.transforms.native.text_columns import offsets_of, padded, padded_column
from beam_bleu.transforms.text.byte_classes import (
    WHITE_CODES,
    ascii_white_space_mask,
    code_points_of,
    copy_lower_block,
    dotted_capital_mask,
    replace_block_by_spaces,
    replace_block_by_tabs,
)
from beam_bleu.transforms.text.rewriting import lowered
from beam_bleu.transforms.text.text import Text

LONGEST_RULE = 8
"""The bytes before the end of a word that are read, even if the word is shorter."""

# The rules of each step: a suffix, and what takes its place if the measure of the stem before it is
# large enough. The letters before a bar belong to this stem, too.
_STEP_2 = (
    "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e "
    "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
    "aliti:al iviti:ive biliti:ble fulli:ful l|ogi:og"
)
_STEP_3 = "icate:ic ative: alize:al iciti:ic ical:ic ful: ness:"
_STEP_4 = (
    "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ou: ism: ate: iti: ous: ive: ize: "
    "s|ion: t|ion:"
)
# Whole words. None is the end of another one.
_IRREGULAR = (
    "skies:sky dying:die lying:lie tying:tie innings:inning outings:outing cannings:canning "
    "news:news inning:inning outing:outing canning:canning howe:howe proceed:proceed "
    "exceed:exceed succeed:succeed"
)

_ENDS = 128
_SUFFIX, _SHIFT, _SIZE, _STEM_END, _REPLACEMENT, _REPLACEMENT_SIZE, _RULE_INTS = range(7)
_VOWELS = sum(1 << (ord(vowel) - ord("a")) for vowel in "aeiou")


def _word(letters: str) -> int:
    return int.from_bytes(letters.encode(), "little")


def _table(rules: str) -> Integers:
    """The rules of a step, in the order of their last letters, after the bounds of each letter."""
    bounds, rows = [0], []
    pairs = [rule.split(":") for rule in rules.split()]
    for end in range(_ENDS):
        for marked, replacement in pairs:
            suffix, in_stem = marked.replace("|", ""), max(marked.find("|"), 0)
            if suffix[-1] == chr(end):
                size = len(suffix)
                rows += [_word(suffix), 64 - 8 * size, size, size - in_stem]
                rows += [_word(replacement), len(replacement)]
        bounds.append(len(rows) // _RULE_INTS)
    return np.array([*bounds, *rows], np.int64)


RULES = (_IRREGULAR, _STEP_2, _STEP_3, _STEP_4)
TABLES = tuple(map(_table, RULES))


@inlined
def _is_vowel_letter(letter):
    place = letter - ord("a")
    return place >= 0 and (_VOWELS >> place) & 1 == 1


@inlined
def _is_vowel(letter, after_consonant):
    return _is_vowel_letter(letter) or (letter == ord("y") and after_consonant)


@inner
def _is_consonant(start, at):
    run = at
    while run > start and load_byte(run) == ord("y"):
        run -= 1
    # Each y of the run that ends here is what the letter before it is not.
    return _is_vowel_letter(load_byte(run)) == ((at - run) & 1 == 1)


@inner
def _measure(start, end):
    """How often a consonant follows a vowel: Porter's m."""
    changes = 0
    was_vowel = after_consonant = False
    for at in range(start, end):
        is_vowel = _is_vowel(load_byte(at), after_consonant)
        changes += was_vowel and not is_vowel
        was_vowel, after_consonant = is_vowel, not is_vowel
    return changes


@inner
def _has_vowel(start, end):
    after_consonant = False
    for at in range(start, end):
        if _is_vowel(load_byte(at), after_consonant):
            return True
        after_consonant = True
    return False


@inner
def _is_short(start, end):
    """Whether a stem ends like a short syllable, such as `hop`: Porter's *o."""
    size = end - start
    if size == 2:
        return not _is_consonant(start, start) and _is_consonant(start, start + 1)
    if size < 3 or not _is_consonant(start, end - 1) or _is_consonant(start, end - 2):
        return False
    last = load_byte(end - 1)
    is_long = last == ord("w") or last == ord("x") or last == ord("y")
    return not is_long and _is_consonant(start, end - 3)


def _ending(suffix: str) -> Any:
    """Makes a function (start, end): whether a word at these addresses ends with a suffix."""
    size = len(suffix)
    letters, mask = np.uint64(_word(suffix)), np.uint64((1 << 8 * size) - 1)

    @inlined
    def ends(start, end):
        return end - start >= size and load_word(end - size) & mask == letters

    return ends


_ends_ies, _ends_sses, _ends_ss = map(_ending, ("ies", "sses", "ss"))
_ends_ied, _ends_eed, _ends_ed, _ends_ing = map(_ending, ("ied", "eed", "ed", "ing"))
_ends_at, _ends_bl, _ends_iz = map(_ending, ("at", "bl", "iz"))
_ends_alli, _ends_ll = map(_ending, ("alli", "ll"))


@inner
def _rule_of(start, end, rules):
    """The address of the first rule of a table whose suffix a word has; 0 if there is none."""
    bounds = rules + load_byte(end - 1) * 8
    tail = load_word(end - LONGEST_RULE)
    row = rules + (_ENDS + 1 + load_int(bounds, 0) * _RULE_INTS) * 8
    for _ in range(load_int(bounds, 0), load_int(bounds, 1)):
        suffix = np.uint64(load_int(row, _SUFFIX))
        is_suffix = tail >> np.uint64(load_int(row, _SHIFT)) == suffix
        if is_suffix and end - start >= load_int(row, _SIZE):
            return row
        row += _RULE_INTS * 8
    return 0


@inner
def _with_rule(start, end, rules, least):
    """Applies a rule whose stem has at least the measure `least`; returns the new end."""
    row = _rule_of(start, end, rules)
    if row == 0:
        return end
    stem_end = end - load_int(row, _STEM_END)
    if _measure(start, stem_end) < least:
        return end
    return _with_replacement(stem_end, row)


@inlined
def _with_replacement(stem_end, row):
    replacement = load_int(row, _REPLACEMENT)
    for _ in range(load_int(row, _REPLACEMENT_SIZE)):
        store_byte(stem_end, replacement)
        replacement >>= 8
        stem_end += 1
    return stem_end


@inlined
def _without_plural(start, end):
    """Step 1a; returns the new end."""
    if load_byte(end - 1) != ord("s") or (_ends_ss(start, end) and not _ends_sses(start, end)):
        return end
    if _ends_ies(start, end):
        return end - 1 if end - start == 4 else end - 2
    return end - 2 if _ends_sses(start, end) else end - 1


@inner
def _without_past(start, end):
    """Step 1b, the endings `ed` and `ing`; returns the new end."""
    if _ends_ied(start, end):
        return end - 1 if end - start == 4 else end - 2
    if _ends_eed(start, end):
        return end - 1 if _measure(start, end - 3) > 0 else end
    stem_end = end
    if _ends_ed(start, end):
        stem_end = end - 2
    elif _ends_ing(start, end):
        stem_end = end - 3
    if stem_end == end or not _has_vowel(start, stem_end):
        return end
    last = load_byte(stem_end - 1)
    is_with_e = _ends_at(start, stem_end) or _ends_bl(start, stem_end) or _ends_iz(start, stem_end)
    if not is_with_e:
        if (
            stem_end - start >= 2
            and last == load_byte(stem_end - 2)
            and _is_consonant(start, stem_end - 1)
        ):
            is_kept = last == ord("l") or last == ord("s") or last == ord("z")
            return stem_end if is_kept else stem_end - 1
        is_with_e = _measure(start, stem_end) == 1 and _is_short(start, stem_end)
    if is_with_e:
        store_byte(stem_end, ord("e"))
        stem_end += 1
    return stem_end


@inner
def stem(start, end, tables):
    """Writes the stem of a word of 3 letters or more in place of it; returns the end of the stem.

    The LONGEST_RULE bytes before the word's end can be read.
    """
    irregular, step_2, step_3, step_4 = tables
    row = _rule_of(start, end, irregular)
    if row != 0 and end - start == load_int(row, _SIZE):
        return _with_replacement(start, row)
    end = _without_past(start, _without_plural(start, end))
    if load_byte(end - 1) == ord("y") and end - start > 2 and _is_consonant(start, end - 2):
        store_byte(end - 1, ord("i"))
    if _ends_alli(start, end) and _measure(start, end - 4) > 0:
        end -= 2
    end = _with_rule(start, end, step_2, 1)
    end = _with_rule(start, end, step_3, 1)
    end = _with_rule(start, end, step_4, 2)
    if load_byte(end - 1) == ord("e"):
        measure = _measure(start, end - 1)
        if measure > 1 or (measure == 1 and not _is_short(start, end - 1)):
            end -= 1
    if _ends_ll(start, end) and _measure(start, end - 1) > 1:
        end -= 1
    return end


LONGEST_WITHOUT_STEM = 3
_NOTHING, _ONE = np.uint64(0), np.uint64(1)
_LAST = np.uint64(BLOCK - 1)
_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)


def rouge_rewritten(column: pa.LargeStringArray, text: Text) -> pa.LargeStringArray:
    choices = text.tokenizer.choices
    if "unicode" in choices:
        between = f"[^{code_points_of('LMN')}\n]+"
        return pc.replace_substring_regex(lowered(column), between, " ")
    if "char" in choices:
        spaces = "".join(map(chr, WHITE_CODES)).replace("\n", "")
        column = pc.replace_substring_regex(lowered(column), f"[{spaces}]+", " ")
        return pc.replace_substring_regex(column, r"([^ \n])", r"\1 ")
    column = padded(pc.replace_substring(column, "\N{KELVIN SIGN}", "k"))
    offsets = offsets_of(column)
    size = int(offsets[-1] - offsets[0])
    # The stemmer reads before the first word.
    memory = np.zeros(LONGEST_RULE + size + BLOCK + READ_AHEAD, np.uint8)
    words = memory[LONGEST_RULE:]
    _keep_words(column.buffers()[2].address + int(offsets[0]), size, words)
    words[size:] = 0
    starts = offsets - offsets[0]
    if "stemmed" in choices:
        _stem_words(words, starts, _tables())
    return padded_column(words, starts, column)


@compiled
def _keep_words(source, size, words):
    target = address_of(words)
    for at in range(0, size, BLOCK):
        dotted = dotted_capital_mask(source + at)[0]
        copy_lower_block(target + at, source + at)
        replace_block_by_spaces(target + at, target + at)
        replace_block_by_tabs(target + at, target + at)
        while dotted != _NOTHING:
            store_byte(target + at + lowest_bit(dotted), ord("i"))
            dotted = clear_lowest_bit(dotted)


@cache
def _tables() -> tuple[int, ...]:
    return tuple(table.ctypes.data for table in TABLES)


@compiled
def _stem_words(words, starts, tables):
    """Writes the stem of each long word in place of it, and spaces after it."""
    first = address_of(words)
    for row in range(starts.size - 1):
        _stem_text(first + starts[row], first + starts[row + 1], tables)


@inner
def _stem_text(start, end, tables):
    word = start
    was_word = _NOTHING
    for block in range(start, end, BLOCK):
        left = end - block
        inside = _ALL if left >= BLOCK else (_ONE << np.uint64(left)) - _ONE
        of_words = ~ascii_white_space_mask(block) & inside
        # Where a word begins, and where it ends, in turn.
        edges = of_words ^ ((of_words << _ONE) | was_word)
        is_word = was_word != _NOTHING
        was_word = of_words >> _LAST
        while edges != _NOTHING:
            at = block + lowest_bit(edges)
            edges = clear_lowest_bit(edges)
            if is_word:
                _stem_word(word, at, tables)
            word = at
            is_word = not is_word
    if was_word != _NOTHING:
        _stem_word(word, end, tables)


@inner
def _stem_word(start, end, tables):
    if end - start > LONGEST_WITHOUT_STEM:
        for at in range(stem(start, end, tables), end):
            store_byte(at, ord(" "))
