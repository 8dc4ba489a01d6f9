"""What changed between two nights, and whether the difference is larger than chance.

The same segments on both nights can be compared in pairs, if their totals were saved. Other
segments make the scores independent, so their standard errors are enough. If the segments are the
same but cannot be paired, the scores vary together. The error of independent scores is then an
upper bound, so a change that it calls significant is so.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal

from beam_bleu.pipeline.gates.results import GatedResult
from beam_bleu.pipeline.history.nights import Key, Night, Texts
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.known_metrics import MetricWord
from beam_bleu.transforms.score.differences import SIGNIFICANCE_LEVEL, difference_of_estimates

if TYPE_CHECKING:
    from beam_bleu.pipeline.saved.compared_runs import Run

Method = Literal["paired", "independent", "unchanged"]
BreakKind = Literal["definition", "references"]

_REPEAT = (
    "the same segments are compared in pairs only if both runs have --save_totals and --resample"
)
_NOT_PAIRED = "means of languages and tasks are not compared in pairs"
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
      method: "paired" if both nights have the same segments; "independent" if they have different
        ones, or cannot be paired; "unchanged" if all counts are the same; None if the p-value is
        not known.
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


class Changes:
    """Compares nights. It keeps the saved totals of the last two nights, which take long to read.

    Args:
      new_texts: whether all nights are known to have different segments.
    """

    def __init__(self, *, new_texts: bool = False) -> None:
        self._new_texts = new_texts
        self._runs: dict[str, Run | str] = {}
        self._paired: dict[tuple[str, str], Mapping[Key, Change] | str] = {}

    def change(self, old: Night, new: Night, key: Key) -> Change:
        """What changed in a series that both nights have.

        Raises:
          InputError: saved totals are damaged.
        """
        against = old.moment.text
        one, other = old.metrics[key.metric], new.metrics[key.metric]
        assert old.texts is not None
        assert new.texts is not None
        segments = _Segments(old.texts, new.texts, self._new_texts)
        if (cause := _definition(one, other, key) or segments.broken) is not None:
            return Change(against, cause=cause)
        former, latter = (result.scores[key.of_slice, key.system] for result in (one, other))
        if former.score is None or latter.score is None:
            return Change(against, cause="there is no score")
        if latter.counts and latter.counts == former.counts:
            return Change(against, 0.0, 0.0, (0.0, 0.0), 1.0, "unchanged")
        difference = latter.score - former.score
        bound = ""
        if segments.are_same:
            paired = "slices are not compared in pairs" if key.of_slice else self._pair(old, new)
            if not isinstance(paired, str) and key in paired:
                return paired[key]
            bound = paired if isinstance(paired, str) else _NOT_PAIRED
        elif not segments.are_different:
            return Change(against, difference, cause=segments.unknown)
        known = difference_of_estimates(
            latter.score,
            former.score,
            (latter.standard_error, former.standard_error),
            min(old.texts.segments, new.texts.segments),
        )
        return Change(
            against,
            difference,
            known.standard_error,
            known.interval,
            known.p_value,
            None if known.p_value is None else "independent",
            known.reason or bound,
        )

    def _pair(self, old: Night, new: Night) -> Mapping[Key, Change] | str:
        """The changes between two nights with the same segments, or why there are none."""
        pair = old.path, new.path
        if pair not in self._paired:
            self._paired.clear()  # nights come in their order
            self._paired[pair] = self._compared(old, new)
        return self._paired[pair]

    def _compared(self, old: Night, new: Night) -> Mapping[Key, Change] | str:
        for night in (old, new):
            if not night.totals or night.texts is None or not night.texts.is_resampled:
                return _REPEAT
        # This loads numpy and the kernel of replicates, so only a comparison in pairs pays for it.
        from beam_bleu.pipeline.saved.compared_runs import compared_runs

        one, other = self._read(old.totals), self._read(new.totals)
        if isinstance(one, str) or isinstance(other, str):
            return one if isinstance(one, str) else str(other)
        self._runs = {old.totals: one, new.totals: other}
        # A metric with a new definition is a break of its own, and stops no other one.
        same = [
            metric
            for metric, result in new.metrics.items()
            if metric in old.metrics and old.metrics[metric].definition == result.definition
        ]
        try:
            compared, _ = compared_runs(one, other, same)
        except InputError as error:
            return error.cause
        metrics = [of_metric for of_metric in compared if of_metric.method == "paired"]
        if not metrics:
            return compared[0].reason
        return {
            Key(of_metric.metric, "", score.system): Change(
                old.moment.text,
                score.difference,
                score.standard_error,
                score.interval,
                score.p_value,
                None if score.p_value is None else "paired",
                score.reason if score.p_value is None else "",
            )
            for of_metric in metrics
            for score in of_metric.systems
        }

    def _read(self, path: str) -> Run | str:
        """The run of saved totals; or why they cannot be used here, although they are whole."""
        from beam_bleu.pipeline.saved.compared_runs import Run
        from beam_bleu.pipeline.saved.totals_file import OtherVersionsError, read_totals

        if path not in self._runs:
            try:
                self._runs[path] = Run.of(path, read_totals(path))
            except OtherVersionsError as error:
                self._runs[path] = error.cause
        return self._runs[path]


def _definition(old: GatedResult, new: GatedResult, key: Key) -> Break | None:
    """The break if the scores of two nights are made in different ways."""
    if old.definition != new.definition:
        one, other = (result.definition.split("|") for result in (old, new))
        changed = [
            " ".join(field for field in fields if field not in others) or "nothing"
            for fields, others in ((one, other), (other, one))
        ]
        text = f"the definition of {new.metric} changed from {changed[0]} to {changed[1]}"
        return Break("definition", text, key.metric)
    if old.references != new.references:
        numbers = f"from {old.references} to {new.references}"
        text = f"the number of references of {new.metric} changed {numbers}"
        return Break("references", text, key.metric)
    if not key.of_slice and old.whole != new.whole:
        text = f"the scores of {new.metric} changed from {old.whole} to {new.whole}"
        return Break("definition", text, key.metric, "")
    return None


@dataclasses.dataclass(frozen=True)
class _Segments:
    """Whether two nights have the same segments.

    Attributes:
      old: the texts of the earlier night.
      new: the texts of the later night.
      new_texts: whether the user says that they are different.
    """

    old: Texts
    new: Texts
    new_texts: bool

    @property
    def are_same(self) -> bool:
        """Whether they are known to be the same."""
        old, new = self.old, self.new
        return (old.references == new.references != ()) or (old.records == new.records != ())

    @property
    def are_different(self) -> bool:
        """Whether they are different on purpose."""
        return not self.are_same and (self.new_texts or self.old.labels != self.new.labels)

    @property
    def broken(self) -> Break | None:
        """The break if a test set that should be the same has changed."""
        if self.are_same or self.are_different:
            return None
        if self.old.references and self.new.references:
            return Break("references", f"the references changed; {_IF_NEW}")
        if self.old.segments != self.new.segments:
            return Break(
                "references",
                f"the number of segments changed from {self.old.segments} to {self.new.segments}; "
                f"{_IF_NEW}",
            )
        return None

    @property
    def unknown(self) -> str:
        """Why it is not known."""
        if self.old.records or self.new.records:
            return f"records do not show whether their references are the same; {_IF_NEW}"
        return f"there is no manifest.json that says what was read; {_IF_NEW}"
