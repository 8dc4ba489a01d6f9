"""Object stores, and files of web servers, with the methods of Beam's filesystems. Those of Beam
need three large libraries, make a client for each call, and without credentials retry for minutes.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import unquote

import obstore
from apache_beam.io.filesystem import CompressionTypes, FileMetadata, FileSystem, MatchResult
from obstore.exceptions import NotSupportedError

from beam_bleu.transforms.wiring.filesystems import OBJECT_STORES
from beam_bleu.transforms.wiring.object_store_clients import Place, client, place_of
from beam_bleu.transforms.wiring.objects import (
    ChangedError,
    NewObject,
    ReadObject,
    code_of,
    interruptible,
    mark,
    telling,
)

_DELETED_AT_ONCE = 16


class ObjectStores:
    """All object stores, with the methods of Beam's filesystem that are used here. Exceptions are
    `OSError`s that say what the server said; a missing bucket is no `FileNotFoundError`.
    """

    def match(
        self, patterns: Sequence[str], limits: Sequence[int | None] | None = None
    ) -> list[MatchResult]:
        return [
            MatchResult(pattern, list(islice(self._matched(pattern, limit == 1), limit)))
            for pattern, limit in zip(patterns, limits or [None] * len(patterns), strict=True)
        ]

    def _matched(self, pattern: str, any_one: bool) -> Iterator[FileMetadata]:
        fixed = re.split(r"[\[*?]", pattern, maxsplit=1)[0]
        if fixed == pattern:
            with contextlib.suppress(FileNotFoundError):
                yield self.metadata(pattern)
            return
        folder = fixed.rpartition("/")[0] + "/"
        place = place_of(folder)
        if OBJECT_STORES[place.scheme].is_web:
            raise OSError("a web server does not list its files: name each of them, without * ? [")
        regex = re.compile(FileSystem.translate_pattern(pattern))
        rest = pattern.removeprefix(folder)
        below = any_one or "/" in rest or "**" in rest
        listed = self._all_below(place) if below else self._in_folder(place)
        for path, meta in listed:
            if regex.fullmatch(path):
                yield _metadata(path, meta)

    def _in_folder(self, place: Place) -> Iterable[tuple[str, Any]]:
        with telling(place.root + place.key):
            listed = interruptible(obstore.list_with_delimiter, client(place), place.key)
        return [(place.root + meta["path"], meta) for meta in listed["objects"]]

    def _all_below(self, place: Place) -> Iterator[tuple[str, Any]]:
        with telling(place.root + place.key):
            pages = obstore.list(client(place), place.key, chunk_size=1000)
        while True:
            with telling(place.root + place.key):
                page = interruptible(next, pages, None)
            if page is None:
                return
            for meta in page:
                path = place.root + meta["path"]
                # A console makes an empty object "a/" to show a folder. It is listed as "a".
                if meta["size"] or self.exists(path):
                    yield path, meta

    def open(self, path: str, compression_type: str = CompressionTypes.UNCOMPRESSED) -> Any:
        place = _object(path)
        return ReadObject(partial(client, place), path, place.key)

    def create(
        self, path: str, mime_type: str, compression_type: str = CompressionTypes.UNCOMPRESSED
    ) -> Any:
        """Opens a new object. It exists once it is closed, unless an exception closes it."""
        place = _object(path)
        if OBJECT_STORES[place.scheme].is_web:
            raise OSError("nothing can be written to a web server")
        return NewObject(client(place, writes=True), path, place.key, mime_type)

    def exists(self, path: str) -> bool:
        try:
            self._head(path)
        except FileNotFoundError:
            return False
        return True

    def metadata(self, path: str) -> FileMetadata:
        return _metadata(path, self._head(path))

    def checksum(self, path: str) -> str:
        version = mark(self._head(path))
        if version is None:
            raise NotImplementedError
        return version

    def delete(self, paths: Sequence[str]) -> None:
        with ThreadPoolExecutor(_DELETED_AT_ONCE) as pool:
            list(pool.map(_delete, map(_object, paths)))

    def put_if(self, path: str, data: bytes, version: Any) -> Any:
        """Writes an object if it has this version, None for no object; returns its new version."""
        place = _object(path)
        try:
            with telling(path):
                mode = "create" if version is None else version
                put = obstore.put(client(place, writes=True), place.key, data, mode=mode)
        except ChangedError as error:
            raise FileExistsError(str(error)) from error
        except OSError as error:
            cause = error.__cause__
            unknown = ("NotImplemented", "501 Not Implemented")
            if isinstance(cause, NotSupportedError) or code_of(cause) in unknown:
                raise NotImplementedError(str(error)) from error
            raise
        return _version(put)

    def read_version(self, path: str) -> tuple[bytes, Any]:
        place = _object(path)
        with telling(path):
            got = interruptible(obstore.get, client(place), place.key)
            return bytes(interruptible(got.bytes)), _version(got.meta)

    def _head(self, path: str) -> Any:
        place = _object(path)
        store = client(place)
        try:
            with telling(path):
                return interruptible(obstore.head, store, place.key)
        except OSError as error:
            is_refused = code_of(error.__cause__).startswith("4")
            if not isinstance(error, FileNotFoundError) and not is_refused:
                raise
            # The answer to HEAD has no text, but the answer to GET says why it failed.
            with telling(path):
                interruptible(obstore.get, store, place.key, options={"range": (0, 1)})
            raise


def _metadata(path: str, meta: Any) -> FileMetadata:
    return FileMetadata(path, meta["size"], meta["last_modified"].timestamp())


def _version(told: Any) -> dict[str, str]:
    """The version of an object. A store compares either the ETag or the version."""
    return {name: told[name] for name in ("e_tag", "version") if told[name] is not None}


def _object(path: str) -> Place:
    """The place of an object. In the address of a file on a web server, its name is encoded."""
    place = place_of(path)
    if OBJECT_STORES[place.scheme].is_web:
        return Place(place.scheme, "", place.bucket, unquote(place.key))
    return place


def _delete(place: Place) -> None:
    with contextlib.suppress(FileNotFoundError), telling(place.root + place.key):
        obstore.delete(client(place), place.key)
