"""Objects in an object store as files, and errors that say what a server said."""

from __future__ import annotations

import contextlib
import errno
import html
import io
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError, PreconditionError

_MISSING = frozenset(["NoSuchKey", "BlobNotFound", "404 Not Found", ""])
"""What servers answer if an object is missing. A missing bucket has another code."""

_CODE = re.compile(r"<Code>\s*([^<]+?)\s*</Code>")
_MESSAGE = re.compile(r"<Message>\s*([^<]+?)\s*(?:</Message>|\n)")
_STATUS = re.compile(r"Server returned non-2xx status code: (\d{3} [A-Za-z -]+)")
_SYSTEM = re.compile(r'\n\s*message: "([^"]+)"')
_URL = re.compile(r"Error performing [A-Z]+ (\S+) in ")
_METADATA_SERVICES = ("//169.254.", "//[fd00:ec2::", "//metadata.google.internal")
NO_PROXY_THERE = "0.0.0.0:9"
"""The proxy for the hosts to which a web server must not redirect. The address
is that of this machine, and the port is that for discarded bytes: nothing there answers."""


class ChangedError(OSError):
    """An object is not the one that was expected: another writer has replaced or made it."""


@contextlib.contextmanager
def telling(path: str) -> Iterator[None]:
    try:
        yield
    except (AlreadyExistsError, PreconditionError) as error:
        raise ChangedError(_said(error, path)) from error
    except FileNotFoundError as error:
        # obstore also raises it for a missing bucket.
        if code_of(error) in _MISSING:
            raise FileNotFoundError(errno.ENOENT, _said(error, path), path) from error
        raise OSError(_said(error, path)) from error
    except (BaseError, ValueError) as error:  # ValueError: the name of an object or an option
        raise OSError(_said(error, path)) from error


def code_of(error: BaseException | None) -> str:
    """The server's word for an error, or the HTTP status; empty if it did not answer."""
    text = str(error)
    for pattern in (_CODE, _STATUS):
        if match := pattern.search(text):
            return match[1].strip()
    return ""


def _said(error: BaseException, path: str) -> str:
    whole = str(error)
    text, _, details = whole.partition("\n\nDebug source:")
    url = _URL.search(text)
    if url and any(place in url[1] for place in _METADATA_SERVICES):
        return (
            "no credentials: there are none in the environment, and this machine has no service "
            "that gives them"
        )
    root = "/".join(path.split("/")[:3])
    # obstore hides an address with a secret, such as a signature of Azure.
    server = url[1] if url and url[1] != "REDACTED" else f"the server of {root}"
    code = code_of(error)
    if code:
        match = _MESSAGE.search(text)
        message = f": {html.unescape(match[1])}".rstrip(".") if match else ""
        return f"the server says {code}{message}"
    cause = _SYSTEM.search(details)
    if NO_PROXY_THERE in details:
        return f"{server} redirects to another host, without --allow redirects"
    if "kind: Connect" in details and url:
        return f"could not connect to {server}: {cause[1] if cause else 'no such host?'}"
    if "TimedOut" in details:
        return f"no answer in time from {server}"
    if "kind: Body" in details:
        return f"the connection broke while the object was read from {server}"
    text = re.sub(r"^Generic \w+ error: ", "", text.strip().splitlines()[0])
    return f"{text}: {cause[1]}" if cause else text


_FIRST_GET = 1 << 18
_LARGEST_GET = 1 << 26
"""The bytes that one request asks for. Requests for the following bytes ask for twice as many, so
that a few bytes at the end of an object cost little, and a long text needs few requests."""

_PIECE = 1 << 18  # the bytes of an answer that are taken from the connection at a time
_PART = 1 << 23
"""Larger objects are uploaded in parts of this size, at most 10,000 of them for S3: 84 GB."""

_REPLACED = "the server says that the object has been replaced"


class ReadObject(io.RawIOBase):
    """An object as a file to read, with at most one connection and one piece of the answer. If it
    is replaced after the first read, the next request fails. `client` makes obstore's client.
    """

    def __init__(self, client: Callable[[], Any], path: str, key: str) -> None:
        self._client = client
        self._path = path
        self._key = key
        self._position = 0
        self._pieces: Iterator[bytes] = iter(())
        self._piece = memoryview(b"")
        self._stop = 0  # where the answer ends
        self._get = _FIRST_GET
        self._size: int | None = None  # of the whole object, once a request has told it
        self._mark: str | None = None
        self._tag: str | None = None
        self._has_ranges = True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position}.get(whence)
        if start is None:
            if self._size is None:
                with telling(self._path):
                    self._check(interruptible(obstore.head, self._client(), self._key))
            start = int(self._size or 0)
        if start + offset != self._position:
            self._drop()
            self._get = _FIRST_GET
        self._position = start + offset
        return self._position

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")
        filled = 0
        while filled < len(view) and self._has_more(len(view) - filled):
            part = self._piece[: len(view) - filled]
            view[filled : filled + len(part)] = part
            self._piece = self._piece[len(part) :]
            self._position += len(part)
            filled += len(part)
        return filled

    def close(self) -> None:
        self._drop()
        super().close()

    def _has_more(self, size: int) -> bool:
        if not self._piece and self._position < self._stop:
            try:
                self._piece = self._next_piece()
            except ChangedError:
                raise
            except OSError:
                # obstore continues a broken answer for 45 s after its request. A slow reader can
                # take longer, so the rest is asked for once more.
                self._drop()
        if not self._piece:
            self._request(size)
            if self._position < self._stop and not self._piece:
                self._piece = self._next_piece()
        return bool(self._piece)

    def _request(self, size: int) -> None:
        self._drop()
        if self._size is not None and self._position >= self._size:
            return
        asked = max(size, self._get)
        self._get = min(2 * asked, _LARGEST_GET)
        options: dict[str, Any] = {"if_match": self._tag} if self._tag else {}
        if self._has_ranges:
            options["range"] = (self._position, self._position + asked)
        with telling(self._path):
            try:
                got = interruptible(obstore.get, self._client(), self._key, options=options)
            except NotSupportedError:
                if not self._has_ranges:
                    raise
                self._has_ranges = False  # a simple web server sends the whole file
                self._request(size)
                return
            except BaseError as error:
                is_past_end = code_of(error).startswith(("InvalidRange", "416 "))
                if not is_past_end and "Invalid range" not in str(error):
                    raise
                if self._size is not None:
                    raise ChangedError(_REPLACED) from error
                return  # the object ends before this place
        self._check(got.meta)
        start, self._stop = got.range
        self._pieces = iter(got.stream(min(_PIECE, self._stop - start)))
        before = self._position - start  # bytes that only a server without ranges sends
        while before > 0:
            self._piece = self._next_piece()
            before, self._piece = before - len(self._piece), self._piece[before:]

    def _next_piece(self) -> memoryview:
        with telling(self._path):
            piece = memoryview(interruptible(next, self._pieces, b""))
        if not piece:  # this must not look like the end of the object
            raise OSError("the connection broke while the object was read")
        return piece

    def _check(self, meta: Any) -> None:
        new_mark = mark(meta)
        if self._size is not None and (self._mark, self._size) != (new_mark, meta["size"]):
            raise ChangedError(_REPLACED)
        self._mark, self._size, tag = new_mark, meta["size"], meta["e_tag"]
        # Not a weak ETag: as a condition it never matches (RFC 9110, section 13.1.1).
        self._tag = None if tag is None or tag.startswith("W/") else tag

    def _drop(self) -> None:
        self._pieces, self._piece, self._stop = iter(()), memoryview(b""), 0


class NewObject(io.BufferedIOBase):
    """An object as a file to write. It exists only once it is closed: nobody sees a part of it."""

    def __init__(self, client: Any, path: str, key: str, mime_type: str) -> None:
        self._path = path
        self._size = 0
        with telling(path):
            self._writer = obstore.open_writer(
                client,
                key,
                attributes={"Content-Type": mime_type},
                buffer_size=_PART,
                max_concurrency=1,
            )

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._size

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes
        with telling(self._path):
            self._writer.write(data)
        self._size += size
        return size

    def close(self) -> None:
        if not self.closed:
            super().close()
            with telling(self._path):
                self._writer.close()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is None:
            self.close()
        else:
            self._abort()

    def __del__(self) -> None:
        if not self.closed and hasattr(self, "_writer"):  # an error has left it half written
            self._abort()

    def _abort(self) -> None:
        super().close()
        with contextlib.suppress(OSError, BaseError):
            self._writer.__exit__(OSError, None, None)


def mark(meta: Any) -> str | None:
    """What tells the versions of an object apart: its ETag, or else its version or its time."""
    if meta["e_tag"] or meta["version"]:
        return str(meta["e_tag"] or meta["version"])
    seconds = meta["last_modified"].timestamp()
    return str(seconds) if seconds else None


def interruptible(call: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """The result of a call of obstore that reads. While obstore waits, Python handles no signal in
    that thread. So another thread makes the call for the main thread, and may go on after a signal.
    """
    if threading.current_thread() is not threading.main_thread():
        return call(*arguments, **named)
    answer: Future[Any] = Future()

    def answering() -> None:
        try:
            answer.set_result(call(*arguments, **named))
        except BaseException as error:
            answer.set_exception(error)

    # Not a pool: Python waits for the threads of a pool before it exits.
    threading.Thread(target=answering, name="beam-bleu object store", daemon=True).start()
    return answer.result()
