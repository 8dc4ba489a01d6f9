"""The examples of the page, side by side, with their differences marked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from beam_bleu.pipeline.display.printable import printable, value_text
from beam_bleu.pipeline.display.row_order import decimals_of
from beam_bleu.pipeline.examples.word_differences import Run, closest, compared
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

_LONGEST = 600
"""Characters of a text that the page shows."""

JOINERS = "\u200c\u200d"
"""Invisible, but without them words of Persian and of Indian scripts, and emoji, look wrong."""


@dataclasses.dataclass(frozen=True)
class Text:
    """A text of an example.

    Attributes:
      name: what it is: "reference", or the name of a system.
      kind: "reference", "candidate" or "kept".
      runs: its words; those that the other text lacks are marked.
      score: its score, or "".
    """

    name: str
    kind: str
    runs: Sequence[Run]
    score: str = ""


def groups(
    examples: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> dict[str, list[Mapping[str, Any]]]:
    """The examples of each kind, metric and system, by their title.

    Args:
      examples: the lines of the file of examples.
      names: those of the metrics for readers.
    """
    found: dict[str, list[Mapping[str, Any]]] = {}
    for example in sorted(examples, key=lambda example: [*KINDS].index(example["kind"])):
        title = KINDS[example["kind"]].format(**example)
        if len(names) > 1:
            title += f", by {names[example['metric']]}"
        found.setdefault(title, []).append(example)
    most = max(1, _MOST_EXAMPLES // max(len(found), 1))
    return {title: entries[:most] for title, entries in [*found.items()][:_MOST_EXAMPLES]}


def heading(example: Mapping[str, Any]) -> str:
    """The id of a segment or its number, the difference of its scores, and its labels."""
    name = example["id"] if example["id"] is not None else f"Segment {example['index']:,}"
    difference = example["difference"]
    facts = [] if difference is None else [f"difference {signed(difference, _decimals(example))}"]
    facts += [f"{label}: {value_text(value)}" for label, value in example["labels"].items()]
    return "; ".join([str(name), *facts])


def texts(example: Mapping[str, Any]) -> Iterator[Text]:
    """What was kept, the references, and the candidates of an example.

    The reference that is closest to the candidate has the words marked that the candidate lacks.
    """
    for name, value in example["kept"].items():
        if value is not None:
            yield Text(name, "kept", [Run(_cut(value), is_common=True)])
    references = [_cut(reference) for reference in example["references"]]
    candidate = _cut(example["candidate"] or "")
    against = closest(candidate, references) if references else None
    for number, reference in enumerate(references):
        name = "reference" if len(references) == 1 else f"reference {number + 1}"
        is_compared = number == against and example["candidate"] is not None
        plain = [Run(reference, is_common=True)]
        yield Text(name, "reference", compared(candidate, reference)[1] if is_compared else plain)
    for which, prefix in (("system", ""), ("baseline", "baseline_")):
        if example[f"{prefix}candidate"] is None:
            continue
        text, score = _cut(example[f"{prefix}candidate"]), example[f"{prefix}score"]
        runs = [Run(text, is_common=True)]
        if references:
            runs = compared(text, references[closest(text, references)])[0]
        shown = "" if score is None else rounded(score, _decimals(example))
        yield Text(example[which], "candidate", runs, shown)


def _decimals(example: Mapping[str, Any]) -> int:
    return decimals_of(example["metric"])


def _cut(text: str) -> str:
    """A text with all of its characters visible, and not too long."""
    shown = printable(text[: _LONGEST + 1], keep=JOINERS)
    return shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
