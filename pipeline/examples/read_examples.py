"""Reads the examples of a result, and checks that they are what its run wrote."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.output.file_names import EXAMPLES, MANIFEST
from beam_bleu.pipeline.output.manifest import data_files_of
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.transforms.errors import InputError

Entry = Mapping[str, Any]
"""A line of the file; docs/examples.md explains its keys."""


def read_examples(folder: str) -> list[Entry] | None:
    """The examples of a result; None if it has none, or if its manifest is not in the folder.

    Args:
      folder: the folder of the result.

    Raises:
      InputError: the file cannot be read, or is not the one that the run wrote.
    """
    folder = folder.rstrip("/")
    if not exists(f"{folder}/{MANIFEST}"):
        return None
    manifest = json.loads(read(f"{folder}/{MANIFEST}"))
    for name in data_files_of(manifest, EXAMPLES):
        path = f"{folder}/{name}"
        if exists(path):
            data = read(path)
            if hashlib.sha256(data).hexdigest() != manifest["examples"]["sha256"]:
                raise InputError(
                    f"{path} does not belong to the {MANIFEST} beside it: its SHA-256 does not "
                    "match",
                    "run it again with --examples, or copy the files of one result again",
                )
            return [json.loads(line) for line in data.splitlines()]
    return None
