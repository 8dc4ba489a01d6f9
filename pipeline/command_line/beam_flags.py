"""Beam's own flags: their values, their help, which ones work in-process, and Beam's options.

Beam ignores most flags that a runner does not use, so those are refused.
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu.pipeline.command_line.help import Formatter
from beam_bleu.pipeline.command_line.parser import Parser
from beam_bleu.transforms.definition.flags import SEE_HELP
from beam_bleu.transforms.errors import UsageError

_OF_ENGINES = (
    "Flink Runner",
    "Job Server",
    "Kafka Streams Runner",
    "Portable",
    "Prism Runner",
    "Spark Runner",
)
"""Groups of Beam's flags that only an engine can use."""

_REFUSED = {
    "dry_run": "the command needs the result of the job",
    "no_wait_until_finish": "the command waits for the job, to show its result",
    "on_success_matcher": "it is for Beam's own tests",
    "wait_until_finish_duration": "the command waits until the job ends; `timeout` can stop it",
}
"""Flags that the command cannot use with any runner, and why not."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z][a-z0-9]*")


class _BeamParser(Parser):
    """A parser to which Beam's classes add their flags, each class in a group of its own."""

    def add_argument(self, *names: str, **keywords: Any) -> argparse.Action:
        # Beam never gets --labels, which is one of our flags; --label is the same.
        own = [name for name in names if name != "--labels"]
        action = self._action_groups[-1].add_argument(*own, **keywords)
        action.metavar = "N" if action.type is int else "VALUE"
        text = " ".join((action.help or "").split())
        if action.choices is not None:
            text = f"{text.rstrip('. ')}. One of: {', '.join(map(str, action.choices))}"
        action.help = text.replace("%", "%%")  # argparse would look for names of values after a %
        return action

    add_value_provider_argument = add_argument  # Beam's options can call this one, too


@functools.cache  # Beam has hundreds of flags, and a run also asks which of them are switches
def beam_parser() -> Parser:
    parser = _BeamParser(
        usage=argparse.SUPPRESS,
        description="Apache Beam's flags. Engines use only those that are for them.",
        formatter_class=Formatter,
        add_help=False,
    )
    for options in PipelineOptions.__subclasses__():
        # GoogleCloudOptions: Google Cloud
        parser.add_argument_group(" ".join(_WORD.findall(options.__name__.removesuffix("Options"))))
        options._add_argparse_args(parser)  # as Beam itself does
    return parser


def parse_beam_flags(words: Sequence[str]) -> tuple[argparse.Namespace, dict[str, str], list[str]]:
    """The values of Beam's flags.

    Also the spellings, by name, of the flags whose value is not the default; and the words that are
    neither flags of Beam nor their values.
    """
    parser = beam_parser()
    try:
        flags, others = parser.parse_known_args(words)
    except UsageError:
        raise
    except Exception as error:  # some of Beam's flags have their own functions to read values
        raise UsageError(f"a value of Beam's flags is not understood: {error}", SEE_HELP) from error
    given = {
        action.dest: action.option_strings[0]
        for action in parser.actions()
        if getattr(flags, action.dest) != action.default
    }
    _refuse(_REFUSED, given)
    return flags, given, others


def check_in_process(given: Mapping[str, str]) -> None:
    """Checks the flags of Beam that are given for a run in this process."""
    of_engines = {
        action.dest: "it is for an engine, but this job runs in-process"
        for group in beam_parser()._action_groups
        if group.title in _OF_ENGINES
        for action in group._group_actions
    }
    _refuse(of_engines, given)


def _refuse(refused: Mapping[str, str], given: Mapping[str, str]) -> None:
    for name, flag in given.items():
        if name in refused:
            raise UsageError(f"{flag} is refused: {refused[name]}", "leave it out")


class KeptViews(PipelineOptions):
    """Beam's options, which make each view once, so that they are fast to ask.

    Beam asks for a view several times for each step. Each time it makes a parser of all flags of
    the view. Together this took more CPU than the rest of building a pipeline. All views share
    their values, so a view that was made earlier shows later changes.
    """

    def view_as(self, cls: type[Any]) -> Any:
        """These options as those of a class."""
        # Not as an attribute: Beam takes attributes for options.
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        return views[cls]
