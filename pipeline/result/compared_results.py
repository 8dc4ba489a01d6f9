"""Two results as `beam-bleu compare` shows them: metric by metric, with what a reader must know."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Iterator

from beam_bleu.pipeline.result.comparing import compare, pairing
from beam_bleu.pipeline.result.rows import ComparedRow, FamilyName, MetricNames, Result
from beam_bleu.pipeline.result.saved_result import SavedResult
from beam_bleu.pipeline.result.series import definition_of, key_of
from beam_bleu.transforms.errors import InputError, joined
from beam_bleu.transforms.known_metrics import MetricWord

_SHOWN = 5
"""More slices are not all named."""

_TOO_CAREFUL = (
    ". Both have the same references, so these standard errors are too large, and a real "
    "difference can go unseen: score both outputs in one run (--baseline)"
)


@dataclasses.dataclass(frozen=True)
class ComparedResults:
    """The comparison of two results.

    Attributes:
      new: the new result.
      rows: the scores that both results have, in the order of the new one; one or more.
      is_paired: whether the systems are compared in pairs of segments.
      reason: why, or why not.
      only_old: the systems that only the old result has.
      only_new: the systems that only the new result has.
      warnings: what was not compared.
    """

    new: Result
    rows: tuple[ComparedRow, ...]
    is_paired: bool
    reason: str
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def metrics(self) -> list[MetricNames]:
        """The metrics of which both have a score in common."""
        words = {row.metric for row in self.rows}
        return [metric for metric in self.new.metrics if metric.metric in words]

    def family(self, name: FamilyName, metric: MetricWord | None = None) -> list[ComparedRow]:
        """The differences of a family, by one metric or by all."""
        return [row for row in self.rows if row.family == name and metric in (None, row.metric)]


def compared_results(old: SavedResult, new: SavedResult) -> ComparedResults:
    """The comparison of two results, by each metric that both have.

    Raises:
      InputError: they have other definitions, no metric or system in common, no standard errors, or
        no score in common.
    """
    for saved in (old, new):
        if saved.result.uncertainty is None:
            raise InputError(
                f"{saved.name} has no standard errors", "repeat its run without --no_uncertainty"
            )
    for word in new.result.words:
        if word in old.result.words:
            _require_same_definition(old, new, word)
    pairs = pairing(old, new)
    rows = compare(old.result, new.result, pairs)
    if not rows:
        raise InputError(
            f"{old.name} and {new.name} have no score in common",
            "compare runs with the same metrics, names of systems (--candidates NAME=PATTERN), and "
            "languages or tasks",
        )
    reason = "both runs have the same references and the same random replicates"
    if isinstance(pairs, str):
        references = old.digests("references")
        is_same = references and references == new.digests("references")
        reason = pairs + _TOO_CAREFUL * bool(is_same)
    return ComparedResults(
        new.result,
        tuple(rows),
        not isinstance(pairs, str),
        reason,
        tuple(_without(old.result.systems, new.result.systems)),
        tuple(_without(new.result.systems, old.result.systems)),
        tuple(_left_out(old, new, {row.metric for row in rows})),
    )


def _require_same_definition(old: SavedResult, new: SavedResult, metric: MetricWord) -> None:
    before, now = (definition_of(saved.result, metric) for saved in (old, new))
    if before.shown != now.shown:
        raise InputError(
            f"{old.name} and {new.name} have different definitions: {before.shown}, and "
            f"{now.shown}",
            "compare runs with the same definition and the same numbers of references; BLEU and "
            "the formula of chrF can get another one with beam-bleu rescore",
        )


def _without(names: Iterable[str], others: Iterable[str]) -> list[str]:
    others = {*others}
    return [name for name in names if name not in others]


def _slices(saved: SavedResult) -> list[str]:
    keys = (key_of(row) for row in saved.result.scores)
    return list(dict.fromkeys(key.of_slice for key in keys if key.of_slice))


def _left_out(
    old: SavedResult, new: SavedResult, compared: Collection[MetricWord]
) -> Iterator[str]:
    """What is not compared, in sentences; `compared` are the metrics that are."""
    for saved, other in ((old, new), (new, old)):
        names = [row.name for row in saved.result.metrics if row.metric not in compared]
        names += _without(saved.result.systems, other.result.systems)
        if slices := _slices(other):
            names += _without(_slices(saved), slices)
        if names:
            yield f"of {saved.name}, not compared: {joined(names, _SHOWN)}"
