"""`beam-bleu doctor`: prints what is installed and works; exit code 1 if scoring does not work."""

from __future__ import annotations

import argparse
import dataclasses
import textwrap
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import format_flag
from beam_bleu.pipeline.engines.installation import CHECKS, Fact
from beam_bleu.pipeline.errors.printable import printable
from beam_bleu.pipeline.result.document import document_bytes
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.errors import UsageError

_WIDTH = 80


def doctor_command(argv: Sequence[str]) -> int:
    description = (
        "Shows what is installed here, whether it scores a built-in sample correctly, and which "
        "engines, filesystems, tables and tokenizers can be used. It needs no network. The exit "
        "code is 1 if scoring on this machine does not work. With the command line of a job on an "
        "engine (--runner ...), it asks the workers of the engine instead, and does not run the "
        "job: their versions, and whether they can read the input and write to --output."
    )
    facts: list[Fact] = []

    def work(flags: argparse.Namespace) -> bytes:
        on_engine = any(word.partition("=")[0] == "--runner" for word in flags.others)
        if on_engine:
            from beam_bleu.pipeline.subcommands.doctor_on_engine import facts_of_engine

            facts.extend(facts_of_engine(flags.others))
        elif flags.others:
            raise UsageError(f"unexpected argument {flags.others[0]!r}", "see beam-bleu doctor -h")
        else:
            for check in CHECKS:
                facts.extend(check.facts())
        if flags.format == "json":
            entries = [dataclasses.asdict(fact) for fact in facts]
            return document_bytes({"ok": not _fails(facts), "facts": entries})
        return _as_text(facts, _ENDS[on_engine, _fails(facts)]).encode()

    groups = {"output": [format_flag("text", "json")]}
    code = run("doctor", description, groups, argv, work, takes_others=True)
    return code or int(_fails(facts))


_ENDS = {
    (False, False): "Scoring works here.",
    (False, True): "Scoring on this machine does not work.",
    (True, False): "The workers can do this job.",
    (True, True): "The workers cannot do this job.",
}
"""The last line, by (whether an engine was asked, whether something fails)."""


def _fails(facts: Sequence[Fact]) -> bool:
    return any(fact.status == "FAIL" for fact in facts)


def _as_text(facts: Sequence[Fact], end: str) -> str:
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
    return "\n".join([*lines, "", end, ""])
