"""Simulates how often p-values raise false alarms, and 95 % intervals contain the true score.

python -m benchmarks.significance --output benchmarks/significance/RESULTS.md
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from beam_bleu.transforms.known_metrics import MetricName
from benchmarks.program import add_output_flag, command_parser, machine, publish
from benchmarks.significance.population import Population, in_documents, segments_alone
from benchmarks.significance.trials import LEVELS, Outcome, judged

_SEGMENTS = 20_000
"""The number of segments of the population."""

_SIZES = (30, 100, 300, 1000, 3000)
_DOCUMENTS = (30, 100, 300)
_OTHER_METRICS: Sequence[MetricName] = ("chrf", "ter")
_SIZES_OF_OTHERS = (100, 1000)


def _main() -> None:
    flags = _parser().parse_args()
    alone = segments_alone(_SEGMENTS)
    others = [segments_alone(_SEGMENTS, name) for name in _OTHER_METRICS]
    documents = in_documents(alone, np.random.default_rng(13))
    independent = [
        *_judged_sizes(alone, _SIZES, flags),
        *(row for other in others for row in _judged_sizes(other, _SIZES_OF_OTHERS, flags)),
    ]
    report = "\n".join(
        [
            "# Significance",
            "",
            "`python -m benchmarks.significance` writes this page. It draws "
            f"{flags.trials:,} test sets of each size from {_SEGMENTS:,} generated segments with "
            "the outputs of two systems. A coin decides for each unit which system is which, so "
            "what it finds is a false alarm, at the level of 5 %. The shares are exact to "
            f"{1.96 * (0.05 * 0.95 / flags.trials) ** 0.5:.1%}. The last column shows how many "
            "95 % intervals of the standard error contain the true score. There are "
            f"{flags.resamples:,} replicates.",
            "",
            *_table("independent segments", independent),
            "",
            f"In documents of {documents.counts.shape[1] / documents.documents:.0f} segments on "
            "average, in each of which the same system tends to be better:",
            "",
            *_table("documents", _judged_sizes(documents, _DOCUMENTS, flags)),
            "",
            machine(("numba", "numpy", "pyarrow")),
            "",
        ]
    )
    publish(report, flags.output)


def _judged_sizes(
    population: Population, sizes: Sequence[int], flags: argparse.Namespace
) -> Iterator[tuple[str, dict[str, Outcome]]]:
    """(label of a size, what each method said)."""
    name = population.definition.metric.name
    for size in sizes:
        print(f"significance: {size} units, {name}", file=sys.stderr)
        yield f"{size:,}, {name}", judged(population, size, flags.trials, flags.resamples)


def _table(unit: str, rows: Iterable[tuple[str, Mapping[str, Outcome]]]) -> Iterator[str]:
    """False alarms at the level of 5 %, and the coverage of the first method's intervals."""
    for number, (label, methods) in enumerate(rows):
        if number == 0:
            yield f"| {unit} | {' | '.join(methods)} | intervals |"
            yield "| --- |" + " ---: |" * (len(methods) + 1)
        alarms = [outcome.alarms(LEVELS[1]) for outcome in methods.values()]
        shown = [*alarms, next(iter(methods.values())).coverage]
        yield f"| {label} | {' | '.join(map(_percent, shown))} |"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _parser() -> argparse.ArgumentParser:
    parser = command_parser(__doc__)
    add_output_flag(parser)
    parser.add_argument(
        "--trials",
        type=int,
        default=2000,
        metavar="N",
        help="number of test sets of each size, default %(default)s",
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=999,
        metavar="N",
        help="number of replicates of each test set, default %(default)s",
    )
    return parser


if __name__ == "__main__":
    _main()
