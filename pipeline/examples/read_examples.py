"""Reads examples.jsonl, and checks that it is what a run wrote."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from beam_bleu.pipeline.output.file_names import EXAMPLES, MANIFEST
from beam_bleu.pipeline.output.manifest import names_examples
from beam_bleu.pipeline.output.result_files import exists, read
from beam_bleu.transforms.errors import InputError

Entry = Mapping[str, Any]
"""A line of examples.jsonl; docs/examples.md explains its keys."""


def read_examples(folder: str) -> list[Entry] | None:
    """The examples of a result; None if it has none.

    Args:
      folder: the folder of the result.

    Raises:
      InputError: examples.jsonl cannot be read, or is not the file that the run wrote.
    """
    path, manifest = (f"{folder.rstrip('/')}/{name}" for name in (EXAMPLES, MANIFEST))
    if not exists(path):
        return None
    data = read(path)
    if not exists(manifest):
        raise InputError(
            f"{folder} has no {MANIFEST}, which has the SHA-256 of {EXAMPLES}",
            f"copy it, too, or remove {path}",
        )
    if not names_examples(read(manifest), data):
        raise InputError(
            f"{path} does not belong to the {MANIFEST} beside it: its SHA-256 does not match",
            "run it again with --examples, or copy the files of one result again",
        )
    # Its digest has shown that these are the lines that the run wrote.
    return [json.loads(line) for line in data.splitlines()]
