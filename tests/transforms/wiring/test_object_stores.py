"""Objects of a server that breaks connections, or answers with errors for a while, and settings."""

from __future__ import annotations

import email.utils
import hashlib
import http.server
import os
import pathlib
import random
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import obstore
import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from command_line import REFERENCES, SYSTEMS, called, streams
from obstore.store import AzureStore

from beam_bleu.transforms.wiring import object_store_clients
from beam_bleu.transforms.wiring.filesystems import filesystem_of
from beam_bleu.transforms.wiring.object_store_clients import client, place_of
from beam_bleu.transforms.wiring.object_stores import ObjectStores
from beam_bleu.transforms.wiring.objects import telling

DATA = random.Random(1).randbytes(1_500_000)


class Server(http.server.ThreadingHTTPServer):
    """A server on loopback with one file, x.txt, that fails as it is told.

    `faults` says what goes wrong with the next requests that have a body in their answer.
    """

    daemon_threads = True

    def __init__(self, address: str) -> None:
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


KEYS = ("--s3_access_key_id=key", "--s3_secret_access_key=secret")


def set_options(monkeypatch: pytest.MonkeyPatch, *flags: str) -> None:
    monkeypatch.setattr(FileSystems, "_pipeline_options", PipelineOptions([*flags]))


def running(address: str) -> Iterator[Server]:
    server = Server(address)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    quick = {"init_backoff": timedelta(seconds=0.01), "max_backoff": timedelta(seconds=0.1)}
    monkeypatch.setattr(
        object_store_clients,
        "RETRIES",
        {"max_retries": 5, "retry_timeout": timedelta(seconds=1), "backoff": {**quick, "base": 2}},
    )
    monkeypatch.setitem(object_store_clients._TIMEOUTS, "read_timeout", "200ms")
    for server in running("127.0.0.1"):
        set_options(monkeypatch, f"--s3_endpoint_url={server.url}", *KEYS)
        yield server


@pytest.fixture(params=["s3", "http"])
def path(request: pytest.FixtureRequest, server: Server) -> str:
    """The path of the file, in a bucket of S3 and on a web server."""
    return "s3://bucket/x.txt" if request.param == "s3" else f"{server.url}/folder/x.txt"


def content(path: str) -> bytes:
    """The content of a file, read as jobs do: in pieces."""
    with filesystem_of(path).open(path) as file:
        return b"".join(iter(lambda: file.read(100_000), b""))


def test_a_server_that_recovers_gives_the_same_bytes(server: Server, path: str) -> None:
    for faults in ([], ["broken", "broken", "busy", "broken"], ["no answer"]):
        server.faults = [*faults]
        assert content(path) == DATA
        assert server.faults == []


def test_a_server_that_does_not_recover_is_an_error_in_bounded_time(server, path):
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


def test_what_cannot_be_listed_written_or_found(server: Server) -> None:
    with pytest.raises(OSError, match="name each of them"):
        ObjectStores().match([f"{server.url}/*.txt"])
    with pytest.raises(OSError, match="nothing can be written"):
        ObjectStores().create(f"{server.url}/x.txt", "text/plain")
    said = r"names no bucket|empty path segment|has no account|Account"
    for path in ["s3:///x", "azfs://account", "s3://bucket/a//b"]:
        with pytest.raises(OSError, match=said):
            ObjectStores().metadata(path)


@pytest.fixture
def other_host() -> Iterator[Server]:
    yield from running("127.0.0.2")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has all of 127.0.0.0/8")
def test_a_web_server_redirects_to_its_own_host_only(server: Server, other_host: Server) -> None:
    server.data = other_host.data = SYSTEMS["atlas"].read_bytes()
    server.redirects = {"/own": "/folder/x.txt", "/other": f"{other_host.url}/x.txt?sig=wJalr"}
    assert content(f"{server.url}/own") == server.data
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
    expected = called(*streams([SYSTEMS["atlas"]], REFERENCES, "--format=json")).document
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


# Settings that cannot be used, and those that are


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> pathlib.Path:
    """A home folder without any settings."""
    for name in os.environ:
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    set_options(monkeypatch)
    (tmp_path / ".aws").mkdir()
    return tmp_path


def signed(path: str) -> str:
    """The address of an object x in a bucket."""
    return str(obstore.sign(client(place_of(path)), "GET", "x", timedelta(1)))


def test_a_damaged_file_with_credentials_is_named_and_not_shown(home: pathlib.Path) -> None:
    for section, end in ((b"", b""), (b"[default]\n", b"\xff")):
        text = section + b"aws_secret_access_key = wJalrXUtnFEMI" + end
        (home / ".aws" / "credentials").write_bytes(text)
        with pytest.raises(OSError, match=r"credentials is not a file of the AWS") as raised:
            ObjectStores().exists("s3://bucket/x")
        assert "wJalr" not in "".join(traceback.format_exception(raised.value))


@pytest.mark.usefixtures("home")
def test_flags_are_not_mixed_with_a_token_of_the_environment(monkeypatch):
    monkeypatch.setenv("AWS_SESSION_TOKEN", "wJalr")
    set_options(monkeypatch, *KEYS)
    assert "X-Amz-Credential=key" in signed("s3://bucket/")
    assert "Token" not in signed("s3://bucket/")


def test_the_server_of_s3(home: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = "[default]\nregion = r\nendpoint_url = https://ours\n"
    (home / ".aws" / "config").write_text(config)
    keys = {"AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"}
    servers: list[tuple[list[str], dict[str, str], str]] = [
        ([], {}, "https://ours/"),
        ([], {"AWS_ENDPOINT_URL": "http://theirs"}, "http://theirs/"),
        (["--s3_endpoint_url=http://flag"], {"AWS_ENDPOINT_URL_S3": "http://a"}, "http://flag/"),
        (["--s3_disable_ssl"], {}, "http://ours/"),
        (["--s3_disable_ssl"], {"AWS_ENDPOINT_URL_S3": "https://theirs"}, "http://theirs/"),
    ]
    for flags, variables, expected in servers:
        with monkeypatch.context() as patch:
            for name, value in {**keys, **variables}.items():
                patch.setenv(name, value)
            set_options(patch, *flags)
            assert signed("s3://bucket/").startswith(f"{expected}bucket/x?")


@pytest.mark.usefixtures("home")
def test_a_connection_string_of_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    def set_connection(text: str) -> None:
        text = f"AccountName=a;AccountKey=a2V5;{text}"
        monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", text)

    set_connection("")
    address = signed("az://container/")
    assert address.startswith("https://a.blob.core.windows.net/container/x?")
    set_connection("EndpointSuffix=core.example.org")
    address = signed("azfs://a/container/")
    assert address.startswith("https://a.blob.core.example.org/container/x?")
    set_connection("BlobEndpoint=http://127.0.0.1:9/a")
    with pytest.raises(OSError, match="the connection string is of the storage account a"):
        signed("azfs://other/container/")


def test_an_address_with_a_signature_is_not_shown() -> None:
    store = AzureStore(
        "container",
        config={"account_name": "a", "endpoint": "http://127.0.0.1:9", "sas_key": "sig=wJalr"},
        client_options={"allow_http": True},
        retry_config={"max_retries": 0, "retry_timeout": timedelta(seconds=1)},
    )
    with (
        pytest.raises(OSError, match=r"^could not connect to the server of az://container: Conn"),
        telling("az://container/x"),
    ):
        obstore.head(store, "x")
