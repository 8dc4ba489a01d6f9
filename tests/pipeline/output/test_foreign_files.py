"""Files in the output folder that are not beam-bleu's stay as they are, and are never mixed in."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import EXAMPLE, REFERENCES, called, streams, write_lines
from memory_filesystem import OBJECTS
from result_folder import RECORDS, assert_is_of, document, publish, published, scores_run, staged
from test_document import files_no_larger_than

import beam_bleu.pipeline.graph
from beam_bleu.transforms.errors import JobError

ASKED = [*EXAMPLE, "--segment_scores"]
PART_FILE_NAME = f"part-run-{'0' * 32}.parquet"


@pytest.fixture
def out(tmp_path) -> Path:
    (tmp_path / "out" / "segment_scores").mkdir(parents=True)
    return tmp_path / "out"


def bytes_of(folder: Path) -> dict[str, bytes]:
    """All files below a folder, except those that also a run that fails writes or removes."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    found = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    return {name: data for name, data in found.items() if name not in ("_SUCCESS", *RECORDS)}


def parquet(path: Path, **metadata: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([pa.field("index", pa.int64())], metadata)
    pq.write_table(pa.table([[1]], schema), path)


def is_refused(out: Path, name: str, monkeypatch) -> None:
    """Checks that segment scores are refused before anything is scored, and nothing is changed."""
    before = bytes_of(out)

    def scored(*arguments):
        raise AssertionError("the job was started")

    with monkeypatch.context() as patched:
        patched.setattr(beam_bleu.pipeline.graph, "build", scored)
        run = called(*ASKED, "--output", out)
    run.assert_failed(1, f"{out}/segment_scores has files that this version of", name)
    assert "\n  move them to another folder, or name another --output" in run.err
    assert bytes_of(out) == before


@pytest.mark.parametrize(
    "name",
    [
        "part-0.parquet",
        "part-00000-of-00001.parquet",
        PART_FILE_NAME,
        "other.parquet",
        "OTHER.PARQUET",
        "lang=de/part-0.parquet",
        "without_suffix",
    ],
)
def test_foreign_parquet_stays_and_is_not_mixed_in(out, name, monkeypatch):
    parquet(out / "segment_scores" / name)
    before = bytes_of(out / "segment_scores")
    is_refused(out, name, monkeypatch)
    run = called(*EXAMPLE, "--output", out)
    assert (run.code, run.err) == (0, "")
    assert bytes_of(out / "segment_scores") == before


@pytest.mark.parametrize("data", [b"", b"text", b"PAR1 but not to the end"])
@pytest.mark.parametrize("flags", [EXAMPLE, ASKED], ids=["plain", "segment scores"])
def test_a_file_with_the_name_of_a_part_file_that_is_not_parquet(out, flags, data):
    part_file = out / "segment_scores" / PART_FILE_NAME
    part_file.write_bytes(data)
    called(*flags, "--output", out).assert_failed(
        1, f"{part_file} cannot be read: ", "or remove it"
    )
    assert part_file.read_bytes() == data
    assert not (out / "scores.json").exists()


@pytest.mark.parametrize("name", ["segment_scores", ".segment_scores"])
def test_a_file_in_place_of_the_folder(out, name, monkeypatch):
    os.rmdir(out / "segment_scores")
    (out / name).write_bytes(b"users")
    with monkeypatch.context() as patched:
        patched.setattr(beam_bleu.pipeline.graph, "build", None)  # nothing is scored
        called(*ASKED, "--output", out).assert_failed(1, f"{out}/{name} is not a folder")
    # Each run needs the hidden folder.
    assert called(*EXAMPLE, "--output", out).code == (0 if name == "segment_scores" else 1)
    assert (out / name).read_bytes() == b"users"


def test_a_copy_of_a_part_file_under_another_name_is_not_ours(out, monkeypatch):
    parquet(out / "segment_scores" / "copy.parquet", **{"beam-bleu.run": "run"})
    is_refused(out, "copy.parquet", monkeypatch)
    parquet(out / "segment_scores" / PART_FILE_NAME, **{"beam-bleu.run": "another"})
    is_refused(out, PART_FILE_NAME, monkeypatch)


def test_an_overwritten_part_file_is_not_ours(out, monkeypatch):
    published(out, "run")
    name = max(os.listdir(out / "segment_scores"))
    parquet(out / "segment_scores" / name)
    is_refused(out, name, monkeypatch)
    publish(out, "plain", [])
    assert os.listdir(out / "segment_scores") == [name]


def test_a_long_list_of_files_is_counted_and_three_are_named(out):
    for number in range(5):
        parquet(out / "segment_scores" / f"{number}.parquet")
    run = called(*ASKED, "--output", out)
    run.assert_failed(1, ": 0.parquet, 1.parquet, 2.parquet and 2 more")


@pytest.mark.parametrize("name", ["_SUCCESS", ".hidden.parquet", "_old/a.parquet", "notes.txt"])
def test_files_that_readers_of_parquet_ignore_do_not_matter(out, name):
    parquet(out / "segment_scores" / name)
    if name == "notes.txt":
        (out / "segment_scores" / name).write_text("users")
    before = bytes_of(out)
    assert called(*ASKED, "--output", out).code == 0
    assert before.items() <= bytes_of(out).items()
    assert called(*EXAMPLE, "--output", out).code == 0
    documents = {"scores.json": b"", "manifest.json": b""}
    assert bytes_of(out) | documents == before | documents


@pytest.mark.parametrize("flags", [EXAMPLE, ASKED], ids=["plain", "segment scores"])
def test_a_foreign_hidden_folder_stays(out, flags):
    for name in ("a.txt", "old/part-1.parquet", "run/staged/own.parquet", "run/former/x"):
        path = out / ".segment_scores" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"users")
        os.utime(path, (1, 1))
    before = bytes_of(out / ".segment_scores")
    for _ in range(2):
        assert called(*flags, "--output", out).code == 0
        assert bytes_of(out / ".segment_scores") == before


def test_a_file_added_while_the_job_runs_is_not_read(out):
    names = staged(out, "run")
    parquet(out / "segment_scores" / "new.parquet")
    (out / "scores.json").write_bytes(document("former"))
    with pytest.raises(JobError, match=r"did not write.*: new\.parquet"):
        publish(out, "run", names)
    assert scores_run(out) == "former"
    assert os.listdir(out / "segment_scores") == ["new.parquet"]


def test_a_pipe_in_the_folder_does_not_block(out):
    os.mkfifo(out / "segment_scores" / "pipe")
    os.mkfifo(out / "segment_scores" / PART_FILE_NAME)
    called(*ASKED, "--output", out).assert_failed(1, PART_FILE_NAME)
    assert called(*EXAMPLE, "--output", out).code == 0


# Links


def test_a_folder_of_segment_scores_that_is_a_link(out, tmp_path):
    os.rmdir(out / "segment_scores")
    elsewhere = tmp_path / "elsewhere"
    published(elsewhere, "other")
    before = bytes_of(elsewhere)
    (out / "segment_scores").symlink_to(elsewhere / "segment_scores")
    for flags in (EXAMPLE, ASKED):
        run = called(*flags, "--output", out)
        run.assert_failed(1, f"segment_scores is a link to {elsewhere}/segment_scores")
        assert bytes_of(elsewhere) == before
        assert sorted(os.listdir(out)) == sorted(["segment_scores", *RECORDS])


def test_a_link_to_another_folder_does_not_matter_without_segment_scores(out, tmp_path):
    os.rmdir(out / "segment_scores")
    (out / "segment_scores").symlink_to(tmp_path / "users")
    parquet(tmp_path / "users" / "a.parquet")
    assert called(*EXAMPLE, "--output", out).code == 0
    called(*ASKED, "--output", out).assert_failed(1, "is a link")
    assert os.listdir(tmp_path / "users") == ["a.parquet"]


@pytest.mark.parametrize("name", ["segment_scores", ".segment_scores"])
def test_a_broken_link(out, name):
    os.rmdir(out / "segment_scores")
    (out / name).symlink_to("nowhere")
    called(*ASKED, "--output", out).assert_failed(1, f"{name} is a link")
    plain = called(*EXAMPLE, "--output", out)
    if name == "segment_scores":  # which a plain run does not use
        assert plain.code == 0
    else:
        plain.assert_failed(1, f"{name} is a link")


@pytest.mark.parametrize("flags", [EXAMPLE, ASKED], ids=["plain", "segment scores"])
@pytest.mark.parametrize("link", ["", "run", "run/former"])
def test_a_hidden_folder_that_is_a_link_changes_nothing_elsewhere(out, tmp_path, flags, link):
    os.rmdir(out / "segment_scores")
    elsewhere = tmp_path / "elsewhere"
    published(elsewhere, "run")
    aside = elsewhere / ".segment_scores" / "run" / "former"
    aside.mkdir(parents=True)  # a run that is moving files
    (elsewhere / "scores.json").rename(aside / "scores.json")
    before = bytes_of(elsewhere)
    path = out / ".segment_scores" / link
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(elsewhere / ".segment_scores" / link)
    run = called(*flags, "--output", out)
    if link:
        assert run.code == 0, run.err
    else:
        run.assert_failed(1, f"{out}/.segment_scores is a link to {elsewhere}/.segment_scores")
        with pytest.raises(JobError, match="is a link"):
            publish(out, "plain", [])
    assert bytes_of(elsewhere) == before


def test_a_link_among_the_part_files_is_not_ours(out, tmp_path, monkeypatch):
    parquet(tmp_path / "own.parquet", **{"beam-bleu.run": "run"})
    (out / "segment_scores" / PART_FILE_NAME).symlink_to(tmp_path / "own.parquet")
    is_refused(out, PART_FILE_NAME, monkeypatch)
    assert called(*EXAMPLE, "--output", out).code == 0
    assert (out / "segment_scores" / PART_FILE_NAME).is_symlink()


# Object stores


def test_an_object_that_is_not_ours(tmp_path):
    store = "mem://out/folder"
    OBJECTS.clear()
    publish(store, "run", staged(store, "run"))
    OBJECTS[f"{store}/segment_scores/below/part-0.parquet"] = b"users", 1.0
    before = dict(OBJECTS)
    called(*ASKED, "--output", store).assert_failed(1, ": below/part-0.parquet")
    del before[f"{store}/_SUCCESS"]
    assert before == {path: OBJECTS.pop(path) for path in before}
    assert sorted(OBJECTS) == [f"{store}/{name}" for name in RECORDS]
    OBJECTS.clear()
    OBJECTS.update(before)
    publish(store, "plain", [])
    assert sorted(OBJECTS) == [
        f"{store}/_SUCCESS",
        f"{store}/manifest.json",
        f"{store}/scores.json",
        f"{store}/segment_scores/below/part-0.parquet",
    ]
    OBJECTS.clear()


# Full disks


@pytest.mark.parametrize("flags", [[], ["--segment_scores"]], ids=["plain", "segment scores"])
def test_a_full_disk_leaves_only_the_previous_result(out, tmp_path, flags):
    texts = [write_lines(tmp_path / name, ["a b c"] * 2000) for name in ("a.txt", "b.txt")]
    given = streams([*texts], REFERENCES[:0] + texts[:1], *flags, "--output", out)
    published(out, "former")
    before = bytes_of(out)
    with files_no_larger_than(900):
        called(*given).assert_failed(1, "cannot be written: ", "File too large")
    assert bytes_of(out) == before
    assert_is_of(out, "former", marked=False)
    assert called(*given).code == 0
    assert (out / "_SUCCESS").exists()


def test_a_folder_that_is_read_only():
    called(*EXAMPLE, "--output", "/proc/self").assert_failed(1, "/proc/self cannot be written")
