"""--segment_scores: every row is there exactly once, also after reruns, retries and failures."""

from __future__ import annotations

import io
import json
import os
import random
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import apache_beam as beam
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import COMMAND, EXAMPLE, PROJECT, Run, called, streams, typed, write_lines
from memory_filesystem import OBJECTS
from sacrebleu.metrics import BLEU
from scoring import of_segments, statistics_of

import beam_bleu.pipeline.graph
import beam_bleu.pipeline.segment_shards as module
from beam_bleu.pipeline.graph import build
from beam_bleu.pipeline.options import parse
from beam_bleu.pipeline.segment_shards import WriteShards
from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.presets import preset
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.pairing.records.segments import batch_segments
from beam_bleu.transforms.score.score_segments import ScoreSegments
from beam_bleu.transforms.score.segment_scores import segment_scores
from beam_bleu.transforms.statistics.count_matches import CountMatches

SEGMENTS = 3000
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
        """The rows as `segment_scores` gives them for all segments at once."""
        rows = {}
        for name, text in zip(SYSTEMS, self.texts, strict=False):
            batch = batch_segments(list(zip(text, zip(*self.texts[3:], strict=True), strict=True)))
            table = segment_scores(statistics_of(batch, config), config.scoring, [name])
            rows |= {(row["index"], name): row for row in table.to_pylist()}
        return rows


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="module")
def expected(corpus):
    return corpus.expected(of_segments(BleuConfig()))


@pytest.fixture(scope="module")
def plain(corpus) -> Run:
    return called(*corpus.plain)


@pytest.fixture
def out(tmp_path) -> Path:
    return tmp_path / "out"


def shards(out: Path) -> list[str]:
    return sorted(os.listdir(out / "segment_scores"))


def rows(out: Path) -> dict[tuple[int, str], dict[str, object]]:
    """The rows of all shards. Checks that no row is there twice."""
    table = pq.read_table(out / "segment_scores")
    found = {(row["index"], row["system"]): row for row in table.to_pylist()}
    assert len(found) == len(table)
    return found


def assert_clean(out: Path) -> None:
    """Checks that the folder contains only the result."""
    assert sorted(os.listdir(out)) == ["scores.json", "segment_scores"]
    assert all(name.endswith(".parquet") for name in shards(out))


def test_the_scores_are_sacrebleus_sentence_scores(corpus, out):
    run = called(*corpus.asked, "--output", out)
    assert run.code == 0, run.err
    found, bleu = rows(out), BLEU(effective_order=True)
    for name, text in zip(SYSTEMS, corpus.texts, strict=False):
        for index, candidate in enumerate(text):
            references = [reference[index] for reference in corpus.texts[3:]]
            score = bleu.sentence_score(candidate, references).score
            assert found[index, name]["score"] == score


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("range_bytes", [16, 3000, 100_000, 1 << 26])
def test_rows_are_complete_and_in_place(corpus, expected, plain, out, range_bytes, threads):
    flags = [f"--range_bytes={range_bytes}", f"--threads={threads}"]
    run = called(*corpus.asked, *flags, "--output", out)
    assert (run.code, run.err) == (0, "")
    assert rows(out) == expected
    assert_clean(out)
    document = run.document
    assert document.pop("segment_scores") == {
        "signature": document["signature"].replace("eff:no", "eff:yes"),
        "sacrebleu_signature": document["sacrebleu_signature"].replace("eff:no", "eff:yes"),
        "rows": 3 * SEGMENTS,
    }
    assert document == plain.document  # the counters, too
    assert (out / "scores.json").read_bytes() == run.out


def test_a_long_bundle_is_several_shards_of_several_row_groups(corpus, expected, out, monkeypatch):
    monkeypatch.setattr(module, "_ROW_GROUP_ROWS", 500)
    monkeypatch.setattr(module, "_SHARD_ROWS", 2000)
    assert called(*corpus.asked, SMALL_UNITS, "--output", out).code == 0
    assert rows(out) == expected
    assert len(shards(out)) >= 4
    for name in shards(out)[:-1]:
        metadata = pq.read_metadata(out / "segment_scores" / name)
        groups = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        assert metadata.num_rows < 3000
        assert all(group >= 500 for group in groups[:-1])


def test_a_shard_holds_more_than_a_batch(corpus, out):
    assert called(*corpus.asked, "--range_bytes=2000", "--output", out).code == 0
    (name,) = shards(out)
    assert pq.read_metadata(out / "segment_scores" / name).num_row_groups == 1


def test_the_files_say_what_they_hold(corpus, out):
    assert called(*corpus.asked, "--output", out).code == 0
    (name,) = shards(out)
    schema = pq.read_schema(out / "segment_scores" / name)
    assert schema.names == [
        *("index", "system", "score", "sys_len", "ref_len", "matches", "totals"),
    ]
    assert str(pq.read_metadata(out / "segment_scores" / name).row_group(0).column(0).compression)
    assert schema.field("matches").type.value_type == pa.int64()


@pytest.mark.parametrize(
    ("flags", "config", "signature"),
    [
        (["--smooth_method=floor", "--smooth_value=0.3"], {}, "smooth:floor[0.30]"),
        (["--segment_smooth_method=add-k"], {"smooth_method": "add-k"}, "smooth:add-k[1.00]"),
        (
            ["--smooth_method=none", "--segment_smooth_method=floor", "--segment_smooth_value=1"],
            {"smooth_method": "floor", "smooth_value": 1.0},
            "smooth:floor[1.00]",
        ),
        # These need 5-grams. Neither result has them.
        (["--segment_smooth_method=nltk-method5"], {"smooth_method": "nltk-method5"}, "method5"),
        (["--segment_smooth_method=nltk-method7"], {"smooth_method": "nltk-method7"}, "method7"),
        (["--max_ngram_order=6", "--lowercase"], {"max_ngram_order": 6, "lowercase": True}, "lc"),
    ],
    ids=str,
)
def test_segments_can_have_another_smoothing(corpus, out, flags, config, signature):
    if "--smooth_value=0.3" in flags:
        config = {"smooth_method": "floor", "smooth_value": 0.3}
    run = called(*corpus.asked, *flags, "--output", out)
    assert run.code == 0, run.err
    assert rows(out) == corpus.expected(of_segments(BleuConfig(**config)))
    document = run.document
    assert signature in document.pop("segment_scores")["signature"]
    of_corpus = [flag for flag in flags if not flag.startswith("--segment")]
    assert document == called(*corpus.plain, *of_corpus).document


def test_segments_can_be_scored_without_effective_order(corpus, out):
    flags = ["--preset=mteval13a", "--no_effective_order"]
    assert called(*corpus.asked, *flags, "--output", out).code == 0
    assert rows(out) == corpus.expected(preset("mteval13a"))


USAGE_ERRORS = [
    (["--segment_scores"], ["--segment_scores needs --output"]),
    (["--segment_smooth_method=exp"], ["--segment_smooth_method needs --segment_scores"]),
    (["--segment_smooth_value=1"], ["--segment_smooth_value needs --segment_scores"]),
    (
        ["--segment_scores", "--output={}", "--segment_smooth_value=0.1"],
        ["the segment scores: smooth_value 0.1 means nothing to smooth_method 'exp'"],
    ),
    (
        ["--segment_scores", "--output={}", "--segment_smooth_method=nltk"],
        ["--segment_smooth_method", "nltk-method7"],
    ),
    *(
        (
            [f"--smooth_method=nltk-method{number}"],
            [
                f"smooth_method 'nltk-method{number}' is for segment scores only",
                "the last segment's text",
                f"--segment_smooth_method nltk-method{number}",
            ],
        )
        for number in (5, 6, 7)
    ),
]


@pytest.mark.parametrize(
    ("flags", "fragments"), USAGE_ERRORS, ids=[" ".join(row[0]) for row in USAGE_ERRORS]
)
def test_impossible_choices_are_refused(flags, fragments, out):
    called(*EXAMPLE, *(flag.format(out) for flag in flags)).assert_failed(2, *fragments)
    assert not out.exists()


def test_help_names_the_flags():
    text = typed("--help").out.decode()
    for flag in ("--segment_scores", "--segment_smooth_method", "--segment_smooth_value"):
        assert flag in text


def test_a_run_without_segment_scores_compiles_and_prints_nothing_for_them(plain):
    program = (
        "import sys; from beam_bleu.pipeline.main import main; code = main(sys.argv[1:])\n"
        "from beam_bleu.transforms.score.segment_scores import _score_rows\n"
        "print(code, len(_score_rows.signatures))"
    )
    done = subprocess.run(
        [*COMMAND[:1], "-c", program, *EXAMPLE], cwd=PROJECT, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "0 0", done.stderr
    assert "segment_scores" not in plain.document


# One run after the other


def test_a_rerun_replaces_the_shards(corpus, expected, out):
    assert called(*corpus.asked, "--max_ngram_order=3", "--output", out).code == 0
    before = shards(out)
    assert rows(out) != expected
    assert called(*corpus.asked, SMALL_UNITS, "--output", out).code == 0
    assert rows(out) == expected
    assert not set(before) & set(shards(out))
    assert_clean(out)


def test_a_run_without_segment_scores_leaves_no_stale_ones(corpus, plain, out):
    assert called(*corpus.asked, "--output", out).code == 0
    assert called(*corpus.plain, "--output", out).out == plain.out
    assert os.listdir(out) == ["scores.json"]


@pytest.mark.parametrize("asked", [True, False])
def test_a_foreign_file_among_the_shards_stays(corpus, out, asked):
    assert called(*corpus.asked, "--output", out).code == 0
    notes = out / "segment_scores" / "notes.txt"
    notes.write_text("mine")
    assert called(*(corpus.asked if asked else corpus.plain), "--output", out).code == 0
    assert notes.read_text() == "mine"
    assert len(list(notes.parent.iterdir())) == (2 if asked else 1)


@pytest.mark.parametrize("name", ["a [b] {c}", "*", "größe"])
def test_any_folder_name(corpus, expected, tmp_path, name):
    out = tmp_path / name
    for _ in range(2):
        assert called(*corpus.asked, "--output", out).code == 0
        assert rows(out) == expected
        assert_clean(out)


# Runs that fail


class LosesATable(ScoreSegments):
    def work(self, statistics):
        return [] if statistics.first_segment == 0 else super().work(statistics)


class RepeatsATable(ScoreSegments):
    def work(self, statistics):
        return [*super().work(statistics)] * (2 if statistics.first_segment == 0 else 1)


class LosesABatch(CountMatches):
    def work(self, batch):
        return [] if batch.first_segment == 0 else super().work(batch)


class LosesNames(WriteShards):
    def finish_bundle(self):
        list(super().finish_bundle())
        return ()


def cannot_write(path: str, data: bytes) -> None:
    raise JobError(f"{path} cannot be written: No space left on device", "check the folder")


FAILURES = {
    "a table is lost": (
        "ScoreSegments",
        LosesATable,
        r"should be 9000 segment scores, but [1-8]\d* ",
    ),
    "a table is there twice": (
        "ScoreSegments",
        RepeatsATable,
        "should be 9000 segment scores, but 9",
    ),
    "a batch is lost": ("CountMatches", LosesABatch, "3000 were planned"),
    "shards are lost": (
        "WriteShards",
        LosesNames,
        r"should be 9000 segment scores, but \d+ were written",
    ),
    "no scores.json": ("write_atomically", cannot_write, "No space left on device"),
}


@pytest.mark.parametrize("former", ["nothing before", "a run before"])
@pytest.mark.parametrize("failure", FAILURES)
def test_a_run_that_fails_leaves_what_was_there(
    corpus, expected, out, failure, former, monkeypatch
):
    if former == "a run before":
        assert called(*corpus.asked, "--output", out).code == 0
        before = shards(out), (out / "scores.json").read_bytes()
    name, broken, fragment = FAILURES[failure]
    monkeypatch.setattr(beam_bleu.pipeline.graph, name, broken)
    run = called(*corpus.asked, SMALL_UNITS, "--max_ngram_order=3", "--output", out)
    run.assert_failed(1)
    assert re.search(fragment, run.err)
    if former == "a run before":
        assert (shards(out), (out / "scores.json").read_bytes()) == before
        assert rows(out) == expected
        assert_clean(out)
    else:
        assert not [name for name in out.rglob("*") if name.is_file()]
        assert not (out / ".segment_scores").exists()


def test_bad_input_leaves_what_was_there(corpus, expected, out, tmp_path):
    assert called(*corpus.asked, "--output", out).code == 0
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"fine\n" * (SEGMENTS - 1) + b"\xff\n")
    run = called(*corpus.asked, "--candidates", bad, SMALL_UNITS, "--output", out)
    run.assert_failed(3, "invalid UTF-8")
    assert rows(out) == expected
    assert_clean(out)


def test_a_folder_that_cannot_be_written(corpus, out):
    out.mkdir()
    (out / ".segment_scores").write_bytes(b"a file")
    called(*corpus.asked, "--output", out).assert_failed(1, ".segment_scores is not a folder")
    assert os.listdir(out) == [".segment_scores"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_what_was_there(corpus, expected, out, tmp_path, number):
    assert called(*corpus.asked, "--output", out).code == 0
    text = tmp_path / "long.txt"
    text.write_text("a rather short line , and another clause .\n" * 3_000_000)
    process = subprocess.Popen(
        [*COMMAND, *streams([text], [text], "--segment_scores", "--output", out)],
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    while not list(out.glob(".segment_scores/*/*/*")) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    err = process.communicate(timeout=60)[1]
    assert (process.returncode, err.decode()) == (
        128 + number,
        f"beam-bleu: stopped by {number.name}\n",
    )
    assert rows(out) == expected
    assert_clean(out)


# Object stores


def objects(suffix: str) -> list[str]:
    return sorted(path for path in OBJECTS if path.startswith("mem://out/") and suffix in path)


def rows_of_objects() -> dict[tuple[int, str], dict[str, object]]:
    tables = [pq.read_table(io.BytesIO(OBJECTS[path][0])) for path in objects(".parquet")]
    found = {(row["index"], row["system"]): row for each in tables for row in each.to_pylist()}
    assert len(found) == sum(map(len, tables))
    return found


@pytest.fixture
def store(monkeypatch) -> Iterator[str]:
    """A folder of an object store, and shards that are small."""
    monkeypatch.setattr(module, "_SHARD_ROWS", 1000)
    OBJECTS.clear()
    yield "mem://out/folder"
    OBJECTS.clear()


def test_an_object_store_has_the_shards_of_one_run(corpus, expected, plain, store):
    for number in range(2):
        run = called(*corpus.asked, SMALL_UNITS, f"--threads={number + 1}", "--output", store)
        assert (run.code, run.err) == (0, "")
        assert rows_of_objects() == expected
        assert len(objects(".parquet")) > 4
        assert objects("") == [*objects("scores.json"), *objects("/segment_scores/part-")]
    assert called(*corpus.plain, "--output", store).out == plain.out
    assert objects("") == ["mem://out/folder/scores.json"]


@pytest.mark.parametrize("failure", FAILURES)
def test_a_run_that_fails_leaves_an_object_store_as_it_was(
    corpus, expected, store, failure, monkeypatch
):
    assert called(*corpus.asked, "--output", store).code == 0
    before, scores = objects(""), OBJECTS[f"{store}/scores.json"][0]
    name, broken, fragment = FAILURES[failure]
    monkeypatch.setattr(beam_bleu.pipeline.graph, name, broken)
    run = called(*corpus.asked, SMALL_UNITS, "--max_ngram_order=3", "--output", store)
    run.assert_failed(1)
    assert re.search(fragment, run.err)
    assert (objects(""), OBJECTS[f"{store}/scores.json"][0]) == (before, scores)
    assert rows_of_objects() == expected


def test_every_run_of_a_job_has_its_own_name(corpus, out):
    jobs = [parse([*map(str, corpus.asked), "--output", str(out)]).job for _ in range(2)]
    assert jobs[0].run != jobs[1].run


def test_only_the_names_of_shards_go_to_the_next_step(corpus, out):
    """A table that goes through a shuffle would need memory of the engine."""
    graph = beam.Pipeline()
    build(graph, parse([*map(str, corpus.asked), "--output", str(out)]).job)
    types = {}

    class Types(beam.pipeline.PipelineVisitor):
        def visit_transform(self, node):
            types[node.full_label] = [each.element_type for each in node.outputs.values()]

    graph.visit(Types())
    assert types["Write segment scores"] == [str]


def test_the_document_on_disk_is_what_is_printed(corpus, out):
    run = called(*corpus.asked, "--output", out)
    assert json.loads((out / "scores.json").read_bytes()) == run.document
