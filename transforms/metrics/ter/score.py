"""TER of a corpus, with its signature and its warnings, and of each segment by itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, cast

import pyarrow as pa

from beam_bleu.transforms.metrics.metric import Presentation
from beam_bleu.transforms.metrics.ter import presentation
from beam_bleu.transforms.metrics.ter.columns import EDITS, PARTS_OF_A_WORD, reference_parts
from beam_bleu.transforms.metrics.ter.metric import Ter
from beam_bleu.transforms.score.metric_kind import Signatures
from beam_bleu.transforms.score.shown_score import Score
from beam_bleu.transforms.statistics.batch_statistics import BatchStatistics
from beam_bleu.transforms.text.tercom import TERCOM
from beam_bleu.transforms.text.text import (
    CASES,
    SACREBLEU,
    TextName,
    own_signature,
    reference_field,
    signature_line,
)
from beam_bleu.transforms.text.tokenizers import TercomName


@dataclasses.dataclass(frozen=True, repr=False)
class TerScore(Score):
    """TER and its parts. `Score` explains the other attributes.

    Attributes:
      score: TER, 0 or more, not rounded. Lower is better.
      edits: the edits of all segments, each by the reference with the fewest.
      ref_length: the mean number of words of each segment's references, added up. It is rounded
        only here, so it can differ from sacreBLEU's sum of rounded means in the last digits.

    Examples:
      >>> import apache_beam as beam
      >>> from beam_bleu import CorpusTer
      >>> with beam.Pipeline("FnApiRunner") as pipeline:
      ...     _ = (
      ...         pipeline
      ...         | beam.Create([("the cat sat on the mat", ["A cat sat on the mat"])])
      ...         | CorpusTer.Globally()
      ...         | beam.Map(lambda ter: print(ter.edits, ter.ref_length))
      ...     )
      1 6.0
    """

    _PRESENTATION: ClassVar[Presentation] = presentation

    edits: int
    ref_length: float


def ter_parts(columns: Sequence[int], metric: Ter) -> Mapping[str, Any]:
    """The fields of the score of a corpus that its columns tell."""
    return {
        "score": metric.value(columns),
        "edits": columns[EDITS],
        "ref_length": float(metric.lengths(columns).references),
    }


def ter_signatures(text: TextName, metric: Ter, fewest: int, most: int) -> Signatures:
    """The signatures: the fields of sacreBLEU, then the choices that sacreBLEU does not have.

    `norm`, `punct` and `asian` say whether texts are normalized, whether punctuation marks stay,
    and whether these choices are also for Asian characters. `normalize` is the Unicode
    normalization.
    """
    tercom = TERCOM[cast(TercomName, text.tokenize)]
    fields = {
        "nrefs": reference_field(fewest, most),
        "case": CASES[text.lowercase].name,
        "tok": "tercom",
        "norm": _yes_or_no(tercom.normalized),
        "punct": _yes_or_no(not tercom.no_punct),
        "asian": _yes_or_no(tercom.asian_support),
    }
    own = dict(fields)
    if text.normalize is not None:
        own["normalize"] = text.normalize
    return Signatures(
        own_signature(text, own),
        signature_line({**fields, "version": SACREBLEU}) if text.normalize is None else None,
    )


def _yes_or_no(choice: bool) -> str:
    return "yes" if choice else "no"


def ter_segment_fields(metric: Ter) -> Mapping[str, pa.DataType]:
    """The columns that only TER has: `edits`, and `ref_length` in words."""
    return {"edits": pa.int64(), "ref_length": pa.float64()}


def ter_segment_columns(statistics: BatchStatistics, metric: Ter) -> Mapping[str, Any]:
    """The edits of a batch: a row for each segment and system, system by system.

    The scores are those of sacreBLEU's `sentence_score`.
    """
    counts = statistics.counts.reshape(-1, statistics.counts.shape[2])
    return {
        "edits": counts[:, EDITS],
        "ref_length": reference_parts(counts.T) / PARTS_OF_A_WORD,
    }
