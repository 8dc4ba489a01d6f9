"""The tokenizer by the language, and the model of a tokenizer."""

from __future__ import annotations

import argparse
import contextlib
from collections.abc import Iterator

from beam_bleu.pipeline.command_line.metric_flags import chosen_metrics
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.definition.slicing import LENGTH
from beam_bleu.transforms.errors import InputError, UsageError
from beam_bleu.transforms.metrics.bleu.presets import DEFAULT_PRESET, preset
from beam_bleu.transforms.text.languages import (
    LANGUAGES,
    OTHER_LANGUAGES,
    LanguageCodeError,
    sacrebleus_tokenizer_of,
    tokenizer_of,
)
from beam_bleu.transforms.text.library_tokenizers import require_tokenizer
from beam_bleu.transforms.text.text import (
    SentencePieceModel,
    Text,
)
from beam_bleu.transforms.text.tokenizers import TokenizerName

_CHOICES = ", ".join(f"{row.name}: {row.tokenize}" for row in LANGUAGES.values())


def add_language_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags that choose the tokenizer by the language."""
    add = parser.add_argument
    add(
        "-l",
        "--language",
        "--language_pair",
        type=_code,
        metavar="CODE",
        help="the language of the texts, or a pair such as en-de, whose target counts: it chooses "
        f"the tokenizer ({_CHOICES}, others: {OTHER_LANGUAGES})",
    )
    add(
        "--language_column",
        metavar="NAME",
        help="the column, or the label, with the language of each segment: each language is "
        "scored by itself, with its tokenizer, and the mean of their scores is shown",
    )


def check_language_flags(flags: argparse.Namespace) -> None:
    """Checks that the languages choose tokenizers that nothing else chooses.

    Raises:
      UsageError: other flags choose other tokenizers.
    """
    has_preset = flags.preset not in (None, DEFAULT_PRESET)
    if flags.language_column in ("", LENGTH):
        raise UsageError(
            f"--language_column {flags.language_column}: no column can have this name",
            "name the column with the languages",
        )
    if flags.language_column is not None and has_preset:
        raise UsageError(
            f"--preset {flags.preset} cannot be used with --language_column: each preset has one "
            "tokenizer for all languages",
            "leave one of them out",
        )
    if flags.language is None or flags.language_column or "bleu" not in chosen_metrics(flags):
        return
    chosen = tokenizer_of(flags.language)
    cause = f"--language {flags.language} chooses the tokenizer {chosen}"
    of_sacrebleu = sacrebleus_tokenizer_of(flags.language)
    if of_sacrebleu not in (None, chosen):
        warn(
            f"{cause}; sacreBLEU's -l {flags.language} uses {of_sacrebleu}, because it does not "
            "know this code, so its score differs"
        )
    # sacreBLEU's own rule changes only sacreBLEU's own preset. With another tokenizer, the others
    # would no longer be what their names say.
    of_preset = preset(flags.preset).tokenize if has_preset else None
    if (flags.tokenize or of_preset) not in (None, chosen):
        other = "--preset" if flags.tokenize is None else "--tokenize"
        raise UsageError(
            f"{cause}, and {other} chooses {flags.tokenize or of_preset}",
            f"leave one of them out, or write --tokenize {chosen}",
        )


def tokenizer_of_language(flags: argparse.Namespace) -> TokenizerName | None:
    """The tokenizer that --language chooses; None without the flag."""
    return None if flags.language is None else tokenizer_of(flags.language)


def _code(text: str) -> str:
    try:
        tokenizer_of(text)
    except LanguageCodeError as error:
        raise argparse.ArgumentTypeError(f"{error}; write {error.remedy}") from None
    return text


def chosen_model(flags: argparse.Namespace) -> SentencePieceModel | None:
    """The model that a command line names; None if it names none.

    Raises:
      UsageError: its path is impossible.
      InputError: it cannot be read.
    """
    if flags.spm_model is None:
        return None
    # These import Beam, which takes longer than rescoring saved totals.
    from beam_bleu.pipeline.command_line.paths import checked_path
    from beam_bleu.transforms.text.read_model import read_model

    with _naming_model(flags):
        return read_model(checked_path("--spm_model", flags.spm_model, anywhere=False))


def require_installed(text: Text, flags: argparse.Namespace) -> None:
    """Checks that the tokenizer works here.

    Raises:
      UsageError: its library is not installed.
      InputError: the model that a command line names is not one.
    """
    with _naming_model(flags):
        require_tokenizer(text)


@contextlib.contextmanager
def _naming_model(flags: argparse.Namespace) -> Iterator[None]:
    """Adds the flag of the model to the error if the model is bad input."""
    try:
        yield
    except InputError as error:
        raise InputError(f"--spm_model {flags.spm_model}: {error.cause}", error.remedy) from error
