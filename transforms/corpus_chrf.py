"""The library's transform: chrF of a PCollection of segments, in any Beam pipeline."""

from __future__ import annotations

from beam_bleu.transforms.corpus_scores import ScoreGlobally, ScorePerKey, ScorePerSystem

__all__ = ["CorpusChrf"]


class CorpusChrf:
    """chrF of a corpus of segments `(candidate, [reference, ...])`.

    Segments, windows, uncertainty and tables of pyarrow are as for `CorpusBleu`. Its config is a
    `ChrfConfig`, and its scores are of the type `ChrfScore`.

    Example:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusChrf
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusChrf.Globally()
      ...         | beam.Map(lambda chrf: print(f"{chrf.score:.2f} {chrf.matches}"))
      ...     )
      83.00 (16, 14, 13, 12, 11, 10)
    """

    class Globally(ScoreGlobally):
        """PCollection of segments, or of tables -> PCollection of one `ChrfScore`."""

        METRIC = "chrf"

    class PerKey(ScorePerKey):
        """PCollection of (key, segment), or of tables -> PCollection of (key, `ChrfScore`)."""

        METRIC = "chrf"

    class PerSystem(ScorePerSystem):
        """`Paired` segments from files -> PCollection of (system, `ChrfScore`).

        See `CorpusBleu.PerSystem`.
        """

        METRIC = "chrf"
