"""Makes record files of the benchmark's corpus: each system in an order of its own.

    python -m benchmarks.speed.joins.records FOLDER REFERENCES CANDIDATES --segments N

writes the references and two systems into FOLDER, as Parquet and as JSON lines (first.jsonl),
and the texts in the order of the references as .txt. The first system is that of the corpus. The
second one writes the references without their first words.
"""

from __future__ import annotations

import glob
import itertools
import json
import pathlib
import random

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.program import command_parser

_SEED = 12


def _main() -> None:
    parser = command_parser((__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("references")
    parser.add_argument("candidates")
    parser.add_argument("--segments", type=int, required=True)
    flags = parser.parse_args()
    flags.folder.mkdir(parents=True, exist_ok=True)
    references = _head(flags.references, flags.segments)
    texts = {
        "references": references,
        "first": _head(flags.candidates, flags.segments),
        "second": [line.partition(" ")[2] for line in references],
    }
    draw = random.Random(_SEED)
    for name, lines in texts.items():
        (flags.folder / f"{name}.txt").write_text("".join(f"{line}\n" for line in lines))
        order = list(range(len(lines)))
        if name != "references":
            draw.shuffle(order)
        ids = [f"document-{row // 20:06}:{row % 20}" for row in order]
        shuffled = [lines[row] for row in order]
        column = "ref" if name == "references" else "hyp"
        pq.write_table(
            pa.table({"id": ids, column: shuffled}),
            flags.folder / f"{name}.parquet",
            row_group_size=100_000,
        )
        with open(flags.folder / f"{name}.jsonl", "w") as file:
            for each, line in zip(ids, shuffled, strict=True):
                record = {"id": each, column: line}
                file.write(json.dumps(record, ensure_ascii=False) + "\n")


def _head(pattern: str, count: int) -> list[str]:
    lines: list[str] = []
    for path in sorted(glob.glob(pattern)):
        with open(path, encoding="utf-8", newline="\n") as file:
            lines += (line.rstrip("\n") for line in itertools.islice(file, count - len(lines)))
    return lines


if __name__ == "__main__":
    _main()
