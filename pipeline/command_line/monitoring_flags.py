"""The flags for monitoring: labels and slices in metrics.prom, and OpenLineage's events."""

from __future__ import annotations

import dataclasses
import re
from typing import ClassVar

from beam_bleu.pipeline.command_line.paths import require_module
from beam_bleu.pipeline.output.metrics import OWN_LABELS, Monitoring
from beam_bleu.transforms.definition.flags import flag, whole_number
from beam_bleu.transforms.errors import UsageError, installing
from beam_bleu.transforms.shown_names import can_be_shown

_LABEL = re.compile(r"((?!__)[a-zA-Z_][a-zA-Z0-9_]*)=(.+)", re.DOTALL)
"""A label that Prometheus allows, and its value."""

_TAKEN = ("job", "instance", "le", "quantile", *OWN_LABELS)
"""Labels that Prometheus or beam-bleu gives."""

_MOST_SLICES = 1000


def _label(text: str) -> tuple[str, str]:
    label = _LABEL.fullmatch(text)
    if label is None or not can_be_shown(label[2]) or label[1] in _TAKEN:
        raise ValueError(
            "must be NAME=VALUE, such as corpus=news, with a NAME of letters, digits and _ that is "
            f"none of {', '.join(_TAKEN)}, and a VALUE that can be shown, got {text}"
        )
    return label[1], label[2]


def _job(text: str) -> str:
    name = text
    if not name.strip() or not can_be_shown(name):
        raise ValueError(f"must be the name of a job, such as news-nightly, got {name!r}")
    return name


@dataclasses.dataclass(frozen=True)
class MonitoringFlags:
    """The flags for metrics.prom and OpenLineage."""

    ARE_KEYWORDS: ClassVar[bool] = False

    metrics_label: tuple[tuple[str, str], ...] = flag(
        (),
        "a label for all metrics in DIR/metrics.prom, such as corpus=news, to tell several jobs "
        "apart. Its value must not change from run to run. Repeatable",
        "NAME=VALUE",
        convert=_label,
    )
    metrics_slices: int = flag(
        0,
        "add the scores of the N slices and languages with the most segments to metrics.prom, each "
        f"a time series for each metric and system; at most {_MOST_SLICES}",
        "N",
        convert=whole_number(0, _MOST_SLICES),
    )
    lineage: str | None = flag(
        None,
        "send OpenLineage events of the job JOB, which say what the run reads and writes. "
        "OPENLINEAGE_URL or an openlineage.yml says where to send them; needs the extra lineage",
        "JOB",
        convert=_job,
    )


def monitoring(flags: MonitoringFlags) -> Monitoring:
    """What a command line wants in metrics.prom.

    Raises:
      UsageError: a label has two values.
    """
    labels = dict(flags.metrics_label)
    if len(labels) < len(flags.metrics_label):
        raise UsageError("--metrics_label: a label has two values", "give each label one value")
    return Monitoring(labels, flags.metrics_slices)


def lineage(flags: MonitoringFlags) -> str:
    """The name of the job in lineage; "" if the run sends no events.

    Raises:
      UsageError: the library is missing.
    """
    if flags.lineage is not None:
        require_module("--lineage", "OpenLineage", "openlineage.client", installing("lineage"))
    return flags.lineage or ""
