"""The flags for the result: how stdout shows it, what is saved, and what is there already."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from beam_bleu.pipeline.command_line.flags import flag, whole_number
from beam_bleu.pipeline.display.output_formats import FORMATS, only_scores
from beam_bleu.pipeline.display.printable import utf8
from beam_bleu.pipeline.display.row_order import SORTS, USUAL_ROWS, RowChoice, SortName, View
from beam_bleu.pipeline.display.terminal import FILE, Screen
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.shown_names import can_be_shown

if TYPE_CHECKING:
    from beam_bleu.pipeline.command_line.config import Config
    from beam_bleu.pipeline.job import IfExistsName

_EXAMPLES_OF_REPORT = 20
"""How many examples of each kind a run picks for a report, if the user does not say it."""

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
class Display:
    """What stdout shows of a result.

    Attributes:
      format: a name in `FORMATS`.
      score_only: whether only the scores are shown.
      decimals: how many decimals scores have; None for the format's default.
      choice: which rows of slices and comparisons tables show, and in which order.
    """

    format: str = next(iter(FORMATS))
    score_only: bool = False
    decimals: int | None = None
    choice: RowChoice = USUAL_ROWS

    def shown(
        self,
        data: bytes,
        result: Result,
        remarks: Sequence[str] = (),
        screen: Screen = FILE,
    ) -> bytes:
        """The bytes for stdout.

        Args:
          data: the bytes of scores.json.
          result: its rows.
          remarks: lines about the result that are not in it.
          screen: where stdout goes.
        """
        view = View(result, data, remarks, self.decimals, screen, self.choice)
        write = only_scores if self.score_only else FORMATS[self.format].write
        return write(view).encode()


@dataclasses.dataclass(frozen=True)
class RowFlags:
    """The flags that say which rows of slices and comparisons are shown."""

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
        Display.format,
        "what stdout shows. "
        + "; ".join(f"{row.name}: {row.description}" for row in FORMATS.values()),
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


def row_choice(flags: RowFlags, format: str) -> RowChoice:
    """Which rows tables show in a format.

    Raises:
      UsageError: the format has no tables.
    """
    for name in ("sort", "only_significant"):
        if getattr(flags, name):
            _require_effect(format, name, [row.name for row in FORMATS.values() if row.rounds])
    return RowChoice(flags.sort, flags.only_significant)


def display(flags: DisplayFlags) -> Display:
    """What stdout shows, for a command line.

    Raises:
      UsageError: the format does not have what a flag changes.
    """
    if flags.score_only:
        _require_effect(flags.format, "score_only", [Display.format])
    if flags.width is not None:
        rounded = [row.name for row in FORMATS.values() if row.takes_decimals]
        _require_effect(flags.format, "width", rounded)
    return Display(flags.format, flags.score_only, flags.width, row_choice(flags, flags.format))


def _require_effect(format: str, name: str, formats: Sequence[str]) -> None:
    """Checks that a flag changes what the format shows.

    Raises:
      UsageError: it does not.
    """
    if format not in formats:
        raise UsageError(
            f"--{name} does not change --format {format}",
            f"leave out --{name}, or choose another format: {', '.join(formats)}",
        )


@dataclasses.dataclass(frozen=True)
class ReportFlag:
    """--report."""

    report: bool = flag(
        False,
        "also write DIR/report.html: one page with charts and examples, to show to people. It "
        f"needs the extra report; --examples is then {_EXAMPLES_OF_REPORT}, unless you set it",
    )


def with_report(flags: Config) -> Config:
    """The flags, with the examples that a report shows, unless the user asks for others.

    Raises:
      UsageError: a library is missing.
    """
    if not flags.report:
        return flags
    from beam_bleu.pipeline.report.page import require_jinja2

    require_jinja2()
    examples = flags.examples or _EXAMPLES_OF_REPORT
    return dataclasses.replace(flags, examples=examples)


def _partition(text: str) -> str:
    label = utf8(text)
    if not can_be_shown(label) or label != label.strip() or "/" in label:
        raise ValueError(
            f"must be a label of printable characters without /, such as 2026-11-21, got {label!r}"
        )
    return label


@dataclasses.dataclass(frozen=True)
class FolderFlags:
    """The flags for the folder of the result."""

    output: str | None = flag(None, "the folder in which scores.json is written", "DIR")
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
    )
