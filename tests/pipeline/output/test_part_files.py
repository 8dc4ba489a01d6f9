"""Part files of segment scores: bundles and last steps that run twice, and moves that fail."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from result_folder import RESULT, documents, publish
from scoring import bleu_table, statistics_of

from beam_bleu.pipeline.output.output_folder import staging_folder
from beam_bleu.pipeline.output.part_files import WritePartFiles, check_rows
from beam_bleu.pipeline.output.publication import discard, in_place, write_documents
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.metrics.bleu.config import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch


def table(first: int, count: int, config: BleuConfig) -> pa.Table:
    batch = to_batch([("a b", ["a"])] * count)
    scores = bleu_table(statistics_of(batch, config), config.scoring)
    return scores.set_column(0, scores.schema.field(0), [list(range(first, first + count))])


def written(output: Path, run: str, tables: Sequence[pa.Table], finishes: bool = True) -> list[str]:
    """The elements that a bundle emits. The bundle may stop before its end."""
    writing = WritePartFiles(str(output), run, tables[0].schema)
    writing.setup()
    writing.start_bundle()
    for each in tables:
        writing.process(each)
    return [each.value for each in writing.finish_bundle()] if finishes else []


def indices(output: Path) -> list[int]:
    return sorted(pq.read_table(output / "segment_scores")["index"].to_pylist())


CONFIG = BleuConfig()


def test_files_of_earlier_attempts_do_not_count(tmp_path):
    output = str(tmp_path)
    written(tmp_path, "run", [table(0, 5, CONFIG)], finishes=False)  # its worker dies
    written(tmp_path, "run", [table(0, 5, CONFIG)])  # finished, but the engine does not know
    names = written(tmp_path, "run", [table(0, 5, CONFIG)])
    names += written(tmp_path, "run", [table(5, 3, CONFIG), table(8, 2, CONFIG)])
    check_rows(output, "run", names, 10)
    with in_place(output, "run", names, documents("run")):
        assert indices(tmp_path) == list(range(10))
        write_documents(output, documents("run"))
    assert indices(tmp_path) == list(range(10))
    assert sorted(os.listdir(tmp_path)) == [*RESULT, "segment_scores"]


def former_run(output: Path) -> list[str]:
    names = written(output, "former", [table(100, 4, CONFIG)])
    publish(output, "former", names)
    return names


def fail_in_place(output: Path, names: list[str], expected: list[int]) -> None:
    with in_place(str(output), "run", names, documents("run")):
        assert indices(output) == expected
        raise JobError("No space left on device", "check the folder")


def test_a_failing_body_undoes_it_and_can_be_tried_again(tmp_path):
    output = str(tmp_path)
    former_run(tmp_path)
    names = written(tmp_path, "run", [table(0, 5, CONFIG)])
    for _ in range(2):
        with pytest.raises(JobError, match="No space left"):
            fail_in_place(tmp_path, names, list(range(5)))
        assert indices(tmp_path) == [100, 101, 102, 103]
        check_rows(output, "run", names, 5)
    publish(output, "run", names)
    assert indices(tmp_path) == list(range(5))
    assert sorted(os.listdir(tmp_path)) == [*RESULT, "segment_scores"]


@pytest.mark.parametrize("moved", range(4))
def test_a_last_step_whose_worker_died_runs_again(tmp_path, monkeypatch, moved):
    output = str(tmp_path)
    former_run(tmp_path)
    names = [name for i in range(3) for name in written(tmp_path, "run", [table(i, 1, CONFIG)])]
    final, staged = tmp_path / "segment_scores", Path(staging_folder(output, "run"))
    aside = staged.parent / "former"
    aside.mkdir()
    for name in os.listdir(final):
        (final / name).rename(aside / name)
    for name in names[:moved]:
        (staged / name).rename(final / name)
    check_rows(output, "run", names, 3)
    publish(output, "run", names)
    assert indices(tmp_path) == [0, 1, 2]
    assert sorted(os.listdir(tmp_path)) == [*RESULT, "segment_scores"]


def test_failed_moves_are_undone(tmp_path, monkeypatch):
    output = str(tmp_path)
    former_run(tmp_path)
    names = [name for i in range(3) for name in written(tmp_path, "run", [table(i, 1, CONFIG)])]
    rename = os.rename

    def failing(source, destination):
        if destination == str(tmp_path / "segment_scores" / names[1]):
            raise OSError("disk quota exceeded")
        rename(source, destination)

    monkeypatch.setattr(os, "rename", failing)
    with (
        pytest.raises(JobError, match="cannot be written: disk quota exceeded"),
        in_place(output, "run", names, documents("run")),
    ):
        raise AssertionError("the body runs although the part files are not in place")
    assert indices(tmp_path) == [100, 101, 102, 103]


def test_a_missing_part_file_and_a_truncated_one_are_noticed(tmp_path):
    output = str(tmp_path)
    names = [name for i in range(2) for name in written(tmp_path, "run", [table(i, 1, CONFIG)])]
    path = Path(staging_folder(output, "run"), names[0])
    data = path.read_bytes()
    path.write_bytes(data[:-10])
    with pytest.raises(JobError, match=r"cannot be read.*Parquet"):
        check_rows(output, "run", names, 2)
    path.unlink()
    with pytest.raises(JobError, match=f"1 of 2 files .* for example {names[0]}"):
        check_rows(output, "run", names, 2)


def test_discarding_leaves_what_other_runs_have_staged(tmp_path):
    names = written(tmp_path, "other", [table(0, 5, CONFIG)])
    written(tmp_path, "run", [table(0, 5, CONFIG)])
    discard(str(tmp_path), "run")
    discard(str(tmp_path), "never was")
    check_rows(str(tmp_path), "other", names, 5)
    assert not (tmp_path / ".segment_scores" / "run").exists()
