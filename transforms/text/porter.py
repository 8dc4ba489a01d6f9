"""Compiled code: Porter's stemmer with NLTK's extensions, which is the default of NLTK.

Porter 1980, "An algorithm for suffix stripping" (https://tartarus.org/~martin/PorterStemmer/def.txt)
has the steps and their rules. NLTK's extensions are: irregular words; `ies` and `ied` become `ie`
in words of 4 letters, and otherwise `i`; `y` becomes `i` only after a consonant that is not the
first letter; a stem of a vowel and a consonant ends like a short syllable, too; `bli` stands for
`abli`, `alli` is tried before all other rules of step 2, and there are rules for `fulli` and for
`logi`.

A word has lower-case ASCII letters and digits. Digits are consonants. A stem is never longer than
its word, so it is written in place of it.
"""

# mypy: allow-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from beam_bleu.transforms.native.arrays import Integers
from beam_bleu.transforms.native.compiling import inlined, inner
from beam_bleu.transforms.native.memory import load_byte, load_int, load_word, store_byte

LONGEST_RULE = 8
"""The bytes before the end of a word that are read, even if the word is shorter."""


class _Rule(NamedTuple):
    """A rule of a step.

    Attributes:
      suffix: the end of the words that it is for.
      replacement: what takes its place, if the measure of the stem before it is large enough.
      in_stem: how many letters at the start of the suffix belong to this stem, too.
    """

    suffix: str
    replacement: str
    in_stem: int = 0


def _rules(pairs: str) -> tuple[_Rule, ...]:
    splits = (pair.split(":") for pair in pairs.split())
    return tuple(_Rule(suffix, replacement) for suffix, replacement in splits)


_STEP_2 = (
    *_rules(
        "ational:ate tional:tion enci:ence anci:ance izer:ize bli:ble alli:al entli:ent eli:e "
        "ousli:ous ization:ize ation:ate ator:ate alism:al iveness:ive fulness:ful ousness:ous "
        "aliti:al iviti:ive biliti:ble fulli:ful"
    ),
    _Rule("logi", "log", in_stem=1),
)
_STEP_3 = _rules("icate:ic ative: alize:al iciti:ic ical:ic ful: ness:")
_STEP_4 = (
    *_rules(
        "al: ance: ence: er: ic: able: ible: ant: ement: ment: ent: ou: ism: ate: iti: ous: ive: "
        "ize:"
    ),
    _Rule("sion", "s", in_stem=1),
    _Rule("tion", "t", in_stem=1),
)

_ENDS = 128

_SUFFIX, _SHIFT, _SIZE, _STEM_END, _REPLACEMENT, _REPLACEMENT_SIZE, _RULE_INTS = range(7)

_VOWELS = sum(1 << (ord(vowel) - ord("a")) for vowel in "aeiou")


def _word(letters: str) -> int:
    return int.from_bytes(letters.encode(), "little")


def _table(rules: tuple[_Rule, ...]) -> Integers:
    """The rules of a step for compiled code, int64.

    First come the places where the rules for each last letter begin, and where they end; and then
    the rules. Those for one letter keep their order.
    """
    bounds, rows = [0], []
    for end in range(_ENDS):
        for suffix, replacement, in_stem in rules:
            if suffix[-1] == chr(end):
                size = len(suffix)
                rows += [_word(suffix), 64 - 8 * size, size, size - in_stem]
                rows += [_word(replacement[in_stem:]), len(replacement) - in_stem]
        bounds.append(len(rows) // _RULE_INTS)
    return np.array([*bounds, *rows], np.int64)


_IRREGULAR = _rules(
    "skies:sky dying:die lying:lie tying:tie innings:inning outings:outing cannings:canning "
    "news:news inning:inning outing:outing canning:canning howe:howe proceed:proceed "
    "exceed:exceed succeed:succeed"
)
"""Whole words. None is the end of another one."""

RULES = (_IRREGULAR, _STEP_2, _STEP_3, _STEP_4)

TABLES = tuple(map(_table, RULES))


@inlined
def _is_vowel_letter(letter):
    """Whether a letter or digit is always a vowel: a, e, i, o or u."""
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

    The LONGEST_RULE bytes before the word's end can be read. `tables`: the addresses of TABLES.
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
