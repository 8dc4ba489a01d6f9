"""Beam's own flags: their values, their help, which ones work in-process, and Beam's options.

Beam ignores most flags that a runner does not use. It also accepts values that make it fail
later, with a message that does not name the flag.
"""

from __future__ import annotations

import argparse
import copy
import functools
import importlib.util
import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu.pipeline.command_line.help import Formatter
from beam_bleu.pipeline.command_line.parser import SEE_HELP, Parser
from beam_bleu.transforms.errors import UsageError

_LARGEST_INT = (1 << 31) - 1
_LARGEST = {"direct_num_workers": 256, "direct_runner_bundle_repeat": 1000}
"""The largest values of flags that could otherwise start any number of threads or repetitions."""

_OF_ENGINES = (
    "FlinkRunnerOptions",
    "JobServerOptions",
    "KafkaStreamsRunnerOptions",
    "PortableOptions",
    "PrismRunnerOptions",
    "SparkRunnerOptions",
)
"""Beam's classes of flags that only an engine can use."""

_REFUSED = {
    "no_wait_until_finish": ("the command waits for the job, to show its result", "leave it out"),
    "on_success_matcher": ("it is for Beam's own tests", "leave it out"),
    "wait_until_finish_duration": (
        "the command waits until the job ends",
        "leave it out; to limit the time, use the program `timeout`",
    ),
}
"""Flags that the command cannot use with any runner: why not, and what to do."""

_REFUSED_IN_PROCESS = {
    "direct_test_splits": ("it is for Beam's own tests", "leave it out"),
    "dry_run": ("the job would run anyway", "leave it out"),
    "gbek": ("no data leaves this process, so there is nothing to encrypt", "leave it out"),
    "profile_cpu": (
        "Beam's in-process runner cannot profile this job",
        "profile the command itself: python -m cProfile -m beam_bleu.pipeline ...",
    ),
    "profile_memory": (
        "Beam's in-process runner cannot profile this job",
        "use a memory profiler for Python programs",
    ),
    "update_compatibility_version": ("an in-process job cannot be updated", "leave it out"),
}

_OBJECTS = (
    "beam_services",
    "direct_test_splits",
    "gcs_custom_audit_entries",
    "sdk_harness_log_level_overrides",
    "transform_name_mapping",
)
"""Flags whose value is a JSON object."""

_SUCH_AS = 'give an object such as {"key": "value"}'

_FILES = ("requirements_file", "setup_file", "extra_packages")

_VERSION = re.compile(r"\d+\.\d+\.\d+\w*")

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z][a-z0-9]*")


@functools.cache  # Beam has hundreds of flags, and a run also asks which of them are switches
def beam_parser() -> Parser:
    """A parser of all flags that Beam knows."""
    parser = Parser(add_help=False)
    for options in PipelineOptions.__subclasses__():
        options._add_argparse_args(parser)  # as Beam itself does
    for action in parser.actions():
        if action.type not in (None, int, float, str):
            read: Any = action.type
            action.type = _understood(action.option_strings[-1], read)
    return parser


def parse_beam_flags(parser: Parser, words: Sequence[str]) -> argparse.Namespace:
    """The values of Beam's flags.

    Raises:
      UsageError: a flag has a value that is not allowed.
    """
    try:
        flags = parser.parse_args(words)
    except UsageError:
        raise
    except Exception as error:  # some of Beam's flags have their own functions to read values
        raise _not_understood(_culprit(parser, words)) from error
    _check_values(parser, flags)
    return flags


def check_in_process(parser: Parser, flags: argparse.Namespace) -> None:
    """Checks Beam's flags for a run in this process.

    Raises:
      UsageError: one of them cannot be used here.
    """
    flag_of = _given(parser, flags)
    if not flag_of:  # as in most runs: making the parsers of the engines takes a millisecond
        return
    for name, flag in flag_of.items():
        if name in _REFUSED_IN_PROCESS:
            why, remedy = _REFUSED_IN_PROCESS[name]
            raise UsageError(f"{flag} is refused: {why}", remedy)
    for name in _names_of_engines():
        if name in flag_of:
            raise UsageError(
                f"{flag_of[name]} is for an engine, but this job runs in-process",
                "name the engine with --runner, or leave the flag out",
            )


def _check_values(parser: Parser, flags: argparse.Namespace) -> None:
    flag_of = _given(parser, flags)
    for action in parser.actions():
        name = action.dest
        if name not in flag_of:
            continue
        flag, value = flag_of[name], getattr(flags, name)
        if name in _REFUSED:
            why, remedy = _REFUSED[name]
            raise UsageError(f"{flag} is refused: {why}", remedy)
        most = _LARGEST.get(name, _LARGEST_INT)
        if action.type is int and not 0 <= value <= most:
            raise UsageError(f"{flag} must be 0 to {most}, got {value}", SEE_HELP)
        if name in _OBJECTS and not isinstance(value, dict):
            raise UsageError(f"{flag} must be a JSON object, got {value!r}", _SUCH_AS)
        if name in _FILES:
            _check_files(flag, [value] if isinstance(value, str) else value)
    if flags.type_check_strictness == "ALL_REQUIRED":
        raise UsageError(
            "--type_check_strictness ALL_REQUIRED: not all steps of the job declare their types",
            "leave it out",
        )
    version = flags.update_compatibility_version
    if version is not None and not _VERSION.fullmatch(version):
        raise UsageError(
            f"--update_compatibility_version must be a version of Beam, got {version}",
            "give a version such as 2.70.0",
        )
    if flags.pickle_library.startswith("dill") and importlib.util.find_spec("dill") is None:
        raise UsageError(
            f"--pickle_library {flags.pickle_library} needs dill, which is not installed here",
            "leave it out, or install apache-beam[dill] here and on the workers",
        )


def _check_files(flag: str, paths: Sequence[str]) -> None:
    for path in paths:
        if "://" not in path and not os.path.isfile(path):
            raise UsageError(f"{flag}: there is no file {path}", "check the path")


def _given(parser: Parser, flags: argparse.Namespace) -> dict[str, str]:
    """The flags whose value is not the default: their spelling on the command line, by name."""
    return {
        action.dest: action.option_strings[0]
        for action in parser.actions()
        if getattr(flags, action.dest) != action.default
    }


def _names_of_engines() -> Iterator[str]:
    for options in PipelineOptions.__subclasses__():
        if options.__name__ in _OF_ENGINES:
            parser = Parser(add_help=False)
            options._add_argparse_args(parser)
            yield from (action.dest for action in parser.actions())


def _understood(flag: str, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """A function that reads a flag's value, with errors that a user understands."""

    def value(text: str) -> Any:
        try:
            return read(text)
        except Exception as error:
            raise _not_understood(flag, text) from error

    return value


def _not_understood(flag: str, text: str | None = None) -> UsageError:
    got = "" if text is None else f", got {text!r}"
    if flag.lstrip("-") in _OBJECTS:
        return UsageError(f"{flag} must be a JSON object{got}", _SUCH_AS)
    return UsageError(f"the value of {flag} cannot be understood{got}", SEE_HELP)


def _culprit(parser: Parser, words: Sequence[str]) -> str:
    """The flag whose value cannot be read."""
    for number, word in enumerate(words):
        try:
            parser.parse_known_args(words[number : number + 2])
        except UsageError:
            continue
        except Exception:  # whatever Beam's own reader of a value raises
            return word.partition("=")[0]
    return "one of Beam's flags"


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
    shown.option_strings = [flag for flag in action.option_strings if flag not in ours]
    shown.metavar = "N" if action.type is int else "VALUE"
    text = " ".join((action.help or "").split())
    if action.choices is not None:
        text = f"{text.rstrip('. ')}. One of: {', '.join(map(str, action.choices))}"
    shown.help = text.replace("%", "%%")  # argparse would look for names of values after a %
    return shown


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
