"""`--compare_presets all`: one run scores a corpus by every preset, each with its own tokens."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import apache_beam as beam
import pytest
from apache_beam.pipeline import PipelineVisitor
from command_line import called, streams, write_lines

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.graph import build
from beam_bleu.transforms.metrics.bleu.presets import PRESETS

WORDS = [
    *("the", "The", "THE", "a", "of", "to", "It's", "3.14", "1,000", "well-known", "(so)", "."),
    *("&amp;", "&quot;x&quot;", "<skipped>", "“quoted”", "naïve", "İ", "ß", "北京", "😀", "end."),
    # White space for Python, but not for Perl; and the other way round.
    *("no\u00a0break", "next\u0085line", "em\u2003space", "\x1c", "a\tb", "zero\u200bwidth", ""),
]


@pytest.fixture(scope="module")
def hostile(tmp_path_factory) -> list[str]:
    """Arguments that score two systems with two references."""
    folder, generator = tmp_path_factory.mktemp("hostile"), random.Random(11)
    texts: list[list[str]] = [[] for _ in range(4)]
    for _ in range(600):
        words = generator.choices(WORDS, k=generator.randrange(14))
        for text in texts:
            text.append(" ".join(word for word in words if generator.random() < 0.85))
    files = [write_lines(folder / f"{number}.txt", text) for number, text in enumerate(texts)]
    return streams(files[:2], files[2:])


def scored(*arguments: str | Path) -> dict[str, Any]:
    return called(*arguments, "--format=json").document


def entry(document: dict[str, Any]) -> dict[str, Any]:
    """What a run by one definition and an entry of `presets` have in common."""
    signed = document if "signature" in document else document["metrics"][0]
    signatures = {name: signed[name] for name in ("signature", "sacrebleu_signature")}
    return {**signatures, "scores": document["scores"]}


@pytest.fixture(scope="module")
def compared(hostile) -> dict[str, Any]:
    """The document of a run that compares all presets. Its own definition is like none of them."""
    own = ("--tokenize=intl", "--lowercase", "--normalize=nfkc", "--max_ngram_order=2")
    return scored(*hostile, *own, "--compare_presets", "all")


@pytest.mark.parametrize("name", PRESETS)
def test_an_entry_equals_a_run_of_its_own(name, compared, hostile):
    (found,) = (each for each in compared["presets"] if each["preset"] == name)
    # The tokens of the presets are others than those of the run, so their scores have no intervals.
    assert entry(found) == entry(scored(*hostile, "--preset", name, "--no_uncertainty"))


# The word after the flag


# The pipeline

READING = "Pair lines/Read in lockstep"


def graph_of(arguments: list[Any], output: Path) -> beam.Pipeline:
    parsed = parse([*map(str, arguments), "--output", str(output)])
    pipeline = parsed.runner.pipeline(parsed.beam)
    build(pipeline, parsed.job)
    return pipeline


def test_no_text_goes_through_a_shuffle(hostile, tmp_path):
    batches, statistics, grouped = set(), set(), set()

    class Shuffles(PipelineVisitor):
        def visit_transform(self, node):
            if isinstance(node.transform, beam.GroupByKey):
                grouped.update(node.inputs)
            elif node.full_label == "Count matches":
                batches.update(node.inputs)
                statistics.update(node.outputs.values())

    graph_of([*hostile, "--compare_presets=all"], tmp_path).visit(Shuffles())
    (read,) = batches  # the same ones for all definitions
    assert read.producer.full_label.startswith(READING)
    assert grouped
    assert not grouped & {read, *statistics}
