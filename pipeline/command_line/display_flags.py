"""The flags that say how stdout shows the result."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence

from beam_bleu.pipeline.display.output_formats import FORMATS, Result, only_scores
from beam_bleu.pipeline.display.screen import FILE, Screen
from beam_bleu.pipeline.display.table import DECIMALS
from beam_bleu.transforms.errors import UsageError

_MOST_DECIMALS = 15
"""A float has no more digits that mean anything."""


@dataclasses.dataclass(frozen=True)
class Display:
    """What stdout shows of a result.

    Attributes:
      format: a name in `FORMATS`.
      score_only: whether only the scores are shown.
      decimals: how many decimals scores have; None for the format's default.
    """

    format: str = next(iter(FORMATS))
    score_only: bool = False
    decimals: int | None = None

    def shown(self, data: bytes, remarks: Sequence[str] = (), screen: Screen = FILE) -> bytes:
        """The bytes for stdout.

        Args:
          data: the bytes of scores.json.
          remarks: lines about the result that are not in it.
          screen: where stdout goes.
        """
        result = Result(data, remarks, self.decimals, screen)
        write = only_scores if self.score_only else FORMATS[self.format].write
        return write(result).encode()


def add_display_flags(parser: argparse._ActionsContainer) -> None:
    """Adds the flags that say how stdout shows the result."""
    add = parser.add_argument
    add(
        "-f",
        "--format",
        choices=tuple(FORMATS),
        default=Display.format,
        metavar="NAME",
        help="what stdout shows. "
        + "; ".join(f"{row.name}: {row.description}" for row in FORMATS.values())
        + f"; default {Display.format}",
    )
    add(
        "-b",
        "--score_only",
        action="store_true",
        help="show only the score of each system, one on each line",
    )
    add(
        "-w",
        "--width",
        type=_decimals,
        metavar="N",
        help=f"how many decimals scores and precisions have; default {DECIMALS}, tsv: all",
    )


def display(flags: argparse.Namespace) -> Display:
    """What stdout shows, for a command line.

    Raises:
      UsageError: the flags contradict each other.
    """
    if flags.score_only and flags.format != Display.format:
        raise UsageError(
            f"--score_only and --format {flags.format} contradict each other", "give only one"
        )
    if flags.score_only and flags.compare_presets:
        raise UsageError(
            "--score_only would not show what --compare_presets adds",
            "leave one of them out; --format tsv shows all scores, one in each line",
        )
    if flags.width is not None and not FORMATS[flags.format].takes_decimals:
        rounded = ", ".join(row.name for row in FORMATS.values() if row.takes_decimals)
        raise UsageError(
            f"--width does not change --format {flags.format}, which has all digits",
            f"leave out --width, or choose another format: {rounded}",
        )
    return Display(flags.format, flags.score_only, flags.width)


def _decimals(text: str) -> int:
    if text not in map(str, range(_MOST_DECIMALS + 1)):
        raise argparse.ArgumentTypeError(
            f"must be a whole number, 0 to {_MOST_DECIMALS}, got {text}"
        )
    return int(text)
