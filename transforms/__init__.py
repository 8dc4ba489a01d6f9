"""BLEU for Beam pipelines: the public API.

>>> from transforms import BleuConfig, BleuScore, CorpusBleu, SentencePieceModel, preset

The names are loaded when they are first used, so that the mathematics
(`transforms.score`, `transforms.statistics.kernel`) can be imported without
Apache Beam.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from transforms.config import BleuConfig, SentencePieceModel
    from transforms.corpus_bleu import CorpusBleu
    from transforms.presets import preset
    from transforms.score.bleu import BleuScore

__all__ = ["BleuConfig", "BleuScore", "CorpusBleu", "SentencePieceModel", "preset"]

_HOMES = {
    "BleuConfig": "transforms.config",
    "BleuScore": "transforms.score.bleu",
    "CorpusBleu": "transforms.corpus_bleu",
    "SentencePieceModel": "transforms.config",
    "preset": "transforms.presets",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
