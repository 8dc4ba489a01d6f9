"""Segments as text: scores and texts, with the words that differ in brackets."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len

from beam_bleu.pipeline.display.printable import printable, value_text
from beam_bleu.pipeline.examples.segments import Entry
from beam_bleu.pipeline.examples.word_differences import closest, compared
from beam_bleu.transforms.examples.example import CUT_MARK, EXAMPLE_KINDS, MOST_CHARACTERS
from beam_bleu.transforms.score.shown_numbers import rounded, signed

_EMPTY = "(empty)"


def shown_entry(entry: Entry, place: int, decimals: int) -> str:
    """A segment: what it is, its scores and its texts, each on a line.

    Args:
      entry: the segment.
      place: its place in the list, from 1.
      decimals: how many decimals scores have.
    """

    def score(name: str) -> str:
        return "none" if entry[name] is None else rounded(entry[name], decimals)

    facts = [f"index {entry['index']}"]
    facts += [] if entry["id"] is None else [f"id {entry['id']}"]
    labels = entry["labels"].items()
    facts += [f"{name}={value_text(value)}" for name, value in labels if value is not None]
    scores = [f"{entry['system']} {score('score')}"]
    if EXAMPLE_KINDS[entry["kind"]].compares:
        scores.append(f"{entry['baseline']} {score('baseline_score')}")
        if entry["difference"] is not None:
            scores.append(f"difference {signed(entry['difference'], decimals)}")
    texts = list(_texts(entry))
    width = max((cell_len(name) for name, _ in texts), default=0)
    indent = " " * (len(str(place)) + 2)
    rows = [f"{place}. {printable(', '.join(facts))}", indent + printable(", ".join(scores))]
    for name, text in texts:
        rows.append(f"{indent}{name}{' ' * (width - cell_len(name))}  {text}".rstrip())
    return "".join(f"{row}\n" for row in rows)


def _texts(entry: Entry) -> Iterator[tuple[str, str]]:
    """The name and the marked text of each line: what was kept, the references, the systems."""
    for name, value in entry["kept"].items():
        if value is not None:
            yield printable(name), _plain(value)
    candidate, references = entry["candidate"], list(entry["references"])
    if candidate is None:
        return
    baseline = entry["baseline_candidate"] if EXAMPLE_KINDS[entry["kind"]].compares else None
    beside, nearest = baseline, None
    if baseline is None and references:
        nearest = closest(candidate, references)
        beside = references[nearest]
    own, marked_beside = _plain(candidate), ""
    if beside is not None:
        own, marked_beside = marked(candidate, beside)
    for number, reference in enumerate(references):
        name = f"reference {number + 1}" if len(references) > 1 else "reference"
        yield name, marked_beside if number == nearest else _plain(reference)
    if baseline is not None:
        yield printable(entry["baseline"]), marked_beside
    yield printable(entry["system"]), own


def marked(text: str, other: str) -> tuple[str, str]:
    r"""Two texts, with brackets around the words that the other one does not have at this place.

    >>> print(*marked("the small cat sat", "the cat sat down"), sep="\n")
    the [small] cat sat
    the cat sat [down]
    """
    first, second = (
        "".join(
            printable(run.text) if run.is_common else f"[{printable(run.text)}]" for run in runs
        )
        for runs in compared(_cut(text), _cut(other))
    )
    return first or _EMPTY, second or _EMPTY


def _plain(text: str) -> str:
    return printable(_cut(text)) or _EMPTY


def _cut(text: str) -> str:
    """A text that is not longer than those of examples: kept columns can be."""
    long = len(text) > MOST_CHARACTERS + len(CUT_MARK)
    return text[:MOST_CHARACTERS] + CUT_MARK if long else text
