"""The worst segments of a result by the scores of all segments: the Parquet files of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset

from beam_bleu.pipeline.examples.segments import Entry, Found, Wanted, require_label
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.pairing.batch import KEPT_ID
from beam_bleu.transforms.score.segment_table import TEXTS

_COPY_AGAIN = "copy all files of one result again, or run it again with --segment_scores"


def worst_in_files(
    files: Sequence[str], rows: int, wanted: Wanted, examples: Sequence[Entry]
) -> Found:
    """The worst segments of all.

    It holds the numbers and scores of all segments of two systems.

    Args:
      files: the files.
      rows: how many rows the result says that they have.
      wanted: what is asked for.
      examples: the examples of the same result, from which texts are taken.

    Raises:
      InputError: the files are damaged, or not all are there.
      UsageError: the segments have no such label.
    """
    folder = os.path.dirname(files[0])
    try:
        data = pa.dataset.dataset(list(files))
        there = data.count_rows()
        if there != rows:
            raise InputError(f"{folder} has {there} rows, and scores.json says {rows}", _COPY_AGAIN)
        return _worst(data, wanted, examples)
    except (OSError, pa.ArrowException) as error:
        raise InputError(f"{folder} cannot be read: {error}", _COPY_AGAIN) from error


def _worst(data: pa.dataset.Dataset, wanted: Wanted, examples: Sequence[Entry]) -> Found:
    schema = data.schema
    has_texts = "references" in schema.names and schema.field("references").type == TEXTS
    labels = [field.name for field in schema if pa.types.is_string(field.type)]
    kept = [field.name for field in schema if pa.types.is_large_string(field.type)]
    if has_texts:
        kept.remove("candidate")
    chosen = pc.field("metric") == wanted.metric
    for name, value in wanted.labels.items():
        there = name in (*labels, *kept)
        values = data.to_table([name])[name].unique().to_pylist() if there else []
        require_label(name, value, [*labels, *kept], values)
        chosen &= pc.field(name).is_null() if value is None else pc.field(name) == value

    def scores(system: str) -> pa.Table:
        of_system = chosen & (pc.field("system") == system)
        return data.to_table(["index", "score"], filter=of_system).drop_null()

    table = scores(wanted.system)
    rank = table["score"]
    if wanted.against is not None:
        baseline = scores(wanted.against).rename_columns(["index", "baseline"])
        table = table.join(baseline, "index", join_type="inner")
        rank = pc.subtract(table["score"], table["baseline"])
    table = table.append_column("rank", pc.negate(rank) if wanted.lower_is_better else rank)
    if wanted.against is not None:
        table = table.filter(pc.field("rank") < 0)
    if not len(table):
        return Found([], 0)
    order = [("rank", "ascending"), ("index", "ascending")]
    worst = table.take(pc.select_k_unstable(table, min(wanted.number, len(table)), order))
    of_rows = chosen & pc.field("index").isin(worst["index"].combine_chunks())
    columns = [*labels, *kept, *(("candidate", "references") if has_texts else ()), "index"]
    rows = {
        (row["system"], row["index"]): row
        for row in data.to_table([*columns, "system"], filter=of_rows).to_pylist()
    }
    texts = {key: row["candidate"] for key, row in rows.items()} if has_texts else {}
    references = {number: row["references"] for (_, number), row in rows.items() if has_texts}
    if not has_texts:
        for entry in examples:
            number = entry["index"]
            texts[entry["system"], number] = entry["candidate"]
            texts.setdefault((entry["baseline"], number), entry["baseline_candidate"])
            references[number] = entry["references"]
    entries = []
    for found in worst.to_pylist():
        number, baseline_score = found["index"], found.get("baseline")
        row = rows[wanted.system, number]
        entries.append(
            {
                "kind": wanted.kind,
                "metric": wanted.metric,
                "system": wanted.system,
                "baseline": wanted.against,
                "index": number,
                "id": row.get(KEPT_ID),
                "score": found["score"],
                "baseline_score": baseline_score,
                "difference": None if baseline_score is None else found["score"] - baseline_score,
                "candidate": texts.get((wanted.system, number)),
                "baseline_candidate": texts.get((wanted.against, number)),
                "references": references.get(number, []),
                "labels": {name: row[name] for name in labels},
                "kept": {name: row[name] for name in kept if name != KEPT_ID},
            }
        )
    note = ""
    if entries and all(entry["candidate"] is None for entry in entries):
        note = (
            "the result has no texts of these segments: run it again with --keep text, or with "
            f"--examples {wanted.number}"
        )
    return Found(entries, len(table), note)
