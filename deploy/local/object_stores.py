"""Runs object stores on this machine: S3's protocol, Azure's emulator, a stand-in for Google's."""

from __future__ import annotations

import abc
import base64
import email.utils
import hmac
import http.client
import pathlib
import secrets
import sys
from typing import Any

from obstore.store import AzureStore, GCSStore, S3Store

from deploy.local.cluster import PROJECT, Service
from deploy.local.places import Place
from deploy.local.processes import HOST, ClusterError

_CLIENT: Any = {"allow_http": True}


class ObjectStore(Service):
    """A server with one bucket, and with new credentials at each start."""

    bucket = "beam-bleu"
    root: str
    endpoint: str
    secrets: tuple[str, ...]
    no_bucket: str

    def __init__(self, folder: pathlib.Path, place: Place | None = None, port: int = 0) -> None:
        super().__init__(folder)
        self.place = place or Place(folder)
        self._port = self.place.port(port)

    @abc.abstractmethod
    def client(self) -> Any:
        """A client of obstore for the bucket."""

    def wait_until_it_listens(self) -> None:
        self.processes.wait_until("the object store", lambda: self.place.listening(self._port))


class S3Server(ObjectStore):
    """A versitygw, which keeps objects in a folder of this machine."""

    region = "us-east-1"
    no_bucket = "the server says NoSuchBucket"

    def __init__(
        self, folder: pathlib.Path, program: pathlib.Path, place: Place | None = None
    ) -> None:
        super().__init__(folder, place, 7070)
        self.program = program
        self.endpoint = f"http://{self.place.address}:{self._port}"
        self.root = f"s3://{self.bucket}/"
        self.access_key = secrets.token_hex(10)
        self.secret_key = secrets.token_hex(20)
        self.secrets = (self.access_key, self.secret_key)
        self.made_of = f"versitygw ({self.endpoint}), with the bucket s3://{self.bucket}"

    def start(self) -> None:
        # Folders inside `objects` are buckets.
        for folder in (f"objects/{self.bucket}", "meta", "accounts"):
            (self.place.kept / folder).mkdir(parents=True, exist_ok=True)
        objects, meta = self.place.folder / "objects", self.place.folder / "meta"
        accounts = self.place.folder / "accounts"
        # Without `--sidecar`, it would need a filesystem with extended attributes. It keeps
        # connections open, as S3 does, only if it is told to.
        command: list[str | pathlib.Path] = [
            *(self.program, "--port", f"{self.place.ip}:{self._port}", "--region", self.region),
            *("--keep-alive", "--health", "/health", "--iam-dir", accounts),
            *("posix", "--sidecar", meta, objects),
        ]
        keys = {"ROOT_ACCESS_KEY": self.access_key, "ROOT_SECRET_KEY": self.secret_key}
        self.start_at(self.place, "versitygw", command, keys)
        self.wait_until_it_listens()

    def flags(self) -> list[str]:
        return [
            f"--s3_endpoint_url={self.endpoint}",
            f"--s3_access_key_id={self.access_key}",
            f"--s3_secret_access_key={self.secret_key}",
            f"--s3_region_name={self.region}",
        ]

    def environment(self) -> dict[str, str]:
        return {
            "AWS_ENDPOINT_URL_S3": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.access_key,
            "AWS_SECRET_ACCESS_KEY": self.secret_key,
            "AWS_DEFAULT_REGION": self.region,
        }

    def client(self) -> S3Store:
        return S3Store(self.bucket, config=self.environment(), client_options=_CLIENT)


class GoogleServer(ObjectStore):
    """A stand-in for Google Cloud Storage (`gcs_stand_in.py`), which keeps objects in memory."""

    secrets = ()
    no_bucket = "the server says NoSuchBucket"

    def __init__(self, folder: pathlib.Path) -> None:
        super().__init__(folder)
        self.endpoint = f"http://{HOST}:{self._port}"
        self.root = f"gs://{self.bucket}/"
        self.made_of = f"a stand-in for Google Cloud Storage ({self.endpoint}), with {self.root}"

    def start(self) -> None:
        self.start_at(
            self.place,
            "gcs",
            [sys.executable, "-m", "deploy.local.gcs_stand_in", str(self._port), self.bucket],
            {"PYTHONPATH": str(PROJECT)},
        )
        self.wait_until_it_listens()

    def flags(self) -> list[str]:
        """See `Service`. Beam has no flag for another server, which the environment must name."""
        return []

    def environment(self) -> dict[str, str]:
        return {"STORAGE_EMULATOR_HOST": self.endpoint}

    def client(self) -> GCSStore:
        return GCSStore(
            self.bucket, base_url=self.endpoint, bearer_token="emulator", client_options=_CLIENT
        )


class AzureServer(ObjectStore):
    """An Azurite, Microsoft's emulator of Azure Blob Storage."""

    no_bucket = "the server says ContainerNotFound"

    def __init__(self, folder: pathlib.Path, node: pathlib.Path, program: pathlib.Path) -> None:
        super().__init__(folder)
        self._command = (node, program)
        self.account = "beambleu"
        self._key = base64.b64encode(secrets.token_bytes(64)).decode()
        self.endpoint = f"http://{HOST}:{self._port}/{self.account}"
        self.root = f"az://{self.bucket}/"
        self.secrets = (self._key,)
        self.made_of = f"Azurite ({self.endpoint}), with the container az://{self.bucket}"

    def start(self) -> None:
        objects = self.folder / "objects"
        objects.mkdir(parents=True, exist_ok=True)
        self.start_at(
            self.place,
            "azurite",
            [
                *(*self._command, "--location", objects, "--silent", "--disableTelemetry"),
                *("--blobHost", HOST, "--blobPort", str(self._port), "--skipApiVersionCheck"),
            ],
            {"AZURITE_ACCOUNTS": f"{self.account}:{self._key}"},
        )
        self.wait_until_it_listens()
        self._make_container()

    def flags(self) -> list[str]:
        return [f"--azure_connection_string={self._connection_string()}"]

    def environment(self) -> dict[str, str]:
        return {"AZURE_STORAGE_CONNECTION_STRING": self._connection_string()}

    def client(self) -> AzureStore:
        return AzureStore(
            self.bucket,
            account_name=self.account,
            account_key=self._key,
            endpoint=self.endpoint,
            client_options=_CLIENT,
        )

    def _connection_string(self) -> str:
        return (
            f"DefaultEndpointsProtocol=http;AccountName={self.account};AccountKey={self._key};"
            f"BlobEndpoint={self.endpoint};"
        )

    def _make_container(self) -> None:
        """Asks for a new container, signed as Azure's documentation of Shared Key demands."""
        path = f"/{self.account}/{self.bucket}"
        headers = {
            "x-ms-date": email.utils.formatdate(usegmt=True),
            "x-ms-version": "2021-08-06",
        }
        signed = "\n".join(
            [
                *("PUT", *[""] * 11),  # headers that the request does not have
                *(f"{name}:{value}" for name, value in headers.items()),
                f"/{self.account}{path}\nrestype:container",
            ]
        )
        digest = hmac.digest(base64.b64decode(self._key), signed.encode(), "sha256")
        signature = base64.b64encode(digest).decode()
        headers["Authorization"] = f"SharedKey {self.account}:{signature}"
        connection = http.client.HTTPConnection(HOST, self._port, timeout=10)
        connection.request("PUT", f"{path}?restype=container", headers=headers)
        answer = connection.getresponse()
        if answer.status not in (201, 409):  # 409: it exists since an earlier start
            raise ClusterError(f"Azurite made no container: {answer.read().decode()}")
        connection.close()
