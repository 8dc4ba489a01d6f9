"""Flags for the output: what stdout shows, which files --output gets, what monitoring is sent."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.command_line.evidence_flags import BEST, ComparisonFlags
from beam_bleu.pipeline.display.output_formats import FORMATS, only_scores
from beam_bleu.pipeline.display.row_order import RowChoice, View
from beam_bleu.pipeline.output.metrics import OWN_LABELS
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.definition.choices import can_be_shown
from beam_bleu.transforms.definition.flags import flag, whole_number
from beam_bleu.transforms.errors import joined

if TYPE_CHECKING:
    from beam_bleu.pipeline.scoring.job import IfExistsName

_MOST_DECIMALS = 15  # further digits of a float mean nothing

_IF_EXISTS: Mapping[str, str] = {
    "replace": "score again, and replace it",
    "skip": "run nothing and show it; exit code 2 if it has another partition, system or "
    "definition",
    "fail": "exit code 1",
}


@dataclasses.dataclass(frozen=True)
class DisplayFlags(RowChoice):
    format: str = flag(
        next(iter(FORMATS)),
        "what stdout shows",
        "NAME",
        "-f",
        choices={name: shown for name, (shown, _) in FORMATS.items()},
    )
    score_only: bool = flag(False, "show only the score of each system, one on each line", "", "-b")
    width: int | None = flag(
        None,
        "how many decimals scores and precisions have",
        "N",
        "-w",
        convert=whole_number(0, _MOST_DECIMALS),
        shown_default="default: enough for two digits of the standard error; without one, as usual "
        "for the metric; tsv: all",
    )

    def shown(self, data: bytes, result: Result, remarks: Sequence[str] = ()) -> bytes:
        labels = ["(no label)" if label is None else label for label in result.partitions]
        if result.partitions != (None,):
            remarks = [*remarks, f"partition{'s'[: len(labels) - 1]} {joined(labels)}"]
        is_best = isinstance(self, ComparisonFlags) and self.baseline == BEST
        from_best = is_best and BEST not in result.systems
        view = View(result, data, remarks, self.width, self, from_best)
        write = only_scores if self.score_only else FORMATS[self.format][1]
        return write(view).encode()


def _partition(label: str) -> str:
    if not can_be_shown(label) or label != label.strip() or "/" in label:
        raise ValueError(
            f"must be a label of printable characters without /, such as 2026-11-21, got {label!r}"
        )
    return label


@dataclasses.dataclass(frozen=True)
class FolderFlags:
    output: str | None = flag(None, "the folder in which scores.json is written", "DIR")
    save_totals: bool = flag(
        False, "also write DIR/totals.json: all sums, for beam-bleu merge, rescore and compare"
    )
    partition: str | None = flag(
        None,
        "the label of the part of a corpus that is scored, such as a day: 2026-11-21. beam-bleu "
        "merge adds up the results of different labels",
        "LABEL",
        convert=_partition,
    )
    if_exists: IfExistsName = flag(
        "replace", "what to do if DIR has a complete result", "ACTION", choices=_IF_EXISTS
    )


_LABEL = re.compile(r"((?!__)[a-zA-Z_][a-zA-Z0-9_]*)=(.+)", re.DOTALL)

_TAKEN = ("job", "instance", "le", "quantile", *OWN_LABELS)
"""Labels that Prometheus or beam-bleu sets itself."""

_MOST_SLICES = 1000


def _label(text: str) -> tuple[str, str]:
    label = _LABEL.fullmatch(text)
    if label is None or not can_be_shown(label[2]) or label[1] in _TAKEN:
        raise ValueError(
            "must be NAME=VALUE, such as corpus=news, with a NAME of letters, digits and _ that is "
            f"none of {', '.join(_TAKEN)}, and a VALUE that can be shown, got {text}"
        )
    return label[1], label[2]


@dataclasses.dataclass(frozen=True)
class MonitoringFlags:
    metrics_label: tuple[tuple[str, str], ...] = flag(
        (),
        "a label for all metrics in DIR/metrics.prom, such as corpus=news, to tell jobs apart; "
        "repeatable",
        "NAME=VALUE",
        convert=_label,
    )
    metrics_slices: int = flag(
        0,
        "add the scores of the N slices and languages with the most segments to metrics.prom; at "
        f"most {_MOST_SLICES}",
        "N",
        convert=whole_number(0, _MOST_SLICES),
    )
    lineage: str | None = flag(
        None,
        "send OpenLineage events of the job JOB to OPENLINEAGE_URL, or where an openlineage.yml "
        "says; needs the extra lineage",
        "JOB",
    )
