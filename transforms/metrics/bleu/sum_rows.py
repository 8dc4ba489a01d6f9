"""Sums as rows of a table that a user keeps: integers with names, which SQL can add up."""

from __future__ import annotations

import contextlib
import dataclasses
import decimal
import itertools
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from beam_bleu.transforms.metrics.bleu.columns import BleuColumns, bleu_basis, order_of, width
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig, BleuScore
from beam_bleu.transforms.metrics.metric import SEGMENTS
from beam_bleu.transforms.native.arrays import exact
from beam_bleu.transforms.score.estimates import Estimates, corpus_score
from beam_bleu.transforms.totals.group_totals import (
    FEWEST,
    FIRST_REFERENCE,
    MOST,
    GroupTotals,
    packed_places,
)

MIN_REFERENCES, MAX_REFERENCES = "min_references", "max_references"  # they are not added up


def bleu_of_sums(sums: Mapping[str, Any], config: BleuConfig | None = None) -> BleuScore:
    """The score of a row of sums, or of several rows that are added up.

    It is the score that `CorpusBleu` gives for all segments of these rows together, with its
    standard error and interval. Warnings about suspicious input are missing, because they need
    the texts.

    Args:
      sums: the columns that `SumSegments` gives: `min_references` is the smallest value of the
        rows, `max_references` the largest one, and all others are sums. Integers of any type that
        databases return: Python's, numpy's, or a whole `Decimal`.
      config: the definition; by default sacreBLEU's. Its tokens must be those of the sums; its
        scoring can be another one, of the same or a lower n-gram order.

    Raises:
      ValueError: a column is missing or not an integer, no segments have these sums (such as more
        matches than n-grams), or the definition needs a higher n-gram order than the sums have.
    """
    config = BleuConfig() if config is None else config
    text, metric = config.text.name, config.metric
    score = corpus_score(Estimates(totals_of_row(sums), metric), text, judge_input=False)
    return cast(BleuScore, score)


def summed_columns(max_order: int) -> list[str]:
    names = bleu_basis(max_order).names
    products = (f"{names[j]}_x_{name}" for i, name in enumerate(names) for j in range(i + 1))
    return [*names, *products]


def row_of_sums(totals: GroupTotals) -> dict[str, int]:
    (values,) = totals.own[0].tolist()
    sums = totals.sums(totals.systems[0])
    return {
        **dict(zip(summed_columns(order_of(totals.width)), values[1:], strict=True)),
        MIN_REFERENCES: sums.min_reference_count,
        MAX_REFERENCES: sums.max_reference_count,
    }


def totals_of_row(row: Mapping[str, Any]) -> GroupTotals:
    """The totals of a row, or of rows that are added up, without bytes and signs of bad input."""
    max_order = next(order for order in itertools.count() if f"matches_{order + 1}" not in row)
    columns = summed_columns(max_order)
    values = tuple(_count(name, row.get(name)) for name in columns)
    fewest, most = (_count(name, row.get(name)) for name in (MIN_REFERENCES, MAX_REFERENCES))
    if max_order < 1 or values[SEGMENTS] < 1:
        raise ValueError("the sums of one or more segments have matches_1, and segments above 0")
    if not 1 <= fewest <= most:
        raise ValueError(
            f"{MIN_REFERENCES} must be 1 or more, and at most {MAX_REFERENCES}: "
            f"got {fewest} and {most}"
        )
    sums, products = values[: width(max_order)], values[width(max_order) :]
    _require_possible(sums, products)
    zero = GroupTotals.zero(width(max_order), with_products=True)
    facts = np.zeros((1, 1, FIRST_REFERENCE), np.int64)
    facts[..., [FEWEST, MOST]] = fewest, most
    common = exact(np.array([[(sums[SEGMENTS], *values)]], object))
    return dataclasses.replace(zero, systems=("",), common=common, facts=facts)


def _require_possible(sums: Sequence[int], products: Sequence[int]) -> None:
    bleu = BleuColumns(sums)
    for order, (matches, ngrams) in enumerate(zip(bleu.matches, bleu.totals, strict=True), 1):
        if matches > ngrams:
            raise ValueError(
                f"matches_{order} is {matches}, but the candidates have {max(ngrams, 0)} n-grams "
                f"of order {order}"
            )
    places = packed_places(len(sums))[SEGMENTS].tolist()
    if [products[place] for place in places] != list(sums):
        raise ValueError(
            "no segments have these sums and these products with `segments`: add up the same rows "
            "for each column"
        )


def _count(name: str, value: Any) -> int:
    kinds = (int, np.integer, decimal.Decimal)
    with contextlib.suppress(ArithmeticError, ValueError):  # of a Decimal that is no number
        if isinstance(value, kinds) and not isinstance(value, bool) and 0 <= value == int(value):
            return int(value)
    raise ValueError(f"{name} must be an integer, 0 or more, got {value!r}")
