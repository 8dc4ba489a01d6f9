"""Stands in for Google Cloud Storage: a server with the part of its XML API that beam-bleu uses.

    python -m deploy.local.gcs_stand_in PORT BUCKET

The public registries have no emulator of this API: fake-gcs-server knows the JSON API, and accepts
no plain PUT. This server follows Google's documentation, so it only shows that requests are as the
documentation demands. It keeps objects in memory, checks no credentials, and lists all objects at
once.
"""

from __future__ import annotations

import dataclasses
import email.utils
import hashlib
import http.server
import itertools
import sys
import threading
import time
import urllib.parse
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any
from xml.sax.saxutils import escape

_NO_KIND = "application/octet-stream"


@dataclasses.dataclass(frozen=True)
class _Object:
    data: bytes
    kind: str
    generation: int
    written: float

    def headers(self) -> dict[str, str]:
        return {
            "Content-Type": self.kind,
            "ETag": f'"{hashlib.md5(self.data).hexdigest()}"',
            "Last-Modified": email.utils.formatdate(self.written, usegmt=True),
            "x-goog-generation": str(self.generation),
        }


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port: int, bucket: str) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.bucket = bucket
        self.objects: dict[str, _Object] = {}
        self.uploads: dict[str, tuple[str, dict[int, bytes]]] = {}
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *arguments: Any) -> None:
        """Writes no log."""

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        bucket, _, name = urllib.parse.unquote(url.path).lstrip("/").partition("/")
        with self.server.lock:
            if bucket != self.server.bucket:
                self._fail(404, "NoSuchBucket", "The specified bucket does not exist.")
            elif not name:
                self._list(query)
            elif "uploads" in query or "uploadId" in query:
                self._upload(name, query, body)
            elif self.command == "PUT":
                self._put(name, body)
            elif name not in self.server.objects:
                self._fail(404, "NoSuchKey", "The specified key does not exist.")
            elif self.command == "DELETE":
                del self.server.objects[name]
                self._answer(204)
            else:
                self._get(self.server.objects[name])

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _handle  # noqa: N815

    def _get(self, found: _Object) -> None:
        headers = found.headers()
        if self.headers.get("If-Match", headers["ETag"]) != headers["ETag"]:
            return self._fail(412, "PreconditionFailed", "A condition did not hold.")
        asked = self.headers.get("Range")
        if not asked:
            return self._answer(200, found.data, headers)
        first, _, last = asked.removeprefix("bytes=").partition("-")
        start, size = int(first), len(found.data)
        stop = min(int(last) + 1 if last else size, size)
        if start >= size:
            return self._fail(416, "InvalidRange", "The requested range cannot be satisfied.")
        headers["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        return self._answer(206, found.data[start:stop], headers)

    def _put(self, name: str, data: bytes) -> None:
        there = self.server.objects.get(name)
        wanted = self.headers.get("x-goog-if-generation-match")
        if wanted is not None and int(wanted) != (there.generation if there else 0):
            return self._fail(412, "PreconditionFailed", "A condition did not hold.")
        kind = self.headers.get("Content-Type", _NO_KIND)
        self._answer(200, headers=self._kept(name, data, kind).headers())

    def _kept(self, name: str, data: bytes, kind: str) -> _Object:
        made = _Object(data, kind, next(self.server.numbers), time.time())
        self.server.objects[name] = made
        return made

    def _upload(self, name: str, query: Mapping[str, str], body: bytes) -> None:
        """Receives an object in parts."""
        if "uploads" in query:
            upload = str(next(self.server.numbers))
            kind = self.headers.get("Content-Type", _NO_KIND)
            self.server.uploads[upload] = (kind, {})
            tags = f"<Bucket>b</Bucket><Key>{escape(name)}</Key><UploadId>{upload}</UploadId>"
            return self._xml("InitiateMultipartUploadResult", tags)
        kind, parts = self.server.uploads[query["uploadId"]]
        if self.command == "PUT":
            parts[int(query["partNumber"])] = body
            return self._answer(200, headers={"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
        del self.server.uploads[query["uploadId"]]
        if self.command == "DELETE":
            return self._answer(204)
        data = b"".join(part for _, part in sorted(parts.items()))
        made = self._kept(name, data, kind)
        tag = escape(made.headers()["ETag"])
        tags = f"<Bucket>b</Bucket><Key>{escape(name)}</Key><ETag>{tag}</ETag>"
        return self._xml("CompleteMultipartUploadResult", tags, made.headers())

    def _list(self, query: Mapping[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        shown: dict[str, str] = {}
        for name in sorted(self.server.objects):
            if not name.startswith(prefix):
                continue
            below, found, _ = name[len(prefix) :].partition(delimiter or "\0")
            if found:
                folder = escape(prefix + below + delimiter)
                shown[name] = f"<CommonPrefixes><Prefix>{folder}</Prefix></CommonPrefixes>"
                continue
            one = self.server.objects[name]
            written = datetime.fromtimestamp(one.written, timezone.utc).isoformat()
            shown[name] = (
                f"<Contents><Key>{escape(name)}</Key><Size>{len(one.data)}</Size>"
                f"<ETag>{escape(one.headers()['ETag'])}</ETag>"
                f"<LastModified>{written}</LastModified></Contents>"
            )
        self._xml("ListBucketResult", "".join(dict.fromkeys(shown.values())))

    def _xml(self, kind: str, tags: str, headers: Mapping[str, str] | None = None) -> None:
        self._answer(200, f"<{kind}>{tags}</{kind}>".encode(), headers)

    def _fail(self, status: int, code: str, message: str) -> None:
        text = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
        self._answer(status, text.encode())

    def _answer(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


if __name__ == "__main__":
    _Server(int(sys.argv[1]), sys.argv[2]).serve_forever()
