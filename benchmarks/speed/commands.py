"""The commands whose speed is measured."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Collection, Sequence

from benchmarks.corpus.workspace import Text, Workspace
from benchmarks.measure import BEAM_BLEU, Run, run


def warm_up(workspace: Workspace) -> None:
    """Loads the corpus and the programs into memory, and compiles the kernel."""
    text = workspace.whole()
    beam_bleu(text)
    run(count_words_command(text))


def beam_bleu(text: Text, on: Collection[int] = (), flags: Sequence[str] = ()) -> Run:
    """Runs the whole command, and checks that it has scored every pair."""
    command = [*beam_bleu_command(text), *flags]
    result = run(command, on)
    scored = json.loads(result.stdout)["segments"]
    if scored != text.pairs:
        raise RuntimeError(f"{scored} segments of {text.pairs} were scored: {command}")
    return result


def beam_bleu_command(text: Text) -> list[str]:
    """The whole command, which prints the result document."""
    return [*BEAM_BLEU, *text.arguments, "--format=json"]


def score(result: Run) -> float:
    """The score in the result document of beam-bleu."""
    return float(json.loads(result.stdout)["scores"][0]["score"])


def sacrebleu(text: Text, flags: Sequence[str] = ()) -> Run:
    """The command of sacreBLEU; its files have no wildcards."""
    program = [sys.executable, "-m", "sacrebleu"]
    return run([*program, text.references, "-i", *text.candidates, *flags])


def count_words_command(text: Text) -> list[str]:
    """`wc -w`, in the locale of every child: C.UTF-8."""
    return ["wc", "-w", *text.files]


def contestant(name: str, text: Text, flags: Sequence[str] = (), on: Collection[int] = ()) -> Run:
    """Runs a contestant of contestants.py. The seconds are only those of its counting."""
    program = [sys.executable, "-m", "benchmarks.speed.contestants", name]
    command = [*program, *text.candidates, *text.all_references, *flags]
    result = run(command, on)
    inside = json.loads(result.stdout)
    return dataclasses.replace(result, cpu=inside["cpu"], wall=inside["wall"])
