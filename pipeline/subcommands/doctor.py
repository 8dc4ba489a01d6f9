"""The subcommand `beam-bleu doctor`: it prints what it finds, and ends with 1 if scoring fails."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import add_text_or_json_flag, parser_of
from beam_bleu.pipeline.display.printable import json_text, printable
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.pipeline.doctor import engines, machine, packages
from beam_bleu.pipeline.doctor import kernel_check as kernel
from beam_bleu.pipeline.doctor.installation_facts import Fact
from beam_bleu.pipeline.errors.reporting import reported

_CHECKS = (
    *packages.CHECKS,
    *machine.CHECKS,
    *kernel.CHECKS,
    *engines.CHECKS,
    *packages.LIBRARY_CHECKS,
)

_WIDTH = 80


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns 0, 1 if scoring on this machine fails, or 2 for wrong flags."""
    facts: list[Fact] = []

    def work() -> None:
        parser = parser_of("doctor", _DESCRIPTION, usage="beam-bleu doctor [flags]")
        group = parser.add_argument_group("flags")
        add_text_or_json_flag(group)
        group.add_argument("-h", "--help", action="help", help="show this help")
        flags, unknown = parser.parse_known_args(argv)
        if unknown:
            parser.error(f"unexpected argument {unknown[0]!r}")
        as_json = flags.format == "json"
        for check in _CHECKS:
            facts.extend(check.facts())
        write_to_stdout((_as_json(facts) if as_json else _as_text(facts)).encode())

    try:
        code = reported(work, verbose=False)
    except SystemExit:  # --help
        return 0
    return code or int(_fails(facts))


_DESCRIPTION = (
    "Shows what is installed here, whether it scores a built-in sample correctly, and which "
    "engines, filesystems and tokenizers can be used. It needs no network. The exit code is 1 if "
    "scoring on this machine does not work."
)


def _fails(facts: Sequence[Fact]) -> bool:
    return any(fact.status == "FAIL" for fact in facts)


def _as_json(facts: Sequence[Fact]) -> str:
    document = {"ok": not _fails(facts), "facts": [dataclasses.asdict(fact) for fact in facts]}
    return json_text(document, indent=1) + "\n"


def _as_text(facts: Sequence[Fact]) -> str:
    """A line for each fact, under headings; a remedy, and the rest of a long text, below it."""
    names = max(len(fact.name) for fact in facts)
    lines: list[str] = []
    for i, fact in enumerate(facts):
        if i == 0 or fact.section != facts[i - 1].section:
            lines += ["", fact.section] if lines else [fact.section]
        begin = f"  {fact.status:4}  {fact.name:{names}}  "
        for text in filter(None, (fact.text, fact.remedy)):
            # Paths stay whole, so that they can be copied.
            lines += textwrap.wrap(
                printable(text),
                _WIDTH,
                initial_indent=begin,
                subsequent_indent=" " * len(begin),
                break_long_words=False,
                break_on_hyphens=False,
            )
            begin = " " * len(begin) + "-> "
    end = "Scoring on this machine does not work." if _fails(facts) else "Scoring works here."
    return "\n".join([*lines, "", end, ""])
