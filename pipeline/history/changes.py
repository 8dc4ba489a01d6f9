"""What changed between two nights, and whether the difference is larger than chance."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from beam_bleu.pipeline.result.comparing import compare, pairing
from beam_bleu.pipeline.result.rows import ComparedRow, Method
from beam_bleu.pipeline.result.saved_result import NotPaired, SavedResult
from beam_bleu.pipeline.result.series import Definition, Key, definition_of, key_of
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.paired_runs import Paired

BreakKind = Literal["definition", "references"]

_IF_NEW = "if each night has texts of its own, say so with --partition or --new_texts"


@dataclasses.dataclass(frozen=True)
class Break:
    """Why scores must not be compared.

    Attributes:
      kind: what has changed.
      text: the same in words.
      metric: the metric whose scores must not be compared; None for all.
      of_slice: the text of the slice; None for all.
    """

    kind: BreakKind
    text: str
    metric: MetricWord | None = None
    of_slice: str | None = None


@dataclasses.dataclass(frozen=True)
class Change:
    """A score minus that of an earlier night.

    Attributes:
      against: the earlier night.
      difference: the score minus the earlier one; None if they must not be compared.
      standard_error: of the difference; None if it is not known.
      interval: the 95 % interval of the difference; None if it is not known.
      p_value: how probable such a difference is if there is none in truth; None if it is not known.
      method: how the p-value was found; None without one.
      cause: why the difference or the p-value is None, or is an upper bound; "" otherwise.
    """

    against: str
    difference: float | None = None
    standard_error: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    method: Method | None = None
    cause: Break | str = ""

    @property
    def reason(self) -> str:
        """The cause in words; "" without one."""
        return self.cause.text if isinstance(self.cause, Break) else self.cause

    @property
    def is_significant(self) -> bool:
        """Whether luck is a bad explanation of the difference."""
        return self.p_value is not None and self.p_value < SIGNIFICANCE_LEVEL


@dataclasses.dataclass(frozen=True)
class _Nights:
    """Two nights that are compared.

    Attributes:
      definitions: how the scores of each metric of both were made, on the old and the new night.
      segments: whether their segments are the same; a break if a test set that should be the same
        has changed; why they are not compared, if nothing says it.
      pairs: what compares systems in pairs, or why nothing does.
      rows: the scores that both have.
    """

    definitions: Mapping[MetricWord, tuple[Definition, Definition]]
    segments: Literal["same", "different"] | Break | NotPaired
    pairs: Paired | NotPaired
    rows: Mapping[Key, ComparedRow]

    def change(self, key: Key, against: str) -> Change:
        """What changed in a series since the night of this name."""
        cause = _new_definition(key, *self.definitions[key.metric])
        if cause is not None:
            return Change(against, cause=cause)
        if isinstance(self.segments, Break):
            return Change(against, cause=self.segments)
        row = self.rows.get(key)
        if row is None:
            return Change(against, cause="there is no score")
        if row.method == "unchanged":
            return Change(against, 0.0, 0.0, (0.0, 0.0), 1.0, row.method)
        if isinstance(self.segments, NotPaired):
            return Change(against, row.difference, cause=self.segments.reason)
        if row.p_value is None:
            method, reason = None, row.reason
        else:
            method, reason = row.method, self._why_not_paired(row)
        return Change(
            against, row.difference, row.standard_error, row.interval, row.p_value, method, reason
        )

    def _why_not_paired(self, row: ComparedRow) -> str:
        """Why the p-value of the same segments is only an upper bound; "" if it is exact."""
        if self.segments != "same" or row.method != "independent":
            return ""
        if isinstance(row.group, Mapping):
            return "slices are not compared in pairs"
        if isinstance(self.pairs, NotPaired):
            return self.pairs.reason
        return "means are not compared in pairs"


class Changes:
    """Compares nights. It keeps the comparison of the last two nights, which takes long to make.

    Args:
      new_texts: whether all nights are known to have different segments.
    """

    def __init__(self, *, new_texts: bool = False) -> None:
        self._new_texts = new_texts
        self._saved: dict[str, SavedResult] = {}
        self._nights: dict[tuple[str, str], _Nights] = {}

    def change(self, against: str, old: SavedResult, new: SavedResult, key: Key) -> Change:
        """What changed in a series that two nights have.

        Args:
          against: the name of the older night.
          old: its result.
          new: the result of the newer one.
          key: the series.

        Raises:
          InputError: saved totals are damaged.
        """
        names = old.name, new.name
        if names not in self._nights:
            # Nights come in their order, and a series can be compared with a night before the last.
            self._nights = {
                pair: kept for pair, kept in self._nights.items() if pair[1] == new.name
            }
            # Copies, so that the totals that they read are forgotten with them.
            self._saved = {
                saved.name: self._saved.get(saved.name) or dataclasses.replace(saved)
                for saved in (old, new)
            }
            copies = self._saved[old.name], self._saved[new.name]
            self._nights[names] = _nights(*copies, new_texts=self._new_texts)
        return self._nights[names].change(key, against)


def _nights(old: SavedResult, new: SavedResult, *, new_texts: bool) -> _Nights:
    segments = _segments(old, new, new_texts)
    pairs = pairing(old, new) if segments == "same" else NotPaired("the segments are others")
    rows = {key_of(row): row for row in compare(old.result, new.result, pairs)}
    definitions = {
        metric.metric: (
            definition_of(old.result, metric.metric),
            definition_of(new.result, metric.metric),
        )
        for metric in new.result.metrics
        if metric.metric in old.result.words
    }
    return _Nights(definitions, segments, pairs, rows)


def _new_definition(key: Key, old: Definition, new: Definition) -> Break | None:
    """The break if the scores of two nights are made in different ways."""
    name = new.name
    if old.chosen != new.chosen:
        fields = [definition.chosen.split("|") for definition in (old, new)]
        before, after = (
            " ".join(field for field in own if field not in others) or "nothing"
            for own, others in (fields, fields[::-1])
        )
        text = f"the definition of {name} changed from {before} to {after}"
        return Break("definition", text, key.metric)
    if old.references != new.references:
        numbers = f"from {old.references} to {new.references}"
        text = f"the number of references of {name} changed {numbers}"
        return Break("references", text, key.metric)
    if not key.of_slice and old.whole != new.whole:
        text = f"the scores of {name} changed from {old.whole} to {new.whole}"
        return Break("definition", text, key.metric, "")
    return None


def _segments(
    old: SavedResult, new: SavedResult, new_texts: bool
) -> Literal["same", "different"] | Break | NotPaired:
    """Whether two nights have the same segments."""
    references, records = (
        [saved.digests(role) for saved in (old, new)] for role in ("references", "records")
    )
    if any(before == after != () for before, after in (references, records)):
        return "same"
    if new_texts or old.result.partitions != new.result.partitions:
        return "different"
    if all(references):
        return Break("references", f"the references changed; {_IF_NEW}")
    sizes = old.result.segments, new.result.segments
    if sizes[0] != sizes[1]:
        text = f"the number of segments changed from {sizes[0]} to {sizes[1]}; {_IF_NEW}"
        return Break("references", text)
    if any(records):
        return NotPaired(f"records do not show whether their references are the same; {_IF_NEW}")
    return NotPaired(f"there is no manifest.json that says what was read; {_IF_NEW}")
