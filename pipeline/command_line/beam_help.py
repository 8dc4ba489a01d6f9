"""The text of --help_beam: Beam's flags, in the groups in which Beam declares them."""

from __future__ import annotations

import argparse
import copy
import re
from collections.abc import Collection

from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu.pipeline.command_line.help import Formatter
from beam_bleu.pipeline.command_line.parser import Parser

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z][a-z0-9]*")


def beam_help(ours: Collection[str]) -> str:
    """Beam's flags and what Beam says about them, in at most 80 columns.

    Args:
      ours: the spellings of our own flags. Beam never gets a flag that is spelt like one of them.
    """
    formatter = Formatter("beam-bleu")
    formatter.add_text("Apache Beam's flags. Engines use only those that are for them.")
    for options in PipelineOptions.__subclasses__():
        parser = Parser(add_help=False)
        options._add_argparse_args(parser)  # as Beam itself does
        described = [_described(action, ours) for action in parser.actions()]
        if described:
            formatter.start_section(_title(options.__name__))
            formatter.add_arguments([action for action in described if action.option_strings])
            formatter.end_section()
    return formatter.format_help()


def _title(name: str) -> str:
    """GoogleCloudOptions: Google Cloud."""
    return " ".join(_WORD.findall(name.removesuffix("Options")))


def _described(action: argparse.Action, ours: Collection[str]) -> argparse.Action:
    """A flag as the help shows it: with a short name of its value, and with its choices."""
    shown = copy.copy(action)
    shown.option_strings = [each for each in action.option_strings if each not in ours]
    shown.metavar = "N" if action.type is int else "VALUE"
    text = " ".join((action.help or "").split())
    if action.choices is not None:
        text = f"{text.rstrip('. ')}. One of: {', '.join(map(str, action.choices))}"
    shown.help = text.replace("%", "%%")  # argparse would look for names of values after a %
    return shown
