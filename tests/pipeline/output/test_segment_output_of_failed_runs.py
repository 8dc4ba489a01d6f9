"""--segment_scores: a run that fails or is stopped leaves what was there."""

from __future__ import annotations

import io
import re
import signal
import time
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest
from command_line import called
from endless_run import WRITING_PART_FILES, endless_run
from memory_filesystem import OBJECTS
from result_folder import RECORDS, RESULT
from segment_corpus import SMALL_UNITS, assert_clean, part_files, rows

import beam_bleu.pipeline.folder.data_files as module
import beam_bleu.pipeline.graph
import beam_bleu.pipeline.scoring.batch_sums
from beam_bleu.pipeline.folder.data_files import WritePartFiles
from beam_bleu.pipeline.scoring.batch_sums import ScoreSegments


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


def test_a_signal_leaves_what_was_there(corpus, expected, out):
    assert called(*corpus.asked, "--output", out).code == 0
    number_before = len(part_files(out))
    process = endless_run(
        WRITING_PART_FILES, [*corpus.asked, "--max_ngram_order=3", "--output", out]
    )
    while len(part_files(out)) == number_before and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGTERM)
    err = process.communicate(timeout=60)[1]
    assert (process.returncode, err) == (143, b"beam-bleu: stopped by SIGTERM\n")
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


FILES = [f"mem://out/folder/{name}" for name in sorted([*RESULT, *RECORDS])]


@pytest.fixture
def store(monkeypatch) -> Iterator[str]:
    """A folder of an object store, and part files that are small."""
    monkeypatch.setattr(module, "_ROW_GROUP_BYTES", 1)
    monkeypatch.setattr(module, "_PART_FILE_BYTES", 1)
    OBJECTS.clear()
    yield "mem://out/folder"
    OBJECTS.clear()


def test_an_object_store_has_the_part_files_of_one_run(corpus, expected, plain, store):
    run = called(*corpus.asked, SMALL_UNITS, "--threads=2", "--output", store)
    assert (run.code, run.err) == (0, "")
    assert rows_of_objects() == expected
    assert len(objects(".parquet")) > 4
    assert objects("") == [*FILES, *objects("/segment_scores/part-")]
    assert called(*corpus.plain, "--output", store).out == plain.out
    assert objects("") == FILES
