"""Input and output in object stores, with real servers, in-process and on Flink."""

from __future__ import annotations

import contextlib
import io
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from bucket import Folder
from command_line import PROJECT, REFERENCES, SYSTEMS, Argument, called, read_lines, streams, typed
from other_pool import Pool
from pyarrow import parquet
from result_folder import publish, staged

from beam_bleu.pipeline.folder import locking
from beam_bleu.pipeline.folder.locking import LOCK
from beam_bleu.transforms.pairing.line_parallel import corpus
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.wiring import objects
from beam_bleu.transforms.wiring.object_stores import ObjectStores
from deploy.local.object_stores import ObjectStore

LINES = 6000
RANGE_BYTES = 100_000


@pytest.fixture
def folder(store: ObjectStore) -> Folder:
    return Folder(store)


@pytest.fixture(scope="module")
def texts() -> list[list[str]]:
    """A system and two references."""
    draw = random.Random(3)
    examples = [read_lines(path) for path in (SYSTEMS["atlas"], *REFERENCES)]
    rows = [draw.randrange(len(examples[0])) for _ in range(LINES)]
    return [[f"{example[row]} {n}" for n, row in enumerate(rows)] for example in examples]


def local(texts: list[list[str]], folder: Path) -> list[Argument]:
    for number, lines in enumerate(texts):
        (folder / f"{number}.txt").write_text("".join(f"{line}\n" for line in lines))
    first, *references = (folder / f"{number}.txt" for number in range(len(texts)))
    return streams([f"sys={first}"], references)


def stored(texts: list[list[str]], folder: Folder) -> list[Argument]:
    """One stream in one file, one in shards, one in compressed shards."""
    return streams(
        [f"sys={folder.put_lines('sys.txt', texts[0])}"],
        [
            folder.put_shards("ref", texts[1], 3, ".txt"),
            folder.put_lines("other.txt", texts[2]),
        ],
        f"--range_bytes={RANGE_BYTES}",
    )


def rows(file: Any) -> list[dict[str, Any]]:
    return sorted(parquet.read_table(file).to_pylist(), key=lambda row: row["index"])


def digests(manifest: bytes) -> list[str]:
    return [stream["digest"] for stream in json.loads(manifest)["streams"]]


@pytest.mark.parametrize("engine", [pytest.param("in-process", marks=pytest.mark.engines), "flink"])
def test_everything_is_as_with_local_files(
    store: ObjectStore,
    folder: Folder,
    texts: list[list[str]],
    tmp_path: Path,
    engine: str,
    request: pytest.FixtureRequest,
) -> None:
    expected = called(*local(texts, tmp_path), "--segment_scores", "--output", tmp_path / "out")
    assert expected.code == 0, expected.err
    given = [*stored(texts, folder), "--segment_scores", "--output", f"{folder.url}/out"]
    flags = store.flags()
    if engine == "flink":
        pool: Pool = request.getfixturevalue("pool")
        flags += [*pool(environment=store.environment()), "--progress=off"]
    for _ in range(2):  # the second run replaces the result of the first
        run = typed(*given, *flags, timeout=300) if engine == "flink" else called(*given, *flags)
        assert run.code == 0, run.err
        assert run.out == expected.out
        found = folder.objects("out/")
        (shard, *more) = [name for name in found if name.endswith(".parquet")]
        for name in ("scores.json", "_SUCCESS"):
            assert folder.get(f"out/{name}") == (tmp_path / "out" / name).read_bytes()
        assert not [name for name in found if "/." in name], "files of the run are left"
        table = [row for name in (shard, *more) for row in rows(io.BytesIO(folder.get(name)))]
        table.sort(key=lambda row: row["index"])
        assert table == rows(tmp_path / "out" / "segment_scores")
        assert digests(folder.get("out/manifest.json")) == digests(
            (tmp_path / "out" / "manifest.json").read_bytes()
        )
    record = folder.get("out/run.json").decode()
    assert not [secret for secret in store.secrets if secret in record]
    assert not store.secrets or "=***" in record


@pytest.mark.parametrize("store", ["s3"], indirect=True)
def test_wrong_credentials(store: ObjectStore, folder: Folder, tmp_path: Path) -> None:
    wrong = [*store.flags(), "--s3_secret_access_key=wrong"]
    path = folder.put_lines("r.txt", read_lines(REFERENCES[0]))
    run = called(*streams([SYSTEMS["atlas"]], [path]), *wrong)
    run.assert_failed(3, "references: cannot be listed: the server says Signature", path)
    output = [*streams([SYSTEMS["atlas"]], REFERENCES), "--output", f"{folder.url}/out"]
    called(*output, *wrong).assert_failed(1, f"{folder.url}/out/", "the server says Signature")
    assert not folder.objects("out/")


CHANGES: dict[str, Callable[[Folder, str], object]] = {
    "replaced": lambda folder, name: folder.put(name, folder.get(name).replace(b"a", b"b")),
    "removed": lambda folder, name: folder.delete(name),
}


@pytest.mark.parametrize("change", CHANGES)
def test_an_object_that_changes_during_the_job(
    store: ObjectStore,
    folder: Folder,
    texts: list[list[str]],
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    """The exit code is 3, and the previous result stays."""
    given = [*stored(texts, folder), *store.flags(), "--threads=1", "--output", f"{folder.url}/out"]
    given.append("--segment_scores")
    assert called(*given).code == 0
    before = {name: tag for name, tag in folder.objects("out/").items() if "run.json" not in name}

    class Meddling(LineReader):
        meddled = False

        def take(self, lines: int) -> object:
            column = super().take(lines)
            if not Meddling.meddled:
                Meddling.meddled = True
                CHANGES[change](folder, "other.txt")
            return column

    monkeypatch.setattr(corpus, "LineReader", Meddling)
    run = called(*given)
    run.assert_failed(3, "references", f"{folder.url}/other.txt")
    assert any(word in run.err for word in ("changed", "removed", "ends at byte"))
    after = folder.objects("out/")
    kept = [name for name in before if name.endswith((".parquet", "scores.json", "manifest.json"))]
    assert {name: after.get(name) for name in kept} == {name: before[name] for name in kept}
    assert "out/_SUCCESS" not in after
    assert not [name for name in after if name.endswith(".parquet") and name not in before]


@pytest.fixture
def files(store: ObjectStore) -> ObjectStores:
    """Object stores with the options of a store, as the workers use it."""
    FileSystems.set_options(PipelineOptions(store.flags()))
    return ObjectStores()


def test_reads_are_those_of_a_file(
    files: ObjectStores, folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "_FIRST_GET", 10)
    monkeypatch.setattr(objects, "_LARGEST_GET", 100)
    data = random.Random(1).randbytes(3000)
    path = folder.put("data", data)
    draw = random.Random(2)
    with files.open(path) as file:
        place = 0
        for _ in range(300):
            if draw.random() < 0.3:
                place = draw.randrange(len(data) + 1)
                whence = draw.choice([io.SEEK_SET, io.SEEK_CUR, io.SEEK_END])
                origin = {io.SEEK_SET: 0, io.SEEK_CUR: file.tell(), io.SEEK_END: len(data)}[whence]
                assert file.seek(place - origin, whence) == place
            size = draw.choice([1, 7, 50, 400])
            assert file.read(size) == data[place : place + size]
            place = min(place + size, len(data))
            assert file.tell() == place
        file.seek(0)
        assert file.read() == data
        assert file.read(1) == b""
        assert file.seek(5000) == 5000
        assert file.read(1) == b""


@pytest.mark.parametrize("size", [0, 20 << 20])
def test_objects_of_any_size_are_written_whole_or_not_at_all(
    files: ObjectStores, folder: Folder, size: int
) -> None:
    """Larger ones are uploaded in parts."""
    data = random.Random(size).randbytes(size)
    path = f"{folder.url}/new"
    with contextlib.suppress(KeyError), files.create(path) as file:
        file.write(data)
        raise KeyError
    file = files.create(path)
    file.write(data)
    del file
    assert not files.exists(path)
    with files.create(path) as file:
        for start in range(0, size, 1 << 20):
            file.write(memoryview(data)[start : start + (1 << 20)])
    assert folder.get("new") == data
    assert files.metadata(path).size_in_bytes == size
    with files.open(path) as file:
        assert file.read() == data


@pytest.fixture
def short_leases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locking, "_LEASE", 2.0)
    monkeypatch.setattr(locking, "_PAUSE", 0.1)


def test_runs_that_end_at_the_same_time_wait_for_each_other(
    files: ObjectStores, folder: Folder, short_leases: None
) -> None:
    out = f"{folder.url}/out"

    def publish_several(of: int) -> None:
        for number in range(3):
            publish(out, f"{of}x{number}", [])

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(publish_several, range(3)))
    publish(out, "last", staged(out, "last", 2))
    assert json.loads(folder.get("out/scores.json")) == "last"
    found = set(folder.objects("out/"))
    parts = {name for name in found if name.endswith(".parquet")}
    assert found - parts == {"out/_SUCCESS", "out/manifest.json", "out/scores.json"}
    assert len(parts) == 2


def test_the_lock_of_a_killed_run_is_taken_over(
    files: ObjectStores, folder: Folder, short_leases: None, store: ObjectStore
) -> None:
    out = f"{folder.url}/out"
    program = (
        "import os, sys\n"
        "from apache_beam.io.filesystems import FileSystems\n"
        "from apache_beam.options.pipeline_options import PipelineOptions\n"
        "from beam_bleu.pipeline.folder.locking import locked\n"
        "FileSystems.set_options(PipelineOptions(sys.argv[2:]))\n"
        "with locked(sys.argv[1], run='dead'): os._exit(9)"
    )
    command = [sys.executable, "-c", program, out, *store.flags()]
    assert subprocess.run(command, cwd=PROJECT).returncode == 9
    assert set(folder.objects("out/")) == {f"out/{LOCK}"}
    begun = time.monotonic()
    run = called(*streams([SYSTEMS["atlas"]], REFERENCES, "--output", out), *store.flags())
    assert run.code == 0, run.err
    assert time.monotonic() - begun > 2.0
    assert f"out/{LOCK}" not in folder.objects("out/")
