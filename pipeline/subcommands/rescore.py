"""The subcommand `beam-bleu rescore`: scores saved totals by another definition."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.definition_flags import (
    add_preset_flag,
    add_scoring_flags,
    add_token_flags,
)
from beam_bleu.pipeline.command_line.evidence_flags import add_comparison_flags
from beam_bleu.pipeline.command_line.subcommand_words import parser_of
from beam_bleu.pipeline.saved.read_totals import read_totals
from beam_bleu.pipeline.subcommands.rescoring import rescored
from beam_bleu.pipeline.subcommands.saved_results import (
    add_result_flags,
    display_of,
    finish,
    run,
)

_DESCRIPTION = (
    "Scores saved totals by another definition, without the texts. Choices that are not given stay "
    "as they were. The result is that of a run with these flags, to the last byte. Tokens cannot "
    "be changed."
)

_DEFAULT = "default: as in the run"


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    parser = parser_of("rescore", _DESCRIPTION)
    parser.add_argument_group("input").add_argument(
        "file", metavar="FILE", help="a totals.json, or a folder with one"
    )
    scoring = parser.add_argument_group("definition, from n-grams to a score")
    add_preset_flag(scoring, _DEFAULT)
    add_scoring_flags(scoring, _DEFAULT)
    tokens = parser.add_argument_group(
        "definition, from texts to tokens (these must be as in the run)"
    )
    add_token_flags(tokens, _DEFAULT)
    add_comparison_flags(parser.add_argument_group("evidence"), _DEFAULT)
    add_result_flags(parser)
    return run(parser, argv, _rescore)


def _rescore(flags: argparse.Namespace) -> bytes:
    shown = display_of(flags)
    saved = read_totals(flags.file)
    return finish(rescored(saved, flags), shown, flags.output, [(flags.file, saved)])
