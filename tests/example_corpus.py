"""A corpus of hostile texts whose segments are shown, and brute force that finds them."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from command_line import called, streams, write_lines

from beam_bleu.transforms.known_metrics import row_of

NUMBER = 5
SEGMENTS = 700
METRICS = ["chrf", "bleu", "ter"]
SYSTEMS = ["erste", "second", "größe"]
HOSTILE = [
    "\u202eright to left\u202c \u2066isolate",
    "\x1b[2J\x1b]0;title\x07 escape",
    "carriage\rreturn \x85 \u2028 \u2029",
    "nul\0 \x7f \x9b31m",
    '"quoted" \\ {"json": 1} <script>alert(1)</script>',
    "👨‍👩‍👧 e\u0301 \ufeff\u200b",
    "word " * 2000,
    "",
    " ",
]


class Corpus:
    """Three systems, two references and a label, with hostile texts among them."""

    def __init__(self, folder: Path) -> None:
        draw = random.Random(7)
        words = ["the", "a", "of", "3.14", "well-known", "北京", ",", "end.", "It's", "1"]
        self.texts: list[list[str]] = [[] for _ in range(5)]
        for _ in range(SEGMENTS):
            line = draw.choices(words, k=draw.randrange(9))
            for text in self.texts:
                kept = " ".join(word for word in line if draw.random() < 0.8)
                text.append(draw.choice(HOSTILE) if draw.random() < 0.04 else kept)
        self.domains = [draw.choice(["news", "talks", "größe"]) for _ in range(SEGMENTS)]
        files = [write_lines(folder / f"{i}.txt", text) for i, text in enumerate(self.texts)]
        named = [f"{name}={file}" for name, file in zip(SYSTEMS, files, strict=False)]
        labels = write_lines(folder / "domains.txt", self.domains)
        self.asked = [
            *streams(named, files[3:], "--baseline=second", f"--labels=domain={labels}"),
            *("--metrics", *METRICS, "--format=json", f"--examples={NUMBER}"),
        ]
        self.out = folder / "out"
        self.run = called(*self.asked, "--segment_scores", "--output", self.out)
        self.examples = examples_in(self.out)


def examples_file(out: Path) -> Path:
    """The file of examples in an output folder."""
    return out / "examples.jsonl"


def examples_in(out: Path) -> list[dict[str, Any]]:
    """The objects of the file of examples."""
    text = examples_file(out).read_bytes().decode()
    return [json.loads(line) for line in text.splitlines()]


def scores_of(out: Path) -> dict[tuple[str, str], dict[int, float]]:
    """By metric and system, the score of each segment that has one, from the Parquet files."""
    scores: dict[tuple[str, str], dict[int, float]] = {}
    for row in pq.read_table(out / "segment_scores").to_pylist():
        if row["score"] is not None:
            scores.setdefault((row["metric"], row["system"]), {})[row["index"]] = row["score"]
    return scores


def ranked(
    kind: str,
    scores: dict[int, float],
    of_baseline: dict[int, float],
    lower: bool,
    number: int = NUMBER,
) -> list[int]:
    """The numbers of the segments of a kind, in the simplest way."""
    sign = -1 if lower else 1
    gained = {
        index: sign * (score - of_baseline[index])
        for index, score in scores.items()
        if index in of_baseline
    }
    ranks = {
        "best": {index: -sign * score for index, score in scores.items()},
        "worst": {index: sign * score for index, score in scores.items()},
        "gain": {index: -gain for index, gain in gained.items() if gain > 0},
        "loss": {index: gain for index, gain in gained.items() if gain < 0},
    }[kind]
    return sorted(ranks, key=lambda index: (ranks[index], index))[:number]


def assert_first_ones(out: Path, baseline: str, number: int) -> None:
    """Checks that the examples are the first ones by the scores of all segments."""
    scores, lists = scores_of(out), {}
    for entry in examples_in(out):
        lists.setdefault((entry["metric"], entry["system"], entry["kind"]), []).append(entry)
    assert {key[:2] for key in lists} == {*scores}
    for metric, system in scores:
        own, of_baseline = scores[metric, system], scores[metric, baseline]
        lower = row_of(metric).lower_is_better
        for kind in ("best", "worst", "gain", "loss"):
            is_compared = system != baseline or kind in ("best", "worst")
            expected = ranked(kind, own, of_baseline, lower, number) if is_compared else []
            entries = lists.get((metric, system, kind), [])
            assert [entry["index"] for entry in entries] == expected
        sample = lists[metric, system, "sample"]
        assert len({entry["index"] for entry in sample}) == len(sample) <= number
        for kind in ("best", "worst", "gain", "loss", "sample"):
            for entry in lists.get((metric, system, kind), []):
                assert entry["score"] == own.get(entry["index"])
                if system == baseline or entry["index"] not in of_baseline:
                    assert entry["baseline"] is None
                    continue
                assert (entry["baseline"], entry["baseline_score"]) == (
                    baseline,
                    of_baseline.get(entry["index"]),
                )
