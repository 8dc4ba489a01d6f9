"""Which segments of a result are asked for, and those of them that its examples have."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from beam_bleu.pipeline.display.printable import value_text
from beam_bleu.pipeline.examples.read_examples import Entry
from beam_bleu.transforms.errors import UsageError, joined
from beam_bleu.transforms.examples.example import KindName
from beam_bleu.transforms.score.shown_numbers import counted

_SHOWN = 20
"""How many choices a message names."""


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which segments are asked for.

    Attributes:
      metric: by which metric.
      system: of which system.
      against: the system with which it is compared; None if it is not.
      labels: the values that labels, or columns that are kept, of the segments must have; None for
        segments without the label.
      number: the most segments.
      lower_is_better: whether a lower score is better.
    """

    metric: str
    system: str
    against: str | None
    labels: Mapping[str, str | None]
    number: int
    lower_is_better: bool

    @property
    def kind(self) -> KindName:
        """The kind of examples that such segments are."""
        return "worst" if self.against is None else "loss"

    @property
    def slice(self) -> str:
        """The labels, for a reader; "" if there are none."""
        return ", ".join(f"{name}={value_text(value)}" for name, value in self.labels.items())


@dataclasses.dataclass(frozen=True)
class Found:
    """The segments that are shown.

    Attributes:
      entries: the segments, the worst one first, with the keys of the file of examples.
      of_all: how many segments have a score, or lost against the other system; None if that is
        unknown, because these are from the file of examples.
      notes: what a reader must know of them.
    """

    entries: Sequence[Entry]
    of_all: int | None = None
    notes: tuple[str, ...] = ()


def from_examples(examples: Sequence[Entry], wanted: Wanted) -> Found:
    """The segments that the file of examples has.

    Raises:
      UsageError: it has none that are compared with this system, or with such a label.
    """
    of_system = [
        entry
        for entry in examples
        if (entry["metric"], entry["system"]) == (wanted.metric, wanted.system)
    ]
    if wanted.against is not None:
        baselines = {entry["baseline"]: None for entry in examples if entry["baseline"]}
        if all(entry["baseline"] != wanted.against for entry in of_system):
            raise UsageError(
                f"--against {wanted.against}: the examples compare with "
                f"{joined([*baselines], _SHOWN) if baselines else 'no system'}",
                f"run it again with --baseline {wanted.against}, or with --segment_scores, which "
                "has the scores for any pair of systems",
            )
    for name, value in wanted.labels.items():
        require_label(name, value, map(_values, examples), "the examples")
    of_kind = [entry for entry in of_system if entry["kind"] == wanted.kind]
    chosen = [
        entry
        for entry in of_kind
        if all(_values(entry).get(name) == value for name, value in wanted.labels.items())
    ]
    notes = []
    if len(chosen) < wanted.number and of_kind:
        of_slice = f", {len(chosen)} of them with {wanted.slice}" if wanted.labels else ""
        notes.append(
            f"the examples have {counted(len(of_kind), 'such segment')}{of_slice}: a run with "
            "--segment_scores has all, for any number, slice and pair of systems; "
            "--examples N has more"
        )
    return Found(chosen[: wanted.number], None, tuple(notes))


def _values(entry: Entry) -> Mapping[str, str | None]:
    """The values by which segments can be chosen."""
    return {**entry["kept"], **entry["labels"]}


def require_label(
    name: str, value: str | None, labels: Iterable[Mapping[str, str | None]], of_what: str
) -> None:
    """Checks that segments have a label, and that one of them has this value.

    Args:
      name: the name of the label.
      value: its value; None for segments without the label.
      labels: the labels of segments.
      of_what: what has these segments, for the message.

    Raises:
      UsageError: none of them has it.
    """
    names: dict[str, None] = {}
    values: set[str | None] = set()
    for of_segment in labels:
        names |= dict.fromkeys(of_segment)
        if name in of_segment:
            values.add(of_segment[name])
    asked = f"--slice {name}={value_text(value)}"
    if name not in names:
        raise UsageError(
            f"{asked}: {of_what} have "
            + (f"no label {name}, but {joined([*names], _SHOWN)}" if names else "no labels"),
            "choose one of these labels"
            if names
            else "run it again with --labels or --label_from_path; records have --slice_by and "
            "--keep",
        )
    if value not in values:
        raise UsageError(
            f"{asked}: none of {of_what} has this value",
            f"choose one of {joined(sorted(map(value_text, values)), _SHOWN)}",
        )
