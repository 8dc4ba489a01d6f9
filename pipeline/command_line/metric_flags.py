"""--metrics, --preset, languages, and the flags that the definitions of metrics have."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeVar

from beam_bleu.pipeline.display.table import Table, as_text
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.transforms.definition.flags import SEE_HELP, Flag, filled, flag, flags_of
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
from beam_bleu.transforms.metrics.bleu.presets import DEFAULT_PRESET, PRESETS, PresetName, preset
from beam_bleu.transforms.text.languages import (
    EXAMPLES_OF_CODES,
    LANGUAGES,
    OTHER_LANGUAGES,
    tokenizer_of,
)
from beam_bleu.transforms.text.text import CASES, NormalizationName
from beam_bleu.transforms.text.tokenizers import TokenizerName

_LANGUAGES = ", ".join(f"{row.name}: {row.tokenize}" for row in LANGUAGES.values())

_OF_DEFAULT_METRIC = ("preset", "compare_presets", "segment_smooth_method", "segment_smooth_value")
"""The flags for the default metric that are no fields of its definition."""

_Flags = TypeVar("_Flags", bound="DefinitionFlags")


def _metric(text: str) -> str:
    if not is_metric(text):
        raise UsageError(
            f"--metrics {text}: there is no such metric",
            f"choose from {', '.join(METRIC_WORDS)}, with spaces between them; "
            "references come before -m",
        )
    return text


def language_code(text: str) -> str:
    """The type of --language.

    Raises:
      UsageError: there is no such language.
    """
    try:
        tokenizer_of(text)
    except ValueError as error:
        raise UsageError(f"--language {text}: {error}", f"write {EXAMPLES_OF_CODES}") from None
    return text


class _Preset(argparse.Action):
    """Keeps the name of a preset. `list` prints all presets and ends the program, as --help."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        text: Any,
        option_string: str | None = None,
    ) -> None:
        if text == "list":
            write_to_stdout(presets_table().encode())
            parser.exit()
        setattr(namespace, self.dest, PRESET.read(text))


@dataclasses.dataclass(frozen=True)
class DefinitionFlags:
    """The flags that define the scores.

    Attributes:
      choices: the values of those flags of metrics that are given, by name.
    """

    metrics: tuple[MetricWord, ...] = flag(
        (),
        "the metrics, in the order of the result: "
        + ", ".join(f"{row.word} ({row.description})" for row in METRICS.values()),
        "NAME",
        "-m",
        convert=_metric,
        nargs="+",
        shown_default=f"default {DEFAULT_METRIC}",
    )
    preset: PresetName | None = flag(
        None,
        "the BLEU of a tool or paper; other flags change it; `--preset list` shows all presets and "
        "what each one sets",
        "NAME",
        choices=tuple(PRESETS),
        action=_Preset,
        shown_default=f"default {DEFAULT_PRESET}",
    )
    language: str | None = flag(
        None,
        "the language of the texts, or a pair such as en-de, whose target counts: it chooses the "
        f"tokenizer ({_LANGUAGES}, others: {OTHER_LANGUAGES})",
        "CODE",
        words=("-l", "--language_pair", "--language"),
        convert=language_code,
    )
    language_column: str | None = flag(
        None,
        "the column, or the label, with the language of each segment: each language is scored by "
        "itself, with its tokenizer, and the mean of their scores is shown",
        "NAME",
    )
    choices: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    @property
    def chosen_metrics(self) -> tuple[MetricWord, ...]:
        """The metrics that are asked for.

        Raises:
          UsageError: one of them is named twice.
        """
        names = self.metrics or (DEFAULT_METRIC,)
        if len({*names}) < len(names):
            raise UsageError(
                f"--metrics {' '.join(names)} has a metric twice", "name each metric only once"
            )
        return names

    def choices_of(self, name: MetricWord) -> dict[Flag, Any]:
        """The flags of a metric that are given, and their values.

        Raises:
          UsageError: two switches contradict each other.
        """
        chosen: dict[Flag, Any] = {}
        for row in metric_flags([name]):
            if row.name in self.choices:
                for other in chosen:
                    if other.field == row.field:
                        raise UsageError(
                            f"--{other.name} and --{row.name} contradict each other",
                            "give only one",
                        )
                chosen[row] = self.choices[row.name] if row.metavar else row.value
        return chosen


METRICS_FLAG, PRESET, *LANGUAGE_FLAGS = flags_of(DefinitionFlags)


def with_choices(kind: type[_Flags], values: Mapping[str, Any]) -> _Flags:
    """The flags of a class and those of metrics, of values as argparse gives them."""
    given = {row.name: values.get(row.name) for row in metric_flags()}
    return dataclasses.replace(
        filled(kind, values),
        # The value 0 equals False.
        choices={name: v for name, v in given.items() if v is not None and v is not False},
    )


def metric_flags(
    metrics: Iterable[MetricWord] = METRICS, *, besides: Iterable[MetricWord] = ()
) -> tuple[Flag, ...]:
    """The flags of metrics, metric by metric; several metrics can share one.

    Args:
      metrics: the metrics.
      besides: other metrics, whose flags are left out.
    """
    names = {row.name for name in besides for row in flags_of(config_type(name))}
    flags = {row.name: row for name in metrics for row in flags_of(config_type(name))}
    return tuple(row for name, row in flags.items() if name not in names)


def usual_flags(*, of_text: bool) -> tuple[Flag, ...]:
    """The flags of the default metric that choose tokens, or those that make a score of counts."""
    definition = config_type(DEFAULT_METRIC)
    texts = definition.text_fields()
    return tuple(row for row in flags_of(definition) if (row.field in texts) == of_text)


def config_of(
    name: MetricWord, flags: DefinitionFlags, normalize: NormalizationName | None = None
) -> Any:
    """The definition of a metric that is asked for.

    Args:
      name: the metric.
      flags: the flags.
      normalize: the normalization of texts if the flags choose none.

    Raises:
      UsageError: a value is impossible.
    """
    definition = config_type(name)
    fields = {"normalize": normalize} if "normalize" in definition.text_fields() else {}
    fields |= {row.field: value for row, value in flags.choices_of(name).items()}
    try:
        return definition(**fields, **parameter_of(name))
    except ValueError as error:
        raise impossible(name, error) from None


def impossible(name: MetricWord, error: ValueError) -> UsageError:
    """The error for an impossible definition of a metric."""
    return UsageError(f"--metrics {name}: {error}", SEE_HELP)


def refuse_flags_of_other_metrics(flags: DefinitionFlags, chosen: Collection[MetricWord]) -> None:
    """Refuses flags of metrics that are not scored, and of texts if no metric has any.

    Args:
      flags: the flags.
      chosen: the metrics that are scored.

    Raises:
      UsageError: there is one.
    """
    if flags.language is not None and not any(row_of(name).counts_texts for name in chosen):
        raise UsageError(
            f"--language is about texts, and --metrics {' '.join(chosen)} reads numbers",
            "leave it out, or ask for a metric of texts, too",
        )
    own = {row.name for row in metric_flags(chosen)}
    names = [name for name in flags.choices if name not in own]
    if DEFAULT_METRIC not in chosen:
        names += [name for name in _OF_DEFAULT_METRIC if getattr(flags, name, None) is not None]
    for name in names:
        metrics = [
            word for word in METRICS if name in {row.name for row in metric_flags([word])}
        ] or [DEFAULT_METRIC]
        raise UsageError(
            f"--{name} is a flag of {joined(metrics, len(metrics))}, and only "
            f"{', '.join(chosen)} is scored",
            f"leave it out, or score by the metric, too: --metrics {' '.join(chosen)} {metrics[0]}",
        )


def check_language_flags(flags: DefinitionFlags) -> None:
    """Checks that no other flag chooses another tokenizer than that of --language.

    Raises:
      UsageError: one does.
    """
    if flags.language is None or DEFAULT_METRIC not in flags.chosen_metrics:
        return
    other, tokenize = "--tokenize", flags.choices.get("tokenize")
    # sacreBLEU's own rule changes only sacreBLEU's own preset. With another tokenizer, the others
    # would no longer be what their names say.
    if tokenize is None and flags.preset not in (None, DEFAULT_PRESET):
        other, tokenize = "--preset", preset(flags.preset).tokenize
    chosen = tokenizer_of(flags.language)
    if tokenize not in (None, chosen):
        raise UsageError(
            f"--language {flags.language} chooses the tokenizer {chosen}, and {other} chooses "
            f"{tokenize}",
            f"leave one of them out, or write --tokenize {chosen}",
        )


def tokenizer_of_language(flags: DefinitionFlags) -> TokenizerName | None:
    """The tokenizer that --language chooses; None without the flag."""
    return None if flags.language is None else tokenizer_of(flags.language)


def presets_table() -> str:
    """The table that `--preset list` prints: all presets and what each one sets."""
    chosen = ("tokenize", "case", "reference_length", "N", "weights", "smoothing")
    rows = []
    for name, row in PRESETS.items():
        config = preset(name)
        choices = (
            config.tokenize,
            CASES[config.lowercase].shown,
            config.reference_length,
            f"{config.max_ngram_order}{' or fewer' if config.effective_order else ''}",
            ",".join(f"{weight:g}" for weight in config.weights or ()) or "1/N",
            config.smooth_method,
        )
        rows.append((name, *choices, row.source.replace("`", "")))
    return as_text(Table((), ("preset", *chosen, "equals"), rows))
