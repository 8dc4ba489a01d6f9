"""BLEU and other metrics for Beam pipelines: the public names.

>>> from beam_bleu import BleuConfig, BleuScore, CorpusBleu, SentencePieceModel, preset
>>> from beam_bleu import ChrfConfig, ChrfScore, CorpusChrf, CorpusScore
>>> from beam_bleu import CorpusTer, TerConfig, TerScore
>>> from beam_bleu import CorpusScores
>>> from beam_bleu import ExactMatchConfig, ExactMatchScore, TokenF1Config, TokenF1Score
>>> from beam_bleu import CerConfig, ErrorRateScore, WerConfig
>>> from beam_bleu import ReadJoinedRecords, ReadLineParallel, ReadLongRecords, ReadPairedRecords
>>> from beam_bleu import ComparedSystems, CompareSystems, SystemComparison
>>> from beam_bleu import ArrowColumns, SumSegments, bleu_of_sums

A name is loaded when it is first used. So the mathematics (`beam_bleu.transforms.score`,
`beam_bleu.transforms.metrics.bleu.kernel`) can be imported without Apache Beam.

The code is in the folders `transforms` (the library) and `pipeline` (the command), to which two
links lead from here. So a user's own module `pipeline` and ours do not collide.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from beam_bleu.transforms.version import VERSION

if TYPE_CHECKING:
    from beam_bleu.transforms.compare_systems import CompareSystems
    from beam_bleu.transforms.corpus_scores import (
        CorpusBleu,
        CorpusChrf,
        CorpusScore,
        CorpusTer,
    )
    from beam_bleu.transforms.metrics.bleu.config import BleuConfig, preset
    from beam_bleu.transforms.metrics.bleu.score import BleuScore
    from beam_bleu.transforms.metrics.bleu.sum_rows import bleu_of_sums
    from beam_bleu.transforms.metrics.chrf.metric import ChrfConfig
    from beam_bleu.transforms.metrics.chrf.score import ChrfScore
    from beam_bleu.transforms.metrics.error_rates.metric import CerConfig, WerConfig
    from beam_bleu.transforms.metrics.error_rates.score import ErrorRateScore
    from beam_bleu.transforms.metrics.rouge.metric import (
        Rouge1Config,
        Rouge2Config,
        RougeLConfig,
        RougeLsumConfig,
    )
    from beam_bleu.transforms.metrics.rouge.score import RougeScore
    from beam_bleu.transforms.metrics.squad.metric import ExactMatchConfig, TokenF1Config
    from beam_bleu.transforms.metrics.squad.score import ExactMatchScore, TokenF1Score
    from beam_bleu.transforms.metrics.ter.metric import TerConfig
    from beam_bleu.transforms.metrics.ter.score import TerScore
    from beam_bleu.transforms.pairing.segments.arrow_columns import ArrowColumns
    from beam_bleu.transforms.reading import (
        ReadJoinedRecords,
        ReadLineParallel,
        ReadLongRecords,
        ReadPairedRecords,
    )
    from beam_bleu.transforms.score.differences import ComparedSystems, SystemComparison
    from beam_bleu.transforms.several_scores import CorpusScores
    from beam_bleu.transforms.sum_segments import SumSegments
    from beam_bleu.transforms.text.text import SentencePieceModel

__version__ = VERSION

__all__ = [
    "ArrowColumns",
    "BleuConfig",
    "BleuScore",
    "CerConfig",
    "ChrfConfig",
    "ChrfScore",
    "CompareSystems",
    "ComparedSystems",
    "CorpusBleu",
    "CorpusChrf",
    "CorpusScore",
    "CorpusScores",
    "CorpusTer",
    "ErrorRateScore",
    "ExactMatchConfig",
    "ExactMatchScore",
    "ReadJoinedRecords",
    "ReadLineParallel",
    "ReadLongRecords",
    "ReadPairedRecords",
    "Rouge1Config",
    "Rouge2Config",
    "RougeLConfig",
    "RougeLsumConfig",
    "RougeScore",
    "SentencePieceModel",
    "SumSegments",
    "SystemComparison",
    "TerConfig",
    "TerScore",
    "TokenF1Config",
    "TokenF1Score",
    "WerConfig",
    "__version__",
    "bleu_of_sums",
    "preset",
]

_HOMES = {
    "ArrowColumns": "beam_bleu.transforms.pairing.segments.arrow_columns",
    "BleuConfig": "beam_bleu.transforms.metrics.bleu.config",
    "BleuScore": "beam_bleu.transforms.metrics.bleu.score",
    "CerConfig": "beam_bleu.transforms.metrics.error_rates.metric",
    "ChrfConfig": "beam_bleu.transforms.metrics.chrf.metric",
    "ChrfScore": "beam_bleu.transforms.metrics.chrf.score",
    "CompareSystems": "beam_bleu.transforms.compare_systems",
    "ComparedSystems": "beam_bleu.transforms.score.differences",
    "CorpusBleu": "beam_bleu.transforms.corpus_scores",
    "CorpusChrf": "beam_bleu.transforms.corpus_scores",
    "CorpusScore": "beam_bleu.transforms.corpus_scores",
    "CorpusScores": "beam_bleu.transforms.several_scores",
    "CorpusTer": "beam_bleu.transforms.corpus_scores",
    "ErrorRateScore": "beam_bleu.transforms.metrics.error_rates.score",
    "ExactMatchConfig": "beam_bleu.transforms.metrics.squad.metric",
    "ExactMatchScore": "beam_bleu.transforms.metrics.squad.score",
    "ReadJoinedRecords": "beam_bleu.transforms.reading",
    "ReadLineParallel": "beam_bleu.transforms.reading",
    "ReadLongRecords": "beam_bleu.transforms.reading",
    "ReadPairedRecords": "beam_bleu.transforms.reading",
    "Rouge1Config": "beam_bleu.transforms.metrics.rouge.metric",
    "Rouge2Config": "beam_bleu.transforms.metrics.rouge.metric",
    "RougeLConfig": "beam_bleu.transforms.metrics.rouge.metric",
    "RougeLsumConfig": "beam_bleu.transforms.metrics.rouge.metric",
    "RougeScore": "beam_bleu.transforms.metrics.rouge.score",
    "SentencePieceModel": "beam_bleu.transforms.text.text",
    "SumSegments": "beam_bleu.transforms.sum_segments",
    "SystemComparison": "beam_bleu.transforms.score.differences",
    "TerConfig": "beam_bleu.transforms.metrics.ter.metric",
    "TerScore": "beam_bleu.transforms.metrics.ter.score",
    "TokenF1Config": "beam_bleu.transforms.metrics.squad.metric",
    "TokenF1Score": "beam_bleu.transforms.metrics.squad.score",
    "WerConfig": "beam_bleu.transforms.metrics.error_rates.metric",
    "bleu_of_sums": "beam_bleu.transforms.metrics.bleu.sum_rows",
    "preset": "beam_bleu.transforms.metrics.bleu.config",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return __all__
