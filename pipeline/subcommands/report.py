"""The subcommand `beam-bleu report`: makes a page of results that are already there."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from beam_bleu.pipeline.history.history import History, history
from beam_bleu.pipeline.history.nights import are_several, read_nights
from beam_bleu.pipeline.output.file_names import REPORT
from beam_bleu.pipeline.report.page import page, require_jinja2, write_page
from beam_bleu.pipeline.result.saved_result import SavedResult, exists, is_folder, result_at
from beam_bleu.pipeline.subcommands.saved_results import NEW_TEXTS, run
from beam_bleu.transforms.definition.flags import Flag
from beam_bleu.transforms.errors import InputError, UsageError

_DESCRIPTION = (
    "Makes one HTML page of a result, with charts and examples. It loads nothing, so it can be "
    "sent to colleagues. Of several results it shows the last one, by the dates in their paths, "
    "and the history of all."
)

_MOST_NIGHTS = 400
"""The last nights, which a page shows. `beam-bleu history` shows all of them."""


def main(argv: Sequence[str]) -> int:
    """Runs the subcommand; returns the exit code."""
    results = Flag(
        "results",
        "a scores.json, a totals.json, a folder with one (its examples, inputs and versions are "
        "shown, too), or a folder of nights",
        "RESULT",
        nargs="+",
    )
    shown = f"the page; - for stdout; default {REPORT} in the folder of the only result"
    output = Flag("output", shown, "FILE", ("--output",))
    groups = {"input": [results, NEW_TEXTS], "output": [output]}
    return run("report", _DESCRIPTION, groups, argv, _report)


def _report(flags: argparse.Namespace) -> bytes:
    # Beam, which writes the page, does not know this name of its local filesystem.
    several = are_several(flags.results)
    path = (flags.output or _beside_result(flags.results, several)).removeprefix("file://")
    require_jinja2()
    if several:
        made = page(*_nights(flags.results, new_texts=flags.new_texts))
    else:
        made = page(result_at(flags.results[0]))
    if path == "-":
        return made
    write_page(path, made)
    return f"{path}\n".encode()


def _nights(results: Sequence[str], *, new_texts: bool) -> tuple[SavedResult, History]:
    """The last result of several ones, and their history."""
    nights = read_nights(results)
    scored = [night.saved for night in nights if night.saved is not None]
    if not scored:
        raise InputError(
            f"none of {len(nights)} runs has a result: {nights[-1].failure}",
            "name the folder of a run that has succeeded, too",
        )
    of_corpus = history(nights, lambda key: not key.of_slice, _MOST_NIGHTS, new_texts=new_texts)
    return scored[-1], of_corpus


def _beside_result(results: Sequence[str], several: bool) -> str:
    """Where the page goes if the user does not say it."""
    if not several and (is_folder(results[0]) or not exists(results[0])):
        return f"{results[0].rstrip('/')}/{REPORT}"
    what = "several results" if several else "a file"
    raise UsageError(
        f"the page of {what} needs --output",
        f"name a file, such as --output {REPORT}; - is stdout",
    )
