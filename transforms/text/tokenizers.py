"""The tables of tokenizers, of the scripts that they can split, and of languages that choose one.

Texts in some scripts need a tokenizer that finds words without spaces. One that needs spaces takes
a whole clause of such a text for one token. The functions are in `splitting.py`.
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.errors import UsageError, installing

ScriptName = Literal["chinese", "japanese", "southeast_asian", "korean"]


@dataclasses.dataclass(frozen=True)
class Script:
    """A row of `SCRIPTS`: why tokenizers that need spaces are wrong for it, and what to use. A text
    with more of its letters than `letters` for each word is in it (docs/inputs.md has the figures).
    """

    name: ScriptName
    shown: str
    reason: str
    remedy: str
    letters: int


_NO_SPACES = "has no spaces between its words"
_FLAGS = "--language {}, or --language_column"

SCRIPTS: Mapping[ScriptName, Script] = table(
    Script("chinese", "Chinese", _NO_SPACES, f"the tokenizer zh ({_FLAGS.format('zh')})", 3),
    Script(
        "japanese", "Japanese", _NO_SPACES, f"the tokenizer ja-mecab ({_FLAGS.format('ja')})", 3
    ),
    Script(
        "southeast_asian",
        "Thai, Lao, Khmer or Burmese",
        _NO_SPACES,
        # --language, like sacreBLEU's -l, chooses 13a for these languages.
        "the tokenizer spm with a SentencePiece model (--spm_model), or char",
        8,
    ),
    Script(
        "korean",
        "Korean",
        "joins particles to its words",
        f"the tokenizer ko-mecab ({_FLAGS.format('ko')}), as sacreBLEU's -l does",
        2,
    ),
)
"""All scripts. Sums count them by their positions in this table."""

ALL_SCRIPTS: tuple[ScriptName, ...] = tuple(SCRIPTS)

TokenizerName = Literal[
    "13a",
    "intl",
    "zh",
    "char",
    "none",
    "ascii-space",
    "ja-mecab",
    "ko-mecab",
    "spm",
    "flores101",
    "flores200",
    "spBLEU-1K",
]

AnyTokenizerName = str  # also the name of one that only one metric has, in `ALL_TOKENIZERS`

NormalizerName = Literal["whisper-basic", "whisper-en"]


@dataclasses.dataclass(frozen=True)
class Normalizer:
    """A row of `NORMALIZERS`: a class of the package whisper-normalizer, and its options."""

    name: NormalizerName
    description: str
    signed: str
    module: str
    type_name: str
    options: Mapping[str, bool] = dataclasses.field(default_factory=dict)


NORMALIZERS: Mapping[NormalizerName, Normalizer] = table(
    # Without the option, each vowel sign of Hindi or Tamil becomes a space, in the middle of words.
    Normalizer(
        "whisper-basic",
        "for every language; combining marks are kept",
        "whisper-basic-marks",
        "whisper_normalizer.basic",
        "BasicTextNormalizer",
        {"preserve_marks": True},
    ),
    Normalizer(
        "whisper-en",
        "for English",
        "whisper-en",
        "whisper_normalizer.english",
        "EnglishTextNormalizer",
    ),
)


@dataclasses.dataclass(frozen=True)
class Tokenizer:
    """A row of `TOKENIZERS`, or of `ALL_TOKENIZERS`.

    Attributes:
      family: its name without its choices; `splitting.py` has the steps of each family.
      sacrebleu: its name in sacreBLEU; None if sacreBLEU does not have it.
      splits: the scripts that it splits into words or smaller tokens; others need spaces.
      remedy: what to use for other scripts; None for the remedy in the row of the script.
      downloaded: the name of its model's file in the folder where sacreBLEU keeps models.
      versions: the packages whose versions can change its tokens.
      by_unicode: whether its tokens depend on the version of Python's Unicode tables.
      dictionary: of MeCab: the module of its library and the name of its dictionary.
      choices: of one that only one metric has, such as "norm" and "no-punct".
    """

    family: str
    description: str = ""
    sacrebleu: str | None = None
    takes_tokenized_text: bool = False
    splits: tuple[ScriptName, ...] = ()
    remedy: str | None = None
    needs_model: bool = False
    downloaded: str | None = None
    extra: str | None = None
    versions: tuple[str, ...] = ()
    by_unicode: bool = False
    dictionary: tuple[str, str] | None = None
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> AnyTokenizerName:
        """Such as "13a" or "tercom-norm-no-punct"."""
        return "-".join([self.family, *self.choices])

    @property
    def normalizer(self) -> Normalizer | None:
        return next((row for name, row in NORMALIZERS.items() if name in self.choices), None)

    def signed(self, model: str) -> str:
        """Its name in a signature, with the digest of its model if it needs one."""
        if self.needs_model:
            return "-".join(filter(None, (self.name, model)))
        if self.dictionary is None:
            return self.name
        module, dictionary = self.dictionary
        try:
            return f"{self.name}-{importlib.import_module(module).VERSION}-{dictionary}"
        except ImportError as error:
            raise UsageError(
                f"the signature names the version of {module}, which is not installed here",
                installing(str(self.extra)),
            ) from error


def _of_sacrebleu(name: TokenizerName, downloaded: str) -> Tokenizer:
    return Tokenizer(
        name,
        "the pieces of sacreBLEU's model of this name",
        sacrebleu=name,
        splits=ALL_SCRIPTS,
        needs_model=True,
        downloaded=downloaded,
        extra="spm",
        versions=("sentencepiece",),
    )


TOKENIZERS: Mapping[TokenizerName, Tokenizer] = table(
    Tokenizer(
        "13a",
        "the rules of mteval-v13a: punctuation marks are tokens of their own, except in numbers; "
        "`&quot;` `&amp;` `&lt;` `&gt;` are replaced by their characters; `<skipped>` and hyphens "
        "at line ends are removed",
        sacrebleu="13a",
    ),
    Tokenizer(
        "intl",
        "the international rules of mteval-v14: a punctuation mark (Unicode P) is a token of "
        "its own unless there are digits (N) on both sides; a symbol (S) is always a token of its "
        "own; a mark at the end of a line stays with a digit before it",
        sacrebleu="intl",
        versions=("regex",),  # its classes of code points
    ),
    Tokenizer(
        "zh",
        "each Chinese character is a token; the rest follows the rules of 13a, but entities are "
        "not replaced",
        sacrebleu="zh",
        splits=("chinese",),
    ),
    Tokenizer(
        "char",
        "each character that is not white space",
        sacrebleu="char",
        splits=ALL_SCRIPTS,
    ),
    Tokenizer(
        "none",
        "words between white space, as in `str.split`",
        sacrebleu="none",
        takes_tokenized_text=True,
    ),
    Tokenizer(
        "ascii-space",
        "words between ASCII white space (tab to carriage return, and space)",
        takes_tokenized_text=True,
    ),
    Tokenizer(
        "ja-mecab",
        "MeCab's words, with the IPA dictionary, by sacreBLEU's own code",
        sacrebleu="ja-mecab",
        splits=("chinese", "japanese"),  # a Japanese text can be without kana
        extra="ja",
        versions=("sacrebleu",),
        dictionary=("MeCab", "IPA"),
    ),
    Tokenizer(
        "ko-mecab",
        "MeCab's words, with the mecab-ko dictionary, by sacreBLEU's own code",
        sacrebleu="ko-mecab",
        splits=("korean",),
        extra="ko",
        versions=("sacrebleu",),
        dictionary=("mecab_ko", "KO"),
    ),
    Tokenizer(
        "spm",
        "the pieces of a SentencePiece model, `--spm_model FILE`",
        splits=ALL_SCRIPTS,
        needs_model=True,
        extra="spm",
        versions=("sentencepiece",),
    ),
    _of_sacrebleu("flores101", "sacrebleu_tokenizer_spm.model"),
    _of_sacrebleu("flores200", "flores200sacrebleuspm"),
    _of_sacrebleu("spBLEU-1K", "spbleu-1k_tokenizer_spm.model"),
)


_WITHOUT_WORDS = "chrF, which needs no words"


def _of_metrics() -> Iterator[Tokenizer]:
    own = functools.partial(Tokenizer, takes_tokenized_text=True)
    # Those of TER, as sacreBLEU has them.
    for norm, no_punct, asian in itertools.product([False, True], repeat=3):
        yield own(
            "tercom",
            choices=chosen(norm=norm, no_punct=no_punct, asian=asian),
            splits=("chinese",) if norm and asian else (),
            remedy=f"{_WITHOUT_WORDS}, or, for Chinese, TER with --ter_normalized and "
            "--ter_asian_support",
        )
    # Exact match and token F1 have the same words, and for both a clause without spaces is one.
    # That is too few for token F1, which counts words, but no matter for whole answers.
    yield own("squad", remedy=_WITHOUT_WORDS)
    yield own("squad", choices=("whole",), splits=ALL_SCRIPTS)
    # jiwer's default transforms, and before them a normalizer and its `RemovePunctuation`.
    for no_punct, normalizer in itertools.product([False, True], [None, *NORMALIZERS]):
        of_jiwer = functools.partial(
            own,
            choices=(*chosen(no_punct=no_punct), *([normalizer] if normalizer else [])),
            by_unicode=no_punct or normalizer is not None,
            extra="whisper" if normalizer else None,
            versions=("whisper-normalizer",) if normalizer else (),
        )
        yield of_jiwer("jiwer-words", remedy="CER, which needs no words")
        yield of_jiwer("jiwer-characters", splits=ALL_SCRIPTS)
    # With ASCII words, ROUGE ignores most scripts, and warns about text of which it sees little.
    for stemmed in (False, True):
        yield own("rouge", choices=chosen(stemmed=stemmed), splits=ALL_SCRIPTS)
    of_rouge = functools.partial(own, "rouge", by_unicode=True)
    yield of_rouge(choices=("unicode",), remedy="ROUGE with --rouge_words char")
    yield of_rouge(choices=("char",), splits=ALL_SCRIPTS)


def chosen(**choices: bool) -> tuple[str, ...]:
    """The choices that are True, such as ("norm", "no-punct")."""
    return tuple(choice.replace("_", "-") for choice, is_chosen in choices.items() if is_chosen)


ALL_TOKENIZERS: Mapping[AnyTokenizerName, Tokenizer] = table(*TOKENIZERS.values(), *_of_metrics())


@dataclasses.dataclass(frozen=True)
class Language:
    """A row of `LANGUAGES`, with all its codes in ISO 639."""

    name: str
    description: str
    codes: tuple[str, ...]
    tokenize: TokenizerName
    regions: tuple[str, ...]  # where it is an official language


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

# All codes that ISO 639-1 has or had, but no codes of countries, such as jp and cn.
_TWO_LETTERS = """
    aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu
    hy hz ia id ie ig ii ik io is it iu iw ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la
    lb lg li ln lo lt lu lv mg mh mi mk ml mn mo mr ms mt my na nb nd ne ng nl nn no nr nv ny oc
    oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st
    su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh
    zu
"""
_NO_LANGUAGE = ("mis", "mul", "und", "zxx")  # no language, several ones, or an unknown one

# A language, such as zh, zho_Hans, zh-Hant or pt_BR; a script or a region has capitals.
_CODE = r"[a-z]{2,3}(?:[-_][A-Z][a-z]{3})?(?:[-_](?:[A-Z]{2}|[0-9]{3}))?"
_PAIR = re.compile(rf"(?:({_CODE})-)?({_CODE})")

EXAMPLES_OF_CODES = (
    "a code such as de, zh or pt_BR, or a pair such as en-de: languages in small letters, regions "
    "in capitals, and a hyphen between the languages of a pair"
)


@functools.lru_cache(maxsize=1024)
def tokenizer_of(code: str) -> TokenizerName:
    """The tokenizer of a language; a ValueError if the code is ambiguous, or of no language. It has
    two letters (ISO 639-1) or three (ISO 639-3), and perhaps a script and a region. Of a pair of
    languages, the target counts.
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
    if len(language) == 2:
        return language in _TWO_LETTERS.split()
    return language not in _NO_LANGUAGE  # there are almost 8,000 codes with three letters
