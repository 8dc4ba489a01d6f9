"""Makes record files of the benchmark's corpus: each pair is a record with hyp and ref.

    python -m benchmarks.speed.records.record_files FOLDER REFERENCES CANDIDATES --copies N

writes each shard of the corpus once as Parquet (twice: with two compressions), as JSON lines and as
tab-separated text. Each file is linked N times, so that a large input needs little disk.
"""

from __future__ import annotations

import glob
import itertools
import json
import pathlib
import sys

from benchmarks.corpus.workspace import Text
from benchmarks.measure import run
from benchmarks.program import command_parser

_COMPRESSIONS = ("snappy", "zstd")

FORMATS = (*(f"{each}.parquet" for each in _COMPRESSIONS), "jsonl", "tsv")
"""The ends of the names of the files."""

_ROW_GROUP = 100_000


def record_patterns(text: Text, folder: pathlib.Path, copies: int) -> dict[str, str]:
    """The pattern of the record files of a text, by `FORMATS`. They are made if they are not there.

    Args:
      text: the text, with one system.
      folder: a folder for them.
      copies: how often each file is linked.
    """
    folder = folder / f"records-{copies}"
    if not folder.exists():
        # In a child, so that this process stays small.
        program = [sys.executable, "-m", "benchmarks.speed.records.record_files"]
        run([*program, str(folder), *text.patterns, "--copies", str(copies)])
    return {name: str(folder / f"*.{name}") for name in FORMATS}


def _main() -> None:
    parser = command_parser((__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("references")
    parser.add_argument("candidates")
    parser.add_argument("--copies", type=int, required=True)
    flags = parser.parse_args()
    partial = flags.folder.with_name(f"{flags.folder.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    shards = zip(
        sorted(glob.glob(flags.candidates)), sorted(glob.glob(flags.references)), strict=True
    )
    for number, (candidates, references) in enumerate(shards):
        _write(partial, number, pathlib.Path(candidates), pathlib.Path(references))
    for file, copy in itertools.product(sorted(partial.iterdir()), range(1, flags.copies)):
        (partial / f"{copy:04}-{file.name[5:]}").hardlink_to(file)
    partial.rename(flags.folder)


def _write(
    folder: pathlib.Path, shard: int, candidates: pathlib.Path, references: pathlib.Path
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    hyps, refs = _lines(candidates), _lines(references)
    stem = folder / f"0000-{shard:04}"
    for compression in _COMPRESSIONS:
        pq.write_table(
            pa.table({"hyp": hyps, "ref": refs}),
            stem.with_suffix(f".{compression}.parquet"),
            row_group_size=_ROW_GROUP,
            compression=compression,
        )
    with (
        open(stem.with_suffix(".jsonl"), "w", encoding="utf-8") as of_json,
        open(stem.with_suffix(".tsv"), "w", encoding="utf-8") as of_tabs,
    ):
        of_tabs.write("hyp\tref\n")
        for hyp, ref in zip(hyps, refs, strict=True):
            of_json.write(json.dumps({"hyp": hyp, "ref": ref}, ensure_ascii=False) + "\n")
            of_tabs.write(f"{hyp}\t{ref}\n")


def _lines(path: pathlib.Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")[:-1]


if __name__ == "__main__":
    _main()
