"""The flags for monitoring: labels and slices in metrics.prom, and OpenLineage's events."""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING, ClassVar

from beam_bleu.pipeline.command_line.paths import require_module
from beam_bleu.pipeline.output.metrics import OWN_LABELS, Monitoring
from beam_bleu.transforms.definition.flags import flag, whole_number
from beam_bleu.transforms.errors import UsageError, installing
from beam_bleu.transforms.shown_names import can_be_shown

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config

_LABEL = re.compile(r"((?!__)[a-zA-Z_][a-zA-Z0-9_]*)=(.+)", re.DOTALL)
"""A label that Prometheus allows, and its value."""

_TAKEN = ("job", "instance", "le", "quantile", *OWN_LABELS)
"""Labels that Prometheus or beam-bleu gives."""

_MOST_SLICES = 1000


@dataclasses.dataclass(frozen=True)
class MonitoringFlags:
    """The flags for metrics.prom and OpenLineage."""

    ARE_KEYWORDS: ClassVar[bool] = False

    metrics_label: tuple[str, ...] = flag(
        (),
        "a label for all metrics in DIR/metrics.prom, such as corpus=news, to tell several jobs "
        "apart. Its value must not change from run to run. Repeatable",
        "NAME=VALUE",
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
    )


def monitoring(flags: MonitoringFlags) -> Monitoring:
    """What a command line wants in metrics.prom.

    Raises:
      UsageError: a label is impossible.
    """
    labels: dict[str, str] = {}
    for text in flags.metrics_label:
        label = _LABEL.fullmatch(text)
        if label is None or not can_be_shown(label[2]):
            raise UsageError(
                f"--metrics_label {text} must be NAME=VALUE, with a NAME of letters, digits and _ "
                "that does not begin with a digit or __, and a VALUE that can be shown",
                "write, for example, --metrics_label corpus=news",
            )
        name, value = label.groups()
        if name in labels or name in _TAKEN:
            raise UsageError(
                f"--metrics_label {text}: there is a label {name} already",
                "choose another name, and give it only one value",
            )
        labels[name] = value
    return Monitoring(labels, flags.metrics_slices)


def lineage(flags: Config) -> str:
    """The name of the job in lineage; "" if the run sends no events.

    Raises:
      UsageError: the name is impossible, the library is missing, or there is no --output.
    """
    if flags.lineage is None:
        return ""
    job = flags.lineage
    if not job.strip() or not can_be_shown(job):
        raise UsageError(
            f"--lineage {job!r} cannot be the name of a job",
            "name the job, such as --lineage news-nightly",
        )
    if flags.output is None:
        raise UsageError("--lineage needs --output", "name the folder that the run writes")
    require_module("--lineage", "OpenLineage", "openlineage.client", installing("lineage"))
    return job
