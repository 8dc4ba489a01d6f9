"""Input and output in object stores, with real servers, in-process and on Flink."""

from __future__ import annotations

import contextlib
import hashlib
import io
import itertools
import json
import random
import subprocess
import sys
import time
from pathlib import Path

import obstore
import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from command_line import PROJECT, REFERENCES, SYSTEMS, called, read_lines, streams, typed
from compressing import COMPRESS
from pyarrow import parquet

from beam_bleu.pipeline.folder import locking
from beam_bleu.transforms.pairing.line_parallel import corpus
from beam_bleu.transforms.pairing.lines.line_reader import LineReader
from beam_bleu.transforms.wiring import objects
from beam_bleu.transforms.wiring.object_stores import ObjectStores

LINES = 6000
_FOLDERS = itertools.count(1)


class Folder:
    """A new, empty folder in a store's bucket: its objects without beam-bleu."""

    def __init__(self, store):
        self._prefix = f"test-{next(_FOLDERS)}/"
        self._client = store.client()
        self.url = f"{store.root}{self._prefix}".rstrip("/")

    def put(self, name, data):
        """Writes an object; returns its path."""
        obstore.put(self._client, self._prefix + name, data)
        return f"{self.url}/{name}"

    def put_lines(self, name, lines):
        """Writes lines, compressed as the suffix says; returns the path."""
        data = "".join(f"{line}\n" for line in lines).encode()
        return self.put(name, COMPRESS.get(Path(name).suffix, bytes)(data))

    def get(self, name):
        return bytes(obstore.get(self._client, self._prefix + name).bytes())

    def delete(self, name):
        obstore.delete(self._client, self._prefix + name)

    def objects(self, below=""):
        """A digest of the content of each object, by name."""
        pages = obstore.list(self._client, (self._prefix + below).rstrip("/"))
        names = [meta["path"].removeprefix(self._prefix) for page in pages for meta in page]
        return {name: hashlib.md5(self.get(name)).hexdigest() for name in names}


@pytest.fixture
def folder(store):
    return Folder(store)


@pytest.fixture(scope="module")
def texts():
    """A system and two references."""
    draw = random.Random(3)
    examples = [read_lines(path) for path in (SYSTEMS["atlas"], *REFERENCES)]
    rows = [draw.randrange(len(examples[0])) for _ in range(LINES)]
    return [[f"{example[row]} {n}" for n, row in enumerate(rows)] for example in examples]


def stored(texts, folder):
    """One stream in one file, one in shards, one in a compressed file."""
    for start in range(0, LINES, 2000):
        folder.put_lines(f"ref/part-{start:04}.txt", texts[1][start : start + 2000])
    return streams(
        [f"sys={folder.put_lines('sys.txt', texts[0])}"],
        [f"{folder.url}/ref/part-*", folder.put_lines("other.gz", texts[2])],
        "--range_bytes=100000",
    )


def rows(file):
    return sorted(parquet.read_table(file).to_pylist(), key=lambda row: row["index"])


def digests(manifest):
    return [stream["digest"] for stream in json.loads(manifest)["streams"]]


@pytest.mark.parametrize("engine", [pytest.param("in-process", marks=pytest.mark.engines), "flink"])
def test_everything_is_as_with_local_files(store, folder, texts, tmp_path, engine, request):
    for name, lines in zip(("sys", "ref", "other"), texts, strict=True):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
    local = streams([tmp_path / "sys"], [tmp_path / "ref", tmp_path / "other"])
    expected = called(*local, "--segment_scores", "--output", tmp_path / "out")
    assert expected.code == 0, expected.err
    given = [*stored(texts, folder), "--segment_scores", "--output", f"{folder.url}/out"]
    flags = store.flags()
    if engine == "flink":
        pool = request.getfixturevalue("pool")
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
def test_wrong_credentials(store, folder):
    wrong = [*store.flags(), "--s3_secret_access_key=wrong"]
    path = folder.put_lines("r.txt", read_lines(REFERENCES[0]))
    run = called(*streams([SYSTEMS["atlas"]], [path]), *wrong)
    run.assert_failed(3, "references: cannot be listed: the server says Signature", path)
    output = [*streams([SYSTEMS["atlas"]], REFERENCES), "--output", f"{folder.url}/out"]
    called(*output, *wrong).assert_failed(1, f"{folder.url}/out/", "the server says Signature")
    assert not folder.objects("out/")


@pytest.mark.parametrize("is_removed", [False, True])
def test_an_object_that_changes_during_the_job(store, folder, texts, monkeypatch, is_removed):
    """The exit code is 3, and the previous result stays."""
    given = [*stored(texts, folder), *store.flags(), "--threads=1", "--output", f"{folder.url}/out"]
    given.append("--segment_scores")
    assert called(*given).code == 0
    before = {name: tag for name, tag in folder.objects("out/").items() if "run.json" not in name}

    class Meddling(LineReader):
        meddled = False

        def take(self, lines):
            column = super().take(lines)
            if not Meddling.meddled:
                Meddling.meddled = True
                if is_removed:
                    folder.delete("other.gz")
                else:
                    folder.put_lines("other.gz", texts[1])
            return column

    monkeypatch.setattr(corpus, "LineReader", Meddling)
    run = called(*given)
    run.assert_failed(3, "references", f"{folder.url}/other.gz")
    assert any(word in run.err for word in ("changed", "removed", "ends at byte"))
    after = folder.objects("out/")
    kept = [name for name in before if name.endswith((".parquet", "scores.json", "manifest.json"))]
    assert {name: after.get(name) for name in kept} == {name: before[name] for name in kept}
    assert "out/_SUCCESS" not in after
    assert not [name for name in after if name.endswith(".parquet") and name not in before]


@pytest.fixture
def files(store):
    """Object stores with the options of a store, as the workers use it."""
    FileSystems.set_options(PipelineOptions(store.flags()))
    return ObjectStores()


def test_reads_are_those_of_a_file(files, folder, monkeypatch):
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
def test_objects_of_any_size_are_written_whole_or_not_at_all(files, folder, size):
    """Larger ones are uploaded in parts."""
    data = random.Random(size).randbytes(size)
    path = f"{folder.url}/new"
    with contextlib.suppress(KeyError), files.create(path, "text/plain") as file:
        file.write(data)
        raise KeyError
    file = files.create(path, "text/plain")
    file.write(data)
    del file
    assert not files.exists(path)
    with files.create(path, "text/plain") as file:
        for start in range(0, size, 1 << 20):
            file.write(memoryview(data)[start : start + (1 << 20)])
    assert folder.get("new") == data
    assert files.metadata(path).size_in_bytes == size
    with files.open(path) as file:
        assert file.read() == data


@pytest.mark.engines
def test_the_lock_of_a_killed_run_is_taken_over(folder, store, monkeypatch):
    monkeypatch.setattr(locking, "_LEASE", 2.0)
    monkeypatch.setattr(locking, "_PAUSE", 0.1)
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
    assert set(folder.objects("out/")) == {f"out/{locking.LOCK}"}
    begun = time.monotonic()
    run = called(*streams([SYSTEMS["atlas"]], REFERENCES, "--output", out), *store.flags())
    assert run.code == 0, run.err
    assert time.monotonic() - begun > 2.0
    assert f"out/{locking.LOCK}" not in folder.objects("out/")
