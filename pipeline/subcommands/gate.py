"""The subcommand `beam-bleu gate`: it judges results that are already there."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.gate_flags import (
    GateFlags,
    gates,
    require_definitions,
)
from beam_bleu.pipeline.command_line.rules import check_rules
from beam_bleu.pipeline.display.printable import printable
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.gates.judging import Check, gate_error, judge
from beam_bleu.pipeline.gates.thresholds import THRESHOLD_FLAGS
from beam_bleu.pipeline.output.run_record import keep_verdict
from beam_bleu.pipeline.result.comparing import pairing
from beam_bleu.pipeline.result.rows import definition_of
from beam_bleu.pipeline.result.saved_result import result_at
from beam_bleu.pipeline.subcommands.saved_results import run
from beam_bleu.transforms.definition.flags import Flag, filled, flags_of
from beam_bleu.transforms.errors import GateError, UsageError

_DESCRIPTION = (
    "Compares saved results with thresholds, and prints a line for each check, "
    "without --quiet. It scores nothing. "
    "The exit code is 4 if a check fails, so that a scheduler can repeat this command alone."
)

_REMEDY = "find out what has changed, or change the threshold"


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    shown = "a scores.json, a totals.json or a folder with one"
    results = Flag("results", shown, "RESULT", nargs="+")
    groups = {"input": [results], "thresholds": flags_of(GateFlags)}
    return run("gate", _DESCRIPTION, groups, argv, _gate)


def _gate(flags: argparse.Namespace) -> bytes:
    chosen = filled(GateFlags, vars(flags))
    check_rules(chosen)
    asked, old = gates(chosen, flags.results)
    if not asked:
        raise UsageError(
            "there is no threshold",
            "give --fail_under, --fail_over, --warn_under, --warn_over or --max_drop: see --help",
        )
    # All files are read before the first line is printed.
    results = [result_at(path) for path in flags.results]
    for saved in results:
        require_definitions(
            asked, {word: definition_of(saved.result, word).chosen for word in saved.result.words}
        )
    kinds = {THRESHOLD_FLAGS[threshold.flag].kind for threshold in asked.thresholds}
    checks: list[Check] = []
    for saved in results:
        pairs = "nothing is compared" if old is None else pairing(old, saved)
        own = judge(saved.result, asked, saved.name, pairs)
        # A scores.json that is named can be a copy, or somebody is only trying thresholds.
        if saved.folder and kinds != {"warn"}:
            error = gate_error(own, _REMEDY)
            keep_verdict(saved.folder, "" if error is None else error.cause)
        name = f"{saved.name}: " if len(results) > 1 else ""
        checks += (Check(check.verdict, name + check.text) for check in own)
    error = gate_error(checks, _REMEDY)
    if flags.quiet:  # stderr says why, because stdout does not
        if error is not None:
            raise error
        return b""
    lines = [f"{check.verdict}  {printable(check.text)}\n" for check in checks]
    write_to_stdout("".join(lines).encode())
    verdicts = [check.verdict for check in checks]
    if warned := verdicts.count("warned"):
        warn(f"{warned} of {len(checks)} checks warned")
    if error is not None:
        raise GateError(f"{verdicts.count('failed')} of {len(checks)} checks failed", _REMEDY)
    return b""
