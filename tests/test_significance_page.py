"""The examples and numbers of docs/significance.md are those of the code and of the simulation."""

from __future__ import annotations

import itertools
import pathlib

from command_line import PROJECT
from markdown_tables import tables

from beam_bleu.transforms.score import differences

PAGE: pathlib.Path = PROJECT / "docs" / "significance.md"


def table(*header: str) -> list[list[str]]:
    (found,) = (each for each in tables(PAGE.read_text()) if tuple(each[0]) == header)
    return found[1:]


def test_the_examples_of_holm() -> None:
    rows = table("p-values", "adjusted")
    assert len(rows) == 3
    for p_values, adjusted in rows:
        found = differences.holm([float(each) for each in p_values.split(",")])
        assert [round(each or 0, 9) for each in found] == list(map(float, adjusted.split(",")))


def test_the_examples_of_clusters() -> None:
    rows = table("systems, best first", "pairs that do not differ significantly", "clusters")
    assert len(rows) == 4
    for systems, similar, clusters in rows:
        pairs = itertools.combinations(systems.split(), 2)
        scores = {system: -rank for rank, system in enumerate(systems.split())}
        p_values = {pair: 0.5 if "-".join(pair) in similar else 0.01 for pair in pairs}
        found = differences.clusters(scores, p_values, lower_is_better=False)
        assert ", ".join(map(" ".join, found)) == clusters
