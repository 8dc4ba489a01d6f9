"""The kinds of object stores that paths can name. One library, obstore, reads and writes all."""

from __future__ import annotations

import dataclasses

__all__ = ["OBJECT_STORES", "ObjectStoreKind", "kind_of"]


@dataclasses.dataclass(frozen=True)
class ObjectStoreKind:
    """A row of `OBJECT_STORES`.

    Attributes:
      name: what people call it.
      root: how paths begin, up to the name of an object. Words in capitals stand for a name.
      is_web: whether it is a web server: it lists no objects, and nothing is written to it.
    """

    name: str
    root: str
    is_web: bool = False


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
    """The kind of object store that a path names; None if it names another filesystem."""
    scheme, separator, _ = path.partition("://")
    return OBJECT_STORES.get(scheme) if separator else None
