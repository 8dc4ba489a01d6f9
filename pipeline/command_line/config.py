"""Collects all flags of the command, ours and Beam's, in groups for --help, and their values."""

from __future__ import annotations

import argparse
import dataclasses
import difflib
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu.pipeline.command_line.definition_flags import (
    LANGUAGE_FLAGS,
    METRICS_BY,
    METRICS_FLAG,
    PRESET,
    DefinitionFlags,
    MoreScoresFlags,
    metric_flags,
    usual_flags,
)
from beam_bleu.pipeline.command_line.evidence_flags import EvidenceFlags, GateFlags
from beam_bleu.pipeline.command_line.help import (
    SUBCOMMANDS,
    TOPICS,
    Formatter,
    epilog,
    page_of,
    rows,
    searches,
    short_help,
    usage,
)
from beam_bleu.pipeline.command_line.layouts import LayoutFlags
from beam_bleu.pipeline.command_line.output_flags import DisplayFlags, FolderFlags, MonitoringFlags
from beam_bleu.pipeline.command_line.parser import LogFlags, Parser, ProgressFlag, add_flags
from beam_bleu.pipeline.command_line.sacrebleu_flags import SYNONYMS
from beam_bleu.pipeline.command_line.source_flags import (
    BringingTogetherFlags,
    CheckingFlags,
    RecordFlags,
    SliceFlags,
    TextFlags,
)
from beam_bleu.pipeline.engines.runners import SHOWN_RUNNERS, WORKER_TIMEOUT
from beam_bleu.pipeline.errors.terminal import write_to_stdout
from beam_bleu.transforms.definition.flags import (
    SEE_HELP,
    Flag,
    flag,
    flags_of,
    positive,
    whole_number,
)
from beam_bleu.transforms.errors import UsageError
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, METRICS, METRICS_OF_TEXTS
from beam_bleu.transforms.pairing.lines.line_counting import (
    SMALL_RANGE,
    SMALLEST_RANGE,
    USUAL_RANGE,
)
from beam_bleu.transforms.version import VERSION

_OF_ENGINES = (
    "Flink Runner",
    "Job Server",
    "Kafka Streams Runner",
    "Portable",
    "Prism Runner",
    "Spark Runner",
)

_REFUSED = {
    "dry_run": "the command needs the result of the job",
    "no_wait_until_finish": "the command waits for the job, to show its result",
    "on_success_matcher": "it is for Beam's own tests",
    "wait_until_finish_duration": "the command waits until the job ends; `timeout` can stop it",
}
"""Flags of Beam that the command refuses with every runner, and why."""

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z]|$)|[A-Z][a-z0-9]*")


class _BeamParser(Parser):
    """A parser to which each of Beam's option classes adds its flags, in a group of their own."""

    def add_argument(self, *names: str, **keywords: Any) -> argparse.Action:
        # --labels is one of our flags, so it cannot also be an alias of Beam's --label.
        own = [name for name in names if name != "--labels"]
        action = self._action_groups[-1].add_argument(*own, **keywords)
        action.metavar = "N" if action.type is int else "VALUE"
        text = " ".join((action.help or "").split())
        if action.choices is not None:
            text = f"{text.rstrip('. ')}. One of: {', '.join(map(str, action.choices))}"
        action.help = text.replace("%", "%%")  # because argparse fills in values after a single %
        return action

    add_value_provider_argument = add_argument  # Beam's option classes also call this method


@functools.cache  # Beam has hundreds of flags, and a run needs this parser twice
def beam_parser() -> Parser:
    parser = _BeamParser(
        usage=argparse.SUPPRESS,
        description="Apache Beam's flags. Engines use only those that are for them.",
        formatter_class=Formatter,
        add_help=False,
    )
    for options in PipelineOptions.__subclasses__():
        # The title of the group: "Google Cloud" for GoogleCloudOptions.
        parser.add_argument_group(" ".join(_WORD.findall(options.__name__.removesuffix("Options"))))
        options._add_argparse_args(parser)  # as Beam itself does
    return parser


def parse_beam_flags(words: Sequence[str]) -> tuple[argparse.Namespace, dict[str, str], list[str]]:
    """Beam's values, the spelling of each flag that is not at its default, and all other words."""
    parser = beam_parser()
    try:
        flags, others = parser.parse_known_args(words)
    except UsageError:
        raise
    except Exception as error:  # some of Beam's flags have their own functions to read values
        raise UsageError(f"a value of Beam's flags is not understood: {error}", SEE_HELP) from error
    spellings = {
        action.dest: action.option_strings[0]
        for action in parser.actions()
        if getattr(flags, action.dest) != action.default
    }
    _refuse(_REFUSED, spellings)
    return flags, spellings, others


def check_in_process(spellings: Mapping[str, str]) -> None:
    of_engines = {
        action.dest: "it is for an engine, but this job runs in-process"
        for group in beam_parser()._action_groups
        if group.title in _OF_ENGINES
        for action in group._group_actions
    }
    _refuse(of_engines, spellings)


def _refuse(refused: Mapping[str, str], spellings: Mapping[str, str]) -> None:
    for name, spelling in spellings.items():
        if name in refused:
            raise UsageError(f"{spelling} is refused: {refused[name]}", "leave it out")


class KeptViews(PipelineOptions):
    """Beam's options, with each view made only once.

    Beam asks for views several times for each step, and builds a parser of all flags each time,
    which took more CPU than the rest of building a pipeline. All views share their values.
    """

    def view_as(self, cls: type[Any]) -> Any:
        # Not an ordinary attribute: Beam would take it for an option.
        views = self.__dict__.setdefault("_views", {})
        if cls not in views:
            views[cls] = super().view_as(cls)
        return views[cls]


_LARGEST_RANGE = 1 << 40


@dataclasses.dataclass(frozen=True)
class EngineFlags:
    threads: int | None = flag(
        None,
        "how many threads a worker has",
        "N",
        convert=positive,
        shown_default="default: all cores in-process, 1 on an engine",
    )
    range_bytes: int | None = flag(
        None,
        "how many bytes are read at a time",
        "N",
        convert=whole_number(SMALLEST_RANGE, _LARGEST_RANGE),
        shown_default=f"default {SMALL_RANGE} to {USUAL_RANGE}, more above 4 TB",
    )
    worker_timeout: int | None = flag(
        None,
        "cancel the job if no worker of an engine has answered within SECONDS; default "
        f"{WORKER_TIMEOUT}, which does not count time that a job may spend in an engine's queue",
        "SECONDS",
        convert=positive,
    )


@dataclasses.dataclass(frozen=True)
class Config(
    TextFlags,
    CheckingFlags,
    RecordFlags,
    BringingTogetherFlags,
    LayoutFlags,
    DefinitionFlags,
    DisplayFlags,
    FolderFlags,
    MoreScoresFlags,
    MonitoringFlags,
    SliceFlags,
    EvidenceFlags,
    GateFlags,
    EngineFlags,
    ProgressFlag,
    LogFlags,
):
    """The values of all flags of a run."""


class _Print(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: object,
        topic: object,
        option_string: str | None = None,
    ) -> NoReturn:
        if option_string == "-h":
            text = short_help()
        elif self.dest == "version":
            text = f"beam-bleu {VERSION}\n"
        elif self.dest == "help_beam":
            text = beam_parser().format_help()
        elif topic:
            text = _help_about(str(topic))
        else:
            parser = our_parser()
            parser.epilog = epilog()  # made now, for the terminal's width
            text = parser.format_help()
        write_to_stdout(text.encode())
        parser.exit()


RUNNER = Flag(
    "runner",
    f"where the job runs: {', '.join(SHOWN_RUNNERS)}, or a class by its full name",
    "NAME",
    ("--runner",),
    shown_default="default DirectRunner: in this process",
    is_shown_only=True,  # Beam's parser reads it, so ours must not
)

_WORD_OF_HELP = f"show all flags, or those about a word: a topic ({', '.join(TOPICS)}) or any other"
_PRINTS: Mapping[str, Any] = {"action": _Print}

HELP = (
    Flag("help", "show the usual flags", "", ("-h",), **_PRINTS),
    Flag("help", _WORD_OF_HELP, "WORD", ("--help",), nargs="?", **_PRINTS),
    Flag("help_beam", "show Beam's flags", "", ("--help_beam",), **_PRINTS),
    Flag("version", "show the version", "", ("-V", "--version"), **_PRINTS),
)

GROUPS: Mapping[str, tuple[Flag, ...]] = {
    "input": flags_of(TextFlags),
    "input, checks": flags_of(CheckingFlags),
    "input, records": flags_of(RecordFlags),
    "input, records of several systems, and known layouts": (
        *flags_of(BringingTogetherFlags),
        *flags_of(LayoutFlags),
    ),
    "definition, metrics": (METRICS_FLAG, METRICS_BY),
    "definition, from texts to tokens": (PRESET, *usual_flags(of_text=True), *LANGUAGE_FLAGS),
    "definition, from n-grams to a score": usual_flags(of_text=False),
    "definition, other metrics": metric_flags(METRICS_OF_TEXTS, besides=[DEFAULT_METRIC]),
    "definition, metrics of numbers": metric_flags(besides=METRICS_OF_TEXTS),
    "output": (*flags_of(DisplayFlags), *flags_of(FolderFlags)),
    "output, more scores": flags_of(MoreScoresFlags),
    "output, monitoring": flags_of(MonitoringFlags),
    "slices and documents": flags_of(SliceFlags),
    "evidence": flags_of(EvidenceFlags),
    "gates": flags_of(GateFlags),
    "engine": (RUNNER, *flags_of(EngineFlags)),
    "messages and help": (*flags_of(ProgressFlag), *flags_of(LogFlags), *HELP),
}

FLAGS = tuple(each for flags in GROUPS.values() for each in flags)


@functools.cache  # a run also needs it to find values that may be secrets
def our_parser() -> Parser:
    """The parser of beam-bleu's own flags."""
    what = (
        "Scores text files and records by BLEU and other metrics, with sacreBLEU's exact\nnumbers, "
        "as an Apache Beam job."
    )
    return _parser_of(GROUPS, usage=usage(), description=what)


def _parser_of(groups: Mapping[str, Sequence[Flag]], **keywords: Any) -> Parser:
    parser = Parser(prog="beam-bleu", formatter_class=Formatter, add_help=False, **keywords)
    for title, flags in groups.items():
        add_flags(parser.add_argument_group(title), flags)
    return parser


def _help_about(word: str) -> str:
    """The help about a topic or any other word: flags, commands, and where to read more."""
    if word in TOPICS:
        return _shown({title: own for title, own in GROUPS.items() if word in title}, {})
    for has_word in searches(word):
        groups = {
            title: [each for each in flags if has_word(page_of(title)) or has_word(_text_of(each))]
            for title, flags in GROUPS.items()
        }
        others = {f"beam-bleu {name}": row.summary for name, row in SUBCOMMANDS.items()}
        others |= {", ".join(row.flags): f"sacreBLEU's, for {row.ours}" for row in SYNONYMS}
        found = {name: about for name, about in others.items() if has_word(f"{name} {about}")}
        if found or any(groups.values()):
            break
    beams = [action.option_strings[0] for action in beam_parser().actions()]
    found |= {name: "Beam's: see --help_beam" for name in beams if has_word(name)}
    if found or any(groups.values()):
        return _shown({title: flags for title, flags in groups.items() if flags}, found)
    words = {*METRICS, *TOPICS, *TOPICS.values(), *SUBCOMMANDS}
    words |= {text.lstrip("-") for each in FLAGS for text in (*each.words, *each.choices)}
    close = difflib.get_close_matches(word.lstrip("-").replace("-", "_"), sorted(words))
    meant = f"did you mean {' or '.join(close)}? " if close else ""
    raise UsageError(
        f"--help {word}: no flag and no command is about this word",
        f"{meant}topics are {', '.join(TOPICS)}",
    )


def _text_of(each: Flag) -> str:
    metrics = [name for name in METRICS if each in metric_flags([name])]
    return " ".join([*each.words, each.described, *each.choices, *metrics])


def _shown(groups: Mapping[str, Sequence[Flag]], others: Mapping[str, str]) -> str:
    parts = [_parser_of(groups, usage=argparse.SUPPRESS).format_help()] if groups else []
    parts += [f"other commands and flags:\n{rows(others.items())}\n"] if others else []
    pages = dict.fromkeys(f"docs/{page_of(title)}.md" for title in groups)
    return "\n".join([*parts, f"read more in {', '.join(pages or ['docs/README.md'])}\n"])


def flags_without_secrets() -> frozenset[str]:
    """All spellings of flags whose values are never secrets: our own flags, and Beam's switches."""
    switches = [action for action in beam_parser().actions() if action.nargs == 0]
    actions = [*our_parser().actions(), *switches]
    return frozenset(word for action in actions for word in action.option_strings)
