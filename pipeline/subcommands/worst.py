"""`beam-bleu worst`: shows the worst segments of a system, or those that lost most."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.parser import format_flag
from beam_bleu.pipeline.errors.printable import json_text, printable, value_of
from beam_bleu.pipeline.errors.reporting import warn
from beam_bleu.pipeline.examples import Found, Wanted, shown_entry, worst_segments
from beam_bleu.pipeline.folder.file_names import SCORES, TOTALS
from beam_bleu.pipeline.result.rows import Result
from beam_bleu.pipeline.saved.saved_result import named_if_damaged, result_at
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.definition.flags import Flag, positive, unknown_value
from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.shown_numbers import counted


def worst_command(argv: Sequence[str]) -> int:
    description = (
        "Shows the segments of a system with the worst scores, or those that lost most against "
        "another system. It needs a result of a run with --segment_scores, which has all "
        "segments, or with --examples, which has the texts of a few; or with both."
    )
    slices = Flag(
        "slice",
        "only segments with this value of a label, written as in tables (null: without the label); "
        "repeatable",
        "NAME=VALUE",
        ("--slice",),
        (),
        convert=_label,
    )
    against = "the segments that lost most against this system"
    number = "how many segments at most"
    groups = {
        "input": [Flag("result", "the folder of a result", "DIR")],
        "which segments": [
            Flag("system", "the system; default: the only one", "NAME", ("-s", "--system")),
            Flag("against", against, "NAME", ("--against",)),
            slices,
            Flag("metric", "the metric; default: the first one", "NAME", ("-m", "--metric")),
            Flag("number", number, "N", ("-n", "--number"), 20, convert=positive),
        ],
        "output": [format_flag("text", "json")],
    }
    return run("worst", description, groups, argv, _worst)


def _label(text: str) -> tuple[str, str | None]:
    name, equals, value = text.partition("=")
    with contextlib.suppress(ValueError):
        if name and equals:
            return name, value_of(value)
    raise ValueError(
        "must be NAME=VALUE, such as domain=news, with a string of JSON if VALUE begins with a "
        f"quotation mark, got {text}"
    )


def _worst(flags: argparse.Namespace) -> bytes:
    folder = flags.result.removeprefix("file://")
    if os.path.basename(folder) in (SCORES, TOTALS):  # its files of segments are beside it
        folder = os.path.dirname(folder) or "."
    saved = result_at(folder)
    wanted = _wanted(flags, saved.result)
    with named_if_damaged(folder):
        segments = worst_segments(folder, saved.result.segment_scores, wanted)
    if segments.note:
        warn(segments.note)
    if flags.format == "json":
        return (json_text(list(segments.entries), indent=1) + "\n").encode()
    title = _title(segments, wanted, saved.result.metric(wanted.metric).name)
    entries = [shown_entry(entry, place) for place, entry in enumerate(segments.entries, 1)]
    return "\n".join([printable(title) + "\n", *entries]).encode()


def _wanted(flags: argparse.Namespace, result: Result) -> Wanted:
    metric, systems = flags.metric or result.words[0], result.systems
    for flag, name, names in (
        ("--metric", metric, result.words),
        ("--against", flags.against, systems),
        ("--system", flags.system, systems),
    ):
        if name is not None and name not in names:
            raise unknown_value(flag, name, names)
    others = [system for system in systems if system != flags.against]
    system = flags.system or (others[0] if len(others) == 1 else None)
    if system is None or system == flags.against:
        raise UsageError(
            f"one system is shown, and the result has {joined(systems)}",
            "choose one with --system, and another one with --against",
        )
    lower = row_of(metric).lower_is_better
    return Wanted(metric, system, flags.against, dict(flags.slice), flags.number, lower)


def _title(found: Found, wanted: Wanted, name: str) -> str:
    shown, of_all = len(found.entries), found.of_all
    count = (
        counted(shown, "segment") if of_all is None else f"{shown} of {counted(of_all, 'segment')}"
    )
    what = (
        f", the worst {name} of {wanted.system} first"
        if wanted.against is None
        else f" where the {name} of {wanted.system} is worse than that of {wanted.against}, "
        "the largest loss first"
    )
    where = f", {wanted.slice}" if wanted.labels else ""
    source = "examples" if of_all is None else "segment_scores"
    return f"{count}{what}{where} ({source})"
