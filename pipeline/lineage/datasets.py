"""The names of datasets in lineage, by the rules of OpenLineage.

A dataset is what one program writes and another one reads, so all programs must call it the same:
https://openlineage.io/docs/spec/naming. Of a pattern, it is the folder with the files.
"""

from __future__ import annotations

import os
import re
from typing import NamedTuple

from beam_bleu.pipeline.output.redaction import HIDDEN, without_url_secrets
from beam_bleu.transforms.pairing.files.streams import before_wildcard, is_pattern
from beam_bleu.transforms.pairing.files.tables import table_kind

_OF_PROCESSES = ("-", "/dev/", "/proc/")
"""How paths of streams begin that no other program can read: stdin and pipes."""

_AZURE = re.compile(r"azfs://([^/]+)/([^/]+)(.*)")
"""azfs://ACCOUNT/CONTAINER/PATH"""


class Dataset(NamedTuple):
    """The name of a dataset.

    Attributes:
      namespace: where it is, such as s3://bucket, or `file` on this machine.
      name: its name there.
    """

    namespace: str
    name: str


def dataset(pattern: str) -> Dataset | None:
    """The dataset of a path, a pattern or a table; None for a pipe.

    >>> dataset("s3://bucket/references/part-*.txt")
    Dataset(namespace='s3://bucket', name='references')
    """
    kind = table_kind(pattern)
    if kind is not None:
        pattern = pattern.partition(":")[2]
        if "/" not in pattern and "://" not in pattern:  # a name in a catalog
            return Dataset(kind.label.lower(), pattern)
    if pattern.startswith(_OF_PROCESSES):
        return None
    path = before_wildcard(pattern).rpartition("/")[0] if is_pattern(pattern) else pattern
    if "://" not in pattern:
        return Dataset("file", os.path.abspath(path))
    if of_azure := _AZURE.fullmatch(path):
        account, container, name = of_azure.groups()
        return Dataset(f"abfss://{container}@{account}.dfs.core.windows.net", _name(name))
    # The same files have the same name, with whatever password they are read.
    scheme, _, rest = without_url_secrets(path).partition("://")
    bucket, _, name = rest.removeprefix(f"{HIDDEN}@").partition("/")
    return Dataset(f"{scheme}://{bucket}", _name(name))


def _name(path: str) -> str:
    return path.strip("/") or "/"
