"""Simulates how often p-values give false alarms, and how often 95 % intervals hold.

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
"""Segments of the population."""

_SIZES = (30, 100, 300, 1000, 3000)
_DOCUMENTS = (30, 100, 300)
_OTHER_METRICS: Sequence[MetricName] = ("chrf", "ter")
_SIZES_OF_OTHERS = (100, 1000)


def _main() -> None:
    flags = _parser().parse_args()
    alone = segments_alone(_SEGMENTS)
    documents = in_documents(alone, np.random.default_rng(13))
    report = "\n".join(
        [
            "# Significance",
            "",
            "`python -m benchmarks.significance` writes this page. It draws "
            f"{flags.trials:,} test sets of each size from {_SEGMENTS:,} generated segments with "
            "the outputs of two systems. A coin decides for each unit which system is which, so "
            "in truth they do not differ. Each method should find a difference at the level of "
            f"5 % in 5 % of the test sets, ± {1.96 * (0.05 * 0.95 / flags.trials) ** 0.5:.1%}; "
            "the last column shows how many 95 % intervals of the standard error contain the score "
            f"of the whole population. There are {flags.resamples:,} replicates.",
            "",
            "## Segments that are independent",
            "",
            *_table("segments", _judged_sizes(alone, _SIZES, flags)),
            "",
            "## Segments in documents",
            "",
            f"Documents have {documents.counts.shape[1] / documents.documents:.0f} segments on "
            "average. In each one, the same system tends to be better. One column ignores this.",
            "",
            *_table("documents", _judged_sizes(documents, _DOCUMENTS, flags)),
            "",
            "## Other metrics",
            "",
            *_other_metrics(flags),
            machine(("numba", "numpy", "pyarrow")),
            "",
        ]
    )
    publish(report, flags.output)


def _other_metrics(flags: argparse.Namespace) -> Iterator[str]:
    for name in _OTHER_METRICS:
        population = segments_alone(_SEGMENTS, name)
        yield f"### {population.definition.metric.name}"
        yield ""
        yield from _table("segments", _judged_sizes(population, _SIZES_OF_OTHERS, flags))
        yield ""


def _judged_sizes(
    population: Population, sizes: Sequence[int], flags: argparse.Namespace
) -> Iterator[tuple[int, dict[str, Outcome]]]:
    for size in sizes:
        print(f"significance: {size} units", file=sys.stderr)
        yield size, judged(population, size, flags.trials, flags.resamples)


def _table(unit: str, rows: Iterable[tuple[int, Mapping[str, Outcome]]]) -> Iterator[str]:
    """False alarms at the level of 5 %, and the coverage of the first method's intervals."""
    for number, (size, methods) in enumerate(rows):
        if number == 0:
            yield f"| {unit} | {' | '.join(methods)} | intervals |"
            yield "|" + " ---: |" * (len(methods) + 2)
        alarms = [outcome.alarms(LEVELS[1]) for outcome in methods.values()]
        shown = [*alarms, next(iter(methods.values())).coverage]
        yield f"| {size:,} | {' | '.join(map(_percent, shown))} |"


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
        help="test sets of each size, default %(default)s",
    )
    parser.add_argument(
        "--resamples",
        type=int,
        default=999,
        metavar="N",
        help="replicates of each test set, default %(default)s",
    )
    return parser


if __name__ == "__main__":
    _main()
