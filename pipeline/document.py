"""The result document, scores.json. Its bytes do not depend on where the job ran."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.errors import JobError
from beam_bleu.transforms.score.bleu import BleuScore, bleu_score
from beam_bleu.transforms.score.signature import sacrebleu_signature, signature
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals


def result_document(
    systems: Sequence[str],
    totals: Mapping[int, CorpusTotals],
    segments: int,
    config: BleuConfig,
    presets: Mapping[str, BleuConfig] | None = None,
    segment_config: BleuConfig | None = None,
) -> dict[str, Any]:
    """The document of a finished job.

    Args:
      systems: the systems' names, in order.
      totals: each system's totals, by its number.
      segments: the number of segments planned.
      config: the definition of BLEU.
      presets: other definitions for the same totals, by name.
      segment_config: the definition of the segments' scores, if they are written.

    Raises:
      JobError: not every segment of every system was scored exactly once.
    """
    for number, system in enumerate(systems):
        scored = totals[number].segments if number in totals else 0
        if scored != segments:
            raise JobError(
                f"the number of segments scored is not the number planned: {segments} were "
                f"planned, {scored} of system {system} were scored",
                "the runner lost or repeated data: do not use it for this job",
            )

    def score_all(config: BleuConfig, *, judge_input: bool) -> dict[str, BleuScore]:
        return {
            system: bleu_score(totals[number], config, judge_input=judge_input)
            for number, system in enumerate(systems)
        }

    scores = score_all(config, judge_input=True)
    document: dict[str, Any] = {
        "signature": scores[systems[0]].signature,
        "sacrebleu_signature": scores[systems[0]].sacrebleu_signature,
        "segments": segments,
        "scores": _listed(scores),
        "counters": {
            "segments": segments,
            "empty_candidates": sum(each.empty_candidates for each in totals.values()),
            "bytes": sum(each.candidate_bytes for each in totals.values())
            + totals[0].reference_bytes,
        },
        "warnings": _warnings(scores),
    }
    if presets:
        document["presets"] = [
            {
                "preset": name,
                "signature": others[systems[0]].signature,
                "sacrebleu_signature": others[systems[0]].sacrebleu_signature,
                "scores": _listed(others),
                "warnings": _warnings(others),
            }
            for name, others in (
                (name, score_all(preset, judge_input=False)) for name, preset in presets.items()
            )
        ]
    if segment_config is not None:
        document["segment_scores"] = {
            "signature": signature(totals[0], segment_config),
            "sacrebleu_signature": sacrebleu_signature(totals[0], segment_config),
            "rows": segments * len(systems),
        }
    return document


def _listed(scores: Mapping[str, BleuScore]) -> list[dict[str, Any]]:
    return [
        {
            "system": system,
            "slice": None,
            "segments": score.segments,
            "score": score.score,
            "precisions": score.precisions,
            "matches": score.matches,
            "totals": score.totals,
            "bp": score.bp,
            "ratio": score.ratio,
            "sys_len": score.sys_len,
            "ref_len": score.ref_len,
        }
        for system, score in scores.items()
    ]


def _warnings(scores: Mapping[str, BleuScore]) -> list[str]:
    return [f"{system}: {each}" for system, score in scores.items() for each in score.warnings]


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """The bytes of a document: JSON in UTF-8, with a final newline."""
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"
