"""The fourth section of the page: examples, side by side, with their differences marked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import printable, value_text
from beam_bleu.pipeline.examples.word_differences import Run, closest, compared
from beam_bleu.pipeline.report.sentences import Measure
from beam_bleu.transforms.score.shown_numbers import rounded, signed

KINDS = {
    "loss": "{system} loses most against {baseline}",
    "gain": "{system} gains most over {baseline}",
    "worst": "The worst of {system}",
    "best": "The best of {system}",
    "sample": "A random sample of {system}",
}
"""What examples of each kind are, for readers, in the order in which the page shows them."""

_MOST_EXAMPLES = 200
"""How many examples the page has, of all kinds together. More of them make it too large."""

_OPEN = 1
"""How many groups of examples are open at first."""

_LONGEST = 600
"""Characters of a text that the page shows."""

JOINERS = "\u200c\u200d"
"""Invisible, but without them words of Persian and of Indian scripts, and emoji, look wrong."""


@dataclasses.dataclass(frozen=True)
class Text:
    """A text of an example.

    Attributes:
      name: what it is: "reference", or the name of a system.
      runs: its words; those that the other text lacks are marked.
      kind: "reference", "candidate" or "kept".
      score: its score, or "".
    """

    name: str
    runs: Sequence[Run]
    kind: str
    score: str = ""


@dataclasses.dataclass(frozen=True)
class ShownExample:
    """A segment with its texts.

    Attributes:
      name: its id or its number, and the difference of the scores.
      labels: its labels with their values.
      texts: what was kept, the references, and the candidates.
    """

    name: str
    labels: str
    texts: Sequence[Text]


@dataclasses.dataclass(frozen=True)
class Group:
    """Examples of one kind, metric and system.

    Attributes:
      title: what they are.
      examples: those that are shown.
      note: how many are left out, or "".
      is_open: whether they are shown without being asked for.
    """

    title: str
    examples: Sequence[ShownExample]
    note: str
    is_open: bool


def groups(examples: Sequence[Mapping[str, Any]], measures: Mapping[str, Measure]) -> list[Group]:
    """The groups of examples.

    Args:
      examples: the lines of the file of examples.
      measures: how to speak of each metric.
    """
    by_kind: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for example in examples:
        key = tuple(example[name] for name in ("kind", "metric", "system", "baseline"))
        by_kind.setdefault(key, []).append(example)
    kinds = list(KINDS)
    ordered = sorted(by_kind, key=lambda key: kinds.index(key[0]))  # the sort is stable
    most = max(1, _MOST_EXAMPLES // max(len(ordered), 1))
    shown: list[Group] = []
    for key in ordered[:_MOST_EXAMPLES]:
        kind, metric, system, baseline = key
        title = KINDS[kind].format(system=system, baseline=baseline)
        if len(measures) > 1:
            title += f", by {measures[metric].name}"
        entries = by_kind[key]
        left = len(entries) - most
        note = f"The file of examples has {left} more of this kind." if left > 0 else ""
        texts = [_shown(entry, measures[metric]) for entry in entries[:most]]
        shown.append(Group(title, texts, note, len(shown) < _OPEN))
    return shown


def _shown(example: Mapping[str, Any], measure: Measure) -> ShownExample:
    name = f"Segment {example['index']:,}" if example["id"] is None else f"{example['id']}"
    difference = example["difference"]
    if difference is not None:
        name += f": difference {signed(difference, measure.decimals)}"
    labels = ", ".join(
        f"{label}: {value_text(value)}" for label, value in example["labels"].items()
    )
    return ShownExample(printable(name), printable(labels), list(_texts(example, measure)))


def _texts(example: Mapping[str, Any], measure: Measure) -> Iterator[Text]:
    """The texts of an example. The references have the words marked that the candidate lacks."""
    for name, value in example["kept"].items():
        if value is not None:
            yield Text(printable(name), [Run(_cut(value), is_common=True)], "kept")
    references = [_cut(reference) for reference in example["references"]]
    candidates = [
        (example["system"], example["candidate"], example["score"]),
        (example["baseline"], example["baseline_candidate"], example["baseline_score"]),
    ]
    shown = [
        (name, _cut(text), "" if score is None else rounded(score, measure.decimals))
        for name, text, score in candidates
        if text is not None
    ]
    if not references:
        for name, text, score in shown:
            yield Text(printable(name), [Run(text, is_common=True)], "candidate", score)
        return
    first = shown[0][1] if shown else ""
    against = closest(first, references) if len(references) > 1 else 0
    for number, reference in enumerate(references):
        name = "reference" if len(references) == 1 else f"reference {number + 1}"
        runs = [Run(reference, is_common=True)]
        if number == against and shown:
            _, runs = compared(first, reference)
        yield Text(name, runs, "reference")
    for name, text, score in shown:
        nearest = closest(text, references) if len(references) > 1 else 0
        yield Text(printable(name), compared(text, references[nearest])[0], "candidate", score)


def _cut(text: str) -> str:
    """A text with all of its characters visible, and not too long."""
    shown = printable(text[: _LONGEST + 1], keep=JOINERS)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
