"""The flags take the rows of the tables of choices."""

from __future__ import annotations

import pathlib
from typing import Any

from beam_bleu.pipeline.command_line.options import our_flags
from beam_bleu.pipeline.display.output_formats import FORMATS
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.config import COMPARISONS, PRESETS
from beam_bleu.transforms.metrics.bleu.scoring import SMOOTH_METHODS, corpus_smooth_methods
from beam_bleu.transforms.text.text import CASES, NORMALIZATIONS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS

PROJECT = pathlib.Path(__file__).parent.parent


def choices_of_flags() -> dict[str, Any]:
    return {flag.dest: flag.choices for flag in our_flags()}


def test_the_flags_have_the_rows_for_choices() -> None:
    choices = choices_of_flags()
    assert choices["tokenize"] == tuple(TOKENIZERS)
    assert choices["normalize"] == tuple(NORMALIZATIONS)
    assert choices["reference_length"] == tuple(REFERENCE_LENGTHS)
    assert choices["smooth_method"] == corpus_smooth_methods()
    assert choices["segment_smooth_method"] == tuple(SMOOTH_METHODS)
    assert choices["preset"] == tuple(PRESETS)
    assert choices["compare_presets"] == tuple(COMPARISONS)
    assert choices["format"] == tuple(FORMATS)
    assert {case.flag for case in CASES.values()} <= choices.keys()
