"""The flags for metrics.prom: labels of all metrics, and the scores of slices."""

from __future__ import annotations

import argparse
import re

from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.pipeline.output.metrics import OWN_LABELS, Monitoring
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.shown_names import can_be_shown

_LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
"""The names of labels that Prometheus allows."""

_OF_PROMETHEUS = ("job", "instance", "le", "quantile")
"""Labels that Prometheus sets itself, or that have a meaning in histograms and summaries."""

_MOST_SLICES = 1000


def add_monitoring_flags(parser: argparse._ActionsContainer) -> None:
    """Adds --metrics_label and --metrics_slices."""
    add = parser.add_argument
    add(
        "--metrics_label",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a label for all metrics in DIR/metrics.prom, such as corpus=news, to tell several "
        "jobs apart. Its value must not change from run to run. Repeatable",
    )
    add(
        "--metrics_slices",
        type=_slices,
        default=0,
        metavar="N",
        help="add the scores of the N slices and languages with the most segments to "
        f"metrics.prom, each a time series for each metric and system; at most {_MOST_SLICES}; "
        "default 0",
    )


def monitoring(flags: argparse.Namespace) -> Monitoring:
    """What a command line wants in metrics.prom.

    Raises:
      UsageError: a label is impossible, or there is no folder for the file.
    """
    labels: dict[str, str] = {}
    for text in flags.metrics_label:
        name, equals, value = utf8(text).partition("=")
        _require_label(text, name, value, is_pair=bool(equals))
        if name in labels:
            raise UsageError(
                f"--metrics_label names {name} twice", "give each label only one value"
            )
        labels[name] = value
    asked = "--metrics_label" if labels else "--metrics_slices" if flags.metrics_slices else ""
    if asked and flags.output is None:
        raise UsageError(f"{asked} needs --output", "name the folder for metrics.prom")
    return Monitoring(labels, flags.metrics_slices)


def _require_label(text: str, name: str, value: str, *, is_pair: bool) -> None:
    """Checks that Prometheus knows such a label, and that it is free."""
    flag = f"--metrics_label {text}"
    if not is_pair or not value or not can_be_shown(value):
        raise UsageError(
            f"{flag} must be NAME=VALUE, with a value that can be shown",
            "write, for example, --metrics_label corpus=news",
        )
    if not _LABEL.fullmatch(name) or name.startswith("__"):
        raise UsageError(
            f"{flag}: Prometheus knows no label {name!r}",
            "use letters, digits and underscores, without a digit or two underscores in front",
        )
    if name in (*OWN_LABELS, *_OF_PROMETHEUS):
        whose = "beam-bleu" if name in OWN_LABELS else "Prometheus"
        raise UsageError(f"{flag}: {whose} has a label {name} of its own", "choose another name")


def _slices(text: str) -> int:
    if not text.isdecimal() or int(text) > _MOST_SLICES:
        raise argparse.ArgumentTypeError(f"must be a whole number, 0 to {_MOST_SLICES}, got {text}")
    return int(text)
