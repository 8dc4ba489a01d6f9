"""Conditions on values of every kind, with values that are written as in JSON, or otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from case import Case
from checks import check, check_refusal, check_success
from command_line import Argument
from record_oracle import check_score

_KINDS: dict[str, list[Any]] = {
    "boolean": [True, False, None],
    "integer": [0, 1, 2, -3, 1 << 60, None],
    "float": [0.0, 2.0, 1.5, -0.1, 1e20, None],
    "text": ["true", "2", "2.0", "", "a=b", "ü", None],
    "mixed": [True, 2, 2.0, "2", "true", None],
}
_OTHERS = ["True", "False", "None", "null", "2.00", "two", "1.5", "-0.1", "1e20", "2.0", "2"]
Record = dict[str, Any]


def attack(case: Case) -> None:
    """Scores the records that meet one to three conditions; Python judges each record."""
    chooser = case.random
    suffix = chooser.choice(["jsonl", "parquet", "tsv"])
    kinds = ["text"] if suffix == "tsv" else [*_KINDS][: 4 if suffix == "parquet" else 5]
    columns = {f"c{i}": chooser.choice(kinds) for i in range(2)}
    chosen = {name: chooser.sample(_KINDS[kind], 2) for name, kind in columns.items()}
    rows = [
        {
            "hyp": f"the text {i} a b",
            "ref": f"the text {i + i % 3} a b",
            **{name: chooser.choice(values) for name, values in chosen.items()},
        }
        for i in range(chooser.randint(4, 50))
    ]
    path = case.folder / f"all.{suffix}"
    written = _write(case, path, rows, columns)
    conditions = {
        _condition(case, name, written): None
        for name in chooser.choices([*columns], k=chooser.randint(1, 3))
    }
    case.what = f"{suffix}: {', '.join(f'{a}{b}{c}' for a, b, c in conditions)}"
    flags: list[Argument] = [f"--where={''.join(each)}" for each in conditions]
    if suffix != "parquet" and case.chance(0.5):
        flags.append(f"--range_bytes={chooser.randint(16, 300)}")
    run = case.run("--input", path, *flags, "--format=json")
    meeting = {each: [_meets(row, each) for row in written] for each in conditions}
    kept = [row for row, *met in zip(written, *meeting.values(), strict=True) if all(met)]
    if not kept:
        unmet = ["".join(each) for each, rows_met in meeting.items() if not any(rows_met)]
        check_refusal(run, (3,), [f"no record meets --where {each};" for each in unmet])
        return
    document = check_success(run)
    (score,) = document["scores"]
    check_score(score, [(row["hyp"], row["ref"]) for row in kept], "the records that are left")
    for each, rows_met in meeting.items():
        told = [
            warning
            for warning in document["warnings"]
            if warning.startswith(f"every record meets --where {''.join(each)}, ")
        ]
        check(len(told) == all(rows_met), f"{''.join(each)}: the warnings are {told}")


def _condition(case: Case, name: str, rows: list[Record]) -> tuple[str, str, str]:
    of_records = [_text(row[name]) for row in rows if row[name] is not None] or ["x"]
    value = case.random.choice([case.random.choice(of_records), case.random.choice(_OTHERS)])
    return name, case.random.choice(["=", "!=", "!="]), value


def _meets(row: Record, condition: tuple[str, str, str]) -> bool:
    name, operator, value = condition
    is_equal = row[name] is not None and _text(row[name]) == value
    return is_equal != (operator == "!=")


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _write(case: Case, path: Path, rows: list[Record], columns: dict[str, str]) -> list[Record]:
    """Writes the records; returns them as Python reads them."""
    if path.suffix == ".parquet":
        types = {"boolean": pa.bool_(), "integer": pa.int64(), "text": pa.string()}
        types["float"] = case.random.choice([pa.float64(), pa.float32(), pa.float16()])
        if types["float"] == pa.float16():
            rows = [{name: _half(each) for name, each in row.items()} for row in rows]
        kinds = {name: types[kind] for name, kind in columns.items()}
        schema = pa.schema({"hyp": pa.string(), "ref": pa.string(), **kinds})
        table = pa.Table.from_pylist(rows, schema)
        pq.write_table(table, path, row_group_size=case.random.randint(1, 20))
        return rows
    if path.suffix == ".tsv":
        rows = [{name: each or "" for name, each in row.items()} for row in rows]
        lines = ["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]
    else:
        lines = [json.dumps(row, ensure_ascii=case.chance(0.5)) for row in rows]
        if case.chance(0.5):  # the same numbers, written in another way
            lines = [line.replace("2.0", "2.00").replace("1.5,", "15e-1,") for line in lines]
        rows = [json.loads(line) for line in lines]
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    return rows


def _half(value: Any) -> Any:
    """A value that a float of 16 bits can hold."""
    return min(value, 2048.0) if isinstance(value, float) else value
