"""--segment_scores and --keep: every row once and in place, and what the files hold."""

from __future__ import annotations

import dataclasses
import io
import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import BEFORE_BEAM, COMMAND, EXAMPLE, PROJECT, Run, called, streams, write_lines
from memory_filesystem import OBJECTS
from result_folder import RECORDS, RESULT
from scoring import bleu_table, statistics_of

import beam_bleu.pipeline.folder.data_files as module
import beam_bleu.pipeline.graph
import beam_bleu.pipeline.scoring.batch_sums
from beam_bleu.pipeline.folder.data_files import WritePartFiles
from beam_bleu.pipeline.scoring.batch_sums import ScoreSegments
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import preset
from beam_bleu.transforms.pairing.segments.batching import to_batch

SEGMENTS = 1000
SYSTEMS = ("first", "second", "größe")
SMALL_UNITS = "--range_bytes=3000"


class Corpus:
    """Three systems and two references, and the arguments that score them."""

    def __init__(self, folder: Path) -> None:
        generator = random.Random(4)
        words = ["the", "a", "of", "3.14", "well-known", "北京", ",", "end.", "It's"]
        self.texts: list[list[str]] = [[] for _ in range(5)]
        for _ in range(SEGMENTS):
            line = generator.choices(words, k=generator.randrange(14))
            for text in self.texts:
                text.append(" ".join(word for word in line if generator.random() < 0.8))
        paths = [write_lines(folder / f"{i}.txt", text) for i, text in enumerate(self.texts)]
        named = [f"{name}={path}" for name, path in zip(SYSTEMS, paths, strict=False)]
        self.plain = streams(named, paths[3:], "--format=json")
        self.asked = [*self.plain, "--segment_scores"]

    def expected(self, config: BleuConfig) -> dict[tuple[int, str], dict[str, object]]:
        """The rows as `bleu_table` gives them for all segments at once."""
        rows = {}
        for name, text in zip(SYSTEMS, self.texts, strict=False):
            references = map(list, zip(*self.texts[3:], strict=True))
            batch = to_batch(list(zip(text, references, strict=True)))
            batch = dataclasses.replace(batch, systems=(name,))
            table = bleu_table(statistics_of(batch, config), config.metric)
            rows |= {(row["index"], name): row for row in table.to_pylist()}
        return rows


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def expected(corpus):
    return corpus.expected(BleuConfig().for_segments())


@pytest.fixture(scope="module")
def plain(corpus):
    """A run without segment scores."""
    return called(*corpus.plain)


def part_files(out: Path) -> list[str]:
    return sorted(os.listdir(out / "segment_scores"))


def rows(out: Path) -> dict[tuple[int, str], dict[str, object]]:
    """The rows of all part files. Checks that no row is there twice."""
    table = pq.read_table(out / "segment_scores")
    found = {(row["index"], row["system"]): row for row in table.to_pylist()}
    assert len(found) == len(table)
    return found


def assert_clean(out: Path) -> None:
    """Checks that the folder contains only the result."""
    names = {"manifest.json", "scores.json", "segment_scores", *RECORDS}
    assert {*os.listdir(out)} - {"_SUCCESS"} == names
    assert all(name.endswith(".parquet") for name in part_files(out))


@pytest.mark.parametrize("range_bytes", [3000, pytest.param(16, marks=pytest.mark.slow)])
def test_rows_are_complete_and_in_place(corpus, expected, plain, out, range_bytes):
    flags = [f"--range_bytes={range_bytes}", "--threads=5"]
    run = called(*corpus.asked, *flags, "--output", out)
    assert (run.code, run.err) == (0, "")
    assert rows(out) == expected
    assert_clean(out)
    document = run.document
    (metric,) = document["metrics"]
    of_segments = {
        name: metric[name].replace("eff:no", "eff:yes")
        for name in ("signature", "sacrebleu_signature")
    }
    assert document.pop("segment_scores") == {
        "metrics": [{"metric": "bleu", **of_segments}],
        "rows": 3 * SEGMENTS,
    }
    assert document == plain.document  # the counters, too
    assert (out / "scores.json").read_bytes() == run.out


@pytest.mark.parametrize(
    ("flags", "config", "signature"),
    [
        (
            ["--smooth_method=none", "--segment_smooth_method=floor", "--segment_smooth_value=1"],
            BleuConfig(smooth_method="floor", smooth_value=1.0).for_segments(),
            "smooth:floor[1.00]",
        ),
        # It needs 5-grams. Neither result has them.
        (
            ["--segment_smooth_method=nltk-method5", "--lowercase"],
            BleuConfig(smooth_method="nltk-method5", lowercase=True).for_segments(),
            "method5",
        ),
        (["--preset=mteval13a", "--no_effective_order"], preset("mteval13a"), "eff:no"),
    ],
    ids=["floor", "method5", "mteval13a"],
)
def test_segments_can_have_another_smoothing(corpus, out, flags, config, signature):
    run = called(*corpus.asked, *flags, "--output", out)
    assert run.code == 0, run.err
    assert rows(out) == corpus.expected(config)
    document = run.document
    assert signature in document.pop("segment_scores")["metrics"][0]["signature"]
    of_corpus = [flag for flag in flags if not flag.startswith("--segment")]
    assert document == called(*corpus.plain, *of_corpus).document


def test_impossible_choices_are_refused(out):
    for flags, cause in (
        ("--segment_scores", "--segment_scores needs --output"),
        ("--segment_smooth_value=1", "--segment_smooth_value needs --segment_scores"),
        (
            f"--segment_scores --output={out} --segment_smooth_value=0.1",
            "smooth_value 0.1 cannot be used with smooth_method 'exp'",
        ),
    ):
        called(*EXAMPLE, *flags.split()).assert_failed(2, cause)
    assert not out.exists()


# Runs that fail or are stopped leave what was there


class LosesATable(ScoreSegments):
    def work(self, statistics):
        return [] if statistics.numbers[0] == 0 else super().work(statistics)


class LosesNames(WritePartFiles):
    def finish_bundle(self):
        list(super().finish_bundle())
        return ()


@pytest.mark.parametrize(
    ("place", "broken"),
    [(beam_bleu.pipeline.scoring.batch_sums, LosesATable), (beam_bleu.pipeline.graph, LosesNames)],
    ids=["a table is lost", "part files are lost"],
)
def test_a_run_that_fails_leaves_what_was_there(corpus, expected, out, place, broken, monkeypatch):
    assert called(*corpus.asked, "--output", out).code == 0
    before = part_files(out), (out / "scores.json").read_bytes()
    monkeypatch.setattr(place, broken.__base__.__name__, broken)
    run = called(*corpus.asked, SMALL_UNITS, "--max_ngram_order=3", "--output", out)
    run.assert_failed(1)
    assert re.search(r"should be 3000 segment scores, but \d+ were written", run.err)
    assert (part_files(out), (out / "scores.json").read_bytes()) == before
    assert rows(out) == expected
    assert_clean(out)


ENDLESS = f"""{BEFORE_BEAM}
import os, time
from beam_bleu.pipeline.folder.data_files import _PartFiles
from beam_bleu.pipeline.main import command

once, parent, end = _PartFiles.add, os.getppid(), time.monotonic() + 300

def again_and_again(*arguments):
    # It ends with the test, and a test that does not stop it must fail and not hang.
    while os.getppid() == parent and time.monotonic() < end:
        once(*arguments)

_PartFiles.add = again_and_again
command()
"""
"""The command in a process that writes one part file until it is stopped."""


def test_a_signal_leaves_what_was_there(corpus, expected, out):
    assert called(*corpus.asked, "--output", out).code == 0
    number_before = len(part_files(out))
    success = json.loads((out / "run.json").read_bytes())["end"]
    asked = map(os.fsdecode, [*corpus.asked, "--max_ngram_order=3", "--output", out])
    command = [COMMAND[0], "-c", ENDLESS, *asked]
    process = subprocess.Popen(command, cwd=PROJECT, stderr=subprocess.PIPE)
    while len(part_files(out)) == number_before and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    err = process.communicate(timeout=60)[1]
    assert (process.returncode, err) == (143, b"beam-bleu: stopped by SIGTERM\n")
    record = json.loads((out / "run.json").read_bytes())
    assert (record["state"], record["exit_code"]) == ("failed", 143)
    assert (record["message"], record["remedy"]) == ("stopped by SIGTERM", None)
    assert record["last_success"] == success
    assert not (out / "_SUCCESS").exists()
    assert rows(out) == expected
    assert_clean(out)


def test_an_object_store_has_the_part_files_of_one_run(corpus, expected, plain, monkeypatch):
    monkeypatch.setattr(module, "_ROW_GROUP_BYTES", 13_000)
    monkeypatch.setattr(module, "_PART_FILE_BYTES", 66_000)
    OBJECTS.clear()
    store = "mem://out/folder"
    run = called(*corpus.asked, SMALL_UNITS, "--threads=2", "--output", store)
    assert (run.code, run.err) == (0, "")
    parts = [path for path in OBJECTS if path.startswith(f"{store}/segment_scores/part-")]
    files = [pq.ParquetFile(io.BytesIO(OBJECTS[path][0])) for path in parts]
    found = [row for file in files for row in file.read().to_pylist()]
    assert {(row["index"], row["system"]): row for row in found} == expected
    assert len(found) == len(expected)
    # Bundles are cut into part files, and these into row groups.
    assert len(parts) > 2
    assert max(file.num_row_groups for file in files) > 2
    files = [f"{store}/{name}" for name in sorted([*RESULT, *RECORDS])]
    assert sorted(OBJECTS) == [*files, *sorted(parts)]
    assert called(*corpus.plain, "--output", store).out == plain.out
    assert sorted(OBJECTS) == files
    OBJECTS.clear()


# Which segment a row is: its index, its id, and what was kept


TEXTS = ["a cat sat on the mat", "good morning to all", "it rains a lot", "the end of it all"]
"""The candidate of a segment is its reference, but for the last one."""


def write_records(path: Path, records: Sequence[dict[str, Any]]) -> Path:
    """Writes records in the format that the suffix of the path names."""
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(list(records)), path)
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


def test_the_index_is_the_number_of_the_line_of_all_files(tmp_path):
    # The second segment is rejected, so its number has no row.
    for name in ("hyp", "ref", "src"):
        for number, texts in enumerate((TEXTS[:2], TEXTS[2:])):
            (tmp_path / f"{name}-{number}").write_bytes("\n".join(texts).encode())
    (tmp_path / "hyp-0").write_bytes(b"%s\n\xff" % TEXTS[0].encode())
    asked = [f"--candidates=A={tmp_path}/hyp-*", f"--references={tmp_path}/ref-*"]
    asked += ["--on_bad_record=reject", "--max_rejected=1"]
    asked += [f"--labels=src={tmp_path}/src-*", "--keep=src"]
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


@pytest.mark.parametrize("suffix", [".jsonl", ".parquet"])
def test_columns_of_records_are_kept_as_texts(suffix, tmp_path):
    # The second record is left out, so its number has no row.
    records = [
        {
            **{"hyp": text, "ref": text, "n": n, "ratio": n / 8, "ok": n > 1},
            **{"source": [*META[:3], None][n], "meta": {"id": [str(n), "x"]}},
        }
        for n, text in enumerate(TEXTS)
    ]
    for number, part in enumerate((records[:2], records[2:])):
        write_records(tmp_path / f"part-{number}{suffix}", part)
    keep = "n,ratio,ok,src=source,key=meta.id[0],meta.id[1]"
    scored(tmp_path / "out", f"--input={tmp_path}/part-*{suffix}", "--where=n!=1", f"--keep={keep}")
    rows = rows_of(tmp_path / "out")
    assert [(row["index"], row["n"], row["ratio"], row["ok"]) for row in rows] == [
        *((0, "0", "0.0", "false"), (2, "2", "0.25", "true"), (3, "3", "0.375", "true"))
    ]
    assert [row["src"] for row in rows] == [*META[:3:2], None]
    assert [(row["key"], row["meta.id[1]"]) for row in rows] == [(n, "x") for n in "023"]


def test_columns_that_cannot_be_kept_are_refused(lines, tmp_path):
    record = {"hyp": "a", "ref": "a", "n": 1, "meta": {"a": 1}}
    path = write_records(tmp_path / "records.parquet", [record])
    out = tmp_path / "out"
    for flags, code, cause in [
        (["--keep=nothing"], 2, "no file of --labels has a label with this name"),
        (["--labels=id={0}/ids", "--keep=Candidate=id,text"], 2, "would be called"),
        (["--labels=id={0}/ids", "--keep=id,id"], 2, "different names of columns"),
        (["--keep==a"], 2, "must be [NAME=]COLUMN,..."),
        (["--input={1}", "--keep=src"], 3, "there is no column src (--keep)"),
        (
            ["--input={1}", "--keep=meta"],
            3,
            "the column meta has neither texts nor numbers nor dates: it is struct",
        ),
        (["--input={1}", "--keep=ref_len=n"], 2, "would be called"),
    ]:
        given = [flag.format(lines, path) for flag in flags]
        given = given if "{1}" in flags[0] else of_lines(lines, *given)
        called(*given, "--segment_scores", f"--output={out}").assert_failed(code, cause)
        assert not (out / "scores.json").exists()
