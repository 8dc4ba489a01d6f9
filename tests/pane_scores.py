"""What the library's transforms give for keyed segments, in a stream or in a batch."""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apache_beam as beam
from apache_beam.pvalue import PCollection
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.typehints import typehints

from beam_bleu import (
    ChrfConfig,
    CompareSystems,
    CorpusBleu,
    CorpusScores,
    SegmentScores,
    SumSegments,
)

SYSTEMS = ["one", "other"]


def scored(segments: PCollection[tuple[Any, Any]]) -> dict[str, PCollection[tuple[Any, Any]]]:
    """What each transform that adds up gives: (key, result), by the name of the transform.

    The system "one" of comparisons is that of the segments, and "other" is the first reference.
    """

    def systems_of(key: Any, segment: Any) -> tuple[Any, Any]:  # here, so that workers get it
        candidate, references = segment
        return key, ({"one": candidate, "other": references[0]}, references)

    key_type, _ = segments.element_type.tuple_types
    of_systems = segments | "Take systems" >> beam.MapTuple(systems_of).with_output_types(
        typehints.Tuple[key_type, Any]
    )
    metrics = ["bleu", ChrfConfig(word_order=2), "ter"]
    return {
        "CorpusBleu": segments | "CorpusBleu" >> CorpusBleu.PerKey(),
        "CorpusScores": segments | "CorpusScores" >> CorpusScores.PerKey(metrics),
        "CompareSystems": of_systems | "CompareSystems" >> CompareSystems.PerKey(SYSTEMS),
        "SumSegments": segments | "SumSegments" >> SumSegments(),
    }


def in_batch(segments_of: Mapping[str, Sequence[Any]]) -> dict[str, dict[str, Any]]:
    """What a batch pipeline gives for several lists of segments.

    Args:
      segments_of: the lists, by their names.

    Returns:
      By transform, the result of each list. That of "SegmentScores" is a list of each segment with
      its scores.
    """
    named = [(name, segment) for name, segments in segments_of.items() for segment in segments]
    keyed = typehints.Tuple[str, Any]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "found"
        with beam.Pipeline(runner=FnApiRunner()) as pipeline:
            segments = pipeline | beam.Create(named).with_output_types(keyed)
            results = scored(segments)
            results["SegmentScores"] = (
                segments
                | "Name each segment" >> beam.MapTuple(keyed_by_its_segment).with_output_types(Any)
                | "Score segments" >> SegmentScores(["bleu", "ter"])
                | "Take the name" >> beam.MapTuple(without_its_segment).with_output_types(keyed)
                | "Group scores" >> beam.CombinePerKey(beam.combiners.ToListCombineFn())
            )
            _ = (
                [
                    values | f"Name {name}" >> beam.Map(_named, name).with_output_types(Any)
                    for name, values in results.items()
                ]
                | beam.Flatten()
                | beam.combiners.ToList()
                | beam.Map(pickle.dumps)
                | beam.Map(file.write_bytes)
            )
        found: dict[str, dict[str, Any]] = {name: {} for name in results}
        for transform, name, result in pickle.loads(file.read_bytes()):
            found[transform][name] = result
    return found


def keyed_by_its_segment(key: str, segment: Any) -> tuple[Any, Any]:
    """A segment whose key tells the segment, too."""
    return (key, segment), segment


def without_its_segment(key: tuple[str, Any], scores: Any) -> tuple[str, Any]:
    """Its scores, with the key that it had before."""
    return key[0], (key[1], scores)


def _named(keyed: tuple[str, Any], transform: str) -> tuple[str, str, Any]:
    name, result = keyed
    return transform, name, result
