"""The flags that save what a job has added up."""

from __future__ import annotations

import argparse
import dataclasses

from beam_bleu.pipeline.scoring.evidence import Evidence
from beam_bleu.transforms.errors import UsageError


def add_saving_flags(parser: argparse._ActionsContainer) -> None:
    """Adds --save_totals."""
    parser.add_argument(
        "--save_totals",
        action="store_true",
        help="also write DIR/totals.json: all sums, for beam-bleu merge, rescore and compare",
    )


def with_saving(evidence: Evidence, flags: argparse.Namespace) -> Evidence:
    """The evidence of a command line, with the choice to save totals.

    Raises:
      UsageError: there is no folder to save them in.
    """
    if flags.save_totals and flags.output is None:
        raise UsageError("--save_totals needs --output", "name the folder to write them to")
    return dataclasses.replace(evidence, save_totals=flags.save_totals)
