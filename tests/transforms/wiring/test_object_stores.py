"""Objects of a server that is slow, breaks connections, or answers with errors for a while."""

from __future__ import annotations

import email.utils
import hashlib
import http.server
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from command_line import REFERENCES, SYSTEMS, called, streams

from beam_bleu.transforms.wiring import object_store_clients
from beam_bleu.transforms.wiring.filesystems import filesystem_of
from beam_bleu.transforms.wiring.object_stores import ObjectStores

DATA = random.Random(1).randbytes(1_500_000)


class Server(http.server.ThreadingHTTPServer):
    """A server on loopback with one file, x.txt, that fails as it is told.

    `faults` says what goes wrong with the next requests that have a body in their answer.
    """

    daemon_threads = True

    def __init__(self, address: str = "127.0.0.1") -> None:
        super().__init__((address, 0), Handler)
        self.data = DATA
        self.faults: list[str] = []
        self.has_ranges = True
        self.has_tags = True
        self.redirects: dict[str, str] = {}
        self.asked: list[tuple[str, str | None]] = []
        self.url = f"http://{address}:{self.server_port}"

    def handle_error(self, *arguments: Any) -> None:
        """A client may close a connection before it has read the answer."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, *arguments: Any) -> None: ...

    def do_GET(self) -> None:
        server = self.server
        server.asked.append((self.command, self.headers.get("Range")))
        if self.path in server.redirects:
            return self._answer(302, b"", {"Location": server.redirects[self.path]})
        fault = server.faults.pop(0) if server.faults and self.command == "GET" else ""
        if fault == "no answer":
            time.sleep(0.4)
            self.close_connection = True
            return
        if fault == "busy":
            return self._answer(503, b"<Error><Code>SlowDown</Code></Error>")
        if not self.path.partition("?")[0].endswith("/x.txt"):
            return self._answer(404, b"<Error><Code>NoSuchKey</Code></Error>")
        tag = f'"{hashlib.md5(server.data).hexdigest()}"'
        if self.headers.get("If-Match", tag) != tag:
            return self._answer(412, b"<Error><Code>PreconditionFailed</Code></Error>")
        start, stop, status = 0, len(server.data), 200
        if server.has_ranges and (asked := self.headers.get("Range")):
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop, status = int(first), min(int(last) + 1, stop), 206
        if status == 206 and start >= stop:
            return self._answer(416, b"<Error><Code>InvalidRange</Code></Error>")
        headers = {"ETag": tag, "Last-Modified": email.utils.formatdate(0, usegmt=True)}
        if not server.has_tags:
            del headers["ETag"]
        if status == 206:
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(server.data)}"
        body = server.data[start:stop]
        self._answer(status, body, headers, cut=fault == "broken")

    do_HEAD = do_GET  # noqa: N815

    def _answer(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, cut: bool = False
    ) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[: len(body) // 2] if cut else body)
            self.close_connection = cut


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    quick = {"init_backoff": timedelta(seconds=0.01), "max_backoff": timedelta(seconds=0.1)}
    monkeypatch.setattr(
        object_store_clients,
        "RETRIES",
        {"max_retries": 5, "retry_timeout": timedelta(seconds=1), "backoff": {**quick, "base": 2}},
    )
    monkeypatch.setitem(object_store_clients._TIMEOUTS, "read_timeout", "200ms")
    server = Server()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    flags = ["--s3_access_key_id=key", "--s3_secret_access_key=secret"]
    options = PipelineOptions([f"--s3_endpoint_url={server.url}", *flags])
    monkeypatch.setattr(FileSystems, "_pipeline_options", options)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture(params=["s3", "http"])
def path(request: pytest.FixtureRequest, server: Server) -> str:
    """The path of the file, in a bucket of S3 and on a web server."""
    return "s3://bucket/x.txt" if request.param == "s3" else f"{server.url}/folder/x.txt"


def content(path: str) -> bytes:
    """The content of a file, read as jobs do: in pieces."""
    with filesystem_of(path).open(path) as file:
        return b"".join(iter(lambda: file.read(100_000), b""))


@pytest.mark.parametrize(
    "faults", [[], ["broken", "broken", "busy", "broken"], ["no answer"]], ids=" ".join
)
def test_a_server_that_recovers_gives_the_same_bytes(
    server: Server, path: str, faults: list[str]
) -> None:
    server.faults = [*faults]
    assert content(path) == DATA
    assert server.faults == []


def test_a_server_that_does_not_recover_is_an_error_in_bounded_time(
    server: Server, path: str
) -> None:
    server.faults = ["no answer" if path.startswith("s3") else "busy"] * 1000
    begun = time.monotonic()
    with pytest.raises(OSError, match=r"SlowDown|connection broke|no answer in time"):
        content(path)
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("has_tags", [True, False])
def test_a_file_that_is_replaced_while_it_is_read(server: Server, has_tags: bool) -> None:
    """A server without tags says of a shorter one that there is no such range."""
    server.has_tags = has_tags
    with filesystem_of(f"{server.url}/x.txt").open(f"{server.url}/x.txt") as file:
        file.read(300_000)
        server.data = DATA[::-1] if has_tags else DATA[:1000]
        with pytest.raises(OSError, match=r"PreconditionFailed|has been replaced"):
            file.read()


def test_a_missing_file(server: Server, path: str) -> None:
    missing = path.replace("x.txt", "y.txt")
    files = filesystem_of(path)
    assert files.exists(path)
    assert not files.exists(missing)
    assert files.match([missing])[0].metadata_list == []
    assert [file.size_in_bytes for file in files.match([path])[0].metadata_list] == [len(DATA)]
    with pytest.raises(FileNotFoundError):
        content(missing)


def test_a_web_server_without_ranges_sends_the_whole_file(server: Server) -> None:
    server.has_ranges = False
    path = f"{server.url}/x.txt"
    assert content(path) == DATA
    with ObjectStores().open(path) as file:
        for place in (1_000_000, 5, 700_000):
            file.seek(place)
            assert file.read(10) == DATA[place : place + 10]


def test_a_web_server_lists_nothing_and_takes_nothing(server: Server) -> None:
    with pytest.raises(OSError, match="name each of them"):
        ObjectStores().match([f"{server.url}/*.txt"])
    with pytest.raises(OSError, match="nothing can be written"):
        ObjectStores().create(f"{server.url}/x.txt")


def test_a_path_that_names_no_object(server: Server) -> None:
    for path in ["s3:///x", "azfs://account", "s3://bucket/a//b"]:
        with pytest.raises(
            OSError, match=r"names no bucket|empty path segment|has no account|Account"
        ):
            ObjectStores().metadata(path)


def test_a_run_scores_texts_of_a_web_server(server: Server) -> None:
    server.data = SYSTEMS["atlas"].read_bytes()
    run = called(*streams([f"atlas={server.url}/x.txt"], REFERENCES, "--format=json"))
    expected = called(*streams([SYSTEMS["atlas"]], REFERENCES, "--format=json"))
    assert run.document == expected.document
    run = called(*streams([f"{server.url}/y.txt"], REFERENCES))
    run.assert_failed(3, f"nothing matches {server.url}/y.txt")


@pytest.fixture
def other_host() -> Iterator[Server]:
    other = Server("127.0.0.2")
    threading.Thread(target=other.serve_forever, args=(0.01,), daemon=True).start()
    yield other
    other.shutdown()
    other.server_close()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")
def test_a_web_server_redirects_to_its_own_host_only(server: Server, other_host: Server) -> None:
    server.data = other_host.data = SYSTEMS["atlas"].read_bytes()
    server.redirects = {"/own": "/folder/x.txt", "/other": f"{other_host.url}/x.txt?sig=wJalr"}
    expected = called(*streams([SYSTEMS["atlas"]], REFERENCES, "--format=json")).document
    run = called(*streams([f"atlas={server.url}/own"], REFERENCES, "--format=json"))
    assert run.document == expected
    to_other = streams([f"atlas={server.url}/other"], REFERENCES, "--format=json")
    run = called(*to_other)
    run.assert_failed(
        3, f"{server.url}/other", "redirects to another host, without --allow redirects"
    )
    assert "wJalr" not in run.err
    # A worker, and a server that redirects only after it was asked the first time.
    for path in (f"{server.url}/other", f"{server.url}/x.txt"):
        file = filesystem_of(path).open(path)
        server.redirects["/x.txt"] = f"{other_host.url}/x.txt"
        with pytest.raises(OSError, match="redirects to another host"):
            file.read()
    assert other_host.asked == []
    assert called(*to_other, "--allow=redirects").document == expected
    assert other_host.asked != []


def test_a_password_in_an_address_is_refused_and_not_shown(server: Server, tmp_path: Any) -> None:
    url = server.url.replace("//", "//user:wJalr@")
    run = called(*streams([f"sys={url}/x.txt"], REFERENCES, f"--output={tmp_path}/out"))
    run.assert_failed(2, "has a user or a password")
    assert "wJalr" not in run.err
    assert all("wJalr" not in file.read_text() for file in tmp_path.glob("*/*"))
    assert server.asked == []


@pytest.mark.skipif(os.name != "posix", reason="signals are sent to a process")
def test_a_signal_ends_a_run_that_waits_for_a_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/x.txt"
        command = [sys.executable, "-m", "beam_bleu.pipeline", "--candidates", url]
        with subprocess.Popen([*command, "--references", url], stderr=subprocess.PIPE) as process:
            connection, _ = silent.accept()
            process.send_signal(signal.SIGINT)
            _, told = process.communicate(timeout=30)  # the server has 60 s for its answer
        connection.close()
    assert process.returncode == 130
    assert told.endswith(b"beam-bleu: stopped by SIGINT\n")
