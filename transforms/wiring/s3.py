"""Objects on S3 and on servers that speak its protocol, by boto3.

Beam's own S3 filesystem makes a new client for each call (0.1 s of CPU time), retries for eight
minutes if there are no credentials or if no server answers, cannot write an empty object, treats
a missing bucket like an empty one, and keeps 16 MiB in memory for each open object.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import boto3
from apache_beam.io.aws.s3filesystem import S3FileSystem
from apache_beam.io.aws.s3io import parse_s3_path
from apache_beam.io.filesystem import CompressionTypes, FileMetadata
from apache_beam.options.pipeline_options import PipelineOptions, S3Options
from botocore.config import Config
from botocore.exceptions import ClientError

from beam_bleu.transforms.wiring.s3_objects import (
    ONE_CONNECTION,
    NewObject,
    ReadObject,
    said,
    telling,
)

__all__ = ["S3"]

_RETRIES = Config(
    # The waits are random: 15 s on average before a call fails because no server answers.
    retries={"mode": "standard", "total_max_attempts": 6},
    connect_timeout=10,
    read_timeout=60,
    max_pool_connections=64,
)

_DELETED_AT_ONCE = 1000
"""The limit of S3's protocol."""

_CLIENTS: dict[tuple[object, ...], Any] = {}
_LOCK = threading.Lock()


class S3(S3FileSystem):
    """S3 with the methods of Beam's filesystem. All objects of this class share one client.

    Exceptions are `OSError`s that say what the server said. A missing object is a
    `FileNotFoundError`.
    """

    CHUNK_SIZE = 8  # so that `storage.move` copies several objects at a time

    @classmethod
    def scheme(cls) -> str:
        """Not "s3": Beam finds filesystems by this name, and refuses two with the same one."""
        return "s3 of beam-bleu"

    @classmethod
    def like(cls, other: Any) -> S3:
        """An S3 with the options of Beam's filesystem."""
        return cls(other._options)

    def _list(self, dir_or_prefix: str) -> Iterator[FileMetadata]:
        bucket, prefix = parse_s3_path(dir_or_prefix, object_optional=True)
        with telling(dir_or_prefix):
            pages = self._client().get_paginator("list_objects_v2")
            for page in pages.paginate(Bucket=bucket, Prefix=prefix):
                for entry in page.get("Contents", ()):
                    if not entry["Key"].endswith("/"):  # a console shows it as a folder
                        yield FileMetadata(
                            f"s3://{bucket}/{entry['Key']}",
                            entry["Size"],
                            entry["LastModified"].timestamp(),
                        )

    def open(
        self,
        path: str,
        mime_type: str = "application/octet-stream",
        compression_type: str = CompressionTypes.UNCOMPRESSED,
    ) -> Any:
        """Opens an object to read its raw bytes."""
        _refuse_compression(compression_type)
        return ReadObject(self._client(), path)

    def create(
        self,
        path: str,
        mime_type: str = "application/octet-stream",
        compression_type: str = CompressionTypes.UNCOMPRESSED,
    ) -> Any:
        """Opens a new object. It is there when it is closed, unless an exception closes it."""
        _refuse_compression(compression_type)
        return NewObject(self._client(), path, mime_type)

    def exists(self, path: str) -> bool:
        """Whether there is an object. A missing bucket is an error."""
        try:
            self._head(path)
        except FileNotFoundError:
            return False
        return True

    def metadata(self, path: str) -> FileMetadata:
        """The size of an object, and the time when it was written."""
        head = self._head(path)
        return FileMetadata(path, head["ContentLength"], head["LastModified"].timestamp())

    def size(self, path: str) -> int:
        """The size of an object in bytes."""
        return int(self._head(path)["ContentLength"])

    def last_updated(self, path: str) -> float:
        """The time when an object was written, in seconds."""
        return float(self._head(path)["LastModified"].timestamp())

    def checksum(self, path: str) -> str:
        """The ETag of an object; if the server gives none, the time when it was written."""
        head = self._head(path)
        return str(head.get("ETag") or head["LastModified"])

    def copy(self, source_file_names: Sequence[str], destination_file_names: Sequence[str]) -> None:
        """Copies objects."""
        for source, to in zip(source_file_names, destination_file_names, strict=True):
            from_bucket, from_key = parse_s3_path(source)
            with telling(source):
                self._client().copy(
                    {"Bucket": from_bucket, "Key": from_key},
                    *parse_s3_path(to),
                    Config=ONE_CONNECTION,
                )

    def rename(
        self, source_file_names: Sequence[str], destination_file_names: Sequence[str]
    ) -> None:
        """Copies objects, then deletes the old ones."""
        self.copy(source_file_names, destination_file_names)
        self.delete(source_file_names)

    def delete(self, paths: Sequence[str]) -> None:
        """Deletes objects. It is not an error if one of them is not there."""
        of_bucket: dict[str, list[str]] = {}
        for path in paths:
            bucket, key = parse_s3_path(path)
            of_bucket.setdefault(bucket, []).append(key)
        for bucket, keys in of_bucket.items():
            for first in range(0, len(keys), _DELETED_AT_ONCE):
                named = [{"Key": key} for key in keys[first : first + _DELETED_AT_ONCE]]
                with telling(f"s3://{bucket}"):
                    done = self._client().delete_objects(
                        Bucket=bucket, Delete={"Objects": named, "Quiet": True}
                    )
                for error in done.get("Errors", ()):
                    raise OSError(said(error))

    def _head(self, path: str) -> Any:
        bucket, key = parse_s3_path(path)
        with telling(path):
            try:
                return self._client().head_object(Bucket=bucket, Key=key)
            except ClientError:
                # The answer to HEAD has no text, but the answer to GET says why it failed.
                got = self._client().get_object(Bucket=bucket, Key=key, Range="bytes=0-0")
                got["Body"].close()
                raise

    def _client(self) -> Any:
        given_options = self._options
        options = (
            given_options.view_as(S3Options)
            if isinstance(given_options, PipelineOptions)
            else S3Options([])
        )
        settings = {
            "aws_access_key_id": options.s3_access_key_id,
            "aws_secret_access_key": options.s3_secret_access_key,
            "aws_session_token": options.s3_session_token,
            "endpoint_url": options.s3_endpoint_url,
            "region_name": options.s3_region_name,
            "api_version": options.s3_api_version,
            "verify": options.s3_verify,
            "use_ssl": not options.s3_disable_ssl,
        }
        key = tuple(settings.values())
        with _LOCK:
            if key not in _CLIENTS:
                with telling("s3://"):
                    session = boto3.session.Session()
                    _CLIENTS[key] = session.client("s3", config=_RETRIES, **settings)
            return _CLIENTS[key]


def _refuse_compression(compression_type: str) -> None:
    if compression_type != CompressionTypes.UNCOMPRESSED:
        raise ValueError("objects are read and written as they are, without decompression")
