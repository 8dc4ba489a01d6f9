"""The subcommand `beam-bleu gate`: it judges results that are already there."""

from __future__ import annotations

from collections.abc import Sequence

from beam_bleu.pipeline.command_line.gate_flags import (
    add_gate_flags,
    gates,
    require_comparable,
    require_metrics,
)
from beam_bleu.pipeline.command_line.log_flags import add_log_format_flag, log_format
from beam_bleu.pipeline.command_line.parser import Parser, parser_of, with_underscores
from beam_bleu.pipeline.display.printable import printable, utf8
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.pipeline.errors.reporting import reported, warn
from beam_bleu.pipeline.gates.judging import Check, gate_error, judge
from beam_bleu.pipeline.output.run_record import keep_verdict
from beam_bleu.pipeline.result.comparing import pairing
from beam_bleu.pipeline.result.saved_result import NotPaired, result_at
from beam_bleu.pipeline.result.series import definition_of
from beam_bleu.transforms.errors import GateError, UsageError

_DESCRIPTION = (
    "Compares saved results with thresholds, and prints a line for each check. It scores nothing. "
    "The exit code is 4 if a check fails, so that a scheduler can repeat this command alone."
)

_REMEDY = "find out what has changed, or change the threshold"


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    quiet = "-q" in argv or "--quiet" in argv
    try:
        return reported(lambda: _gate(argv), verbose=0, quiet=quiet, log_format=log_format(argv))
    except SystemExit:  # --help
        return 0


def _gate(argv: Sequence[str]) -> None:
    flags = _parser().parse_args([utf8(word) for word in with_underscores(argv)])
    asked = gates(flags, results=flags.results)
    if not asked:
        raise UsageError(
            "there is no threshold",
            "give --fail_under, --fail_over, --warn_under, --warn_over or --max_drop: see --help",
        )
    # All files are read before the first line is printed.
    results = [result_at(path) for path in flags.results]
    for saved in results:
        require_metrics(asked, saved.result.words)
        definitions = {
            word: definition_of(saved.result, word).chosen for word in saved.result.words
        }
        require_comparable(asked, definitions, flags.against)
    old = None if asked.old is None else result_at(flags.against)
    checks: list[Check] = []
    lines: list[str] = []
    several = len(results) > 1
    for saved in results:
        pairs = NotPaired("nothing is compared") if old is None else pairing(old, saved)
        own_checks = judge(saved.result, asked, saved.name, pairs)
        # A scores.json that is named can be a copy, or somebody is only trying thresholds.
        if saved.folder and not all(check.only_warns for check in own_checks):
            error = gate_error(own_checks, _REMEDY)
            keep_verdict(saved.folder, "" if error is None else error.cause)
        for check in own_checks:
            text = f"{saved.name}: {check.text}" if several else check.text
            checks.append(Check(check.passed, text, check.only_warns))
            lines.append(f"{_word(check)}  {printable(text)}\n")
    if not flags.quiet:
        write_to_stdout("".join(lines).encode())
    error = gate_error(checks, _REMEDY)
    if flags.quiet:
        if error is not None:
            raise error
        return
    # stdout has said which ones.
    if warned := sum(check.warns for check in checks):
        warn(f"{warned} of {len(checks)} checks warned")
    if error is not None:
        failed = sum(check.fails for check in checks)
        raise GateError(f"{failed} of {len(checks)} checks failed", _REMEDY)


def _word(check: Check) -> str:
    return "failed" if check.fails else "warned" if check.warns else "passed"


def _parser() -> Parser:
    parser = parser_of("gate", _DESCRIPTION)
    parser.add_argument(
        "results",
        nargs="+",
        metavar="RESULT",
        help="a scores.json, a totals.json or a folder with one",
    )
    group = parser.add_argument_group("flags")
    add_gate_flags(group)
    group.add_argument(
        "-q",
        "--quiet",
        action="store_true",
        help="show only errors on stderr, no checks",
    )
    add_log_format_flag(group)
    group.add_argument("-h", "--help", action="help", help="show this help")
    return parser
