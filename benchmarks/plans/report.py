"""The report of what plans cost, in Markdown."""

from __future__ import annotations

import datetime
import platform
from typing import Any

from benchmarks.plans.fake_corpora import CORPORA

_STAGES = {
    "Spread the ranges": "",
    "Gather the counts": " (one key)",
    "Spread the portions": "",
    "Add up": " (at most)",
    "Bring it together": "",
}

_SHUFFLES = """\
What goes through each shuffle, as "number of elements: MB", encoded with the coders that Beam \
uses there. All counts go to one key, so some engines make one element of them. The totals of a \
bundle are added up before they are sent; the bound in the table is for one portion per bundle."""


def report(measured: dict[int, dict[str, Any]]) -> str:
    """The report.

    Args:
      measured: the figures of each corpus, by its number.
    """
    lines = ["# The plan of massive corpora", "", _notes(), ""]
    lines += [
        "| corpus | files | TB | range MiB | ranges | portions | longest portion / mean "
        "| read in vain | list s | plan s | list peak MB | plan peak MB |",
        "| --- |" + " ---: |" * 11,
    ]
    for number, figures in measured.items():
        lines.append(f"| {CORPORA[number].name} | {_cost(figures)} |")
    stages = " | ".join(f"{stage}{note}" for stage, note in _STAGES.items())
    lines += [
        "",
        _SHUFFLES,
        "",
        f"| corpus | {stages} | all, of the corpus | largest portion KB |",
        "| --- |" + " ---: |" * (len(_STAGES) + 2),
    ]
    for number, figures in measured.items():
        lines.append(f"| {CORPORA[number].name} | {_shuffled(figures)} |")
    most_files = max(measured.values(), key=lambda figures: figures["files"])
    if most_files["ranges"] == most_files["files"]:
        lines += ["", _limits(most_files)]
    return "\n".join(lines) + "\n"


def _cost(figures: dict[str, Any]) -> str:
    return " | ".join(
        (
            f"{figures['files']:,}",
            f"{figures['bytes'] / 1e12:,.4g}",
            f"{figures['range_bytes'] >> 20:,}",
            f"{figures['ranges']:,}",
            f"{figures['portions']:,}",
            f"{figures['longest_to_mean']:.2f}",
            f"{figures['in_vain']:.1%}",
            f"{figures['list_s']:.1f}",
            f"{figures['plan_s']:.1f}",
            f"{figures['list_peak'] / 1e6:,.0f}",
            f"{figures['plan_peak'] / 1e6:,.0f}",
        )
    )


def _shuffled(figures: dict[str, Any]) -> str:
    shuffles = figures["shuffles"]
    each = [
        f"{shuffles[stage]['elements']:,}: {shuffles[stage]['bytes'] / 1e6:,.1f}"
        for stage in _STAGES
    ]
    share = sum(shuffle["bytes"] for shuffle in shuffles.values()) / figures["bytes"]
    largest = shuffles["Spread the portions"]["largest"] / 1e3
    return " | ".join([*each, f"{share:.5%}", f"{largest:,.1f}"])


def _limits(figures: dict[str, Any]) -> str:
    """The first limit that a corpus with a very large number of files reaches."""
    group = figures["shuffles"]["Gather the counts"]["largest"] / figures["files"]
    memory = (figures["plan_peak"] - figures["idle"]) / figures["files"]
    return (
        "Above 4 TB the plan grows with the number of files of a corpus, not with its bytes "
        f"(unless `--range_bytes` is given). Each file takes {group:,.0f} bytes of the counts and "
        f"{memory / 1e3:,.1f} KB of the planning worker's memory (figures of the corpus with the "
        "most files). The first limit is in `Gather the counts`, on an engine that makes one "
        f"element of all values of a key. This element reaches 100 MB at {1e8 / group:,.0f} files. "
        f"It reaches 2 GB, the limit for a Java array or a message, at {(1 << 31) / group:,.0f} "
        "files."
    )


def _notes() -> str:
    return (
        "These are the costs of listing files, cutting them into ranges and planning the work. "
        "The corpora are only metadata, and no text is read. Every plan is checked against the "
        "places where the newlines would be: each line of each stream is in the plan once, in "
        "order, and each piece begins where the plan says. Made by "
        f"`python -m benchmarks.plans` on {datetime.date.today()} with Python "
        f"{platform.python_version()}, on one core of the machine of "
        "[RESULTS.md](../speed/RESULTS.md). If the table does not say otherwise, a corpus has two "
        "streams with 210 bytes per line, in files of 1 GB, cut at different lines.\n\n"
        "*List* is the one worker that lists all files. It orders, checks and cuts them and writes "
        "the ranges. The time that the filesystem itself takes to list is not included. *Plan* is "
        "the one worker that has all counts. It reads them, plans, and writes the portions. The "
        "peaks are the memory of these processes, including about 210 MB for Beam and the graph. "
        "*Read in vain* is the text that portions read before their first lines, as a share of "
        "the corpus."
    )
