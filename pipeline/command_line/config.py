"""All flags of the command: their groups, and the values that a run has of them."""

from __future__ import annotations

import argparse
import dataclasses
import functools
from collections.abc import Mapping
from typing import Any, NoReturn

from beam_bleu.pipeline.command_line.beam_flags import beam_parser
from beam_bleu.pipeline.command_line.definition_flags import (
    LANGUAGE_FLAGS,
    METRICS_FLAG,
    PRESET,
    DefinitionFlags,
    MoreScoresFlags,
    metric_flags,
    usual_flags,
)
from beam_bleu.pipeline.command_line.evidence_flags import EvidenceFlags
from beam_bleu.pipeline.command_line.gate_flags import GateFlags
from beam_bleu.pipeline.command_line.help import TOPICS, Formatter, epilog, short_help, usage
from beam_bleu.pipeline.command_line.layouts import LayoutFlags
from beam_bleu.pipeline.command_line.log_flags import LogFlags, ProgressFlag
from beam_bleu.pipeline.command_line.output_flags import DisplayFlags, FolderFlags, MonitoringFlags
from beam_bleu.pipeline.command_line.parser import Parser, add_flags
from beam_bleu.pipeline.command_line.slice_flags import KeepFlag, SliceFlags
from beam_bleu.pipeline.command_line.source_flags import (
    BringingTogetherFlags,
    CheckingFlags,
    RecordFlags,
    TextFlags,
)
from beam_bleu.pipeline.display.terminal import write_to_stdout
from beam_bleu.pipeline.engines.runners import SHOWN_RUNNERS, WORKER_TIMEOUT
from beam_bleu.transforms.definition.flags import Flag, flag, flags_of, positive, whole_number
from beam_bleu.transforms.known_metrics import DEFAULT_METRIC, METRICS_OF_TEXTS
from beam_bleu.transforms.pairing.lines.ranges import SMALL_RANGE, SMALLEST_RANGE, USUAL_RANGE
from beam_bleu.transforms.version import VERSION

_LARGEST_RANGE = 1 << 40


@dataclasses.dataclass(frozen=True)
class EngineFlags:
    """The flags that say where and how a job runs."""

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
        "cancel the job if the workers of an engine do not answer for so long; default "
        f"{WORKER_TIMEOUT}, and without this flag not while the job may be in the engine's queue",
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
    KeepFlag,
    MonitoringFlags,
    SliceFlags,
    EvidenceFlags,
    GateFlags,
    EngineFlags,
    ProgressFlag,
    LogFlags,
):
    """What a run is asked to do: the values of all flags."""


class _Print(argparse.Action):
    """Prints a text, and ends the program."""

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
        else:
            parser = our_parser(HELP[1].read(str(topic)) if topic else "")
            parser.epilog = None if topic else epilog()  # as wide as the terminal is now
            text = parser.format_help()
        write_to_stdout(text.encode())
        parser.exit()


RUNNER = Flag(
    "runner",
    f"where the job runs: {', '.join(SHOWN_RUNNERS)}, or a class by its full name",
    "NAME",
    ("--runner",),
    shown_default="default DirectRunner: in this process",
    is_shown_only=True,  # Beam's parser reads it, so ours must not know it
)

_TOPIC = f"show all flags, or those of a topic: {', '.join(TOPICS)}"
_PRINTS: Mapping[str, Any] = {"action": _Print}

HELP = (
    Flag("help", "show the usual flags", "", ("-h",), **_PRINTS),
    Flag("help", _TOPIC, "TOPIC", ("--help",), choices=TOPICS, nargs="?", **_PRINTS),
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
    "definition, metrics": (METRICS_FLAG,),
    "definition, from texts to tokens": (PRESET, *usual_flags(of_text=True), *LANGUAGE_FLAGS),
    "definition, from n-grams to a score": usual_flags(of_text=False),
    "definition, other metrics": metric_flags(METRICS_OF_TEXTS, besides=[DEFAULT_METRIC]),
    "definition, metrics of numbers": metric_flags(besides=METRICS_OF_TEXTS),
    "output": (*flags_of(DisplayFlags), *flags_of(FolderFlags)),
    "output, more scores": (*flags_of(MoreScoresFlags), *flags_of(KeepFlag)),
    "output, monitoring": flags_of(MonitoringFlags),
    "slices and documents": flags_of(SliceFlags),
    "evidence": flags_of(EvidenceFlags),
    "gates": flags_of(GateFlags),
    "engine": (RUNNER, *flags_of(EngineFlags)),
    "messages and help": (*flags_of(ProgressFlag), *flags_of(LogFlags), *HELP),
}
"""The flags of the command, by the titles of their groups in --help."""

FLAGS = tuple(each for flags in GROUPS.values() for each in flags)


@functools.cache  # a run also asks which values of flags are never secrets
def our_parser(topic: str = "") -> Parser:
    """The parser of beam-bleu's own flags; for the help about a topic, of those that it has."""
    what = (
        "Scores text files and records by BLEU and other metrics, with sacreBLEU's exact\nnumbers, "
        "as an Apache Beam job."
    )
    parser = Parser(
        prog="beam-bleu",
        usage=argparse.SUPPRESS if topic else usage(),
        description=None if topic else what,
        formatter_class=Formatter,
        add_help=False,
    )
    for title, flags in GROUPS.items():
        if topic in title:
            add_flags(parser.add_argument_group(title), flags)
    return parser


def flags_without_secrets() -> frozenset[str]:
    """Flags whose values are never secrets, with all spellings: ours, and Beam's switches."""
    switches = [action for action in beam_parser().actions() if action.nargs == 0]
    actions = [*our_parser().actions(), *switches]
    return frozenset(word for action in actions for word in action.option_strings)
