"""All files of a run have the same content on every engine as in-process; Flink uses all workers.

Each job combines several things, because a job on an engine takes long.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import platform
import random
import subprocess
import sys
import time

import pyarrow as pa
import pytest
from command_line import (
    EXAMPLE,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    typed,
    write_lines,
)
from pyarrow import parquet

from beam_bleu.transforms.pairing.records.joins import join_sources
from deploy.local.hosts.installing import copy_sources

SEGMENTS, DOCUMENTS = 6000, 250
RANGES = "--range_bytes=65536"
"""Small, so that the files are many portions, which documents cross."""

CHINESE = ["猫坐在垫子上，重3.5公斤。", "他说：“这是新的”，3.5公斤。", "猫坐在那里。a b c"]
USERS_PIPELINE = """
import sys

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu import BleuConfig, CorpusBleu

output, *flags = sys.argv[1:]
texts = [(f"a b c d {n}", [f"a b c {n % 7} d", "a b d" if n % 2 else None]) for n in range(2000)]
with beam.Pipeline(options=PipelineOptions(flags)) as pipeline:
    segments = pipeline | beam.Create([(str(n % 5), each) for n, each in enumerate(texts)])
    scores = segments | beam.Reshuffle() | CorpusBleu.PerKey(BleuConfig(smooth_method="floor"))
    lines = scores | beam.MapTuple(lambda key, bleu: f"{key} {bleu.score!r} {bleu.totals}")
    _ = lines | beam.io.WriteToText(output)
"""
DOMAINS = ["news", "talk", "größe"]
COLUMNS = ("first", "second", "ref0", "ref1")
BAD_LINES = {
    700: '{"first": "\\ud83d", "second": "a", "ref0": "b", "ref1": "c"}',
    5900: '{"first": "a" "second": "b"}',
}
SLICED = ["--language_column=lang", "--slice_by=domain,domain*length"]
OF_RECORDS = ["--candidate_columns=first,second", "--reference_columns=ref0,ref1"]


def segments():
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


def write_records(path, rows, *columns):
    lines = [json.dumps({name: row[name] for name in columns}, ensure_ascii=False) for row in rows]
    return write_lines(path, lines)


def write_shards(folder, texts, count, suffixes):
    """Writes a stream in shards, with the suffixes in turn; returns its pattern."""
    for number in range(count):
        part = texts[number * len(texts) // count : (number + 1) * len(texts) // count]
        write_lines(folder / f"part-{number:02}{suffixes[number % len(suffixes)]}", part)
    return f"{folder}/part-*"


def write_join(folder, rows):
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


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """The arguments of each job; of "bad records", too, which fails."""
    folder, rows = tmp_path_factory.mktemp("corpus"), segments()
    texts = {name: [row[name] for row in rows] for name in COLUMNS}
    suffixes = [[".gz"], [".zst", ".xz"], [".bz2", ".gz"], [""]]
    compressed = [
        write_shards(folder / name, text, 8, of_stream)
        for (name, text), of_stream in zip(texts.items(), suffixes, strict=True)
    ]
    plain = [write_lines(folder / f"{name}.txt", text) for name, text in texts.items()]
    of_compressed, of_plain = (
        streams([f"first={each[0]}", f"second={each[1]}"], each[2:]) for each in (compressed, plain)
    )
    labels = [f"{row['domain']}\t{row['document']}" for row in rows]
    records = read_lines(write_records(folder / "records.jsonl", rows, *COLUMNS, "lang", "domain"))
    for number, line in BAD_LINES.items():
        records[number] = line
    for name, part in (("1", records[:4000]), ("2", records[4000:])):
        write_lines(folder / f"part-{name}.jsonl", part)
    bad = [f"--input={folder}/part-*.jsonl", *OF_RECORDS]
    return {
        "compressed": [*of_compressed, "--segment_scores"],
        "records": [*bad, *SLICED, "--on_bad_record=reject", "--segment_scores"],
        "join": [*write_join(folder / "join", rows), *SLICED, "--coverage=each"],
        "documents": [
            *of_plain,
            f"--labels=domain,document={write_lines(folder / 'labels.tsv', labels)}",
            *("--slice_by=domain", "--save_totals", "--examples=7", "--partition=1"),
            *("--documents=document", "--resample=bootstrap", "--compare=all"),
            *("--metrics", "bleu", "chrf"),
        ],
        "bad records": bad,
    }


_OF_A_JOB = ("beam-bleu: Created job with id: [", "beam-bleu: the page of the job: ")


def typed_for(cluster, *words):
    """The command on an engine; its `err` is without the lines about the engine's job."""
    run = typed(*words, "--progress=off", *cluster.flags(), timeout=900)
    lines = run.err.splitlines(keepends=True)
    assert sum(line.startswith(_OF_A_JOB[0]) for line in lines) == 1, run.err
    rest = "".join(line for line in lines if not line.startswith(_OF_A_JOB))
    return dataclasses.replace(run, err=rest)


def content(folder):
    """What the files of a run have, however an engine divides its data files."""
    found = {
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


def warnings(run):
    """The warnings that do not name the folder of the output."""
    return [line for line in run.err.splitlines() if "/rejected-" not in line]


JOBS = [pytest.param("compressed", marks=pytest.mark.engines), "records", "join", "documents"]


@pytest.mark.parametrize("job", JOBS)
def test_a_job_gives_the_same(cluster, jobs, job, tmp_path):
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


def test_wrong_input_ends_a_job_on_an_engine(flink, jobs, tmp_path):
    run = typed_for(flink, *jobs["bad records"], "--output", tmp_path / "out")
    run.assert_failed(3, "input: line 701: ", "part-1.jsonl")
    assert not (tmp_path / "out" / "scores.json").exists()


def test_a_pipeline_of_the_users_own(cluster, tmp_path):
    def scores(*flags):
        out = tmp_path / f"scores-{len(flags)}"
        command = [sys.executable, "-c", USERS_PIPELINE, str(out), *flags]
        subprocess.run(command, cwd=PROJECT, check=True, capture_output=True, timeout=900)
        return sorted(line for path in tmp_path.glob(f"{out.name}*") for line in read_lines(path))

    expected = scores("--runner=FnApiRunner")
    assert len(expected) == 5
    assert scores(*cluster.flags()) == expected


def test_all_task_managers_do_the_work(flink, tmp_path):
    paths = []
    for source in (SYSTEMS["atlas"], REFERENCES[0]):
        # The lines are all different, so that no line can be counted in place of another.
        copies = itertools.chain.from_iterable([read_lines(source)] * 12_000)
        lines = [f"{line} {number}" for number, line in enumerate(copies)]
        paths.append(write_lines(tmp_path / source.name, lines))
    systems = [f"{number}={paths[0]}" for number in range(12)]
    corpus = streams(systems, paths[1:], "--range_bytes=20000000", "--format=json")
    run = typed(*corpus, f"--output={tmp_path}/out", *flink.flags(), timeout=300)
    assert run.out == called(*corpus).out, run.err
    end = time.monotonic() + 60
    while (job := flink.newest_job())["state"] != "FINISHED":  # Flink tells a little later
        assert time.monotonic() < end
        time.sleep(0.2)
    (stage,) = (each for each in job["vertices"] if "Count matches" in each["name"])
    asked = f"/jobs/{job['jid']}/vertices/{stage['id']}/taskmanagers"
    did = {
        each["taskmanager-id"]: each["metrics"]["read-records"]
        for each in flink.ask(asked)["taskmanagers"]
    }
    assert set(did) == {each["id"] for each in flink.task_managers()}
    assert all(units >= 3 for units in did.values()), did


def test_doctor_asks_the_workers(pool, flink, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    (output / "scores.json").mkdir()  # a file cannot take its place, but one beside it is possible
    doctor = ["doctor", "--format=json", *EXAMPLE, "--output", output]
    run = typed(*doctor, *flink.flags(), timeout=300)
    assert run.code == 0, run.err
    facts = json.loads(run.out)["facts"]
    assert {(fact["section"], fact["status"]) for fact in facts} == {(platform.node(), "ok")}
    assert [path.name for path in output.iterdir()] == ["scores.json"]

    copy = copy_sources(tmp_path / "copy")
    changed = copy / "transforms" / "version.py"
    changed.write_text(changed.read_text() + "# changed\n")
    run = typed(*doctor, *pool(code=copy), timeout=300)
    assert run.code == 1
    facts = {fact["name"]: fact["status"] for fact in json.loads(run.out)["facts"]}
    assert (facts["beam-bleu"], facts["the code of beam-bleu"]) == ("ok", "FAIL")
