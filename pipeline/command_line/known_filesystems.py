"""The filesystems that a path can name, and the libraries that Beam needs for them."""

from __future__ import annotations

import dataclasses
import importlib.util

from beam_bleu.transforms.errors import installing


@dataclasses.dataclass(frozen=True)
class Filesystem:
    """A row of `FILESYSTEMS`.

    Attributes:
      name: what people call it.
      library: the module that Beam imports for it.
      remedy: how to install the library.
      packages: the packages that Beam imports for this filesystem and other services of its
        owner, if they are installed.
    """

    name: str
    library: str
    remedy: str
    packages: tuple[str, ...]


FILESYSTEMS = {
    "gs": Filesystem(
        "Google Cloud Storage",
        "google.cloud.storage",
        installing("gcp"),
        ("apitools", "google.api_core", "google.auth", "google.cloud"),
    ),
    "s3": Filesystem("Amazon S3", "boto3", installing("aws"), ("boto3",)),
    "azfs": Filesystem("Azure Blob Storage", "azure.storage.blob", installing("azure"), ("azure",)),
    "hdfs": Filesystem("Hadoop", "hdfs", "pip install 'apache-beam[hadoop]'", ("hdfs",)),
}
"""The filesystems of other machines, by the scheme of their paths."""


def has_module(name: str) -> bool:
    """Whether a module can be found. It is not imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a package that contains it is missing
        return False
