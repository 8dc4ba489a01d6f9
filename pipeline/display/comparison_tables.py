"""The tables of comparisons: is the difference between two systems real?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.numbers import (
    HALF_INTERVAL,
    counted,
    difference_estimate,
    estimates,
    p_value,
    rounded,
    score_estimate,
    signed,
)
from beam_bleu.pipeline.display.slices import items_of, of_whole
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL

SHOWN_COMPARISONS = 20
"""The largest number of rows of a table of comparisons on a terminal."""

_MARK = "*"
"""Stands in the tables of slices beside a difference that is significant."""

Entries = Sequence[Mapping[str, Any]]


@dataclasses.dataclass(frozen=True)
class Section:
    """A table with what a reader must know about it.

    Attributes:
      above: sentences above the table.
      rows: the table.
      below: a sentence about rows that are left out, or "".
      ruled: the numbers of the rows below which there is a line.
      names_in_header: whether the header has names of systems, which can be cut.
    """

    above: Sequence[str]
    rows: Rows
    below: str = ""
    ruled: frozenset[int] = frozenset()
    names_in_header: bool = False


def sections(
    document: Mapping[str, Any],
    decimals: int,
    most: int | None = None,
    most_slices: int | None = None,
) -> Iterator[Section]:
    """The tables of comparisons of a result document, in the order in which they are shown.

    Args:
      document: what the result document says about a metric.
      decimals: how many decimals scores and differences have.
      most: the largest number of rows of a table of systems; None for all.
      most_slices: the same for a table of slices.
    """
    if sum(len(cluster["systems"]) for cluster in document.get("clusters", ())) > 1:
        yield _clusters(document, decimals)
    for family in document.get("comparison_families", ()):
        if not family["comparisons"]:
            continue  # Without a standard error a difference says no more than the two scores.
        of_family = [
            comparison
            for comparison in document["comparisons"]
            if comparison["family"] == family["family"]
        ]
        whole = [comparison for comparison in of_family if comparison["slice"] is None]
        if whole:
            yield _of_whole(document, whole, family["comparisons"], decimals, most)
        yield from _of_slices(of_family, family["comparisons"], decimals, most_slices)
    if "resampling" in document:
        yield from _resampled(document["resampling"], decimals, most)


def _of_whole(
    document: Mapping[str, Any],
    comparisons: Entries,
    adjusted: int,
    decimals: int,
    most: int | None,
) -> Section:
    """The comparisons on the whole corpus. `adjusted` is the number of p-values of the family."""
    subject = ", ".join(
        (
            _differences(comparisons),
            "on the whole corpus",
            *_common(document["segments"], comparisons),
        )
    )
    several = adjusted > 1  # the only p-value of a family stays as it is
    holm = f"; Holm p: p adjusted for {adjusted} comparisons" if several else ""
    shown = comparisons[:most]
    above = [f"{subject}; {HALF_INTERVAL}{holm}"]
    is_detectable = _some(shown, "detectable")
    if is_detectable:
        above.append(
            "detectable: the smallest true difference that such a test set would usually find "
            f"(p < {SIGNIFICANCE_LEVEL} in 80 % of cases)"
        )
    columns = [
        _names(comparisons, shown),
        [
            "difference",
            *estimates([difference_estimate(comparison, decimals) for comparison in shown]),
        ],
        ["p", *_p_values(shown, "p_value")],
        *([["Holm p", *_p_values(shown, "p_value_holm")]] if several else []),
    ]
    if is_detectable:
        detectable = [_rounded(comparison["detectable"], decimals) for comparison in shown]
        columns.append(["detectable", *_aligned(detectable)])
    return Section(above, _transposed(columns), _left_out(len(shown), len(comparisons)))


def _of_slices(
    comparisons: Entries, adjusted: int, decimals: int, most: int | None
) -> Iterator[Section]:
    """A table for each item of --slice_by and each baseline, with a column for each system."""
    for baseline in dict.fromkeys(comparison["baseline"] for comparison in comparisons):
        of_baseline = [
            comparison for comparison in comparisons if comparison["baseline"] == baseline
        ]
        systems = list(dict.fromkeys(comparison["system"] for comparison in of_baseline))
        for item in items_of(of_baseline, most):
            if not _some(
                [comparison for _, of_slice in item.slices for comparison in of_slice.values()],
                "p_value",
            ):
                continue
            columns = item.names()
            for system in systems:
                of_system = [of_slice.get(system, _NO_COMPARISON) for _, of_slice in item.slices]
                marks = [_MARK if _is_significant(comparison) else "" for comparison in of_system]
                shown = [difference_estimate(comparison, decimals) for comparison in of_system]
                columns.append([system, *estimates(shown, marks)])
            above = [
                f"differences from {baseline}, in slices by {'*'.join(item.labels)}; "
                f"{HALF_INTERVAL}; {_MARK} where p < {SIGNIFICANCE_LEVEL}, "
                f"adjusted by Holm for {counted(adjusted, 'comparison')}"
            ]
            yield Section(above, _transposed(columns), item.line("json"), names_in_header=True)


_NO_COMPARISON: Mapping[str, Any] = {"difference": None, "p_value_holm": None}
"""A slice can lack a system."""


def _clusters(document: Mapping[str, Any], decimals: int) -> Section:
    """The systems from the best to the worst, with a line between clusters as WMT draws it."""
    scores = {score["system"]: score for score in of_whole(document)}
    clusters = [cluster["systems"] for cluster in document["clusters"]]
    ranked = [system for cluster in clusters for system in cluster]
    ranks: list[str] = []
    ruled = set()
    for cluster in clusters:
        first, last = len(ranks) + 1, len(ranks) + len(cluster)
        ranks += [str(first) if first == last else f"{first}-{last}"] * len(cluster)
        ruled.add(last)
    shown = estimates([score_estimate(scores[system], decimals) for system in ranked])
    above = [
        "clusters: each system above a line is better than each one below it "
        f"(p < {SIGNIFICANCE_LEVEL}, adjusted by Holm)"
    ]
    rows = _transposed([["system", *ranked], ["rank", *ranks], [document["name"], *shown]])
    return Section(above, rows, ruled=frozenset(ruled - {len(ranks)}))


def _resampled(resampling: Mapping[str, Any], decimals: int, most: int | None) -> Iterator[Section]:
    method, unit = resampling["method"], resampling["unit"]
    resamples = counted(resampling["resamples"], "resample")
    drawn = f"{method}, {resamples} of {unit}s, seed {resampling['seed']}"
    if scores := resampling["scores"]:
        columns = [
            ["system", *(score["system"] for score in scores)],
            ["mean", *_aligned([_rounded(score["mean"], decimals) for score in scores])],
        ]
        if _some(scores, "interval"):
            columns.append(["95 % interval", *_intervals(scores, decimals)])
        yield Section([f"{drawn}: scores"], _transposed(columns))
    if comparisons := resampling["comparisons"]:
        shown = comparisons[:most]
        columns = [
            _names(comparisons, shown),
            [
                "difference",
                *_aligned(
                    [_rounded(comparison["difference"], decimals, signed) for comparison in shown]
                ),
            ],
        ]
        if scores:
            means = [_rounded(comparison["mean"], decimals, signed) for comparison in shown]
            columns.append(["mean", *_aligned(means)])
        if _some(comparisons, "interval"):
            columns.append(["95 % interval", *_intervals(shown, decimals, signed)])
        above = [f"{drawn}: {_differences(comparisons)}"]
        if _some(comparisons, "p_value"):
            columns.append(["p", *_p_values(shown, "p_value")])
            if len(comparisons) > 1:
                above.append("p: not adjusted for the number of comparisons")
        if _some(comparisons, "p_sacrebleu"):
            columns.append(["p of sacreBLEU", *_p_values(shown, "p_sacrebleu")])
            above.append(f"p of sacreBLEU: as sacreBLEU computes it, {_OF_SACREBLEU[method]}")
        left_out = _left_out(len(shown), len(comparisons))
        yield Section(above, _transposed(columns), left_out)


_OF_SACREBLEU = {
    "bootstrap": "which finds too many differences",
    "randomization": "which counts only larger differences, not those of the same size",
}
"""What a reader of sacreBLEU's p-value must know, by method."""


def _some(entries: Entries, key: str) -> bool:
    """Whether any of the entries has a value."""
    return any(entry[key] is not None for entry in entries)


def _differences(comparisons: Entries) -> str:
    """What is compared, in words."""
    baselines = {comparison["baseline"] for comparison in comparisons}
    if len(baselines) == 1:
        return f"differences from {baselines.pop()}"
    return "differences between systems (system minus baseline)"


def _names(comparisons: Entries, shown: Entries) -> list[str]:
    """The column with names. If all comparisons have one baseline, the heading names it."""
    if len({comparison["baseline"] for comparison in comparisons}) == 1:
        return ["system", *(comparison["system"] for comparison in shown)]
    return [
        "system vs baseline",
        *(f"{comparison['system']} vs {comparison['baseline']}" for comparison in shown),
    ]


def _common(segments: int, comparisons: Entries) -> list[str]:
    """The number of common segments, if these are not all segments."""
    common = comparisons[0]["segments"]
    return [] if common == segments else [f"over the {common} segments that all systems have"]


def _is_significant(comparison: Mapping[str, Any]) -> bool:
    p = comparison["p_value_holm"]
    return p is not None and p < SIGNIFICANCE_LEVEL


def _left_out(shown: int, total: int) -> str:
    if shown == total:
        return ""
    return f"These are the first {shown} of {total} comparisons; --format json shows all of them"


_Write = Callable[[float, int], str]


def _rounded(number: float | None, decimals: int, write: _Write = rounded) -> str:
    return "" if number is None else write(number, decimals)


def _intervals(entries: Entries, decimals: int, write: _Write = rounded) -> list[str]:
    ends = [entry["interval"] or (None, None) for entry in entries]
    lows, highs = (
        _aligned([_rounded(end, decimals, write) for end in column])
        for column in zip(*ends, strict=True)
    )
    return [
        f"{low} to {high}" if high.strip() else "" for low, high in zip(lows, highs, strict=True)
    ]


def _p_values(entries: Entries, key: str) -> list[str]:
    return _aligned([p_value(entry[key]) for entry in entries])


def _aligned(numbers: Sequence[str]) -> list[str]:
    """Numbers with as many decimals, so that their decimal points are below each other."""
    width = max(map(len, numbers))
    return [f"{number:>{width}}" for number in numbers]


def _transposed(columns: Sequence[Sequence[str]]) -> Rows:
    return list(zip(*columns, strict=True))
