"""The definitions of BLEU that people know from tools and papers, by name.

Each sets the tokenizer, case, the rule of reference lengths, order, weights and
smoothing, as the tool computes when nothing else is asked of it. `docs/definitions.md`
says of each what it equals, how that was proved, and where it differs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from beam_bleu.transforms.definition.config import LARGEST_NGRAM_ORDER, BleuConfig

DEFAULT_PRESET = "sacrebleu"


@dataclasses.dataclass(frozen=True)
class Preset:
    """A definition by name.

    Attributes:
      source: what it equals.
      choices: the fields of `BleuConfig` that it sets.
      weights: the weights of N orders; None for 1/N each.
    """

    source: str
    choices: Mapping[str, Any]
    weights: Callable[[int], tuple[float, ...]] | None = None


def _halved(order: int) -> tuple[float, ...]:
    return tuple(0.5**n for n in range(1, order + 1))


PRESETS = {
    "sacrebleu": Preset("sacreBLEU 2.6's default; WMT's BLEU", {}),
    "papineni2002": Preset(
        "Papineni et al. 2002, the paper's formula", {"tokenize": "none", "smooth_method": "none"}
    ),
    "tensorflow": Preset(
        "compute_bleu of TensorFlow's NMT",
        {"tokenize": "none", "smooth_method": "none", "reference_length": "shortest"},
    ),
    "d2l": Preset(
        "bleu of the book Dive into Deep Learning",
        {"tokenize": "none", "smooth_method": "none", "effective_order": True},
        _halved,
    ),
    "nltk": Preset(
        "NLTK 3.9's corpus_bleu and sentence_bleu",
        {"tokenize": "none", "smooth_method": "nltk-method0"},
    ),
    "nltk_legacy": Preset(
        "NLTK 3.2.2 to 3.2.5's corpus_bleu and sentence_bleu",
        {"tokenize": "none", "smooth_method": "leave-out"},
    ),
    "multi_bleu": Preset(
        "Moses's multi-bleu.perl", {"tokenize": "ascii-space", "smooth_method": "none"}
    ),
    "mteval13a": Preset("NIST's mteval-v13a.pl", {"lowercase": "ascii", "smooth_method": "mteval"}),
    "torchmetrics": Preset(
        "torchmetrics' bleu_score",
        {"tokenize": "none", "smooth_method": "none", "reference_length": "closest_first"},
    ),
    "huggingface": Preset(
        "bleu of Hugging Face's evaluate",
        {"smooth_method": "none", "reference_length": "shortest"},
    ),
}


def preset(name: str, **changes: Any) -> BleuConfig:
    """The definition of a tool or paper, with changes.

    Args:
      name: a key of `PRESETS`.
      **changes: fields of `BleuConfig` that are to be otherwise; `weights` alone
        set max_ngram_order to their number.

    Raises:
      ValueError: there is no such preset, or a change means nothing.

    Example:
      >>> preset("tensorflow", smooth_method="add-k-all").reference_length
      'shortest'
    """
    if name not in tuple(PRESETS):  # whatever a configuration says, a list too
        raise ValueError(f"preset must be one of {', '.join(PRESETS)}, got {name!r}")
    fields = [field.name for field in dataclasses.fields(BleuConfig)]
    for change in changes:
        if change not in fields:
            raise ValueError(f"a change must be one of {', '.join(fields)}, got {change!r}")
    known = PRESETS[name]
    choices = {**known.choices, **changes}
    weights = choices.get("weights")
    if isinstance(weights, tuple) and "max_ngram_order" not in choices:
        choices["max_ngram_order"] = len(weights)
    if known.weights is not None and "weights" not in choices:
        order = choices.get("max_ngram_order", BleuConfig.max_ngram_order)
        if order in range(1, LARGEST_NGRAM_ORDER + 1):  # of another one BleuConfig tells the bounds
            choices["weights"] = known.weights(order)
    return BleuConfig(**choices)


def comparable(config: BleuConfig) -> dict[str, BleuConfig]:
    """The presets that score the same tokens as a config, by name.

    They are as the tools have them, whatever else the config changes; but no
    preset normalizes, so they are taken with the config's normalization.
    """
    configs = {name: preset(name, normalize=config.normalize) for name in PRESETS}
    return {
        name: each
        for name, each in configs.items()
        if (each.tokenize, each.lowercase) == (config.tokenize, config.lowercase)
    }
