"""The settings of object stores that cannot be used. No server is asked."""

from __future__ import annotations

import datetime
import os
import pathlib
import traceback

import obstore
import pytest
from apache_beam.io.filesystems import FileSystems
from apache_beam.options.pipeline_options import PipelineOptions
from obstore.store import AzureStore

from beam_bleu.transforms.wiring.object_store_clients import client, place_of
from beam_bleu.transforms.wiring.object_stores import ObjectStores
from beam_bleu.transforms.wiring.objects import telling


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> pathlib.Path:
    """A home folder without any settings."""
    for name in os.environ:
        if name.startswith(("AWS_", "AZURE_", "GOOGLE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(FileSystems, "_pipeline_options", PipelineOptions([]))
    (tmp_path / ".aws").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    "text",
    [
        "aws_secret_access_key = wJalrXUtnFEMI",
        "[default]\naws_secret_access_key = wJalrXUtnFEMI\xff",
    ],
    ids=["no section", "not UTF-8"],
)
def test_a_damaged_file_with_credentials_is_named_and_not_shown(
    home: pathlib.Path, text: str
) -> None:
    (home / ".aws" / "credentials").write_bytes(text.encode("latin-1"))
    with pytest.raises(OSError, match=r"credentials is not a file of the AWS") as raised:
        ObjectStores().exists("s3://bucket/x")
    assert "wJalr" not in "".join(traceback.format_exception(raised.value))


def test_flags_are_not_mixed_with_a_token_of_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "wJalr")
    options = PipelineOptions(["--s3_access_key_id=key", "--s3_secret_access_key=secret"])
    monkeypatch.setattr(FileSystems, "_pipeline_options", options)
    address = obstore.sign(client(place_of("s3://bucket/")), "GET", "x", datetime.timedelta(1))
    assert "X-Amz-Credential=key" in address
    assert "Token" not in address


PROFILE = "[default]\nregion = r\nendpoint_url = https://ours\n"


@pytest.mark.parametrize(
    ("flags", "variables", "expected"),
    [
        ([], {}, "https://ours/"),
        ([], {"AWS_ENDPOINT_URL": "http://theirs"}, "http://theirs/"),
        (["--s3_endpoint_url=http://flag"], {"AWS_ENDPOINT_URL_S3": "http://a"}, "http://flag/"),
        (["--s3_disable_ssl"], {}, "http://ours/"),
        (["--s3_disable_ssl"], {"AWS_ENDPOINT_URL_S3": "https://theirs"}, "http://theirs/"),
    ],
)
def test_the_server_of_s3(
    home: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    variables: dict[str, str],
    expected: str,
) -> None:
    (home / ".aws" / "config").write_text(PROFILE)
    for name, value in {
        "AWS_ACCESS_KEY_ID": "a",
        "AWS_SECRET_ACCESS_KEY": "b",
        **variables,
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(FileSystems, "_pipeline_options", PipelineOptions(flags))
    address = obstore.sign(client(place_of("s3://bucket/")), "GET", "x", datetime.timedelta(1))
    assert address.startswith(f"{expected}bucket/x?")


def connected(monkeypatch: pytest.MonkeyPatch, path: str, text: str) -> str:
    """The address of an object, with a connection string of Azure."""
    monkeypatch.setenv("AZURE_STORAGE_CONNECTION_STRING", f"AccountName=a;AccountKey=a2V5;{text}")
    return str(obstore.sign(client(place_of(path)), "GET", "x", datetime.timedelta(1)))


def test_a_connection_string_of_azure(monkeypatch: pytest.MonkeyPatch) -> None:
    address = connected(monkeypatch, "az://container/", "")
    assert address.startswith("https://a.blob.core.windows.net/container/x?")
    address = connected(monkeypatch, "azfs://a/container/", "EndpointSuffix=core.example.org")
    assert address.startswith("https://a.blob.core.example.org/container/x?")
    with pytest.raises(OSError, match="the connection string is of the storage account a"):
        connected(monkeypatch, "azfs://other/container/", "BlobEndpoint=http://127.0.0.1:9/a")


def test_an_address_with_a_signature_is_not_shown() -> None:
    store = AzureStore(
        "container",
        config={"account_name": "a", "endpoint": "http://127.0.0.1:9", "sas_key": "sig=wJalr"},
        client_options={"allow_http": True},
        retry_config={"max_retries": 0, "retry_timeout": datetime.timedelta(seconds=1)},
    )
    with (
        pytest.raises(OSError, match=r"^could not connect to the server of az://container: Conn"),
        telling("az://container/x"),
    ):
        obstore.head(store, "x")
