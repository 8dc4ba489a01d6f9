"""Converts the benchmarks' corpus to files of records, for benchmarks of record formats and joins.

    python -m benchmarks.corpus.records FOLDER REFERENCES CANDIDATES

writes each shard as records with the fields hyp and ref (pairs-NN.jsonl and others, see `FORMATS`).
For joins, it also writes the references and two systems, each as records with ids, the systems'
shuffled (references.parquet, first.jsonl, ...), and as lines in the order of the references
(first.txt). The second system's outputs are the references without their first words.
"""

from __future__ import annotations

import glob
import json
import pathlib
import random
import sys
from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.parquet as pq

FORMATS = ("zstd.parquet", "snappy.parquet", "jsonl", "tsv")
"""The suffixes of record files."""

_ROW_GROUP = 100_000


def _write(columns: Mapping[str, Sequence[str]], path: pathlib.Path) -> None:
    """Writes records in the format that the suffix of the file says."""
    rows = zip(*columns.values(), strict=True)
    if path.suffix == ".parquet":
        compression = path.name.split(".")[-2] if path.name.count(".") > 1 else "snappy"
        table = pa.table(dict(columns))
        pq.write_table(table, path, row_group_size=_ROW_GROUP, compression=compression)
        return
    with open(path, "w", encoding="utf-8") as file:
        if path.suffix == ".tsv":
            file.write("\t".join(columns) + "\n")
            file.writelines("\t".join(row) + "\n" for row in rows)
        else:
            for row in rows:
                record = dict(zip(columns, row, strict=True))
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _main() -> None:
    folder, *patterns = sys.argv[1:]
    shards = [[_lines(path) for path in sorted(glob.glob(pattern))] for pattern in patterns]
    for number, (references, candidates) in enumerate(zip(*shards, strict=True)):
        for name in FORMATS:
            columns = {"hyp": candidates, "ref": references}
            _write(columns, pathlib.Path(folder, f"pairs-{number:02}.{name}"))
    references, candidates = ([line for shard in stream for line in shard] for stream in shards)
    streams = {
        "references": references,
        "first": candidates,
        "second": [line.partition(" ")[2] for line in references],
    }
    draw = random.Random(12)
    for stream, lines in streams.items():
        path = pathlib.Path(folder, stream)
        path.with_suffix(".txt").write_text("\n".join([*lines, ""]), encoding="utf-8")
        order = list(range(len(lines)))
        if stream != "references":
            draw.shuffle(order)
        columns = {
            "id": [f"document-{row // 20:06}:{row % 20}" for row in order],
            "ref" if stream == "references" else "hyp": [lines[row] for row in order],
        }
        for suffix in (".parquet", ".jsonl"):
            _write(columns, path.with_suffix(suffix))


def _lines(path: str) -> list[str]:
    return pathlib.Path(path).read_text(encoding="utf-8").split("\n")[:-1]


if __name__ == "__main__":
    _main()
