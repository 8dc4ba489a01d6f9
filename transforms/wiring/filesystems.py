"""Finds the filesystem of a path: one of this project's for object stores, otherwise Beam's."""

from __future__ import annotations

import dataclasses
import os
from typing import Any


@dataclasses.dataclass(frozen=True)
class ObjectStoreKind:
    """A row of `OBJECT_STORES`: what people call it, and how paths begin."""

    name: str
    root: str
    is_web: bool = False
    """Whether it is a web server: it lists no objects, and nothing is written to it."""


OBJECT_STORES = {
    "s3": ObjectStoreKind("Amazon S3", "s3://BUCKET/"),
    "gs": ObjectStoreKind("Google Cloud Storage", "gs://BUCKET/"),
    "az": ObjectStoreKind("Azure Blob Storage", "az://CONTAINER/"),
    "azfs": ObjectStoreKind("Azure Blob Storage", "azfs://ACCOUNT/CONTAINER/"),
    "http": ObjectStoreKind("a web server", "http://HOST/", is_web=True),
    "https": ObjectStoreKind("a web server", "https://HOST/", is_web=True),
}
"""The object stores, by the scheme of their paths."""


def kind_of(path: str) -> ObjectStoreKind | None:
    scheme, separator, _ = path.partition("://")
    return OBJECT_STORES.get(scheme) if separator else None


def is_local(path: str) -> bool:
    return "://" not in path


def filesystem_of(path: str) -> Any:
    if kind_of(path) is None:
        from apache_beam.io.filesystems import FileSystems

        return FileSystems.get_filesystem(path)
    from beam_bleu.transforms.wiring.object_stores import ObjectStores  # most runs need none

    return ObjectStores()


def join(folder: str, *names: str) -> str:
    if is_local(folder):
        return os.path.join(folder, *names)
    return "/".join([folder.rstrip("/"), *(name.strip("/") for name in names)])
