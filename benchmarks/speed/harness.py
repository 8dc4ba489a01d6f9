"""Lets contestants take turns, measures them, and reports how they compare with each other."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import pathlib
import shlex
import statistics
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from benchmarks.corpus.workspace import Workspace
from benchmarks.measure import Run, medians, run, spread


@dataclasses.dataclass(frozen=True)
class Contestant:
    """A program that is measured.

    Attributes:
      name: its name in the report and in the figures of a comparison.
      command: the program and its arguments.
      pairs: how many pairs it scores, or counts the words of.
      on: the cores that it may use; all if empty.
      result: extracts from its output what all contestants must agree on; None if there is nothing
        to compare.
      times_itself: whether it prints the seconds that count, as "cpu" and "wall", in JSON.
    """

    name: str
    command: Sequence[str]
    pairs: int = 1
    on: Collection[int] = ()
    result: Callable[[bytes], Any] = lambda _: None
    times_itself: bool = False

    def run(self) -> Run:
        """Runs it once."""
        done = run(self.command, self.on)
        if not self.times_itself:
            return done
        seconds = json.loads(done.stdout)
        return dataclasses.replace(done, cpu=seconds["cpu"], wall=seconds["wall"])


Round = Mapping[str, Run]
"""One run of each contestant, one after the other, by name."""


@dataclasses.dataclass(frozen=True)
class Figure:
    """A line of the table of results.

    Attributes:
      what: what it says, for people.
      value: computes it from a round.
      least, most: the range in which the median must be; None if there is no target.
      unit: what follows the number, such as "x" for a ratio.
    """

    what: str
    value: Callable[[Round], float]
    least: float | None = None
    most: float | None = None
    unit: str = "x"

    def judged(self, values: Sequence[float]) -> tuple[str, str]:
        """The target of the median, and whether the median reaches it; "" if there is none."""
        median = statistics.median(values)
        if self.least is not None:
            return f"≥ {self.least:,}{self.unit}", _verdict(median >= self.least)
        if self.most is not None:
            return f"≤ {self.most:,}{self.unit}", _verdict(median <= self.most)
        return "", ""


def _verdict(is_reached: bool) -> str:
    return "reached" if is_reached else "**missed**"


def ratio(first: str, second: str, of: str = "cpu") -> Callable[[Round], float]:
    """How many times the second contestant's seconds (or memory) the first one needs."""
    return lambda runs: float(getattr(runs[first], of) / getattr(runs[second], of))


def one(name: str, of: str = "cpu", scale: float = 1) -> Callable[[Round], float]:
    """The seconds or the memory of a contestant, times a factor."""
    return lambda runs: float(getattr(runs[name], of) * scale)


def rate(name: str, segments: int) -> Callable[[Round], float]:
    """The segments that a contestant scores per CPU second."""
    return lambda runs: segments / runs[name].cpu


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Contestants that take turns, and what is computed from their runs."""

    contestants: Sequence[Contestant]
    figures: Sequence[Figure]

    def measured(self, repeats: int, *, warm_up: bool) -> Sequence[Round]:
        """Runs the contestants in turn, A B A B ..., so that disturbances affect all of them.

        Args:
          repeats: the number of rounds.
          warm_up: whether to begin with one more round, which does not count.

        Raises:
          RuntimeError: a contestant failed, or the results differ.
        """
        rounds = []
        for _ in range(repeats + warm_up):
            rounds.append({each.name: each.run() for each in self.contestants})
            outputs = [(each, rounds[-1][each.name].stdout) for each in self.contestants]
            results = [each.result(output) for each, output in outputs]
            found = [result for result in results if result is not None]
            if any(result != found[0] for result in found):
                raise RuntimeError(f"{', '.join(rounds[-1])}: the results differ: {found}")
        return rounds[warm_up:]


@dataclasses.dataclass(frozen=True)
class Setting:
    """What a benchmark may use.

    Attributes:
      corpus: the texts.
      folder: an empty folder for the benchmark.
      stack: contexts entered here end with the benchmark.
      before: the command of another installation to compare with; "" if there is none.
    """

    corpus: Workspace
    folder: pathlib.Path
    stack: contextlib.ExitStack
    before: str = ""


Benchmark = Callable[[Setting], Iterable[Comparison]]


class Report:
    """The results of benchmarks, in Markdown. Mutable."""

    def __init__(self) -> None:
        self._figures: list[str] = []
        self._runs: list[str] = []

    def add(self, benchmark: str, comparison: Comparison, rounds: Sequence[Round]) -> None:
        """Adds the results of a comparison, and prints its figures to stderr."""
        for figure in comparison.figures:
            values = [figure.value(each) for each in rounds]
            reach, verdict = figure.judged(values)
            cells = (benchmark, figure.what, reach, spread(values) + figure.unit, verdict)
            self._figures.append(f"| {' | '.join(cells)} |")
            print(self._figures[-1], file=sys.stderr)
        for each in comparison.contestants:
            runs = [of_round[each.name] for of_round in rounds]
            cpu, wall = spread([run.cpu for run in runs]), spread([run.wall for run in runs])
            usual = medians(runs)
            self._runs.append(
                f"| {benchmark} | {each.name} | {each.pairs:,} | {cpu} | {wall} "
                f"| {each.pairs / usual.cpu:,.0f} | {usual.peak / 1e6:.0f} |"
            )

    def text(self, notes: str) -> str:
        """The report.

        Args:
          notes: where, when and how it was measured.
        """
        return "\n".join(
            [
                "# Results",
                "",
                notes,
                "",
                "| benchmark | figure | reach | measured | |",
                "| --- | --- | --- | --- | --- |",
                *self._figures,
                "",
                "Each value is the median of the rounds, and their range in brackets. If the "
                "ranges of two versions overlap, do not say that one of them is faster.",
                "",
                "| benchmark | contestant | pairs | CPU s | wall s | pairs per CPU s | peak MB |",
                "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
                *self._runs,
                "",
            ]
        )


def in_turn(commands: Iterable[Sequence[str]]) -> list[str]:
    """A command that runs these commands one after the other."""
    return ["sh", "-c", " && ".join(map(shlex.join, commands))]
