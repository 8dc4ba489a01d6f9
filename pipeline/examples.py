"""Single segments for `worst` and the report: finds them, and marks the words that differ."""

from __future__ import annotations

import collections
import dataclasses
import difflib
import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from rich.cells import cell_len

from beam_bleu.pipeline.display.row_order import decimals_of
from beam_bleu.pipeline.errors.printable import printable, value_text
from beam_bleu.pipeline.folder.file_names import EXAMPLES, MANIFEST
from beam_bleu.pipeline.saved.saved_result import beside
from beam_bleu.pipeline.saved.segment_scores import manifest_of, opened, segment_files
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.examples.example import CUT_MARK, MOST_CHARACTERS, KindName
from beam_bleu.transforms.score.shown_numbers import counted, rounded, signed

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset


Entry = Mapping[str, Any]  # a line of the file of examples; docs/tables.md explains its keys


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which segments to show. `labels` can be kept columns, too; None: segments without it."""

    metric: str
    system: str
    against: str | None
    labels: Mapping[str, str | None]
    number: int
    lower_is_better: bool

    @property
    def kind(self) -> KindName:
        return "worst" if self.against is None else "loss"

    @property
    def slice(self) -> str:
        return ", ".join(f"{name}={value_text(value)}" for name, value in self.labels.items())


class Found(NamedTuple):
    """The segments to show, worst first; `of_all` is how many there are, or None if unknown."""

    entries: Sequence[Entry]
    of_all: int | None = None
    note: str = ""


def read_examples(folder: str) -> Sequence[Entry] | None:
    return read_listed(folder, "examples", EXAMPLES)


def read_listed(folder: str, what: str, name: str) -> list[dict[str, Any]] | None:
    named = manifest_of(folder).get(what)
    data = beside(folder, name)
    if named is None or data is None:
        return None
    if hashlib.sha256(data).hexdigest() != named["sha256"]:
        path = f"{folder.rstrip('/')}/{name}"
        raise InputError(
            f"{path} does not belong to the {MANIFEST} beside it: its SHA-256 does not match",
            f"run it again with --{what}, or copy the files of one result again",
        )
    return [json.loads(line) for line in data.splitlines()]


def worst_segments(folder: str, scored: Mapping[str, Any] | None, wanted: Wanted) -> Found:
    """The worst of all segments if this machine has their scores, else of the examples."""
    examples = read_examples(folder)
    if scored is not None and (files := segment_files(folder)):
        with opened(files, scored["rows"]) as data:
            return _worst_rows(data, wanted, examples or [])
    if examples is None:
        raise InputError(
            f"{folder} has neither examples nor the scores of all segments",
            f"run it again with --segment_scores, or with --examples {wanted.number}",
        )
    return _worst_examples(examples, wanted)


def _worst_examples(examples: Sequence[Entry], wanted: Wanted) -> Found:
    whose = (wanted.metric, wanted.system)
    of_system = [entry for entry in examples if (entry["metric"], entry["system"]) == whose]
    if wanted.against not in {None, *(entry["baseline"] for entry in of_system)}:
        raise UsageError(
            f"--against {wanted.against}: the examples do not compare with it",
            f"run it again with --baseline {wanted.against}, or with --segment_scores",
        )

    def is_wanted(entry: Entry) -> bool:
        return wanted.labels.items() <= {**entry["kept"], **entry["labels"]}.items()

    if wanted.labels and not any(map(is_wanted, examples)):
        names = {name for entry in examples for name in (*entry["kept"], *entry["labels"])}
        raise _no_segment(wanted, sorted(names))
    of_kind = [entry for entry in of_system if entry["kind"] == wanted.kind]
    chosen = [entry for entry in of_kind if is_wanted(entry)]
    note = ""
    if len(chosen) < wanted.number and of_kind:
        note = (
            f"the examples have {counted(len(chosen), 'such segment')}: a run with "
            "--segment_scores has all, and --examples N has more"
        )
    return Found(chosen[: wanted.number], None, note)


def _worst_rows(data: pyarrow.dataset.Dataset, wanted: Wanted, examples: Sequence[Entry]) -> Found:
    import pyarrow as pa
    import pyarrow.compute as pc

    from beam_bleu.transforms.examples.sampling import sample_ranks
    from beam_bleu.transforms.pairing.batch import KEPT_ID

    schema = data.schema
    labels = [field.name for field in schema if pa.types.is_string(field.type)]
    kept = [field.name for field in schema if pa.types.is_large_string(field.type)]
    has_texts = "references" in schema.names and pa.types.is_list(schema.field("references").type)
    if has_texts:
        kept.remove("candidate")
    if not wanted.labels.keys() <= {*labels, *kept}:
        raise _no_segment(wanted, [*labels, *kept])
    chosen = pc.field("metric") == wanted.metric
    for name, value in wanted.labels.items():
        chosen &= pc.field(name).is_null() if value is None else pc.field(name) == value

    def scored(system: str, name: str) -> pa.Table:
        of_system = chosen & (pc.field("system") == system)
        table = data.to_table(["index", "score"], filter=of_system).drop_null()
        return table.rename_columns(["index", name])

    table = scored(wanted.system, "score")
    if wanted.labels and not len(table):
        raise _no_segment(wanted, [*labels, *kept])
    rank = table["score"]
    if wanted.against is not None:
        table = table.join(scored(wanted.against, "baseline_score"), "index", join_type="inner")
        rank = pc.subtract(table["score"], table["baseline_score"])
        table = table.append_column("difference", rank)
    table = table.append_column("rank", pc.negate(rank) if wanted.lower_is_better else rank)
    if wanted.against is not None:
        table = table.filter(pc.field("rank") < 0)
    if not len(table):
        return Found([], 0)
    drawn = sample_ranks(table["index"].to_numpy())
    table = table.append_column("drawn", pa.array(drawn))
    order = [(name, "ascending") for name in ("rank", "drawn", "index")]
    worst = table.take(pc.select_k_unstable(table, min(wanted.number, len(table)), order))
    columns = [*labels, *kept, *(("candidate", "references") if has_texts else ())]
    of_rows = chosen & pc.field("index").isin(worst["index"].combine_chunks())
    rows = data.to_table([*columns, "index", "system"], filter=of_rows).to_pylist()
    texts: dict[int, dict[str | None, str | None]] = collections.defaultdict(dict)
    references: dict[int, Sequence[str]] = {}
    for row in rows if has_texts else examples:
        of_row = {row["system"]: row["candidate"]} if has_texts else row["candidates"]
        texts[row["index"]].update(of_row)
        references[row["index"]] = row["references"]
    own = {row["index"]: row for row in rows if row["system"] == wanted.system}
    entries = [
        {
            "kind": wanted.kind,
            "metric": wanted.metric,
            "system": wanted.system,
            "baseline": wanted.against,
            "index": number,
            "id": own[number].get(KEPT_ID),
            "score": found["score"],
            "baseline_score": found.get("baseline_score"),
            "difference": found.get("difference"),
            "candidate": texts[number].get(wanted.system),
            "baseline_candidate": texts[number].get(wanted.against),
            "candidates": texts[number],
            "references": references.get(number, []),
            "labels": {name: own[number][name] for name in labels},
            "kept": {name: own[number][name] for name in kept if name != KEPT_ID},
        }
        for found in worst.to_pylist()
        for number in [found["index"]]
    ]
    note = ""
    if all(entry["candidate"] is None and not entry["kept"] for entry in entries):
        note = (
            "the result has no texts of these segments: run it again with --segment_scores --keep "
            "text; or, if a metric or a task reads none, with --keep COLUMN,... of columns that "
            "all files have"
        )
    return Found(entries, len(table), note)


def _no_segment(wanted: Wanted, names: Sequence[str]) -> UsageError:
    return UsageError(
        f"--slice: no segment has {wanted.slice}",
        f"the labels of segments are: {joined(names) or 'none'}",
    )


# Thai, Lao, Burmese, Khmer, Japanese and Chinese put no spaces between words, so each character
# counts as a word.
_WITHOUT_SPACES = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)

_WORDS = re.compile(rf"(?:[{_WITHOUT_SPACES}]|(?:(?![{_WITHOUT_SPACES}])\w)+|[^\w\s])\s*|^\s+")
# Comparing takes time quadratic in this, so only the first words of longer texts are compared.
_MOST_WORDS = 400


class Run(NamedTuple):
    """Consecutive words, with the spaces between them, that are all in both texts or all in one."""

    text: str
    is_common: bool


def words(text: str) -> list[str]:
    return _WORDS.findall(text)


def compared(text: str, other: str) -> tuple[list[Run], list[Run]]:
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
    """The words of a text as runs. White space at the end of a run is not marked as different."""
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


def texts(
    entry: Entry, longest: int = MOST_CHARACTERS, *, of_all_systems: bool = False
) -> Iterator[Text]:
    """The kept columns, the references, and the candidates of a segment, as texts to show.

    Words that a candidate's closest reference lacks are marked, and those of the reference that the
    entry's system lacks.
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
    candidates = {
        entry["baseline"]: entry["baseline_candidate"],
        entry["system"]: entry["candidate"],
    }
    for name, candidate in (entry["candidates"] if of_all_systems else candidates).items():
        if candidate is not None:
            runs = plain(cut(candidate))
            if references:
                runs, _ = compared(cut(candidate), references[closest(cut(candidate), references)])
            yield Text(name, "candidate", runs)


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
