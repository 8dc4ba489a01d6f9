"""`beam-bleu history` shows the scores of many nights; `beam-bleu report` makes an HTML page."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
from collections.abc import Sequence

from beam_bleu.pipeline.command_line.definition_flags import METRICS_FLAG
from beam_bleu.pipeline.command_line.parser import format_flag
from beam_bleu.pipeline.folder.file_names import REPORT
from beam_bleu.pipeline.history.history import FORMATS, History, history
from beam_bleu.pipeline.history.nights import ORDERS, Night, are_several, read_nights
from beam_bleu.pipeline.report.page import Headline, page, require_jinja2, write_page
from beam_bleu.pipeline.result.rows import Key
from beam_bleu.pipeline.saved.saved_result import SavedResult, exists, is_folder, result_at
from beam_bleu.pipeline.subcommands import run
from beam_bleu.transforms.definition.flags import Flag, positive, unknown_value
from beam_bleu.transforms.errors import InputError, UsageError, joined

NEW_TEXTS = Flag(
    "new_texts",
    "the results have segments of their own, even if their --partition does not say so",
    words=("--new_texts",),
    default=False,
)


_ALL_SLICES = "all"  # the value of --slice for all slices; the text of a slice always has a "="


def history_command(argv: Sequence[str]) -> int:
    description = (
        "Shows the scores of several nights, and whether each one differs from the night before "
        "by more than luck. It also names missing nights, failed runs, changed definitions and "
        "changed references."
    )
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
    return run("history", description, groups, argv, _history)


def _history(flags: argparse.Namespace) -> bytes:
    nights = read_nights(flags.nights, flags.order_by)
    _require_known(flags, nights)
    slices = flags.slice or [""]

    def chooses(key: Key) -> bool:
        return (
            key.metric in (flags.metrics or (key.metric,))
            and key.system in (flags.system or (key.system,))
            and (key.slice_text in slices or (_ALL_SLICES in slices and key.slice_text != ""))
        )

    past = history(nights, chooses, flags.last, new_texts=flags.new_texts)
    if not past.series:
        raise InputError(
            f"none of {len(nights)} nights has such a score",
            "show the nights without --metrics, --system, --slice and --last",
        )
    if flags.metrics:
        in_order = sorted(past.series, key=lambda series: flags.metrics.index(series.key.metric))
        past = dataclasses.replace(past, series=tuple(in_order))
    return FORMATS[flags.format](past).encode()


def _require_known(flags: argparse.Namespace, nights: Sequence[Night]) -> None:
    keys = [key for night in nights for key in night.scores]
    if not keys:
        raise InputError(
            "no night has a result: " + joined([night.failure for night in nights]),
            "repeat the runs",
        )
    slices = dict.fromkeys(key.slice_text for key in keys if key.slice_text)
    if flags.slice and not slices:
        raise UsageError(f"--slice {flags.slice[0]}: no night has slices", "leave out --slice")
    for flag, asked, known in (
        ("--metrics", flags.metrics, dict.fromkeys(key.metric for key in keys)),
        ("--system", flags.system, dict.fromkeys(key.system for key in keys)),
        ("--slice", flags.slice, {**slices, _ALL_SLICES: None}),
    ):
        for name in asked or ():
            if name not in known:
                raise unknown_value(flag, name, known)


_MOST_NIGHTS = 400

_SCORED = "default: the metrics and the systems"


def _day(text: str) -> str:
    try:
        return datetime.date.fromisoformat(text).isoformat()
    except ValueError:
        raise ValueError(f"must be a day such as 2026-11-29, got {text}") from None


def report_command(argv: Sequence[str]) -> int:
    description = (
        "Makes one HTML page of a result, with charts and examples. It loads nothing, so it can "
        "be sent to colleagues. Of several results it shows the last one, by the dates in their "
        "paths, and the history of all."
    )
    results = Flag(
        "results",
        "a scores.json, a totals.json, a folder with one (its examples, inputs and versions are "
        "shown, too), or a folder of nights",
        "RESULT",
        nargs="+",
    )
    shown = f"the page; - for stdout; default {REPORT} in the folder of the only result"
    output = Flag("output", shown, "FILE", ("--output",))
    headline = [
        Flag("title", "the title of the page", "TEXT", ("--title",), shown_default=_SCORED),
        Flag("date", "the day to show below it", "YYYY-MM-DD", ("--date",), convert=_day),
        Flag("note", "a paragraph to show below it", "TEXT", ("--note",)),
    ]
    groups = {"input": [results, NEW_TEXTS], "output": [output, *headline]}
    return run("report", description, groups, argv, _report)


def _report(flags: argparse.Namespace) -> bytes:
    if (flags.title or "").isspace():
        raise UsageError("--title has only white space", "write a title, or leave it out")
    # Without file://, which Beam, by which the page is written, does not understand.
    several = are_several(flags.results)
    path = (flags.output or _beside_result(flags.results, several)).removeprefix("file://")
    require_jinja2()
    headline = Headline(flags.title, flags.date, flags.note)
    if several:
        made = page(*_nights(flags.results, new_texts=flags.new_texts), headline)
    else:
        made = page(result_at(flags.results[0]), headline=headline)
    if path == "-":
        return made
    write_page(path, made)
    return f"{path}\n".encode()


def _nights(results: Sequence[str], *, new_texts: bool) -> tuple[SavedResult, History]:
    nights = read_nights(results)
    scored = [night.saved for night in nights if night.saved is not None]
    if not scored:
        raise InputError(
            f"none of {len(nights)} runs has a result: {nights[-1].failure}",
            "name the folder of a run that has succeeded, too",
        )
    of_corpus = history(nights, lambda key: not key.slice_text, _MOST_NIGHTS, new_texts=new_texts)
    return scored[-1], of_corpus


def _beside_result(results: Sequence[str], several: bool) -> str:
    if not several and (is_folder(results[0]) or not exists(results[0])):
        return f"{results[0].rstrip('/')}/{REPORT}"
    what = "several results" if several else "a file"
    raise UsageError(
        f"the page of {what} needs --output", f"name a file, such as --output {REPORT}; - is stdout"
    )
