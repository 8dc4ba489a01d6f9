"""What jiwer counts in segments: the oracle of WER and CER."""

from __future__ import annotations

from typing import Any

import jiwer
from hostile_texts import Segment

from beam_bleu.transforms.metrics.error_rates.metric import CerConfig, WerConfig

Config = WerConfig | CerConfig


def jiwers(candidate: str, reference: str, config: Config) -> Any:
    """What jiwer says of a segment by the same definition."""
    first: list[Any] = [jiwer.ToLowerCase()] if config.lowercase else []
    if config.no_punct:
        first.append(jiwer.RemovePunctuation())
    if isinstance(config, WerConfig):
        transform = jiwer.Compose([*first, *jiwer.wer_default.transforms])
        return jiwer.process_words(reference, candidate, transform, transform)
    transform = jiwer.Compose([*first, *jiwer.cer_default.transforms])
    return jiwer.process_characters(reference, candidate, transform, transform)


def counts_of_jiwer(candidate: str, reference: str, config: Config) -> tuple[int, int, int, int]:
    """jiwer's substitutions, deletions and insertions, and the length of the reference."""
    output = jiwers(candidate, reference, config)
    length = output.hits + output.substitutions + output.deletions
    return output.substitutions, output.deletions, output.insertions, length


def best_of_jiwer(segment: Segment, config: Config) -> tuple[int, int, int, int]:
    """jiwer's counts for the reference with the fewest edits, or the longest of several such."""
    candidate, references = segment
    counts = [
        counts_of_jiwer(candidate, reference, config)
        for reference in references
        if reference is not None
    ]
    return min(counts, key=lambda of_one: (sum(of_one[:3]), -of_one[3]))
