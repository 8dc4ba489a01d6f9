"""The stdout of comet-score: a line for each segment and system, then one for each system."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from beam_bleu.transforms.pairing.records.whole_files.whole_file import lines

_LINE = re.compile(r"([^\t]+)(?:\tSegment ([0-9]+))?\tscore: (-?[0-9]+\.[0-9]+|nan)")


def rows(data: bytes) -> Iterator[dict[str, str | int | float]]:
    unfinished = set()
    for number, line in lines(data):
        match = _LINE.fullmatch(line)
        if match is not None:
            system, segment, score = match.groups()
            if segment is None:
                unfinished.discard(system)
            else:
                unfinished.add(system)
                yield {"system": system, "segment": int(segment), "COMET": float(score)}
        elif not line.startswith("Predictions saved in: "):
            raise pa.ArrowInvalid(
                f"line {number} is not like FILE, Segment 0, score: 0.8, with tabs"
            )
    if unfinished:
        raise pa.ArrowInvalid(
            f"the score of all segments of {min(unfinished)} is not at its end: it is truncated"
        )
