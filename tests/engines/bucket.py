"""The bucket of an object store, for tests: puts, lists and deletes objects without beam-bleu."""

from __future__ import annotations

import hashlib
import itertools
from pathlib import Path

import obstore
from compressing import COMPRESS

from deploy.local.object_stores import ObjectStore

_FOLDERS = itertools.count(1)


class Folder:
    """A new, empty folder in a store's bucket."""

    def __init__(self, store: ObjectStore) -> None:
        self._prefix = f"test-{next(_FOLDERS)}/"
        self.store = store
        self._client = store.client()
        self.url = f"{store.root}{self._prefix}".rstrip("/")

    def put(self, name: str, data: bytes) -> str:
        """Writes an object; returns its path."""
        obstore.put(self._client, self._prefix + name, data)
        return f"{self.url}/{name}"

    def put_lines(self, name: str, lines: list[str]) -> str:
        """Writes lines, compressed as the suffix says; returns the path."""
        suffix = Path(name).suffix if Path(name).suffix in COMPRESS else ""
        return self.put(name, COMPRESS[suffix]("".join(f"{line}\n" for line in lines).encode()))

    def put_shards(self, name: str, lines: list[str], shards: int, suffix: str) -> str:
        """Writes lines in shards; returns their pattern."""
        for number in range(shards):
            part = lines[number * len(lines) // shards : (number + 1) * len(lines) // shards]
            self.put_lines(f"{name}/part-{number:04}{suffix}", part)
        return f"{self.url}/{name}/part-*"

    def get(self, name: str) -> bytes:
        return bytes(obstore.get(self._client, self._prefix + name).bytes())

    def delete(self, name: str) -> None:
        obstore.delete(self._client, self._prefix + name)

    def objects(self, below: str = "") -> dict[str, str]:
        """A digest of the content of each object, by name."""
        pages = obstore.list(self._client, (self._prefix + below).rstrip("/"))
        names = [meta["path"].removeprefix(self._prefix) for page in pages for meta in page]
        return {name: hashlib.md5(self.get(name)).hexdigest() for name in names}
