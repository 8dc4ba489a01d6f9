"""The library's transform: BLEU of a PCollection of segments, in any Beam pipeline."""

from __future__ import annotations

from beam_bleu.transforms.corpus_scores import ScoreGlobally, ScorePerKey, ScorePerSystem

__all__ = ["CorpusBleu"]


class CorpusBleu:
    """BLEU of a corpus of segments `(candidate, [reference, ...])`.

    Segments may have different numbers of references. A reference that is None is
    missing, and each segment needs at least one reference. The transform makes
    batches of segments, and the compiled kernel counts them. It works with any
    windowing and trigger. An empty input (or window) yields no element. If a
    tokenizer needs another library, install it where the pipeline is made and
    where it runs.

    Scores have a standard error and a 95 % interval, with the segment as the unit:
    how much would a score differ with other segments of the same kind? With
    `uncertainty=False` they have none, and the sums are smaller.

    With `columns=ArrowColumns(...)` the elements are tables of pyarrow with a segment in each row.
    Beam then needs no time for each segment (docs/columns.md).

    Example:
      >>> import apache_beam as beam
      >>> from beam_bleu import BleuConfig, CorpusBleu
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusBleu.Globally(BleuConfig(lowercase=True))
      ...         | beam.Map(lambda bleu: print(f"{bleu.score:.2f} {bleu.matches}"))
      ...     )
      75.98 (5, 4, 3, 2)
    """

    class Globally(ScoreGlobally):
        """PCollection of segments, or of tables -> PCollection of one `BleuScore`."""

        METRIC = "bleu"

    class PerKey(ScorePerKey):
        """PCollection of (key, segment), or of tables -> PCollection of (key, `BleuScore`)."""

        METRIC = "bleu"

    class PerSystem(ScorePerSystem):
        """`Paired` segments from files -> PCollection of (system, `BleuScore`).

        The transforms that read files (`ReadPairedRecords` and others) give such segments. The
        last step compares the number of segments in each score with the number that was read. It
        fails with a `JobError` if the runner has lost or repeated data.

        The warnings about all of the input are in the `warnings` of each score: how many segments
        were rejected, and which segments a join did not find.

        Args:
          config: the definition; by default sacreBLEU's.
          max_rejected: with `on_bad_record="reject"`, how many segments may be rejected: a number
            (an int), or a fraction of those that are read (a float). The pipeline fails with an
            `InputError` if there are more, because a score of the others would look right.
          uncertainty: whether scores have a standard error and an interval.

        Raises:
          ValueError: a value is impossible.

        Example:
          >>> import apache_beam as beam
          >>> from beam_bleu import CorpusBleu, ReadPairedRecords
          >>> with beam.Pipeline("FnApiRunner") as pipeline:
          ...     _ = (
          ...         pipeline
          ...         | ReadPairedRecords(
          ...             "examples/beam_yaml/records.jsonl",
          ...             candidate_columns=["atlas=candidate"],
          ...             reference_columns=["reference_a", "reference_b"],
          ...             where={"system": "atlas"},
          ...         )
          ...         | CorpusBleu.PerSystem()
          ...         | beam.MapTuple(lambda system, bleu: print(f"{system} {bleu.score:.1f}"))
          ...     )
          atlas 57.8
        """

        METRIC = "bleu"
