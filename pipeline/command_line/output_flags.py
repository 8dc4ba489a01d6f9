"""The flags for the result: how stdout shows it, what is saved, and what is there already."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from beam_bleu.pipeline.display.output_formats import FORMATS, only_scores
from beam_bleu.pipeline.display.row_order import SORTS, RowChoice, SortName, View
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.definition.flags import flag, whole_number
from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.shown_names import can_be_shown

if TYPE_CHECKING:
    from beam_bleu.pipeline.job import IfExistsName

_MOST_DECIMALS = 15
"""A float has no more digits that mean anything."""

_IF_EXISTS: Mapping[str, str] = {
    "replace": "score again, and replace it",
    "skip": "run nothing and show it, if it is of the same partition, systems and definition; "
    "otherwise exit code 2",
    "fail": "exit code 1",
}
"""What a run does if the output folder has a complete result."""


@dataclasses.dataclass(frozen=True)
class RowFlags(RowChoice):
    """The flags that say which rows of slices and comparisons are shown."""

    ARE_KEYWORDS: ClassVar[bool] = False

    sort: SortName | None = flag(
        None,
        "which slices and differences tables show first. "
        + "; ".join(f"{name}: {description}" for name, description in SORTS.items()),
        "ORDER",
        choices=tuple(SORTS),
        shown_default="default for differences: difference",
    )
    only_significant: bool = flag(False, "show only significant differences")


@dataclasses.dataclass(frozen=True)
class DisplayFlags(RowFlags):
    """The flags that say how stdout shows the result."""

    format: str = flag(
        next(iter(FORMATS)),
        "what stdout shows. " + "; ".join(f"{name}: {what}" for name, (what, _) in FORMATS.items()),
        "NAME",
        "-f",
        choices=tuple(FORMATS),
    )
    score_only: bool = flag(False, "show only the score of each system, one on each line", "", "-b")
    width: int | None = flag(
        None,
        "how many decimals scores and precisions have",
        "N",
        "-w",
        convert=whole_number(0, _MOST_DECIMALS),
        shown_default="default: enough for two digits of the standard error, or, without one, as "
        "usual for the metric, such as 1 for BLEU; tsv: all",
    )

    def shown(
        self,
        data: bytes,
        result: Result,
        remarks: Sequence[str] = (),
    ) -> bytes:
        """The bytes for stdout.

        Args:
          data: the bytes of scores.json.
          result: its rows.
          remarks: lines about the result that are not in it.
        """
        labels = ["(no label)" if label is None else label for label in result.partitions]
        if result.partitions != (None,):
            remarks = [*remarks, f"partition{'s'[: len(labels) - 1]} {joined(labels)}"]
        view = View(result, data, remarks, self.width, self)
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
    """The flags for the folder of the result."""

    output: str | None = flag(
        None,
        "the folder in which scores.json is written",
        "DIR",
        is_keyword=False,
    )
    save_totals: bool = flag(
        False,
        "also write DIR/totals.json: all sums, for beam-bleu merge, rescore and compare",
    )
    partition: str | None = flag(
        None,
        "a label of the part of a corpus that is scored, such as a day: 2026-11-21. It is written "
        "into the result, and beam-bleu merge adds up the results of different labels",
        "LABEL",
        convert=_partition,
    )
    if_exists: IfExistsName = flag(
        "replace",
        "what to do if DIR has a complete result. "
        + "; ".join(f"{name}: {action}" for name, action in _IF_EXISTS.items()),
        "ACTION",
        choices=tuple(_IF_EXISTS),
        is_keyword=False,
    )
