"""The flags that all programs have, and the output of their reports."""

from __future__ import annotations

import argparse
import pathlib
import sys
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


def command_parser(description: str) -> argparse.ArgumentParser:
    """A parser whose usage line names the module that runs, as the user has to type it."""
    module = sys.modules["__main__"].__spec__
    assert module is not None  # the programs run with `python -m`
    prog = "python -m " + module.name.removesuffix(".__main__")
    return argparse.ArgumentParser(prog=prog, description=description)


def measuring_parser(documentation: str, repeats: int) -> argparse.ArgumentParser:
    """The parser of a program that measures with a corpus, and writes a report.

    Args:
      documentation: the program's docstring; its first line is the description.
      repeats: the default of --repeats.
    """
    parser = command_parser(documentation.partition("\n")[0])
    add_corpus_flags(parser)
    add_output_flag(parser)
    add_repeats_flag(parser, repeats)
    return parser


def publish(report: str, output: pathlib.Path | None) -> None:
    """Prints a report, and writes it to the file of --output."""
    print(report, end="")
    if output:
        output.write_text(report, encoding="utf-8")
