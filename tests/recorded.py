"""What an oracle answers to very many questions, recorded: a digest for each block of answers.

An answer that is not the recorded one is not yet wrong, because Python's Unicode, or the oracle's,
may be another: then the oracle itself is asked about the block.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sacrebleu

GOLDEN = Path(__file__).parent / "golden"
BLOCK = 256
_DIGEST_BYTES = 6


def blocks(count: int) -> Iterator[slice]:
    """So many answers, in blocks."""
    return (slice(start, start + BLOCK) for start in range(0, count, BLOCK))


def digests(answers: list[bytes]) -> str:
    """A digest of each block."""
    return " ".join(
        hashlib.blake2b(block, digest_size=_DIGEST_BYTES).hexdigest() for block in answers
    )


def write(path: Path, answers: dict[str, str]) -> None:
    """Records the digests of all titles."""
    record = {"sacrebleu": sacrebleu.__version__, "answers": answers}
    path.write_text(json.dumps(record, indent=0) + "\n")


def read(path: Path) -> dict[str, Any]:
    """The record; an empty one where none was made."""
    return json.loads(path.read_text()) if path.exists() else {"sacrebleu": None, "answers": {}}


def unrecorded(record: dict[str, Any], title: str, answers: list[bytes]) -> list[int]:
    """The numbers of the blocks that the record does not have so."""
    ours, recorded = digests(answers).split(), record["answers"].get(title, "").split()
    recorded += [""] * (len(ours) - len(recorded))
    return [number for number, digest in enumerate(ours) if digest != recorded[number]]
