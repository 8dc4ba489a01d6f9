"""The flags that all programs have, and the output of their reports."""

from __future__ import annotations

import argparse
import pathlib
import tempfile

_PAIRS = 2_018_688


def add_corpus_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags --pairs and --work_dir."""
    parser.add_argument(
        "--pairs",
        type=int,
        default=_PAIRS,
        metavar="N",
        help=f"pairs of the corpus, default {_PAIRS:,}",
    )
    parser.add_argument(
        "--work_dir",
        type=pathlib.Path,
        default=pathlib.Path(tempfile.gettempdir()) / "beam-bleu-benchmark",
        metavar="DIR",
        help="keeps the corpus, default %(default)s",
    )


def add_output_flag(parser: argparse.ArgumentParser) -> None:
    """Adds the flag --output."""
    parser.add_argument(
        "--output", type=pathlib.Path, metavar="FILE", help="also writes the report there"
    )


def add_repeats_flag(parser: argparse.ArgumentParser, repeats: int) -> None:
    """Adds the flag --repeats, with its default."""
    parser.add_argument(
        "--repeats",
        type=int,
        default=repeats,
        metavar="N",
        help="runs of each contestant, default %(default)s",
    )


def publish(report: str, output: pathlib.Path | None) -> None:
    """Prints a report, and writes it to the file of --output."""
    print(report, end="")
    if output:
        output.write_text(report, encoding="utf-8")
