"""Makes the contestants of most benchmarks: beam-bleu, `wc -w`, sacreBLEU, and contestants.py's."""

from __future__ import annotations

import dataclasses
import functools
import json
import sys
from collections.abc import Collection, Sequence
from typing import Any

from benchmarks.corpus.workspace import Text
from benchmarks.measure import BEAM_BLEU
from benchmarks.speed.harness import Contestant

OURS = "beam-bleu"


def beam_bleu(
    name: str,
    text: Text,
    *flags: str,
    on: Collection[int] = (),
    is_compared: bool = False,
    program: Sequence[str] = BEAM_BLEU,
) -> Contestant:
    """The whole command.

    Args:
      name: its name.
      text: the texts.
      flags: more flags.
      on: the cores that it may use; all if empty.
      is_compared: whether its scores must equal those of the other contestants.
      program: the command.
    """
    pairs, command = len(text.candidates) * text.pairs, command_for(text, *flags, program=program)
    result = functools.partial(_scores if is_compared else _require_all, text.pairs)
    return Contestant(name, command, pairs, on, result)


def command_for(text: Text, *flags: str, program: Sequence[str] = BEAM_BLEU) -> list[str]:
    """The whole command line, which prints the result document."""
    return [*program, *text.arguments, *flags, "--format=json"]


def scored_all(contestant: Contestant) -> Contestant:
    """A contestant that must score all of its pairs."""
    return dataclasses.replace(contestant, result=functools.partial(_require_all, contestant.pairs))


def _require_all(pairs: int, output: bytes) -> None:
    found = json.loads(output)["segments"]
    if found != pairs:
        raise RuntimeError(f"{found} segments of {pairs} were scored")


def _scores(pairs: int, output: bytes) -> list[float]:
    """The scores on the whole corpus, metric by metric, system by system."""
    _require_all(pairs, output)
    scores = json.loads(output)["scores"]
    return [round(each["score"], 9) for each in scores if each["slice"] is None]


def count_words(name: str, text: Text) -> Contestant:
    """`wc -w`, in the locale of every child: C.UTF-8."""
    return Contestant(name, ["wc", "-w", *text.files], text.pairs)


def sacrebleu(name: str, text: Text, *flags: str) -> Contestant:
    """The command of sacreBLEU, which does not know wildcards."""
    program = [sys.executable, "-m", "sacrebleu", *text.references, "-i", *text.candidates]
    return Contestant(name, [*program, *flags], len(text.candidates) * text.pairs)


def timed(
    contestant: str, shown: str, text: Text, *flags: str, on: Collection[int] = ()
) -> Contestant:
    """A contestant of contestants.py, under the name that the report shows."""
    program = [sys.executable, "-m", "benchmarks.speed.contestants", contestant]
    command = [*program, *text.candidates, *text.references, *flags]
    return Contestant(shown, command, text.pairs, on, _numbers, times_itself=True)


def _numbers(output: bytes) -> Any:
    return json.loads(output)["numbers"]
