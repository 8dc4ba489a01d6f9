"""The tokenizers: the rules that split texts into tokens. The functions are in `splitting.py`.

Texts in some scripts need a tokenizer that finds words without spaces. One that needs spaces takes
a clause of such a text for one token.
"""

from __future__ import annotations

import dataclasses
import importlib
import itertools
from collections.abc import Iterator, Mapping
from typing import Literal

from beam_bleu.transforms.definition.choices import table
from beam_bleu.transforms.errors import UsageError, installing

ScriptName = Literal["chinese", "japanese", "southeast_asian", "korean"]


@dataclasses.dataclass(frozen=True)
class Script:
    """A row of `SCRIPTS`.

    Attributes:
      name: its name here.
      shown: the languages that are written in it, for messages.
      reason: why a tokenizer that does not split it gives other scores, for messages.
      remedy: the tokenizer to use, for messages.
      letters: a text is in this script if the words in which letters of the table occur have more
        letters than this on average, and if the text has more such letters than words. Words are
        the parts between white space. docs/inputs.md has the measurement.
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
    "13a", "intl", "zh", "char", "none", "ascii-space", "ja-mecab", "ko-mecab", "spm"
]

AnyTokenizerName = str
"""Also those that only one metric has. A combination of choices is a tokenizer of its own."""


@dataclasses.dataclass(frozen=True)
class Tokenizer:
    """A row of `TOKENIZERS`, or of `ALL_TOKENIZERS`.

    Attributes:
      name: its name here.
      description: what its tokens are, for docs/metrics.md; "" for a metric's own.
      sacrebleu: its name in sacreBLEU, which has the same tokens; None if it does not have it, or
        only for its own models.
      takes_tokenized_text: whether it is for text that is tokenized already.
      splits: the scripts that it splits into words or smaller tokens; it needs spaces for the
        others.
      remedy: what to use for these others, for messages; None for another tokenizer, which the row
        of the script names.
      needs_model: whether it needs a model of SentencePiece.
      extra: the extra of beam-bleu that installs its library; None if it needs no library.
      versions: the packages whose versions can change its tokens.
      by_unicode: whether they depend on the version of Python's Unicode tables.
      dictionary: for a tokenizer of MeCab, the module of its library and the name of its
        dictionary.
    """

    name: AnyTokenizerName
    description: str = ""
    sacrebleu: str | None = None
    takes_tokenized_text: bool = False
    splits: tuple[ScriptName, ...] = ()
    remedy: str | None = None
    needs_model: bool = False
    extra: str | None = None
    versions: tuple[str, ...] = ()
    by_unicode: bool = False
    dictionary: tuple[str, str] | None = None

    def signed(self, model: str) -> str:
        """Its name in a signature, with the digest of its model if it needs one.

        Raises:
          UsageError: the signature has the version of a library, and it is missing.
        """
        if self.needs_model:
            return f"{self.name}-{model}"
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
        "MeCab's words, with the IPA dictionary, by sacreBLEU's own code; MeCab ends a line at a "
        "NUL character",
        sacrebleu="ja-mecab",
        splits=("chinese", "japanese"),  # a Japanese text can be without kana
        extra="ja",
        versions=("sacrebleu",),
        dictionary=("MeCab", "IPA"),
    ),
    Tokenizer(
        "ko-mecab",
        "MeCab's words, with the mecab-ko dictionary, by sacreBLEU's own code; MeCab ends a line "
        "at a NUL character",
        sacrebleu="ko-mecab",
        splits=("korean",),
        extra="ko",
        versions=("sacrebleu",),
        dictionary=("mecab_ko", "KO"),
    ),
    Tokenizer(
        "spm",
        "the pieces of a SentencePiece model, `--spm_model FILE`; with sacreBLEU's models it gives "
        "sacreBLEU's flores101, flores200 and spBLEU-1K",
        splits=ALL_SCRIPTS,
        needs_model=True,
        extra="spm",
        versions=("sentencepiece",),
    ),
)


_WITHOUT_WORDS = "chrF, which needs no words"


def _of_metrics() -> Iterator[Tokenizer]:
    """The tokenizers that only one metric has."""
    # Those of TER, as sacreBLEU has them.
    for norm, no_punct, asian in itertools.product([False, True], repeat=3):
        yield Tokenizer(
            with_choices("tercom", norm=norm, no_punct=no_punct, asian=asian),
            takes_tokenized_text=True,
            splits=("chinese",) if norm and asian else (),
            remedy=f"{_WITHOUT_WORDS}, or, for Chinese, TER with --ter_normalized and "
            "--ter_asian_support",
        )
    # Exact match and token F1 have the same words. A clause without spaces is one of them. A
    # measure that counts words needs more, but one that compares whole answers does not.
    yield Tokenizer("squad", takes_tokenized_text=True, remedy=_WITHOUT_WORDS)
    yield Tokenizer("squad-whole", takes_tokenized_text=True, splits=ALL_SCRIPTS)
    # jiwer's default transforms, and its `RemovePunctuation` before them.
    for no_punct in (False, True):
        yield Tokenizer(
            with_choices("jiwer-words", no_punct=no_punct),
            takes_tokenized_text=True,
            remedy="CER, which needs no words",
            by_unicode=no_punct,
        )
        yield Tokenizer(
            with_choices("jiwer-characters", no_punct=no_punct),
            takes_tokenized_text=True,
            splits=ALL_SCRIPTS,
            by_unicode=no_punct,
        )
    # ROUGE ignores most scripts, and warns about text of which it sees little.
    for stemmed in (False, True):
        yield Tokenizer(
            with_choices("rouge", stemmed=stemmed), takes_tokenized_text=True, splits=ALL_SCRIPTS
        )


def with_choices(name: str, **choices: bool) -> AnyTokenizerName:
    """The name of a metric's own tokenizer, such as "tercom-norm-no-punct"."""
    chosen = [choice.replace("_", "-") for choice, is_chosen in choices.items() if is_chosen]
    return "-".join([name, *chosen])


ALL_TOKENIZERS: Mapping[AnyTokenizerName, Tokenizer] = table(*TOKENIZERS.values(), *_of_metrics())
