"""Two runs into one folder of an object store: the lock, its lease, and what dead runs leave."""

from __future__ import annotations

import contextlib
import functools
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import obstore
import pytest
from obstore.store import MemoryStore
from result_folder import Killed, killed_after, publish, staged

from beam_bleu.pipeline.folder import locking, storage
from beam_bleu.pipeline.folder.locking import LOCK, locked
from beam_bleu.pipeline.folder.publication import discard, prepare
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.wiring import object_stores

OUT = "s3://bucket/out"


@pytest.fixture(autouse=True)
def store(monkeypatch) -> MemoryStore:
    """A store in memory. It supports conditional writes, as real ones do.

    Its listings and changes wait for each other. Otherwise obstore can hang: `list` waits for the
    end of a change while it holds the lock of the Python interpreter, and the change needs that
    lock to free the bytes that it has replaced. No store on a server does this.
    """
    lock = threading.RLock()

    def alone(function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        with lock:
            return function(*arguments, **more)

    for name in ("copy", "delete", "list", "put"):
        monkeypatch.setattr(obstore, name, functools.partial(alone, getattr(obstore, name)))
    store = MemoryStore()
    monkeypatch.setattr(object_stores, "client", lambda place, **_: store)
    return store


@pytest.fixture
def short(monkeypatch) -> None:
    """Short leases."""
    monkeypatch.setattr(locking, "_LEASE", 0.5)
    monkeypatch.setattr(locking, "_PAUSE", 0.02)


def names(store) -> set[str]:
    return {meta["path"].removeprefix("out/") for page in obstore.list(store) for meta in page}


def tags(store) -> dict[str, Any]:
    return {name: obstore.head(store, f"out/{name}")["e_tag"] for name in names(store)}


def scores(store) -> Any:
    return json.loads(bytes(obstore.get(store, "out/scores.json").bytes()))


def assert_is_of(store, run: str, part_files: int) -> None:
    """Checks that the folder has the complete result of a run, and nothing else."""
    assert scores(store) == run
    parts = [name for name in names(store) if name.endswith(".parquet")]
    assert len(parts) == part_files
    assert all(name.startswith(f"segment_scores/part-{run}-") for name in parts)
    assert names(store) - {*parts} == {"_SUCCESS", "manifest.json", "scores.json"}


def left_by_a_killed_run(store) -> None:
    """The lock of a run that was killed."""
    owner = {"format": "beam-bleu lock", "run": "dead", "host": "there", "process": 1, "token": "x"}
    obstore.put(store, f"out/{LOCK}", json.dumps(owner).encode())


def test_a_run_waits_for_the_lock_which_is_renewed_and_removed(store, short):
    told = r"another run \(.*, process \d+, run first\) has been"
    with locked(OUT, run="first") as lock:
        assert lock.is_held
        for _ in range(3):  # longer than a lease
            with pytest.raises(JobError, match=told), locked(OUT, 0.2):
                pass
            lock.check()
    assert names(store) == set()
    with locked(OUT) as lock:
        assert lock.is_held


def test_the_lock_of_a_killed_run_is_taken_over_by_one_run(store, short):
    left_by_a_killed_run(store)
    at_once: list[int] = []
    most: list[int] = []

    def take() -> None:
        with locked(OUT, 20.0) as lock:
            assert lock.is_held
            at_once.append(1)
            most.append(len(at_once))
            time.sleep(0.05)
            lock.check()
            at_once.pop()

    begun = time.monotonic()
    with ThreadPoolExecutor(4) as pool:
        for taken in [pool.submit(take) for _ in range(4)]:
            taken.result()
    assert most == [1, 1, 1, 1]
    assert time.monotonic() - begun >= 0.5  # not before the lease has run out
    assert names(store) == set()


def test_time_in_which_nobody_looked_does_not_count(store, monkeypatch):
    """A process that is suspended for an hour must not take over a lock that it sees twice."""
    left_by_a_killed_run(store)
    now = [0.0]
    looks: list[float] = []
    read = object_stores.ObjectStores.read_version

    def looking(files: Any, path: str) -> Any:
        looks.append(now[0])
        return read(files, path)

    def sleep(seconds: float) -> None:
        now[0] += 3600.0 if len(looks) == 2 else seconds

    monkeypatch.setattr(object_stores.ObjectStores, "read_version", looking)
    clock = type("Clock", (), {"monotonic": lambda: now[0], "sleep": sleep})
    monkeypatch.setattr(locking, "time", clock)
    with locked(OUT, 10_000.0) as lock:
        assert lock.is_held
    assert len(looks) > 50


def test_a_run_whose_lock_was_taken_over_changes_nothing(store, short, monkeypatch):
    """As if it was suspended for longer than its lease."""
    mine, before = staged(OUT, "mine", 2), {}
    write = storage.write_atomically

    def meanwhile(path: str, data: bytes) -> None:
        write(path, data)
        if path.endswith("manifest.json") and not before:
            before["begun"] = True
            publish(OUT, "other", staged(OUT, "other", 3))
            before.update(tags(store))

    monkeypatch.setattr(storage, "write_atomically", meanwhile)
    with pytest.raises(JobError, match="another run has taken over"):
        publish(OUT, "mine", mine)
    discard(OUT, "mine")
    assert tags(store) | {"begun": True} == before
    assert_is_of(store, "other", 3)


def test_a_run_that_is_killed_at_any_moment(store, short, monkeypatch):
    monkeypatch.setattr(locking, "_LEASE", 0.1)
    for changes in range(12):
        for name in names(store):
            obstore.delete(store, f"out/{name}")
        publish(OUT, "former", staged(OUT, "former", 3))
        prepare(OUT)
        new = staged(OUT, "run", 2)
        killed = killed_after(changes, obstore, "put", "copy", "delete")  # its lock stays
        with contextlib.suppress(Killed, JobError), killed:
            publish(OUT, "run", new)
        run = scores(store)
        parts = [name for name in names(store) if name.startswith(f"segment_scores/part-{run}-")]
        assert len(parts) == {"former": 3, "run": 2}[run]
        manifest = json.loads(bytes(obstore.get(store, "out/manifest.json").bytes()))
        if manifest["run"] == run:
            assert {*manifest["data_files"]} == {*parts}
        if "_SUCCESS" in names(store):
            assert names(store) - {LOCK} == {"_SUCCESS", "manifest.json", "scores.json", *parts}
        publish(OUT, "next", staged(OUT, "next", 1))
        assert_is_of(store, "next", 1)
