"""A corpus whose segments are scored, and what its output folder has."""

from __future__ import annotations

import dataclasses
import os
import random
from pathlib import Path

import pyarrow.parquet as pq
from command_line import streams, write_lines
from result_folder import RECORDS
from scoring import bleu_table, statistics_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.pairing.segments.batching import to_batch

SEGMENTS = 1000
SYSTEMS = ("first", "second", "größe")
SMALL_UNITS = "--range_bytes=3000"


class Corpus:
    """Three systems and two references, and the arguments that score them."""

    def __init__(self, folder: Path) -> None:
        generator = random.Random(4)
        words = ["the", "a", "of", "3.14", "well-known", "北京", ",", "end.", "It's"]
        self.texts: list[list[str]] = [[] for _ in range(5)]
        for _ in range(SEGMENTS):
            line = generator.choices(words, k=generator.randrange(14))
            for text in self.texts:
                text.append(" ".join(word for word in line if generator.random() < 0.8))
        paths = [write_lines(folder / f"{i}.txt", text) for i, text in enumerate(self.texts)]
        named = [f"{name}={path}" for name, path in zip(SYSTEMS, paths, strict=False)]
        self.plain = streams(named, paths[3:], "--format=json")
        self.asked = [*self.plain, "--segment_scores"]

    def expected(self, config: BleuConfig) -> dict[tuple[int, str], dict[str, object]]:
        """The rows as `bleu_table` gives them for all segments at once."""
        rows = {}
        for name, text in zip(SYSTEMS, self.texts, strict=False):
            references = map(list, zip(*self.texts[3:], strict=True))
            batch = to_batch(list(zip(text, references, strict=True)))
            batch = dataclasses.replace(batch, systems=(name,))
            table = bleu_table(statistics_of(batch, config), config.metric)
            rows |= {(row["index"], name): row for row in table.to_pylist()}
        return rows


def part_files(out: Path) -> list[str]:
    return sorted(os.listdir(out / "segment_scores"))


def rows(out: Path) -> dict[tuple[int, str], dict[str, object]]:
    """The rows of all part files. Checks that no row is there twice."""
    table = pq.read_table(out / "segment_scores")
    found = {(row["index"], row["system"]): row for row in table.to_pylist()}
    assert len(found) == len(table)
    return found


def assert_clean(out: Path) -> None:
    """Checks that the folder contains only the result."""
    assert set(os.listdir(out)) - {"_SUCCESS"} == {
        *("manifest.json", "scores.json", "segment_scores", *RECORDS)
    }
    assert all(name.endswith(".parquet") for name in part_files(out))
