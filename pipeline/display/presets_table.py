"""The table that `--preset list` prints."""

from __future__ import annotations

from beam_bleu.pipeline.display.fitted_rows import drawn, fitted
from beam_bleu.pipeline.display.screen import FILE, Screen
from beam_bleu.transforms.metrics.bleu.config import PRESETS, BleuConfig, PresetName, preset
from beam_bleu.transforms.text.text import CASES

_HEADER = ("preset", "tokenize", "case", "reference_length", "N", "weights", "smoothing", "equals")


def presets_table(screen: Screen = FILE) -> str:
    """All presets and what each one sets, as text."""
    rows = [_row(name, preset(name)) for name in PRESETS]
    return drawn(fitted([_HEADER, *rows], screen), screen)


def _row(name: PresetName, config: BleuConfig) -> tuple[str, ...]:
    weights = "1/N" if config.weights is None else ",".join(f"{each:g}" for each in config.weights)
    return (
        name,
        config.tokenize,
        CASES[config.lowercase].shown,
        config.reference_length,
        f"{config.max_ngram_order}{' or fewer' if config.effective_order else ''}",
        weights,
        config.smooth_method,
        PRESETS[name].source,
    )
