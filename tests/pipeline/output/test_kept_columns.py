"""Which segment a row of the scores of segments is: its index, its id, and what was kept."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import Run, called

TEXTS = ["a cat sat on the mat", "good morning to all", "it rains a lot", "the end of it all"]
"""The candidate of a segment is its reference, but for the last one."""


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    """Writes records in the format that the suffix of the path names."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(records)), path)
    elif path.suffix == ".tsv":
        lines = [list(records[0]), *(map(str, record.values()) for record in records)]
        path.write_text("".join("\t".join(line) + "\n" for line in lines))
    else:
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def scored(out: Path, *arguments: object) -> Run:
    """Runs the command with the scores of segments, without evidence."""
    run = called(*map(str, arguments), "--segment_scores", f"--output={out}", "--no_uncertainty")
    assert run.code == 0, run.err
    return run


def rows_of(out: Path) -> list[dict[str, Any]]:
    """The rows, by system and index."""
    rows = pq.read_table(out / "segment_scores").to_pylist()
    return sorted(rows, key=lambda row: (row["system"], row["index"]))


@pytest.mark.parametrize("form", ["lines", "parquet", "tsv"])
def test_the_index_is_the_number_of_the_line_or_record_of_all_files(form, tmp_path):
    # The second segment is left out or rejected, so its number has no row.
    if form == "lines":
        for name in ("hyp", "ref", "src"):
            for number, texts in enumerate((TEXTS[:2], TEXTS[2:])):
                (tmp_path / f"{name}-{number}").write_bytes("\n".join(texts).encode())
        (tmp_path / "hyp-0").write_bytes(b"%s\n\xff" % TEXTS[0].encode())
        asked = [f"--candidates=A={tmp_path}/hyp-*", f"--references={tmp_path}/ref-*"]
        asked += ["--on_bad_record=reject", "--max_rejected=1"]
        asked += [f"--labels=src={tmp_path}/src-*", "--keep=src"]
    else:
        records = [{"hyp": text, "ref": text, "n": n} for n, text in enumerate(TEXTS)]
        for number, part in enumerate((records[:2], records[2:])):
            write_records(tmp_path / f"part-{number}.{form}", part)
        asked = [f"--input={tmp_path}/part-*.{form}", "--where=n!=1", "--keep=src=hyp"]
    scored(tmp_path / "out", *asked)
    rows = rows_of(tmp_path / "out")
    expected = [(0, 6, TEXTS[0]), (2, 4, TEXTS[2]), (3, 5, TEXTS[3])]
    assert [(row["index"], row["ref_len"], row["src"]) for row in rows] == expected
    assert "id" not in rows[0]


META = ["s1", "s 2", "", "ünï"]
"""What is kept of each segment."""


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """Line-parallel text with two systems, two references and files of labels."""
    folder = tmp_path_factory.mktemp("lines")
    streams = {
        "A": TEXTS,
        "B": TEXTS[::-1],
        "ref": TEXTS,
        "other": [text.upper() for text in TEXTS],
        "ids": META,
        "pairs": [f"{text}\t{domain}" for text, domain in zip(META, "xyxy", strict=True)],
    }
    for name, texts in streams.items():
        (folder / name).write_text("".join(f"{text}\r\n" for text in texts), newline="")
    return folder


def of_lines(folder: Path, *flags: str) -> list[str]:
    systems = [f"--candidates={name}={folder / name}" for name in "AB"]
    return [*systems, f"--references={folder}/ref", f"--references={folder}/other", *flags]


def test_lines_of_a_file_of_labels_are_kept(lines, tmp_path):
    flags = [f"--labels=id={lines}/ids", f"--labels=source,domain={lines}/pairs"]
    keep = ["--keep", "id,text", "--keep=original=source,d=domain", "--slice_by=domain"]
    scored(tmp_path / "out", *of_lines(lines, *flags, *keep))
    rows = rows_of(tmp_path / "out")
    assert [*rows[0]][-6:] == ["domain", "id", "original", "d", "candidate", "references"]
    assert [row["d"] for row in rows] == [row["domain"] for row in rows]
    assert [(row["index"], row["id"], row["original"], row["domain"]) for row in rows] == [
        (index, META[index], META[index], "xyxy"[index]) for index in range(4)
    ] * 2
    texts = [f"{text}\r" for text in TEXTS]  # the texts that are scored, with their spaces
    assert [row["candidate"] for row in rows] == [*texts, *texts[::-1]]
    assert [row["references"] for row in rows] == [[text, text.upper()] for text in texts] * 2


@pytest.mark.parametrize("suffix", [".jsonl", ".tsv"])
def test_columns_of_records_are_kept_as_texts(suffix, tmp_path):
    records = [
        {"hyp": text, "ref": text, "n": n, "ratio": n / 8, "ok": n > 1, "source": META[n]}
        for n, text in enumerate(TEXTS)
    ]
    if suffix == ".tsv":  # it has texts only, and no null
        records = [record | {"ok": str(record["ok"]).lower()} for record in records]
    else:
        records[1]["source"] = None
        records = [record | {"meta": {"id": [str(record["n"]), "x"]}} for record in records]
    path = write_records(tmp_path / f"records{suffix}", records)
    keep = "n,ratio,ok,src=source" + ("" if suffix == ".tsv" else ",key=meta.id[0],meta.id[1]")
    scored(tmp_path / "out", f"--input={path}", f"--keep={keep}")
    rows = rows_of(tmp_path / "out")
    assert [row["n"] for row in rows] == ["0", "1", "2", "3"]
    assert [row["ratio"] for row in rows] == ["0.0", "0.125", "0.25", "0.375"]
    assert [row["ok"] for row in rows] == ["false", "false", "true", "true"]
    sources = META if suffix == ".tsv" else [META[0], None, *META[2:]]
    assert [row["src"] for row in rows] == sources
    if suffix != ".tsv":
        assert [(row["key"], row["meta.id[1]"]) for row in rows] == [
            (str(n), "x") for n in range(4)
        ]


def join_files(folder: Path) -> list[str]:
    """Records to join by ids, whose systems have other columns of the same names."""
    references = [
        {"id": f"s{n}", "ref": text, "origin": META[n], "text": "a column"}
        for n, text in enumerate(TEXTS)
    ]
    paths = [write_records(folder / "references.jsonl", references)]
    for name, order in (("A", [2, 0, 1, 3]), ("B", [3, 1, 0, 2])):
        candidates = [
            {"id": f"s{n}", "hyp": f"{name} {TEXTS[n]}", "origin": "no", "text": "no"}
            for n in order
        ]
        candidates[1]["hyp"] = None if name == "B" else candidates[1]["hyp"]
        paths.append(write_records(folder / f"{name}.jsonl", candidates))
    return [str(paths[0]), "-i", *map(str, paths[1:]), "--join_on=id", "--on_bad_record=reject"]


def test_a_join_keeps_columns_of_the_first_references_and_the_texts_of_all(tmp_path):
    asked = [*join_files(tmp_path), "--max_rejected=1", "--keep=id,origin,text,t=text"]
    rows = None
    for number, flags in enumerate(([], ["--range_bytes=100", "--threads=3"])):
        scored(tmp_path / f"out{number}", *asked, *flags)
        before, rows = rows, rows_of(tmp_path / f"out{number}")
        assert before in (None, rows)
    assert rows is not None
    assert [(row["system"], row["id"], row["origin"], row["t"]) for row in rows] == [
        (system, f"s{n}", META[n], "a column") for system in "AB" for n in (0, 2, 3)
    ]
    assert [row["candidate"] for row in rows] == [
        f"{system} {TEXTS[n]}" for system in "AB" for n in (0, 2, 3)
    ]
    assert [row["references"] for row in rows] == [[TEXTS[n]] for n in (0, 2, 3)] * 2


@pytest.mark.parametrize(
    ("flags", "code", "cause"),
    [
        (["--keep=nothing"], 2, "no file of --labels has a label with this name"),
        (["--labels=id={0}/ids", "--keep=Candidate=id,text"], 2, "would be called"),
        (["--labels=id={0}/ids", "--keep=id,id"], 2, "different names of columns"),
        (["--keep==a"], 2, "must be [NAME=]COLUMN,..."),
        (["--input={1}", "--keep=src"], 3, "there is no column src (--keep)"),
        (["--input={1}", "--keep=meta"], 3, "column meta: its values are of the type struct"),
        (["--input={1}", "--keep=ref_len=n"], 2, "would be called"),
    ],
)
def test_columns_that_cannot_be_kept_are_refused(flags, code, cause, lines, tmp_path):
    record = {"hyp": "a", "ref": "a", "n": 1, "meta": {"a": 1}}
    path = write_records(tmp_path / "records.parquet", [record])
    given = [flag.format(lines, path) for flag in flags]
    given = given if "{1}" in flags[0] else of_lines(lines, *given)
    out = tmp_path / "out"
    called(*given, "--segment_scores", f"--output={out}").assert_failed(code, cause)
    assert not (out / "scores.json").exists()
