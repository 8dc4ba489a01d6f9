"""Segments for a reader: what they are, their scores, and their texts with words marked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Literal

from rich.cells import cell_len

from beam_bleu.pipeline.display.printable import printable, value_text
from beam_bleu.pipeline.display.row_order import decimals_of
from beam_bleu.pipeline.examples.segments import Entry
from beam_bleu.pipeline.examples.word_differences import Run, closest, compared
from beam_bleu.transforms.examples.example import CUT_MARK, MOST_CHARACTERS
from beam_bleu.transforms.score.shown_numbers import rounded, signed


@dataclasses.dataclass(frozen=True)
class Text:
    """A text of a segment.

    Attributes:
      name: what it is: the name of a column or of a system, or "reference".
      kind: which of these it is.
      runs: its words; those that the other text lacks are marked.
    """

    name: str
    kind: Literal["kept", "reference", "candidate"]
    runs: Sequence[Run]


def heading(entry: Entry) -> str:
    """The number of a segment, its id, and its labels."""
    facts = [f"index {entry['index']}"]
    facts += [] if entry["id"] is None else [f"id {entry['id']}"]
    labels = entry["labels"].items()
    facts += [f"{name}={value_text(value)}" for name, value in labels if value is not None]
    return ", ".join(facts)


def scores(entry: Entry) -> str:
    """The scores of a segment, and their difference."""
    decimals = decimals_of(entry["metric"])

    def score(name: str) -> str:
        return "none" if entry[name] is None else rounded(entry[name], decimals)

    facts = [f"{entry['system']} {score('score')}"]
    if entry["baseline"] is not None:
        facts.append(f"{entry['baseline']} {score('baseline_score')}")
    if entry["difference"] is not None:
        facts.append(f"difference {signed(entry['difference'], decimals)}")
    return ", ".join(facts)


def texts(entry: Entry, longest: int = MOST_CHARACTERS) -> Iterator[Text]:
    """What was kept, the references, and the candidates of a segment.

    A candidate has the words marked that the closest reference lacks. The reference that is closest
    to the candidate of the system has the words marked that this candidate lacks.

    Args:
      entry: the segment.
      longest: how many characters of a text are shown.
    """

    def cut(text: str) -> str:
        return text if len(text) <= longest else text[:longest] + CUT_MARK

    def plain(text: str) -> list[Run]:
        return [Run(text, is_common=True)]

    for name, value in entry["kept"].items():
        if value is not None:
            yield Text(name, "kept", plain(cut(value)))
    references = [cut(reference) for reference in entry["references"]]
    nearest = None
    if entry["candidate"] is not None and references:
        nearest = closest(cut(entry["candidate"]), references)
    for number, reference in enumerate(references):
        name = "reference" if len(references) == 1 else f"reference {number + 1}"
        runs = plain(reference)
        if number == nearest:
            _, runs = compared(cut(entry["candidate"]), reference)
        yield Text(name, "reference", runs)
    for name in ("baseline", "system"):
        candidate = entry["baseline_candidate" if name == "baseline" else "candidate"]
        if candidate is not None:
            runs = plain(cut(candidate))
            if references:
                runs, _ = compared(cut(candidate), references[closest(cut(candidate), references)])
            yield Text(entry[name], "candidate", runs)


def shown_entry(entry: Entry, place: int) -> str:
    """The lines of a segment, at a place of the list, from 1. Marked words are in brackets."""
    rows = [(printable(text.name), _bracketed(text.runs)) for text in texts(entry)]
    width = max((cell_len(name) for name, _ in rows), default=0)
    indent = " " * (len(str(place)) + 2)
    lines = [f"{place}. {printable(heading(entry))}", indent + printable(scores(entry))]
    lines += [f"{indent}{name}{' ' * (width - cell_len(name))}  {text}" for name, text in rows]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _bracketed(runs: Sequence[Run]) -> str:
    shown = (printable(run.text) if run.is_common else f"[{printable(run.text)}]" for run in runs)
    return "".join(shown) or "(empty)"
