"""An object store in this process's memory: no folders, one put for each object, paths mem://..."""

from __future__ import annotations

import io
import itertools

from apache_beam.io.filesystem import BeamIOError, FileMetadata, FileSystem

OBJECTS: dict[str, tuple[bytes, float]] = {}
"""The bytes of each object, and when it was put."""

_CLOCK = itertools.count(1)


class _Put(io.BytesIO):
    """An object that is there when it is closed, and not before."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path

    def close(self) -> None:
        if not self.closed:
            OBJECTS[self._path] = self.getvalue(), float(next(_CLOCK))
        super().close()


class MemoryFileSystem(FileSystem):
    """Beam finds this class because it is defined."""

    @classmethod
    def scheme(cls):
        return "mem"

    def join(self, basepath, *paths):
        return "/".join([basepath.rstrip("/"), *(path.strip("/") for path in paths)])

    def split(self, path):
        head, _, tail = path.rpartition("/")
        return head, tail

    def mkdirs(self, path):
        pass

    def has_dirs(self):
        return False

    def _list(self, dir_or_prefix):
        for path, (data, put) in list(OBJECTS.items()):
            if path.startswith(dir_or_prefix):
                yield FileMetadata(path, len(data), put)

    def create(self, path, mime_type="", compression_type=""):
        return _Put(path)

    def open(self, path, mime_type="", compression_type=""):
        return io.BytesIO(self._object(path)[0])

    def copy(self, source_file_names, destination_file_names):
        for source, destination in zip(source_file_names, destination_file_names, strict=True):
            OBJECTS[destination] = self._object(source)[0], float(next(_CLOCK))

    def rename(self, source_file_names, destination_file_names):
        self.copy(source_file_names, destination_file_names)
        self.delete(source_file_names)

    def exists(self, path):
        return path in OBJECTS

    def size(self, path):
        return len(self._object(path)[0])

    def last_updated(self, path):
        return self._object(path)[1]

    def checksum(self, path):
        return str(self.last_updated(path))

    def metadata(self, path):
        data, put = self._object(path)
        return FileMetadata(path, len(data), put)

    def delete(self, paths):
        for path in paths:
            OBJECTS.pop(path, None)

    def _object(self, path):
        if path not in OBJECTS:
            raise BeamIOError(f"no object {path}", {path: FileNotFoundError(path)})
        return OBJECTS[path]
