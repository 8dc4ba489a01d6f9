"""--metrics, and the flags that the metrics declare (`Metric.flags`)."""

from __future__ import annotations

import argparse
import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from beam_bleu.pipeline.command_line.parser import SEE_HELP
from beam_bleu.transforms.definition.choices import MetricFlag
from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.known_metrics import (
    DEFAULT_METRIC,
    METRIC_WORDS,
    METRICS,
    MetricName,
    MetricWord,
    config_type,
    is_metric,
    parameter_of,
    row_of,
)
from beam_bleu.transforms.pairing.needs import TEXTS, Needs
from beam_bleu.transforms.text.text import Text

if TYPE_CHECKING:
    from beam_bleu.transforms.metrics.metric import Metric


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


def add_flags_of_metrics(
    parser: argparse._ActionsContainer,
    metrics: Iterable[MetricWord] = METRICS,
    *,
    are_shown: bool = True,
) -> None:
    """Adds the flags of metrics, metric by metric; help has them if they are shown."""
    for flag in _flags(metrics).values():
        words = [flag.short, f"--{flag.name}"] if flag.short else [f"--{flag.name}"]
        value: dict[str, Any] = {"action": "store_true"}
        if flag.metavar:
            value = {"type": flag.convert, "metavar": flag.metavar}
        shown = flag.description if are_shown else argparse.SUPPRESS
        parser.add_argument(*words, help=shown, **value)


def rescored_definition(
    name: MetricWord, old: Metric, most_references: int, flags: argparse.Namespace
) -> Metric:
    """The definition of a metric with those choices of a command line that sums allow.

    Args:
      name: the metric.
      old: its definition when the sums were counted.
      most_references: the largest number of references of a segment.
      flags: the command line.

    Raises:
      UsageError: a choice needs the texts, or is impossible.
    """
    rows = config_type(name).flags
    changes = {
        row: getattr(flags, row.name)
        for row in rows
        if _is_given(getattr(flags, row.name))
        and getattr(flags, row.name) != getattr(old, row.field, None)
    }
    for row in changes:
        # Of several references of a segment, which one is the best can depend on the choice.
        if row.changes_sums or most_references > 1:
            raise UsageError(
                f"--{row.name} cannot be changed without the texts", "repeat the run with it"
            )
    try:
        fields = {row.field: value for row, value in changes.items()}
        changed: Metric = dataclasses.replace(cast(Any, old), **fields)
    except ValueError as error:
        raise UsageError(_with_flags(str(error), rows), SEE_HELP) from None
    return changed


def flag_of_other_metrics(
    flags: argparse.Namespace, chosen: Collection[MetricWord]
) -> tuple[str, Sequence[MetricWord]] | None:
    """A flag of a command line that is only for metrics that are not asked for, and these metrics.

    Args:
      flags: the command line.
      chosen: the metrics that are asked for.
    """
    useful = {flag.name for name in chosen for flag in config_type(name).flags}
    for flag in _flags().values():
        if flag.name not in useful and _is_given(getattr(flags, flag.name)):
            return flag.name, [name for name in METRICS if flag in config_type(name).flags]
    return None


def refuse_flags_of_other_metrics(flags: argparse.Namespace) -> None:
    """Refuses flags of metrics that are not asked for, and of texts if no metric has any.

    Raises:
      UsageError: there is one.
    """
    chosen = chosen_metrics(flags)
    if not any(row_of(name).counts_texts for name in chosen):
        for of_texts in ("language", "normalize"):
            if _is_given(getattr(flags, of_texts)):
                raise UsageError(
                    f"--{of_texts} is about texts, and --metrics {' '.join(chosen)} reads numbers",
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


def config_of(name: MetricWord, flags: argparse.Namespace, text: Text) -> Any:
    """The definition of a metric that a command line asks for.

    Args:
      name: the metric.
      flags: the command line.
      text: how the command line makes tokens of texts.

    Raises:
      UsageError: a value is impossible.
    """
    rows = config_type(name).flags
    values: dict[str, Any] = {row.field: getattr(flags, row.name) for row in rows}
    choices = {field: value for field, value in values.items() if _is_given(value)}
    choices |= parameter_of(name)
    try:
        return config_type(name).of_run(text, choices)
    except ValueError as error:
        raise UsageError(_with_flags(str(error), rows), SEE_HELP) from None


def needs_of(flags: argparse.Namespace) -> Needs:
    """What the metrics of a command line need of its input.

    Raises:
      UsageError: a value is impossible.
    """
    needs = Needs()
    for name in chosen_metrics(flags):
        if row_of(name).counts_texts:
            needs += TEXTS
        else:
            needs += config_of(name, flags, Text()).metric.needs
    return needs


def _is_given(value: object) -> bool:
    """Whether a flag with this value is in the command line. The value 0 equals False."""
    return value is not None and value is not False


def _with_flags(message: str, rows: Sequence[MetricFlag]) -> str:
    """The library's message about a config, with flags in place of fields."""
    names = {row.field: f"--{row.name}" for row in rows}
    fields = rf"\b({'|'.join(names)})\b"
    return re.sub(fields, lambda match: names[match[1]], message) if names else message


def _flags(metrics: Iterable[MetricWord] = METRICS) -> Mapping[str, MetricFlag]:
    """The flags of metrics by name; several metrics can share one."""
    return {flag.name: flag for name in metrics for flag in config_type(name).flags}


def _metric(text: str) -> str:
    name = text.removesuffix(":")
    row = METRICS.get(cast(MetricName, name))
    if row is not None and row.parameter:
        raise UsageError(
            f"--metrics {text} does not say which {row.parameter}",
            f"write --metrics {row.word}, with its name",
        )
    if not is_metric(text):
        raise UsageError(
            f"--metrics {text}: there is no such metric",
            f"choose from {', '.join(METRIC_WORDS)}, with spaces between them; "
            "references come before -m",
        )
    return text
