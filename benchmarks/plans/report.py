"""The report of what plans cost, in Markdown."""

from __future__ import annotations

import datetime
import platform
from typing import Any

from benchmarks.plans.fake_corpora import CORPORA

_STAGES = {
    "Spread the ranges": "",
    "Gather the counts": " (one key)",
    "Spread the work units": "",
    "Add up totals": " (at most)",
    "Bring it together": "",
}

_SHUFFLES = """\
What goes through each shuffle, elements: MB, encoded by the coders that Beam takes there. The \
counts go to one key, so some engines make one element of all of them. A total is added to those \
of its bundle before it is sent; the bound is one unit a bundle."""


def report(measured: dict[int, dict[str, Any]]) -> str:
    """The report.

    Args:
      measured: the figures of each corpus, by its number.
    """
    lines = ["# The plan of massive corpora", "", _notes(), ""]
    lines += [
        "| corpus | files | TB | range MiB | ranges | units | longest unit / mean "
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
        f"| corpus | {stages} | all, of the corpus | largest unit KB |",
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
            f"{figures['units']:,}",
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
    largest = shuffles["Spread the work units"]["largest"] / 1e3
    return " | ".join([*each, f"{share:.5%}", f"{largest:,.1f}"])


def _limits(figures: dict[str, Any]) -> str:
    """What a corpus of very many files meets first."""
    group = figures["shuffles"]["Gather the counts"]["largest"] / figures["files"]
    memory = (figures["plan_peak"] - figures["idle"]) / figures["files"]
    return (
        "Above 4 TB the plan grows with the files of a corpus, not with its bytes (unless "
        f"`--range_bytes` is given): each file takes {group:,.0f} bytes of the counts and "
        f"{memory / 1e3:,.1f} KB of the planning worker's memory (figures of the corpus with the "
        "most files). What breaks first is `Gather the counts`, on an engine that makes one "
        f"element of a key: the element has 100 MB at {1e8 / group:,.0f} files, and 2 GB, which "
        f"is the most that a Java array or a message has, at {(1 << 31) / group:,.0f}."
    )


def _notes() -> str:
    return (
        "Listing, cutting into ranges and planning of corpora that are metadata only: nothing is "
        "read, and every plan is checked against where the newlines would be (each line of each "
        "stream once, in order, each piece beginning where it says). Made by "
        f"`python -m benchmarks.plans` on {datetime.date.today()} with Python "
        f"{platform.python_version()}, on one core of the machine of "
        "[RESULTS.md](../speed/RESULTS.md). Two streams of 210 bytes a line in files of 1 GB, cut "
        "at different lines, where nothing else is said.\n\n"
        "*List* is the one worker that lists all files: it orders, checks and cuts them and writes "
        "the ranges; what the filesystem itself takes to list comes on top. *Plan* is the one "
        "worker that has all counts: it reads them, plans, and writes the units. The peaks are of "
        "these processes, including some 210 MB that Beam and the graph alone take. *Read in vain* "
        "is what units read before their first lines, as a share of the corpus."
    )
