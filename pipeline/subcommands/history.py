"""The subcommand `beam-bleu history`: the scores of several nights, and what changed."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.definition_flags import METRICS_FLAG
from beam_bleu.pipeline.command_line.parser import format_flag
from beam_bleu.pipeline.history.history import history
from beam_bleu.pipeline.history.nights import ORDERS, Night, read_nights
from beam_bleu.pipeline.history.shown import FORMATS
from beam_bleu.pipeline.result.rows import Key
from beam_bleu.pipeline.subcommands.saved_results import NEW_TEXTS, run
from beam_bleu.transforms.definition.flags import Flag, positive, unknown_value
from beam_bleu.transforms.errors import InputError, joined

_DESCRIPTION = (
    "Shows the scores of several nights, and whether each one differs from the night before by "
    "more than luck. It also names missing nights, failed runs, changed definitions and changed "
    "references."
)

_ALL_SLICES = "all"
"""The value of --slice for all slices. The text of a slice has an equals sign."""


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    nights = Flag(
        "nights",
        "a folder of results, a folder that contains such folders, a scores.json, or a pattern of "
        "such paths in quotes; on this machine or in an object store",
        "DIR",
        nargs="+",
    )
    order = Flag(
        "order_by",
        "how nights are ordered: "
        + "; ".join(f"{name} ({description})" for name, description in ORDERS.items()),
        "NAME",
        ("--order_by",),
        choices=tuple(ORDERS),
        shown_default="default path, or run if no path has a date",
    )
    slices = Flag(
        "slice",
        f"this slice, such as domain=news, or {_ALL_SLICES}, instead of the whole corpus; "
        "repeatable",
        "SLICE",
        ("--slice",),
        (),
    )
    shown = [
        dataclasses.replace(METRICS_FLAG, shown_default="default: all"),
        Flag("system", "only this system; repeatable", "NAME", ("--system",), ()),
        slices,
        Flag("last", "only the last N nights", "N", ("--last",), convert=positive),
        format_flag(*FORMATS),
    ]
    groups = {"input": [nights, order, NEW_TEXTS], "what is shown": shown}
    return run("history", _DESCRIPTION, groups, argv, _history)


def _history(flags: argparse.Namespace) -> bytes:
    nights = read_nights(flags.nights, flags.order_by)
    _require_known(flags, nights)
    slices = flags.slice or [""]

    def chooses(key: Key) -> bool:
        return (
            key.metric in (flags.metrics or (key.metric,))
            and key.system in (flags.system or (key.system,))
            and (key.of_slice in slices or (_ALL_SLICES in slices and key.of_slice != ""))
        )

    found = history(nights, chooses, flags.last, new_texts=flags.new_texts)
    if not found.series:
        raise InputError(
            f"none of {len(nights)} nights has such a score",
            "show the nights without --metrics, --system, --slice and --last",
        )
    if flags.metrics:
        in_order = sorted(found.series, key=lambda series: flags.metrics.index(series.key.metric))
        found = dataclasses.replace(found, series=tuple(in_order))
    return FORMATS[flags.format](found).encode()


def _require_known(flags: argparse.Namespace, nights: Sequence[Night]) -> None:
    """Checks that each metric, system and slice that is asked for occurs in some night."""
    keys = [key for night in nights for key in night.scores]
    if not keys:
        raise InputError(
            "no night has a result: " + joined([night.failure for night in nights]),
            "repeat the runs",
        )
    slices = dict.fromkeys(key.of_slice for key in keys if key.of_slice)
    for flag, asked, known in (
        ("--metrics", flags.metrics, dict.fromkeys(key.metric for key in keys)),
        ("--system", flags.system, dict.fromkeys(key.system for key in keys)),
        ("--slice", flags.slice, {**slices, _ALL_SLICES: None} if slices else {}),
    ):
        for name in asked or ():
            if name not in known:
                raise unknown_value(flag, name, known)
