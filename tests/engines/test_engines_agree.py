"""All files of a run have the same content on every engine as in-process.

Each job combines several things, because a job on an engine takes long.
"""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from command_line import (
    PROJECT,
    REFERENCES,
    SYSTEMS,
    Argument,
    Run,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    typed,
    write_lines,
)
from pyarrow import parquet

from beam_bleu.transforms.pairing.records.joins import join_sources
from deploy.local.cluster import Cluster
from deploy.local.flink import FlinkCluster

SEGMENTS, DOCUMENTS = 6000, 250
RANGES = "--range_bytes=65536"
"""Small, so that the files are many portions, which documents cross."""

USERS_PIPELINE = Path(__file__).with_name("users_pipeline.py")
CHINESE = ["猫坐在垫子上，重3.5公斤。", "他说：“这是新的”，3.5公斤。", "猫坐在那里。a b c"]
DOMAINS = ["news", "talk", "größe"]
COLUMNS = ("first", "second", "ref0", "ref1")
BAD_LINES = {
    700: '{"first": "\\ud83d", "second": "a", "ref0": "b", "ref1": "c"}',
    3000: '{"first": "a" "second": "b"}',
    5900: '{"first": "a", "second": null, "ref0": "b", "ref1": "c"}',
}
SLICED = ["--language_column=lang", "--slice_by=domain,domain*length"]
OF_RECORDS = ["--candidate_columns=first,second", "--reference_columns=ref0,ref1"]
EVIDENCE = ["--slice_by=domain", "--save_totals", "--examples=7"]


def segments() -> list[dict[str, str]]:
    """Two systems and two references, in English and Chinese, with labels."""
    draw = random.Random(12)
    english = [read_lines(path) for path in (*list(SYSTEMS.values())[:2], *REFERENCES)]
    rows = []
    for number in range(SEGMENTS):
        language, row = draw.choice(["en", "zh"]), draw.randrange(len(english[0]))
        document = draw.randrange(DOCUMENTS)
        segment = {"id": f"s{number}", "lang": language, "document": f"document {document}"}
        segment["domain"] = DOMAINS[document % 3]
        for name, example in zip(COLUMNS, english, strict=True):
            words = example[row].split(" ")
            del words[draw.randrange(len(words))]
            text = " ".join(words) if language == "en" else "".join(draw.choices(CHINESE, k=2))
            segment[name] = f"{text} {number}"
        rows.append(segment)
    return rows


def write_records(path: Path, rows: Sequence[dict[str, Any]], *columns: str) -> Path:
    return write_lines(
        path,
        [json.dumps({name: row[name] for name in columns}, ensure_ascii=False) for row in rows],
    )


def write_shards(folder: Path, texts: Sequence[str], count: int, suffixes: Sequence[str]) -> str:
    """Writes a stream in shards, with the suffixes in turn; returns its pattern."""
    for number in range(count):
        part = texts[number * len(texts) // count : (number + 1) * len(texts) // count]
        write_lines(folder / f"part-{number:02}{suffixes[number % len(suffixes)]}", part)
    return f"{folder}/part-*"


def write_join(folder: Path, rows: list[dict[str, str]]) -> list[Argument]:
    """References in Parquet, a system in JSON lines, another, which lacks some, in TSV."""
    draw = random.Random(5)
    references, first, second = (draw.sample(rows, SEGMENTS) for _ in range(3))
    folder.mkdir()
    names = ("id", "ref0", "ref1", "lang", "domain")
    table = pa.table({name: [row[name] for row in references] for name in names})
    parquet.write_table(table, folder / "references.parquet", row_group_size=500)
    note = "x" * 6000  # makes the file large, so that there are several partitions
    first = [{"id": row["id"], "hyp": row["first"], "note": note} for row in first]
    write_records(folder / "first.jsonl", first, "id", "hyp", "note")
    lacking = [f"{row['id']}\t{row['second']}" for row in second if int(row["id"][1:]) % 50]
    write_lines(folder / "second.tsv", ["id\thyp", *lacking])
    size = sum(file.stat().st_size for file in folder.iterdir())
    assert size > 2 * join_sources._BUCKET_BYTES
    return [
        folder / "references.parquet",
        *("-i", folder / "first.jsonl", folder / "second.tsv"),
        *("--join_on=id", "--candidate_columns=hyp", "--reference_columns=ref0,ref1"),
    ]


def named(texts: Sequence[Argument]) -> list[Argument]:
    """The arguments of two systems and two references."""
    return streams([f"first={texts[0]}", f"second={texts[1]}"], texts[2:])


Jobs = dict[str, list[Argument]]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory: pytest.TempPathFactory) -> Jobs:
    """The arguments of each job; of "bad records", too, which fails."""
    folder, rows = tmp_path_factory.mktemp("corpus"), segments()
    texts = {name: [row[name] for row in rows] for name in COLUMNS}
    plain = [write_lines(folder / f"{name}.txt", text) for name, text in texts.items()]
    compressed = [
        write_shards(folder / name, text, 8, suffixes)
        for (name, text), suffixes in zip(
            texts.items(), [[".gz"], [".zst", ".xz"], [".bz2", ".gz"], [""]], strict=True
        )
    ]
    cuts = [
        plain[0],
        *(write_shards(folder / f"cut {n}", texts[COLUMNS[n]], n, [""]) for n in (1, 2)),
        plain[3],
    ]
    labels = write_lines(
        folder / "labels.tsv", [f"{row['domain']}\t{row['document']}" for row in rows]
    )
    labelled = [*named(plain), f"--labels=domain,document={labels}", *EVIDENCE]
    lines = write_records(folder / "records.jsonl", rows, *COLUMNS, "lang", "domain")
    records = read_lines(lines)
    for number, line in BAD_LINES.items():
        records[number] = line
    for name, part in (("1", records[:4000]), ("2", records[4000:])):
        write_lines(folder / f"part-{name}.jsonl", part)
    twice = write_records(folder / "twice.jsonl", [*rows, rows[7]], "id", "first", "ref0")
    bad = [f"--input={folder}/part-*.jsonl", *OF_RECORDS]
    return {
        "compressed": [*named(compressed), "--segment_scores"],
        "cuts": [*named(cuts), "--cuts=any"],
        "records": [*bad, *SLICED, "--on_bad_record=reject", "--segment_scores"],
        "join": [*write_join(folder / "join", rows), *SLICED, "--coverage=each"],
        "documents": [
            *(*labelled, "--documents=document", "--resample=bootstrap", "--compare=all"),
            *("--partition=1", "--metrics", "bleu", "chrf"),
        ],
        "randomization": [*labelled, "--resample=randomization", "--baseline=first", "--seed=7"],
        "bad records": bad,
        "ids": [
            *(twice, "-i", twice, "--join_on=id"),
            *("--candidate_columns=first", "--reference_columns=ref0"),
        ],
    }


_OF_A_JOB = ("beam-bleu: Created job with id: [", "beam-bleu: the page of the job: ")


def typed_for(cluster: Cluster, *words: Argument) -> Run:
    """The command on an engine; its `err` is without the lines about the engine's job."""
    run = typed(*words, "--progress=off", *cluster.flags(), timeout=900)
    lines = run.err.splitlines(keepends=True)
    assert sum(line.startswith(_OF_A_JOB[0]) for line in lines) == 1, run.err
    rest = "".join(line for line in lines if not line.startswith(_OF_A_JOB))
    return dataclasses.replace(run, err=rest)


def content(folder: Path) -> dict[str, Any]:
    """What the files of a run have, however an engine divides its data files."""
    found: dict[str, Any] = {
        name: (folder / name).read_bytes()
        for name in ("scores.json", "totals.json", "examples.jsonl", "_SUCCESS")
        if (folder / name).exists()
    }
    manifest = json.loads((folder / "manifest.json").read_bytes())
    found["manifest"] = {**manifest, "data_files": None}
    rejected = [file.read_bytes().splitlines() for file in folder.glob("rejected-*.jsonl")]
    found["rejected"] = sorted(line for lines in rejected for line in lines)
    if (folder / "segment_scores").exists():
        rows = parquet.read_table(folder / "segment_scores").to_pylist()
        found["segments"] = sorted(rows, key=lambda row: (row["index"], row["system"]))
    return found


def warnings(run: Run) -> list[str]:
    """The warnings that do not name the folder of the output."""
    return [line for line in run.err.splitlines() if "/rejected-" not in line]


JOBS = ["compressed", "cuts", "records", "join", "documents", "randomization"]


@pytest.mark.parametrize(
    "job",
    [pytest.param(job, marks=[pytest.mark.engines] if job == "compressed" else []) for job in JOBS],
)
def test_a_job_gives_the_same(cluster: Cluster, jobs: Jobs, job: str, tmp_path: Path) -> None:
    given = [*jobs[job], RANGES, "--format=json", "--output"]
    here, there = tmp_path / "here", tmp_path / "there"
    expected = called(*given, here, "--progress=off")
    assert expected.code == 0, expected.err
    run = typed_for(cluster, *given, there)
    assert (run.code, run.out) == (0, expected.out), run.err
    assert warnings(run) == warnings(expected)
    assert content(there) == content(here)
    if job == "compressed":
        texts = [[row[name] for row in segments()] for name in COLUMNS]
        assert_equals_sacrebleu(expected.document, texts[:2], texts[2:])
        assert len(content(here)["segments"]) == 2 * SEGMENTS
    if job == "records":
        assert len(content(here)["rejected"]) == len(BAD_LINES)
    if "--save_totals" in given:
        assert {"totals.json", "examples.jsonl"} <= content(here).keys()
        assert all(each["standard_error"] > 0 for each in expected.document["scores"])
        assert all(each["p_value"] is not None for each in expected.document["comparisons"])


@pytest.mark.parametrize(
    ("job", "fragments"),
    [
        ("bad records", ["input: line 701: ", "part-1.jsonl"]),
        ("ids", ['"s7"', "line 8", f"line {SEGMENTS + 1}"]),
    ],
)
def test_wrong_input_ends_a_job_on_an_engine(
    flink: FlinkCluster, jobs: Jobs, job: str, fragments: list[str], tmp_path: Path
) -> None:
    run = typed_for(flink, *jobs[job], "--output", tmp_path / "out")
    run.assert_failed(3, *fragments)
    assert not (tmp_path / "out" / "scores.json").exists()


def test_processes_of_the_in_process_runner(jobs: Jobs, tmp_path: Path) -> None:
    """Each worker is a process of its own, as on an engine."""
    processes = ["--direct_running_mode=multi_processing", "--direct_num_workers=2"]
    for job in ("records", "join"):
        given = [*jobs[job], RANGES, "--quiet", "--output"]
        expected = called(*given, tmp_path / f"{job} here")
        assert expected.code == 0, expected.err
        run = typed(*given, tmp_path / f"{job} there", *processes, timeout=300)
        assert (run.code, run.out, run.err) == (0, expected.out, "")
        assert content(tmp_path / f"{job} there") == content(tmp_path / f"{job} here")


def test_a_pipeline_of_the_users_own(cluster: Cluster, tmp_path: Path) -> None:
    """CorpusBleu.PerKey between the user's own steps."""

    def scores(*flags: str) -> list[str]:
        out = tmp_path / f"scores-{len(flags)}"
        command = [sys.executable, USERS_PIPELINE, str(out), *flags]
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=900)
        return sorted(line for path in tmp_path.glob(f"{out.name}*") for line in read_lines(path))

    expected = scores("--runner=FnApiRunner")
    assert len(expected) == 5
    assert scores(*cluster.flags()) == expected
