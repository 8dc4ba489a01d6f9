"""Segments for a reader: what they are, their scores, and their texts with words marked."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Sequence, Set
from typing import Literal, NamedTuple

from rich.cells import cell_len

from beam_bleu.pipeline.display.row_order import decimals_of
from beam_bleu.pipeline.errors.printable import printable, value_text
from beam_bleu.pipeline.examples.segments import Entry
from beam_bleu.transforms.examples.example import CUT_MARK, MOST_CHARACTERS
from beam_bleu.transforms.score.shown_score import rounded, signed

# Thai, Lao, Burmese, Khmer, Japanese and Chinese do not put spaces between words, so each character
# stands for itself.
_WITHOUT_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)

_WORDS = re.compile(rf"(?:[{_WITHOUT_SPACES}]|(?:(?![{_WITHOUT_SPACES}])\w)+|[^\w\s])\s*|^\s+")
# Comparing takes the square of this time. Longer texts are compared in their first words.
_MOST_WORDS = 400


class Run(NamedTuple):
    """Words in a row, with the spaces between them, that both texts have, or only one of them."""

    text: str
    is_common: bool


def words(text: str) -> list[str]:
    return _WORDS.findall(text)


def compared(text: str, other: str) -> tuple[list[Run], list[Run]]:
    """The runs of two texts. Words are the same whatever spaces come after them."""
    of_text, of_other = words(text), words(other)
    blocks = _matcher(of_text, of_other).get_matching_blocks()
    places = {place for block in blocks for place in range(block.a, block.a + block.size)}
    places_of_other = {place for block in blocks for place in range(block.b, block.b + block.size)}
    return _runs(of_text, places), _runs(of_other, places_of_other)


def closest(text: str, others: Sequence[str]) -> int:
    def likeness(number: int) -> tuple[float, int]:
        return _matcher(words(text), words(others[number])).ratio(), -number

    return max(range(len(others)), key=likeness)


def _matcher(first: Sequence[str], second: Sequence[str]) -> difflib.SequenceMatcher[str]:
    one, other = ([word.strip() for word in of[:_MOST_WORDS]] for of in (first, second))
    return difflib.SequenceMatcher(None, one, other, autojunk=False)


def _runs(of_text: Sequence[str], common: Set[int]) -> list[Run]:
    """A last space is not marked."""
    runs: list[Run] = []
    for is_common, places in itertools.groupby(
        range(len(of_text)), key=lambda place: place in common or place >= _MOST_WORDS
    ):
        text = "".join(of_text[place] for place in places)
        word = text if is_common else text.rstrip()
        runs += [Run(word, is_common), Run(text[len(word) :], is_common=True)]
    return [run for run in runs if run.text]


class Text(NamedTuple):
    name: str
    kind: Literal["kept", "reference", "candidate"]
    runs: Sequence[Run]


def heading(entry: Entry) -> str:
    facts = [f"index {entry['index']}"]
    facts += [] if entry["id"] is None else [f"id {entry['id']}"]
    labels = entry["labels"].items()
    facts += [f"{name}={value_text(value)}" for name, value in labels if value is not None]
    return ", ".join(facts)


def scores(entry: Entry) -> str:
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

    Marked are the words of a candidate that its closest reference lacks, and the other way round.
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
    rows = [(printable(text.name), _bracketed(text.runs)) for text in texts(entry)]
    width = max((cell_len(name) for name, _ in rows), default=0)
    indent = " " * (len(str(place)) + 2)
    lines = [f"{place}. {printable(heading(entry))}", indent + printable(scores(entry))]
    lines += [f"{indent}{name}{' ' * (width - cell_len(name))}  {text}" for name, text in rows]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _bracketed(runs: Sequence[Run]) -> str:
    shown = (printable(run.text) if run.is_common else f"[{printable(run.text)}]" for run in runs)
    return "".join(shown) or "(empty)"
