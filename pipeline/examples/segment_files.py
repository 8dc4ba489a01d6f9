"""The worst segments of a result by the scores of all segments: the Parquet files of a run."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from beam_bleu.pipeline.examples.read_examples import Entry
from beam_bleu.pipeline.examples.wanted import Found, Wanted, require_label
from beam_bleu.pipeline.output.file_names import MANIFEST, SEGMENT_SCORES
from beam_bleu.pipeline.output.manifest import data_files_of
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.examples.ranks import first_rows
from beam_bleu.transforms.native.arrays import Floats, Integers
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.score.segment_table import TEXTS

_COPY_AGAIN = "copy all files of one result again, or run it again with --segment_scores"


def segment_files(folder: str) -> list[str]:
    """The files with the scores of all segments that are in a folder of this machine."""
    path = os.path.join(folder, MANIFEST)
    if not exists(path):
        return []
    names = data_files_of(json.loads(read(path)), SEGMENT_SCORES)
    paths = [os.path.join(folder, name) for name in names]
    return [path for path in paths if os.path.exists(path)]


def from_segment_files(
    files: Sequence[str], rows: int, wanted: Wanted, examples: Sequence[Entry]
) -> Found:
    """The worst segments of all.

    It holds the numbers and scores of all segments of two systems: with what it needs to match
    them, about 200 bytes for each segment.

    Args:
      files: the files.
      rows: how many rows the result says that they have.
      wanted: what is asked for.
      examples: the examples of the same result, from which texts are taken.

    Raises:
      InputError: the files are damaged, or not all are there.
      UsageError: the segments have no such label.
    """
    try:
        return _found(files, rows, wanted, examples)
    except (OSError, pa.ArrowException) as error:
        raise InputError(
            f"{os.path.dirname(files[0])} cannot be read: {error}",
            "copy the files again, or run it again with --segment_scores",
        ) from error


def _found(files: Sequence[str], rows: int, wanted: Wanted, examples: Sequence[Entry]) -> Found:
    there = sum(pq.read_metadata(file).num_rows for file in files)
    if there != rows:
        raise InputError(
            f"{os.path.dirname(files[0])} has {there} rows, and scores.json says {rows}",
            _COPY_AGAIN,
        )
    columns = _Columns.of(pq.read_schema(files[0]))
    labels = [*columns.labels, *columns.kept]
    for name, value in wanted.labels.items():
        values = _distinct(files, name) if name in labels else []
        other_labels = dict.fromkeys(label for label in labels if label != name)
        known = [*({name: each} for each in values), other_labels]
        require_label(name, value, known, "the segments")
    numbers, scores = _scores(files, wanted, wanted.system)
    of_baseline: Floats | None = None
    if wanted.against is not None:
        others, other_scores = _scores(files, wanted, wanted.against)
        numbers, own, other = np.intersect1d(
            numbers, others, assume_unique=True, return_indices=True
        )
        scores, of_baseline = scores[own], other_scores[other]
    ranks = _ranks(scores, of_baseline, wanted)
    chosen = first_rows(ranks, numbers, wanted.number)
    rows_of = {
        system: _rows(files, wanted, system, numbers[chosen], columns)
        for system in (wanted.system, wanted.against)
        if system is not None
    }
    texts = _Texts(examples, rows_of if columns.have_texts else {})
    entries = [
        _entry(
            *(wanted, int(numbers[row]), float(scores[row])),
            None if of_baseline is None else float(of_baseline[row]),
            *(rows_of[wanted.system][int(numbers[row])], columns, texts),
        )
        for row in chosen
    ]
    notes = []
    if entries and all(entry["candidate"] is None for entry in entries):
        notes.append(
            "the result has no texts of these segments: run it again with --keep text, or with "
            f"--examples {wanted.number}"
        )
    return Found(entries, int(np.count_nonzero(~np.isnan(ranks))), tuple(notes))


def _ranks(scores: Floats, of_baseline: Floats | None, wanted: Wanted) -> Floats:
    """The worst segments have the smallest ranks; nan if a segment is not worse."""
    sign = -1 if wanted.lower_is_better else 1
    if of_baseline is None:
        ranks: Floats = sign * scores
        return ranks
    lost = sign * (scores - of_baseline)
    return np.where(lost < 0, lost, np.nan)


def _filter(wanted: Wanted, system: str) -> pc.Expression:
    chosen = (pc.field("metric") == wanted.metric) & (pc.field("system") == system)
    for name, value in wanted.labels.items():
        chosen &= pc.field(name).is_null() if value is None else pc.field(name) == value
    return chosen


def _scores(files: Sequence[str], wanted: Wanted, system: str) -> tuple[Integers, Floats]:
    """The numbers of the segments that have a score, and these scores."""
    table = pq.read_table(
        list(files), columns=["index", "score"], filters=_filter(wanted, system)
    ).drop_null()
    return table["index"].to_numpy(), table["score"].to_numpy()


def _distinct(files: Sequence[str], name: str) -> list[Any]:
    values: list[Any] = pq.read_table(list(files), columns=[name])[name].unique().to_pylist()
    return values


@dataclasses.dataclass(frozen=True)
class _Columns:
    """The columns that say more of a segment than its scores.

    Attributes:
      labels: those with labels.
      kept: those that were kept, without those of texts.
      have_texts: whether the columns `candidate` and `references` have the texts.
    """

    labels: tuple[str, ...]
    kept: tuple[str, ...]
    have_texts: bool

    @classmethod
    def of(cls, schema: pa.Schema) -> _Columns:
        """Those of a file."""
        have_texts = "references" in schema.names and schema.field("references").type == TEXTS
        kept = [field.name for field in schema if pa.types.is_large_string(field.type)]
        return cls(
            tuple(field.name for field in schema if pa.types.is_string(field.type)),
            tuple(name for name in kept if not (have_texts and name == "candidate")),
            have_texts,
        )

    @property
    def names(self) -> list[str]:
        """All of them."""
        texts = ("candidate", "references") if self.have_texts else ()
        return [*self.labels, *self.kept, *texts]


_Row = Mapping[str, Any]


def _rows(
    files: Sequence[str], wanted: Wanted, system: str, numbers: Integers, columns: _Columns
) -> dict[int, _Row]:
    """By number, the labels, the kept columns and the texts of segments."""
    chosen = _filter(wanted, system) & pc.field("index").isin(numbers.tolist())
    table = pq.read_table(list(files), columns=["index", *columns.names], filters=chosen)
    return {row["index"]: row for row in table.to_pylist()}


class _Texts:
    """The texts that the examples and the rows of systems have."""

    def __init__(
        self, examples: Sequence[Entry], rows_of: Mapping[str, Mapping[int, _Row]]
    ) -> None:
        self._candidates: dict[tuple[str, int], str | None] = {}
        self._references: dict[int, Sequence[str]] = {}
        for entry in examples:
            number = entry["index"]
            self._candidates[entry["system"], number] = entry["candidate"]
            if entry["baseline"] is not None:
                self._candidates[entry["baseline"], number] = entry["baseline_candidate"]
            self._references[number] = entry["references"]
        for system, rows in rows_of.items():
            for number, row in rows.items():
                self._candidates[system, number] = row["candidate"]
                self._references[number] = row["references"]

    def candidate(self, system: str | None, number: int) -> str | None:
        """The text of a system, if it is there."""
        return None if system is None else self._candidates.get((system, number))

    def references(self, number: int) -> Sequence[str]:
        """The references, if they are there."""
        return self._references.get(number, [])


def _entry(
    wanted: Wanted,
    number: int,
    score: float,
    baseline_score: float | None,
    row: _Row,
    columns: _Columns,
    texts: _Texts,
) -> Entry:
    return {
        "kind": wanted.kind,
        "metric": wanted.metric,
        "system": wanted.system,
        "baseline": wanted.against,
        "index": number,
        "id": row[KEPT_ID] if KEPT_ID in columns.kept else None,
        "score": score,
        "baseline_score": baseline_score,
        "difference": None if baseline_score is None else score - baseline_score,
        "candidate": texts.candidate(wanted.system, number),
        "baseline_candidate": texts.candidate(wanted.against, number),
        "references": texts.references(number),
        "labels": {name: row[name] for name in columns.labels},
        "kept": {name: row[name] for name in columns.kept if name != KEPT_ID},
    }
