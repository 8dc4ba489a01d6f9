"""sacreBLEU's flags that beam-bleu does not have: what to use instead.

Flags that beam-bleu has are beside the other flags of their kind. Here is also --encoding, which
has only one value in beam-bleu.
"""

from __future__ import annotations

import argparse
import codecs
import dataclasses
import shlex
from collections.abc import Callable, Sequence

from beam_bleu.transforms.errors import UsageError

_ENCODING = "utf-8"
_ENCODING_WITH_BOM = "utf-8-sig"
"""Python's name for UTF-8 that may begin with a BOM. beam-bleu always drops the BOM."""

_FOR_IT = "use sacrebleu for it"
_BOOTSTRAP = "--resample bootstrap"
_RANDOMIZATION = "--resample randomization"


@dataclasses.dataclass(frozen=True)
class Absent:
    """A flag of sacreBLEU that beam-bleu does not have.

    Attributes:
      flags: its spellings in sacreBLEU.
      instead: what to use instead: a sentence, or a function that makes it from the words of
        the command line.
    """

    flags: tuple[str, ...]
    instead: str | Callable[[Sequence[str]], str]


def _test_set(words: Sequence[str]) -> str:
    """How to score a test set of sacreBLEU."""
    name = _value(words, _TEST_SET) or "TESTSET"
    pair = shlex.quote(_value(words, _LANGUAGES) or "SOURCE-TARGET")
    return (
        f"get the references with: sacrebleu -t {shlex.quote(name)} -l {pair} "
        f"--echo ref > ref.txt, then: beam-bleu ref.txt -i FILE -l {pair}"
    )


_TEST_SET = ("--test-set", "-t")
_LANGUAGES = ("--language-pair", "-l")

_CONFIDENCE = ("--confidence", "-ci")
_CONFIDENCE_N = ("--confidence-n", "-cin")
_PAIRED_AR = ("--paired-ar", "-par")
_PAIRED_BS = ("--paired-bs", "-pbs")
_PAIRED_AR_N = ("--paired-ar-n", "-parn")
_PAIRED_BS_N = ("--paired-bs-n", "-pbsn")


def _paired(method: str, words: Sequence[str], number: Sequence[str]) -> str:
    """How to make a paired test of sacreBLEU."""
    return (
        "leave it out: each system is compared with the first one; for the paired test, "
        f"{_resampled(method, words, number)}"
    )


def _resampled(method: str, words: Sequence[str], number: Sequence[str]) -> str:
    """How to make as many replicates as a command line asks sacreBLEU for."""
    resamples = _value(words, number)
    return f"use {method}" + (f" --resamples {shlex.quote(resamples)}" if resamples else "")


ABSENT = (
    Absent(_TEST_SET, _test_set),
    Absent(("--echo",), "use it in sacrebleu: sacrebleu -t TESTSET -l PAIR --echo ref > ref.txt"),
    Absent(("--download",), "use it in sacrebleu: sacrebleu --download TESTSET"),
    Absent(("--list",), "use it in sacrebleu: sacrebleu --list"),
    Absent(("--citation", "--cite"), "use it in sacrebleu: sacrebleu -t TESTSET --cite"),
    Absent(("--origlang", "-ol"), f"parts of sacreBLEU's test sets: {_FOR_IT}"),
    Absent(("--subset",), f"parts of sacreBLEU's test sets: {_FOR_IT}"),
    Absent(("--detail", "-d"), f"parts of sacreBLEU's test sets: {_FOR_IT}"),
    Absent(
        ("--sentence-level", "-sl"),
        "write the score of each segment as Parquet: --segment_scores --output DIR",
    ),
    Absent(("--force",), "leave it out: tokenized text is scored, with a warning"),
    Absent(("--short", "-sh"), "leave it out: the signature is always long"),
    Absent(("--no-color", "-nc"), "set the variable: NO_COLOR=1 beam-bleu ..."),
    Absent(
        _CONFIDENCE,
        "leave it out: each score has its 95 % interval; for that of the bootstrap, "
        f"use {_BOOTSTRAP}",
    ),
    Absent(_CONFIDENCE_N, lambda words: _resampled(_BOOTSTRAP, words, _CONFIDENCE_N)),
    Absent(_PAIRED_AR, lambda words: _paired(_RANDOMIZATION, words, _PAIRED_AR_N)),
    Absent(_PAIRED_BS, lambda words: _paired(_BOOTSTRAP, words, _PAIRED_BS_N)),
    Absent(_PAIRED_AR_N, lambda words: _resampled(_RANDOMIZATION, words, _PAIRED_AR_N)),
    Absent(_PAIRED_BS_N, lambda words: _resampled(_BOOTSTRAP, words, _PAIRED_BS_N)),
    Absent(("--paired-jobs", "-j"), "leave it out: --resample uses all threads of --threads"),
)


def refuse_absent(flag: str, words: Sequence[str]) -> None:
    """Refuses a flag of sacreBLEU that beam-bleu does not have, and says what to use instead.

    Args:
      flag: the flag, without a value.
      words: the whole command line.

    Raises:
      UsageError: it is such a flag.
    """
    hyphens = flag[:2] + flag[2:].replace("_", "-")
    for absent in ABSENT:
        if hyphens in absent.flags or hyphens == absent.flags[0][1:]:  # -test-set, for example
            instead = absent.instead if isinstance(absent.instead, str) else absent.instead(words)
            raise UsageError(f"{flag} is a flag of sacreBLEU that beam-bleu does not have", instead)


def add_encoding_flag(parser: argparse._ActionsContainer) -> None:
    """Adds --encoding."""
    parser.add_argument(
        "-e",
        "--encoding",
        type=_encoding,
        metavar="NAME",
        help=f"only {_ENCODING}: texts in another encoding must be converted first",
    )


def _encoding(text: str) -> str:
    try:
        name = codecs.lookup(text).name
    except (LookupError, ValueError):
        raise UsageError(
            f"--encoding {text}: there is no such encoding",
            f"remove --encoding: the files must be {_ENCODING.upper()}",
        ) from None
    if name not in (_ENCODING, _ENCODING_WITH_BOM):
        convert = f"iconv -f {shlex.quote(text)} -t {_ENCODING} FILE > NEW"
        raise UsageError(
            f"--encoding {text}: beam-bleu reads {_ENCODING} only", f"convert the files: {convert}"
        )
    return name


def _value(words: Sequence[str], flags: Sequence[str]) -> str | None:
    """The value that a command line gives to a flag that no parser knows."""
    for word, after in zip(words, [*words[1:], ""], strict=True):
        flag, equals, value = word.partition("=")
        if flag.replace("_", "-") in flags and (value or after):
            return value if equals else after
    return None
