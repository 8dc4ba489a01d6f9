"""--metrics, the flags that the metrics declare (`Config.flags`), and languages."""

from __future__ import annotations

import argparse
import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from beam_bleu.pipeline.command_line.parser import SEE_HELP
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.transforms.definition.choices import MetricFlag
from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.known_metrics import (
    DEFAULT_METRIC,
    METRIC_WORDS,
    METRICS,
    MetricWord,
    config_type,
    is_metric,
    parameter_of,
    row_of,
)
from beam_bleu.transforms.metrics.bleu.presets import DEFAULT_PRESET, preset
from beam_bleu.transforms.metrics.metric import NORMALIZE
from beam_bleu.transforms.text.languages import (
    LANGUAGES,
    OTHER_LANGUAGES,
    LanguageCodeError,
    sacrebleus_tokenizer_of,
    tokenizer_of,
)
from beam_bleu.transforms.text.text import NormalizationName
from beam_bleu.transforms.text.tokenizers import TokenizerName

_LANGUAGES = ", ".join(f"{row.name}: {row.tokenize}" for row in LANGUAGES.values())

OF_DEFAULT_METRIC = ("preset", "compare_presets", "segment_smooth_method", "segment_smooth_value")
"""The flags for the default metric that are no fields of its definition."""


def add_metrics_flag(parser: argparse._ActionsContainer, default: str = "") -> None:
    """Adds --metrics. `default` is what the help says in place of the usual default."""
    parser.add_argument(
        "-m",
        "--metrics",
        action="extend",
        type=_metric,
        nargs="+",
        metavar="NAME",
        help="the metrics, in the order of the result: "
        + ", ".join(f"{row.word} ({row.description})" for row in METRICS.values())
        + f"; {default or f'default {DEFAULT_METRIC}'}",
    )


def chosen_metrics(flags: argparse.Namespace) -> tuple[MetricWord, ...]:
    """The metrics that a command line asks for.

    Raises:
      UsageError: one of them is named twice.
    """
    names: Sequence[MetricWord] = flags.metrics or [DEFAULT_METRIC]
    if len({*names}) < len(names):
        raise UsageError(
            f"--metrics {' '.join(names)} has a metric twice", "name each metric only once"
        )
    return tuple(names)


def flags_of(
    metrics: Iterable[MetricWord] = METRICS, *, besides: Iterable[MetricWord] = ()
) -> list[MetricFlag]:
    """The flags of metrics, metric by metric; several metrics can share one.

    Args:
      metrics: the metrics.
      besides: other metrics, whose flags are left out.
    """
    names = {flag.name for name in besides for flag in config_type(name).flags}
    flags = {flag.name: flag for name in metrics for flag in config_type(name).flags}
    return [flag for name, flag in flags.items() if name not in names]


def usual_flags(*, of_text: bool) -> list[MetricFlag]:
    """The flags of the default metric that choose tokens, or those that make a score of counts."""
    definition = config_type(DEFAULT_METRIC)
    texts = definition.text_fields()
    return [flag for flag in definition.flags if (flag.field in texts) == of_text]


def add_flags(
    parser: argparse._ActionsContainer,
    flags: Iterable[MetricFlag],
    default: str = "",
    *,
    are_shown: bool = True,
) -> None:
    """Adds flags of metrics.

    Args:
      parser: where to add them.
      flags: the flags.
      default: what the help says in place of their usual defaults.
      are_shown: whether the help has them.
    """
    for flag in flags:
        words = [flag.short, f"--{flag.name}"] if flag.short else [f"--{flag.name}"]
        value: dict[str, Any] = {"action": "store_true"}
        if flag.metavar:
            value = {"type": flag.convert, "metavar": flag.metavar}
            if flag.choices:
                value["choices"] = flag.choices
        shown = flag.description
        if flag.default:
            shown += f"; {default or flag.default}"
        parser.add_argument(*words, help=shown if are_shown else argparse.SUPPRESS, **value)


def choices_of(name: MetricWord, flags: argparse.Namespace) -> dict[MetricFlag, Any]:
    """What a command line chooses for a metric: its flags that are given, and their values.

    Raises:
      UsageError: two switches contradict each other.
    """
    choices: dict[MetricFlag, Any] = {}
    for flag in config_type(name).flags:
        value = getattr(flags, flag.name)
        if _is_given(value):
            for other in choices:
                if other.field == flag.field:
                    raise UsageError(
                        f"--{other.name} and --{flag.name} contradict each other", "give only one"
                    )
            choices[flag] = value if flag.metavar else flag.value
    return choices


def config_of(
    name: MetricWord, flags: argparse.Namespace, normalize: NormalizationName | None = None
) -> Any:
    """The definition of a metric that a command line asks for.

    Args:
      name: the metric.
      flags: the command line.
      normalize: the normalization of texts if the command line chooses none.

    Raises:
      UsageError: a value is impossible.
    """
    definition = config_type(name)
    choices = {NORMALIZE: normalize} if NORMALIZE in definition.flags else {}
    choices |= choices_of(name, flags)
    with naming_flags(name):
        return definition(
            **{flag.field: value for flag, value in choices.items()}, **parameter_of(name)
        )


@contextlib.contextmanager
def naming_flags(name: MetricWord) -> Iterator[None]:
    """Turns the library's errors about a definition into those of flags.

    Raises:
      UsageError: in place of a `ValueError`, with flags in place of fields.
    """
    try:
        yield
    except ValueError as error:
        names = {flag.field: f"--{flag.name}" for flag in reversed(config_type(name).flags)}
        message = re.sub(r"\b\w+\b", lambda word: names.get(word[0], word[0]), str(error))
        raise UsageError(message, SEE_HELP) from None


def flag_of_other_metrics(
    flags: argparse.Namespace, chosen: Collection[MetricWord]
) -> tuple[str, Sequence[MetricWord]] | None:
    """A flag of a command line that is only for metrics that are not asked for, and these metrics.

    Args:
      flags: the command line.
      chosen: the metrics that are asked for.
    """
    for flag in flags_of(besides=chosen):
        if _is_given(getattr(flags, flag.name)):
            return flag.name, [name for name in METRICS if flag in config_type(name).flags]
    for name in OF_DEFAULT_METRIC if DEFAULT_METRIC not in chosen else ():
        if _is_given(getattr(flags, name, None)):
            return name, [DEFAULT_METRIC]
    return None


def refuse_flags_of_other_metrics(flags: argparse.Namespace) -> None:
    """Refuses flags of metrics that are not asked for, and of texts if no metric has any.

    Raises:
      UsageError: there is one.
    """
    chosen = chosen_metrics(flags)
    if flags.language is not None and not any(row_of(name).counts_texts for name in chosen):
        raise UsageError(
            f"--language is about texts, and --metrics {' '.join(chosen)} reads numbers",
            "leave it out, or ask for a metric of texts, too",
        )
    found = flag_of_other_metrics(flags, chosen)
    if found is not None:
        flag, metrics = found
        asked = f"--metrics {' '.join(chosen)}"
        raise UsageError(
            f"--{flag} is a flag of {joined(metrics, len(metrics))}, and {asked} does not ask for "
            "it",
            f"leave it out, or ask for the metric, too: {asked} {metrics[0]}",
        )


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
        f"the tokenizer ({_LANGUAGES}, others: {OTHER_LANGUAGES})",
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
    if flags.language_column is not None and has_preset:
        raise UsageError(
            f"--preset {flags.preset} cannot be used with --language_column: each preset has one "
            "tokenizer for all languages",
            "leave one of them out",
        )
    if flags.language is None or DEFAULT_METRIC not in chosen_metrics(flags):
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


def _is_given(value: object) -> bool:
    """Whether a flag with this value is in the command line. The value 0 equals False."""
    return value is not None and value is not False


def _metric(text: str) -> str:
    """The type of --metrics."""
    if not is_metric(text):
        raise UsageError(
            f"--metrics {text}: there is no such metric",
            f"choose from {', '.join(METRIC_WORDS)}, with spaces between them; "
            "references come before -m",
        )
    return text
