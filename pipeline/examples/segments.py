"""Segments of a result: its examples, and the worst ones by these or by the scores of all."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from beam_bleu.pipeline.errors.printable import value_text
from beam_bleu.pipeline.folder.file_names import EXAMPLES, MANIFEST, SEGMENT_SCORES
from beam_bleu.pipeline.saved.saved_result import exists, read
from beam_bleu.transforms.errors import InputError, UsageError, joined
from beam_bleu.transforms.examples.example import KindName
from beam_bleu.transforms.score.shown_score import counted
from beam_bleu.transforms.wiring.filesystems import is_local

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.dataset

Entry = Mapping[str, Any]  # a line of the file of examples; docs/tables.md explains its keys


@dataclasses.dataclass(frozen=True)
class Wanted:
    """The labels, or columns that are kept, have None for segments without the label."""

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
    """The segments that are shown, the worst one first; `of_all` is None if it is unknown."""

    entries: Sequence[Entry]
    of_all: int | None = None
    note: str = ""


def _manifest(folder: str) -> Mapping[str, Any]:
    path = f"{folder.rstrip('/')}/{MANIFEST}"
    manifest: Mapping[str, Any] = json.loads(read(path)) if exists(path) else {}
    return manifest


def read_examples(folder: str) -> list[Entry] | None:
    """The examples of a result; None if it has none, or no manifest."""
    named = _manifest(folder).get("examples")
    path = f"{folder.rstrip('/')}/{EXAMPLES}"
    if named is None or not exists(path):
        return None
    data = read(path)
    if hashlib.sha256(data).hexdigest() != named["sha256"]:
        raise InputError(
            f"{path} does not belong to the {MANIFEST} beside it: its SHA-256 does not match",
            "run it again with --examples, or copy the files of one result again",
        )
    return [json.loads(line) for line in data.splitlines()]


def worst_segments(folder: str, rows: int | None, wanted: Wanted) -> Found:
    """The worst segments, by the scores of all segments (`rows`) if they are on this machine."""
    examples = read_examples(folder)
    if rows is not None and is_local(folder):
        names = _manifest(folder).get("data_files", ())
        paths = [os.path.join(folder, name) for name in names if name.startswith(SEGMENT_SCORES)]
        if files := [path for path in paths if os.path.exists(path)]:
            return _worst_in_files(files, rows, wanted, examples or [])
    if examples is None:
        raise InputError(
            f"{folder} has neither examples nor the scores of all segments",
            f"run it again with --examples {wanted.number}, or with --segment_scores",
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


def _worst_in_files(
    files: Sequence[str], rows: int, wanted: Wanted, examples: Sequence[Entry]
) -> Found:
    import pyarrow as pa  # the report reads examples without it
    import pyarrow.dataset

    folder = os.path.dirname(files[0])
    copy_again = "copy all files of one result again, or run it again with --segment_scores"
    try:
        data = pyarrow.dataset.dataset(list(files))
        there = data.count_rows()
        if there != rows:
            raise InputError(f"{folder} has {there} rows, and scores.json says {rows}", copy_again)
        return _worst_rows(data, wanted, examples)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{folder} cannot be read: {error}", copy_again) from error


def _worst_rows(data: pyarrow.dataset.Dataset, wanted: Wanted, examples: Sequence[Entry]) -> Found:
    import pyarrow as pa
    import pyarrow.compute as pc

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

    def scores(system: str, name: str) -> pa.Table:
        of_system = chosen & (pc.field("system") == system)
        table = data.to_table(["index", "score"], filter=of_system).drop_null()
        return table.rename_columns(["index", name])

    table = scores(wanted.system, "score")
    if wanted.labels and not len(table):
        raise _no_segment(wanted, [*labels, *kept])
    rank = table["score"]
    if wanted.against is not None:
        table = table.join(scores(wanted.against, "baseline_score"), "index", join_type="inner")
        rank = pc.subtract(table["score"], table["baseline_score"])
        table = table.append_column("difference", rank)
    table = table.append_column("rank", pc.negate(rank) if wanted.lower_is_better else rank)
    if wanted.against is not None:
        table = table.filter(pc.field("rank") < 0)
    if not len(table):
        return Found([], 0)
    order = [("rank", "ascending"), ("index", "ascending")]
    worst = table.take(pc.select_k_unstable(table, min(wanted.number, len(table)), order))
    columns = [*labels, *kept, *(("candidate", "references") if has_texts else ())]
    of_rows = chosen & pc.field("index").isin(worst["index"].combine_chunks())
    rows = data.to_table([*columns, "index", "system"], filter=of_rows).to_pylist()
    texts: dict[tuple[str | None, int], str | None] = {}
    references: dict[int, Sequence[str]] = {}
    for row in rows if has_texts else examples:
        texts[row["system"], row["index"]] = row["candidate"]
        references[row["index"]] = row["references"]
    for entry in () if has_texts else examples:
        texts.setdefault((entry["baseline"], entry["index"]), entry["baseline_candidate"])
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
            "candidate": texts.get((wanted.system, number)),
            "baseline_candidate": texts.get((wanted.against, number)),
            "references": references.get(number, []),
            "labels": {name: own[number][name] for name in labels},
            "kept": {name: own[number][name] for name in kept if name != KEPT_ID},
        }
        for found in worst.to_pylist()
        for number in [found["index"]]
    ]
    note = ""
    if all(entry["candidate"] is None for entry in entries):
        note = (
            "the result has no texts of these segments: run it again with --keep text, or with "
            f"--examples {wanted.number}"
        )
    return Found(entries, len(table), note)


def _no_segment(wanted: Wanted, names: Sequence[str]) -> UsageError:
    return UsageError(
        f"--slice: no segment has {wanted.slice}",
        f"the labels of segments are: {joined(names) or 'none'}",
    )
