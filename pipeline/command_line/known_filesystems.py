"""The filesystems of other machines that a path can name, and the libraries that they need."""

from __future__ import annotations

import dataclasses
import importlib.util

from beam_bleu.transforms.wiring.filesystems import OBJECT_STORES


@dataclasses.dataclass(frozen=True)
class Filesystem:
    """A row of `FILESYSTEMS`.

    Attributes:
      name: what people call it.
      library: the module that reads and writes it.
      remedy: how to install the library.
    """

    name: str
    library: str
    remedy: str


_OBSTORE = "./run.sh install, or pip install ., in the folder of beam-bleu"

FILESYSTEMS = {
    **{scheme: Filesystem(row.name, "obstore", _OBSTORE) for scheme, row in OBJECT_STORES.items()},
    "hdfs": Filesystem("Hadoop", "hdfs", "pip install 'apache-beam[hadoop]'"),
}
"""The filesystems of other machines, by the scheme of their paths."""


def has_module(name: str) -> bool:
    """Whether a module can be found. It is not imported."""
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # a package that contains it is missing
        return False
