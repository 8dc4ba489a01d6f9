"""The stdout of comet-score: a line for each segment and system, then one for each system."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pyarrow as pa

from beam_bleu.transforms.pairing.records.whole_files.whole_file import lines

_OF_SEGMENT = re.compile(r"(.+)\tSegment ([0-9]+)\tscore: (-?[0-9.]+|nan)")
_OTHER = re.compile(r".+\tscore: (-?[0-9.]+|nan)|Predictions saved in: .*")


def rows(data: bytes) -> Iterator[dict[str, str | int | float]]:
    for number, line in lines(data):
        match = _OF_SEGMENT.fullmatch(line)
        if match is not None:
            system, segment, score = match.groups()
            yield {"system": system, "segment": int(segment), "COMET": float(score)}
        elif not _OTHER.fullmatch(line):
            raise pa.ArrowInvalid(
                f"line {number} is not like FILE, Segment 0, score: 0.8, with tabs"
            )
