"""The tokenizers of languages, as sacreBLEU's `-l` chooses them.

Chinese, Japanese and Korean have tokenizers of their own, and every other language has 13a.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.text.tokenizers import TokenizerName


@dataclasses.dataclass(frozen=True)
class Language:
    """A row of `LANGUAGES`.

    Attributes:
      name: its code in sacreBLEU.
      description: the language in words.
      codes: all its codes in ISO 639.
      tokenize: its tokenizer.
      regions: the regions where it is an official language.
    """

    name: str
    description: str
    codes: tuple[str, ...]
    tokenize: TokenizerName
    regions: tuple[str, ...]


LANGUAGES: Mapping[str, Language] = table(
    Language(
        "zh",
        "Chinese",
        ("zh", "zho", "chi", "cmn", "lzh", "wuu", "yue"),
        "zh",
        ("CN", "HK", "MO", "SG", "TW"),
    ),
    Language("ja", "Japanese", ("ja", "jpn"), "ja-mecab", ("JP",)),
    Language("ko", "Korean", ("ko", "kor"), "ko-mecab", ("KP", "KR")),
)

OTHER_LANGUAGES: TokenizerName = "13a"

_ROWS = {code: row for row in LANGUAGES.values() for code in row.codes}

_TWO_LETTERS = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu
    hy hz ia id ie ig ii ik io is it iu iw ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la
    lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny oc
    oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st
    su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh
    zu
"""
"""The codes of ISO 639-1, now and before: jp and cn, for example, are codes of countries."""

_NO_LANGUAGE = ("mis", "mul", "und", "zxx")
"""Codes of ISO 639 that say that a text has no language, several ones, or an unknown one."""

_CODE = r"[a-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:[-_](?:[A-Z]{2}|[0-9]{3}))?"
"""A language, such as zh, zho_Hans, zh-Hant or pt_BR; a script or a region has capitals."""

_PAIR = re.compile(rf"(?:({_CODE})-)?({_CODE})")

EXAMPLES_OF_CODES = (
    "a code such as de, zh or pt_BR, or a pair such as en-de: languages in small letters, regions "
    "in capitals, and a hyphen between the languages of a pair"
)


@functools.lru_cache(maxsize=1024)
def tokenizer_of(code: str) -> TokenizerName:
    """The tokenizer of a language.

    Args:
      code: the code of the language, or a pair, such as "en-de": its target counts. A code has two
        letters (ISO 639-1) or three (ISO 639-3). A script and a region can follow it.

    Raises:
      ValueError: it is not such a code, or it can be a pair or a language with a region.
    """
    match = _PAIR.fullmatch(code)
    languages = [re.split("[-_]", part)[0] for part in match.groups() if part] if match else []
    if match is None or not all(map(_is_known, languages)):
        raise ValueError(f"{code!r} is not a language code")
    source, target = _ROWS.get(languages[0]), _ROWS.get(languages[-1])
    region = match[2].upper()
    # A region in small letters, such as zh-tw, looks like a pair. That matters only if the two
    # have different tokenizers: pt-br can be Portuguese of Brazil, or from Portuguese to Breton.
    if match[1] and source and source is not target and region in source.regions:
        raise ValueError(
            f"{code!r} can be {match[1]}-{region}, which is {source.description}, or a pair with "
            f"the language {match[2]}"
        )
    return target.tokenize if target else OTHER_LANGUAGES


def _is_known(language: str) -> bool:
    # There are almost 8,000 codes with three letters, so these are not compared with a list.
    if len(language) == 2:
        return language in _TWO_LETTERS.split()
    return language not in _NO_LANGUAGE
