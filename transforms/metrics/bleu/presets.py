"""Presets: definitions of BLEU with names known from tools and papers."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

from beam_bleu.transforms.definition.choices import require_choice, require_integer, table
from beam_bleu.transforms.metrics.bleu.metric import LARGEST_NGRAM_ORDER, BleuConfig

PresetName = Literal[
    "sacrebleu",
    "papineni2002",
    "tensorflow",
    "d2l",
    "nltk",
    "nltk_legacy",
    "multi_bleu",
    "mteval13a",
    "torchmetrics",
    "huggingface",
]

DEFAULT_PRESET: PresetName = "sacrebleu"


@dataclasses.dataclass(frozen=True)
class Preset:
    """A row of `PRESETS`. Weights can be a function of the order."""

    name: PresetName
    source: str
    choices: Mapping[str, Any]
    details: str = ""


PRESETS: Mapping[PresetName, Preset] = table(
    Preset("sacrebleu", "sacreBLEU 2.6's default; WMT's BLEU", {}),
    Preset(
        "papineni2002",
        "Papineni et al. 2002, the paper's formula",
        {"tokenize": "none", "smooth_method": "none"},
        details="on words between white space",
    ),
    Preset(
        "tensorflow",
        "`compute_bleu` of TensorFlow's NMT",
        {"tokenize": "none", "smooth_method": "none", "reference_length": "shortest"},
    ),
    Preset(
        "d2l",
        "`bleu` of the book Dive into Deep Learning",
        {
            **{"tokenize": "none", "smooth_method": "none", "effective_order": True},
            "weights": lambda order: tuple(0.5**n for n in range(1, order + 1)),
        },
        details="version 1.0: p_n to the power 1/2^n, only orders up to the candidate's length",
    ),
    Preset(
        "nltk",
        "NLTK 3.9's `corpus_bleu` and `sentence_bleu`",
        {"tokenize": "none", "smooth_method": "nltk-method0"},
    ),
    Preset(
        "nltk_legacy",
        "NLTK 3.2.2 to 3.2.5's `corpus_bleu` and `sentence_bleu`",
        {"tokenize": "none", "smooth_method": "leave-out"},
    ),
    Preset(
        "multi_bleu",
        "Moses's multi-bleu.perl",
        {"tokenize": "ascii-space", "smooth_method": "none"},
        details="it splits at ASCII white space; its `-lc` is `--lowercase_ascii`",
    ),
    Preset(
        "mteval13a",
        "NIST's mteval-v13a.pl",
        {"lowercase": "ascii", "smooth_method": "mteval"},
        details="it ignores case unless `-c` is given (`--no_lowercase` here)",
    ),
    Preset(
        "torchmetrics",
        "torchmetrics' `bleu_score`",
        {"tokenize": "none", "smooth_method": "none", "reference_length": "closest_first"},
    ),
    Preset(
        "huggingface",
        "`bleu` of Hugging Face's evaluate",
        {"smooth_method": "none", "reference_length": "shortest"},
        details='`evaluate.load("bleu")`',
    ),
)


def preset(name: PresetName, **changes: Any) -> BleuConfig:
    """The definition of a tool or paper, with changes.

    Args:
      name: a key of `PRESETS`.
      **changes: fields of `BleuConfig` with other values. If `weights` are given
        without `max_ngram_order`, their number is the order.

    Raises:
      ValueError: there is no such preset, or a change is impossible.
    """
    require_choice("preset", name, PRESETS)
    fields = [field.name for field in dataclasses.fields(BleuConfig)]
    for change in changes:
        require_choice("a change", change, fields)
    choices = {**PRESETS[name].choices, **changes}
    if callable(choices.get("weights")):
        order = choices.setdefault("max_ngram_order", BleuConfig.max_ngram_order)
        require_integer("max_ngram_order", order, 1, LARGEST_NGRAM_ORDER)
        choices["weights"] = choices["weights"](order)
    return BleuConfig().changed(**choices)


def comparable(config: BleuConfig) -> dict[PresetName, BleuConfig]:
    configs = {name: preset(name, normalize=config.normalize) for name in PRESETS}
    return {
        name: other
        for name, other in configs.items()
        if (other.tokenize, other.lowercase) == (config.tokenize, config.lowercase)
    }


ComparisonName = Literal["same", "all"]
DEFAULT_COMPARISON: ComparisonName = "same"
COMPARISONS: Mapping[ComparisonName, Callable[[BleuConfig], Mapping[PresetName, BleuConfig]]] = {
    "same": comparable,
    "all": lambda _: {name: preset(name) for name in PRESETS},
}
"""The presets with which a definition is compared: those with the same tokens, or all."""
