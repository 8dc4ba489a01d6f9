"""A pipeline of a user's own around CorpusBleu.PerKey: OUTPUT, and Beam's flags."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import apache_beam as beam
from apache_beam.options.pipeline_options import PipelineOptions

from beam_bleu import BleuConfig, CorpusBleu
from beam_bleu.transforms.metrics.bleu.metric import BleuScore

LANGUAGES = ("de", "fr", "pl", "ja", "zh")
SEGMENTS = 400


def segments(language: str) -> Iterator[tuple[str, tuple[str, list[str | None]]]]:
    for number in range(SEGMENTS):
        words = [f"{language}{number * k % 17}" for k in range(3, 16)]
        candidate = " ".join(words[number % 3 :])
        yield language, (candidate, [" ".join(words), " ".join(words[2:]) if number % 2 else None])


def line(language: str, bleu: BleuScore) -> str:
    return (
        f"{language} {bleu.score!r} {bleu.matches} {bleu.totals} {bleu.segments} {bleu.signature}"
    )


if __name__ == "__main__":
    output, *flags = sys.argv[1:]
    with beam.Pipeline(options=PipelineOptions(flags)) as pipeline:
        _ = (
            pipeline
            | beam.Create(LANGUAGES)
            | beam.FlatMap(segments)
            | beam.Reshuffle()
            | CorpusBleu.PerKey(BleuConfig(smooth_method="floor"))
            | beam.MapTuple(line)
            | beam.io.WriteToText(output)
        )
