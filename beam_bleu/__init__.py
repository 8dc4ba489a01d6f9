"""BLEU and other metrics for Beam pipelines: the public names.

>>> from beam_bleu import BleuConfig, CorpusBleu

A name is loaded when it is first used. So the mathematics (`beam_bleu.transforms.score`,
`beam_bleu.transforms.metrics.bleu.kernel`) can be imported without Apache Beam.

The code is in the folders `transforms` (the library) and `pipeline` (the command), to which two
links lead from here. So a user's own module `pipeline` and ours do not collide.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from beam_bleu.transforms.version import VERSION

if TYPE_CHECKING:  # `as` says to type checkers that a name is public
    from beam_bleu.pipeline.library.evaluate import Evaluate as Evaluate
    from beam_bleu.pipeline.library.evaluate import Evaluated as Evaluated
    from beam_bleu.pipeline.notebook.read_scores import ScoreTables as ScoreTables
    from beam_bleu.pipeline.notebook.read_scores import read_scores as read_scores
    from beam_bleu.transforms.calls.scores import compare as compare
    from beam_bleu.transforms.calls.scores import score as score
    from beam_bleu.transforms.calls.single_segments import score_pairs as score_pairs
    from beam_bleu.transforms.calls.single_segments import score_segments as score_segments
    from beam_bleu.transforms.compare_systems import CompareSystems as CompareSystems
    from beam_bleu.transforms.corpus_scores import CorpusBleu as CorpusBleu
    from beam_bleu.transforms.corpus_scores import CorpusChrf as CorpusChrf
    from beam_bleu.transforms.corpus_scores import CorpusScore as CorpusScore
    from beam_bleu.transforms.corpus_scores import CorpusScores as CorpusScores
    from beam_bleu.transforms.corpus_scores import CorpusTer as CorpusTer
    from beam_bleu.transforms.corpus_scores import SumSegments as SumSegments
    from beam_bleu.transforms.metrics.bleu.config import BleuConfig as BleuConfig
    from beam_bleu.transforms.metrics.bleu.config import preset as preset
    from beam_bleu.transforms.metrics.bleu.metric import BleuScore as BleuScore
    from beam_bleu.transforms.metrics.bleu.sum_rows import bleu_of_sums as bleu_of_sums
    from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig as ChrfConfig
    from beam_bleu.transforms.metrics.chrf.metric import ChrfScore as ChrfScore
    from beam_bleu.transforms.metrics.error_rates.metric import CerConfig as CerConfig
    from beam_bleu.transforms.metrics.error_rates.metric import ErrorRateScore as ErrorRateScore
    from beam_bleu.transforms.metrics.error_rates.metric import WerConfig as WerConfig
    from beam_bleu.transforms.metrics.rouge.metric import Rouge1Config as Rouge1Config
    from beam_bleu.transforms.metrics.rouge.metric import Rouge2Config as Rouge2Config
    from beam_bleu.transforms.metrics.rouge.metric import RougeLConfig as RougeLConfig
    from beam_bleu.transforms.metrics.rouge.metric import RougeLsumConfig as RougeLsumConfig
    from beam_bleu.transforms.metrics.rouge.metric import RougeScore as RougeScore
    from beam_bleu.transforms.metrics.squad import ExactMatchConfig as ExactMatchConfig
    from beam_bleu.transforms.metrics.squad import ExactMatchScore as ExactMatchScore
    from beam_bleu.transforms.metrics.squad import TokenF1Config as TokenF1Config
    from beam_bleu.transforms.metrics.squad import TokenF1Score as TokenF1Score
    from beam_bleu.transforms.metrics.ter.metric import TerConfig as TerConfig
    from beam_bleu.transforms.metrics.ter.metric import TerScore as TerScore
    from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns as ArrowColumns
    from beam_bleu.transforms.reading import ReadJoinedRecords as ReadJoinedRecords
    from beam_bleu.transforms.reading import ReadLineParallel as ReadLineParallel
    from beam_bleu.transforms.reading import ReadLongRecords as ReadLongRecords
    from beam_bleu.transforms.reading import ReadPairedRecords as ReadPairedRecords
    from beam_bleu.transforms.score.differences import ComparedSystems as ComparedSystems
    from beam_bleu.transforms.score.differences import SystemComparison as SystemComparison
    from beam_bleu.transforms.segment_scores import SegmentScores as SegmentScores
    from beam_bleu.transforms.text.text import SentencePieceModel as SentencePieceModel

__version__ = VERSION

_PUBLIC = {
    "beam_bleu.pipeline.library.evaluate": ["Evaluate", "Evaluated"],
    "beam_bleu.pipeline.notebook.read_scores": ["ScoreTables", "read_scores"],
    "beam_bleu.transforms.calls.scores": ["compare", "score"],
    "beam_bleu.transforms.calls.single_segments": ["score_pairs", "score_segments"],
    "beam_bleu.transforms.compare_systems": ["CompareSystems"],
    "beam_bleu.transforms.corpus_scores": [
        "CorpusBleu",
        "CorpusChrf",
        "CorpusScore",
        "CorpusScores",
        "CorpusTer",
        "SumSegments",
    ],
    "beam_bleu.transforms.metrics.bleu.config": ["BleuConfig", "preset"],
    "beam_bleu.transforms.metrics.bleu.metric": ["BleuScore"],
    "beam_bleu.transforms.metrics.bleu.sum_rows": ["bleu_of_sums"],
    "beam_bleu.transforms.metrics.chrf.metric": ["ChrfConfig", "ChrfScore"],
    "beam_bleu.transforms.metrics.error_rates.metric": ["CerConfig", "ErrorRateScore", "WerConfig"],
    "beam_bleu.transforms.metrics.rouge.metric": [
        "Rouge1Config",
        "Rouge2Config",
        "RougeLConfig",
        "RougeLsumConfig",
        "RougeScore",
    ],
    "beam_bleu.transforms.metrics.squad": [
        "ExactMatchConfig",
        "ExactMatchScore",
        "TokenF1Config",
        "TokenF1Score",
    ],
    "beam_bleu.transforms.metrics.ter.metric": ["TerConfig", "TerScore"],
    "beam_bleu.transforms.pairing.segments.arrow_columns": ["ArrowColumns"],
    "beam_bleu.transforms.reading": [
        "ReadJoinedRecords",
        "ReadLineParallel",
        "ReadLongRecords",
        "ReadPairedRecords",
    ],
    "beam_bleu.transforms.score.differences": ["ComparedSystems", "SystemComparison"],
    "beam_bleu.transforms.segment_scores": ["SegmentScores"],
    "beam_bleu.transforms.text.text": ["SentencePieceModel"],
}
"""The public names, by the modules that they are in. The imports above are the same."""

_HOMES = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
