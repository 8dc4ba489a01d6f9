"""The tables of comparisons: is the difference between two systems real?"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.fitted_rows import Rows
from beam_bleu.pipeline.display.numbers import decimals_of
from beam_bleu.pipeline.display.row_order import (
    USUAL_ROWS,
    VERDICT_STYLES,
    RowChoice,
    SliceOrder,
    Verdict,
    by_score,
    chosen_rows,
    cut_rows,
    sentence_about_hidden,
    verdict,
)
from beam_bleu.pipeline.display.slices import NO_SCORE, items_of, of_whole
from beam_bleu.pipeline.result.rows import FAMILIES, FamilyName
from beam_bleu.transforms.known_metrics import row_of
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL
from beam_bleu.transforms.score.shown_numbers import (
    HALF_INTERVAL,
    aligned,
    counted,
    difference_estimate,
    errors_of,
    errors_of_intervals,
    estimates,
    p_value,
    rounded,
    score_estimate,
    signed,
)

SHOWN_COMPARISONS = 20
"""The largest number of rows of a table of comparisons on a terminal."""

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
      styles: the colours of cells, by the numbers of their row and column.
    """

    above: Sequence[str]
    rows: Rows
    below: str = ""
    ruled: frozenset[int] = frozenset()
    names_in_header: bool = False
    styles: Mapping[tuple[int, int], str] = dataclasses.field(default_factory=dict)


def sections(
    document: Mapping[str, Any],
    asked: int | None,
    most: int | None = None,
    most_slices: int | None = None,
    choice: RowChoice = USUAL_ROWS,
) -> Iterator[Section]:
    """The tables of comparisons of a result document, in the order in which they are shown.

    Args:
      document: what the result document says about a metric.
      asked: how many decimals scores and differences have; None if that depends on their standard
        errors.
      most: the largest number of rows of a table of systems; None for all. With it, all pairs of
        systems are a matrix.
      most_slices: the same for a table of slices.
      choice: which differences are shown, and in which order.
    """
    if sum(len(cluster["systems"]) for cluster in document.get("clusters", ())) > 1:
        yield _clusters(document, asked)
    for family in document.get("comparison_families", ()):
        if not family["comparisons"]:
            continue  # Without a standard error a difference says no more than the two scores.
        of_family = [
            comparison
            for comparison in document["comparisons"]
            if comparison["family"] == family["family"]
        ]
        whole = [comparison for comparison in of_family if comparison["slice"] is None]
        is_all = len({comparison["baseline"] for comparison in whole}) > 1
        if is_all and most is not None and choice == USUAL_ROWS:
            yield _matrix(document, whole, family["comparisons"], asked)
        elif whole:
            yield _of_whole(document, whole, family, asked, most, choice)
        if family["family"] == "macro_average":
            averages = document["macro_average_comparisons"]
            yield _of_whole(document, averages, family, asked, most, choice)
        yield from _of_slices(
            document, of_family, family["comparisons"], asked, most_slices, choice
        )
    if "resampling" in document:
        yield from resampled(document["metric"], document["resampling"], asked, most)


def _of_whole(
    document: Mapping[str, Any],
    comparisons: Entries,
    family: Mapping[str, Any],
    asked: int | None,
    most: int | None,
    choice: RowChoice,
) -> Section:
    """The comparisons on the whole corpus, or of macro averages: a row for each one."""
    metric, adjusted = document["metric"], family["comparisons"]
    name: FamilyName = family["family"]
    subject = [_differences(comparisons), FAMILIES[name]]
    if name == "corpus":
        subject += _common(document["segments"], comparisons)
    several = adjusted > 1  # the only p-value of a family stays as it is
    holm = f"; Holm p: p adjusted for {adjusted} comparisons" if several else ""
    of_systems = {score["system"]: score for score in of_whole(document)}
    shown, hidden = chosen_rows(
        comparisons,
        [of_systems.get(comparison["system"], NO_SCORE) for comparison in comparisons],
        choice,
        most,
        lower_is_better=row_of(metric).lower_is_better,
    )
    decimals = decimals_of(metric, asked, errors_of(shown))
    above = [f"{', '.join(subject)}; {HALF_INTERVAL}{holm}"]
    is_detectable = _some(shown, "detectable")
    if is_detectable:
        above.append(
            "detectable: the smallest true difference that such a test set would usually find "
            f"(p < {SIGNIFICANCE_LEVEL} in 80 % of cases)"
        )
    verdicts = _verdicts(metric, shown)
    differences = [difference_estimate(comparison, decimals) for comparison in shown]
    columns = [
        _names(comparisons, shown),
        ["difference", *estimates(differences, verdicts)],
        ["p", *_p_values(shown, "p_value")],
        *([["Holm p", *_p_values(shown, "p_value_holm")]] if several else []),
    ]
    if is_detectable:
        detectable = [_rounded(comparison["detectable"], decimals) for comparison in shown]
        columns.append(["detectable", *aligned(detectable)])
    return Section(above, _transposed(columns), hidden, styles=_styles([[], verdicts]))


def _verdicts(metric: str, comparisons: Entries) -> list[Verdict]:
    is_lower = row_of(metric).lower_is_better
    return [verdict(comparison, lower_is_better=is_lower) for comparison in comparisons]


def _styles(columns: Sequence[Sequence[Verdict]], first: int = 0) -> dict[tuple[int, int], str]:
    """The colours of the cells of columns below a header; `first` is the first column's number."""
    return {
        (row, column): VERDICT_STYLES[word]
        for column, words in enumerate(columns, first)
        for row, word in enumerate(words, 1)
        if word
    }


def _matrix(
    document: Mapping[str, Any], comparisons: Entries, adjusted: int, asked: int | None
) -> Section:
    """All pairs of systems: the difference of the system of a row from that of a column."""
    metric = document["metric"]
    is_lower = row_of(metric).lower_is_better
    scores = {score["system"]: score for score in of_whole(document)}
    systems = sorted(
        scores, key=lambda system: by_score(scores[system], lower_is_better=is_lower), reverse=True
    )
    pairs = {(entry["system"], entry["baseline"]): entry for entry in comparisons}
    pairs |= {
        (entry["baseline"], entry["system"]): {**entry, "difference": -entry["difference"]}
        for entry in comparisons
    }
    decimals = decimals_of(metric, asked, errors_of(comparisons))
    columns, verdicts = [["system", *systems]], []
    for other in systems:
        below = [pairs.get((system, other), _NO_COMPARISON) for system in systems]
        verdicts.append(_verdicts(metric, below))
        differences = [(difference_estimate(entry, decimals)[0], "") for entry in below]
        width = max(len(number) for number, _ in differences)
        aligned = [(f"{number:>{width}}", "") for number, _ in differences]
        columns.append([other, *estimates(aligned, verdicts[-1])])
    above = [
        "differences between systems, on the whole corpus: that of a row minus that of a column; "
        f"{_meaning(adjusted)}"
    ]
    return Section(
        above, _transposed(columns), names_in_header=True, styles=_styles(verdicts, first=1)
    )


def _meaning(adjusted: int) -> str:
    """What the words beside differences mean. `adjusted` is the number of p-values of a family."""
    return (
        f"worse or better where p < {SIGNIFICANCE_LEVEL}, adjusted by Holm for "
        f"{counted(adjusted, 'comparison')}"
    )


def _of_slices(
    document: Mapping[str, Any],
    comparisons: Entries,
    adjusted: int,
    asked: int | None,
    most: int | None,
    choice: RowChoice,
) -> Iterator[Section]:
    """A table for each item of --slice_by and each baseline, with a column for each system."""
    metric, order = document["metric"], SliceOrder(document)
    for baseline in dict.fromkeys(comparison["baseline"] for comparison in comparisons):
        of_baseline = [
            comparison for comparison in comparisons if comparison["baseline"] == baseline
        ]
        systems = list(dict.fromkeys(comparison["system"] for comparison in of_baseline))
        for item in items_of(of_baseline):
            if not _some([entry for _, own in item.slices for entry in own.values()], "p_value"):
                continue
            if choice.only_significant:
                item = item.only_significant(order)
            item = item.first(order, choice.sort or "difference", most)
            of_item = [entry for _, of_slice in item.slices for entry in of_slice.values()]
            decimals = decimals_of(metric, asked, errors_of(of_item))
            columns, verdicts = item.names(), []
            for system in systems:
                of_system = [of_slice.get(system, _NO_COMPARISON) for _, of_slice in item.slices]
                verdicts.append(_verdicts(metric, of_system))
                shown = [difference_estimate(comparison, decimals) for comparison in of_system]
                columns.append([system, *estimates(shown, verdicts[-1])])
            above = [
                f"differences from {baseline}, in slices by {'*'.join(item.labels)}; "
                f"{HALF_INTERVAL}; {_meaning(adjusted)}"
            ]
            yield Section(
                above,
                _transposed(columns),
                item.line("json"),
                names_in_header=True,
                styles=_styles(verdicts, first=2),
            )


_NO_COMPARISON: Mapping[str, Any] = {"difference": None, "p_value_holm": None}
"""A slice can lack a system."""


def _clusters(document: Mapping[str, Any], asked: int | None) -> Section:
    """The systems from the best to the worst, with a line between clusters as WMT draws it."""
    scores = {score["system"]: score for score in of_whole(document)}
    clusters = [cluster["systems"] for cluster in document["clusters"]]
    ranked = [system for cluster in clusters for system in cluster]
    ranks = ranks_of(document["clusters"])
    ruled = itertools.accumulate(map(len, clusters))
    decimals = decimals_of(document["metric"], asked, errors_of(scores.values()))
    shown = estimates([score_estimate(scores[system], decimals) for system in ranked])
    above = [
        "clusters: each system above a line is better than each one below it "
        f"(p < {SIGNIFICANCE_LEVEL}, adjusted by Holm)"
    ]
    rows = _transposed([["system", *ranked], ["rank", *ranks.values()], [document["name"], *shown]])
    return Section(above, rows, ruled=frozenset({*ruled} - {len(ranks)}))


def ranks_of(clusters: Entries) -> dict[str, str]:
    """The rank of each system, as WMT writes it: "1", or "2-4" for each one of a cluster of three.

    Args:
      clusters: those of a result document, the best one first.
    """
    ranks: dict[str, str] = {}
    for cluster in clusters:
        first, last = len(ranks) + 1, len(ranks) + len(cluster["systems"])
        rank = str(first) if first == last else f"{first}-{last}"
        ranks |= dict.fromkeys(cluster["systems"], rank)
    return ranks


def resampled(
    metric: str, resampling: Mapping[str, Any], asked: int | None, most: int | None = None
) -> Iterator[Section]:
    """The tables of what random replicates say. The arguments are those of `sections`."""
    method, unit = resampling["method"], resampling["unit"]
    resamples = counted(resampling["resamples"], "resample")
    drawn = f"{method}, {resamples} of {unit}s, seed {resampling['seed']}"
    if scores := resampling["scores"]:
        decimals = decimals_of(metric, asked, errors_of_intervals(scores))
        columns = [
            ["system", *(score["system"] for score in scores)],
            ["mean", *aligned([_rounded(score["mean"], decimals) for score in scores])],
        ]
        if _some(scores, "interval"):
            columns.append(["95 % interval", *intervals(scores, decimals)])
        yield Section([f"{drawn}: scores"], _transposed(columns))
    if comparisons := resampling["comparisons"]:
        shown = comparisons[:most]
        decimals = decimals_of(metric, asked, errors_of_intervals(shown))
        columns = [
            _names(comparisons, shown),
            [
                "difference",
                *aligned(
                    [_rounded(comparison["difference"], decimals, signed) for comparison in shown]
                ),
            ],
        ]
        if scores:
            means = [_rounded(comparison["mean"], decimals, signed) for comparison in shown]
            columns.append(["mean", *aligned(means)])
        if _some(comparisons, "interval"):
            columns.append(["95 % interval", *intervals(shown, decimals, signed)])
        above = [f"{drawn}: {_differences(comparisons)}"]
        if _some(comparisons, "p_value"):
            columns.append(["p", *_p_values(shown, "p_value")])
            if len(comparisons) > 1:
                above.append("p: not adjusted for the number of comparisons")
        if _some(comparisons, "p_sacrebleu"):
            columns.append(["p of sacreBLEU", *_p_values(shown, "p_sacrebleu")])
            above.append(f"p of sacreBLEU: as sacreBLEU computes it, {_OF_SACREBLEU[method]}")
        left_out = cut_rows(len(shown), len(comparisons), "comparison", "name")
        hidden = [left_out] if len(shown) < len(comparisons) else []
        yield Section(above, _transposed(columns), sentence_about_hidden(hidden, "json"))


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


_Write = Callable[[float, int], str]


def _rounded(number: float | None, decimals: int, write: _Write = rounded) -> str:
    return "" if number is None else write(number, decimals)


def intervals(entries: Entries, decimals: int, write: _Write = rounded) -> list[str]:
    """The cells of a column of intervals; "" for an entry without one.

    Args:
      entries: scores or differences.
      decimals: how many decimals the ends have.
      write: what writes an end.
    """
    ends = [entry["interval"] or (None, None) for entry in entries]
    lows, highs = (aligned([_rounded(of[end], decimals, write) for of in ends]) for end in (0, 1))
    return [
        f"{low} to {high}" if high.strip() else "" for low, high in zip(lows, highs, strict=True)
    ]


def _p_values(entries: Entries, key: str) -> list[str]:
    return aligned([p_value(entry[key]) for entry in entries])


def _transposed(columns: Sequence[Sequence[str]]) -> Rows:
    return list(zip(*columns, strict=True))
