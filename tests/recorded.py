"""Records of an oracle's answers to very many questions: a digest for each block of answers.

A different answer need not be wrong: Python or the oracle may have another version of Unicode. So
the tests then ask the oracle itself about the block.
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
    """The slices that divide this many answers into blocks."""
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
    """The records of a file; no answers if there is no file."""
    return json.loads(path.read_text()) if path.exists() else {"sacrebleu": None, "answers": {}}


def unrecorded(record: dict[str, Any], title: str, answers: list[bytes]) -> list[int]:
    """The numbers of the blocks that differ from the record."""
    ours, recorded = digests(answers).split(), record["answers"].get(title, "").split()
    recorded += [""] * (len(ours) - len(recorded))
    return [number for number, digest in enumerate(ours) if digest != recorded[number]]
