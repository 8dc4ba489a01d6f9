"""Objects on S3 as files: one to read, and a new one to write."""

from __future__ import annotations

import contextlib
import errno
import io
import tempfile
import time
from collections.abc import Iterator
from typing import Any

from apache_beam.io.aws.s3io import parse_s3_path
from boto3.s3.transfer import TransferConfig
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError, IncompleteReadError

_READ_ATTEMPTS = 4
"""How often a part of an object is asked for if the connection breaks while it comes."""

_FIRST_GET = 1 << 18
_LARGEST_GET = 1 << 26
"""The bytes that one request asks for. Requests for the following bytes ask for twice as many, so
that a few bytes at the end of an object cost little, and a long text needs few requests."""

_IN_MEMORY = 1 << 23
"""A new object with more bytes waits for its upload in a temporary file."""

ONE_CONNECTION = TransferConfig(use_threads=False)


class ReadObject(io.RawIOBase):
    """An object, to read. It holds at most one connection, and no buffer.

    If the object is replaced after the first read, the next request fails.
    """

    def __init__(self, client: Any, path: str) -> None:
        self._client = client
        self._path = path
        self._bucket, self._key = parse_s3_path(path)
        self._position = 0
        self._body: Any = None
        self._left = 0  # the bytes that the answer still has
        self._get = _FIRST_GET
        self._size: int | None = None  # of the whole object, as soon as a request has told it
        self._tag: str | None = None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence)
        if start is None:
            start = self._whole_size()
        if start + offset != self._position:
            self._drop()
            self._get = _FIRST_GET
        self._position = start + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        """Fills the buffer, unless the object ends before."""
        view = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(view):
            part = self._read(len(view) - filled)
            if not part:
                break
            view[filled : filled + len(part)] = part
            filled += len(part)
        return filled

    def close(self) -> None:
        self._drop()
        super().close()

    def _read(self, size: int) -> bytes:
        """Some of the next bytes, at most `size`; none at the end of the object."""
        part = b""
        for attempt in range(1, _READ_ATTEMPTS + 1):
            if not self._left:
                self._request(size)
            if not self._left:
                return b""
            try:
                with telling(self._path):
                    part = self._body.read(min(size, self._left))
            except ConnectionError:
                if attempt == _READ_ATTEMPTS:
                    raise
            if part:
                break
            self._drop()
            time.sleep(attempt)
        self._left -= len(part)
        self._position += len(part)
        if not self._left:
            self._drop()
        return part

    def _request(self, size: int) -> None:
        """Asks for the next bytes: `size` of them, or more."""
        self._drop()
        if self._size is not None and self._position >= self._size:
            return
        asked = max(size, self._get)
        self._get = min(2 * asked, _LARGEST_GET)
        last = self._position + asked - 1
        condition = {"IfMatch": self._tag} if self._tag else {}
        with telling(self._path):
            try:
                got = self._client.get_object(
                    Bucket=self._bucket,
                    Key=self._key,
                    Range=f"bytes={self._position}-{last}",
                    **condition,
                )
            except ClientError as error:
                if error.response.get("Error", {}).get("Code") == "InvalidRange":
                    return  # the object ends before
                raise
        self._body, self._left = got["Body"], got["ContentLength"]
        self._tag = got.get("ETag")
        self._size = int(got["ContentRange"].rpartition("/")[2])

    def _whole_size(self) -> int:
        if self._size is None:
            with telling(self._path):
                got = self._client.head_object(Bucket=self._bucket, Key=self._key)
            self._size, self._tag = got["ContentLength"], got.get("ETag")
        return int(self._size or 0)

    def _drop(self) -> None:
        if self._body is not None:
            self._body.close()
        self._body, self._left = None, 0


class NewObject(io.BufferedIOBase):
    """An object, to write. Nobody sees a part of it."""

    def __init__(self, client: Any, path: str, mime_type: str) -> None:
        self._client = client
        self._path = path
        self._mime_type = mime_type
        self._spool = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._spool.tell()

    def write(self, data: Any) -> int:
        self._spool.write(data)
        return memoryview(data).nbytes

    def close(self) -> None:
        if self.closed:
            return
        try:
            self._spool.seek(0)
            with telling(self._path):
                self._client.upload_fileobj(
                    self._spool,
                    *parse_s3_path(self._path),
                    ExtraArgs={"ContentType": self._mime_type},
                    Config=ONE_CONNECTION,
                )
        finally:
            self._discard()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            self._discard()

    def __del__(self) -> None:
        # The method of the base class would upload an object that an error has left half written.
        self._discard()

    def _discard(self) -> None:
        self._spool.close()
        super().close()


@contextlib.contextmanager
def telling(path: str) -> Iterator[None]:
    """Makes an `OSError` with one sentence of any exception that boto3 raises in the body."""
    try:
        yield
    except ClientError as error:
        told = error.response.get("Error", {})
        if told.get("Code") in ("NoSuchKey", "404"):
            raise FileNotFoundError(errno.ENOENT, said(told), path) from error
        raise OSError(said(told)) from error
    except (HTTPClientError, IncompleteReadError) as error:
        raise ConnectionError(str(error)) from error
    except BotoCoreError as error:  # no credentials, for example
        raise OSError(str(error)) from error


def said(told: Any) -> str:
    """What the server said about an error, from its answer or a part of it."""
    return f"the server says {told.get('Code', 'nothing')}: {told.get('Message', '')}".rstrip(":. ")
