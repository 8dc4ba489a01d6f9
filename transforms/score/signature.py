"""The signature: one line that says how a score was made.

Equal signatures and equal inputs give equal scores, so everything that changes
the number is in it.
"""

from __future__ import annotations

from beam_bleu.transforms.definition.config import (
    DEFAULT_SMOOTH_VALUES,
    SACREBLEU_SMOOTH_METHODS,
    BleuConfig,
)
from beam_bleu.transforms.statistics.versions import text_versions, tokenizer_name
from beam_bleu.transforms.totals.corpus_totals import CorpusTotals
from beam_bleu.transforms.version import VERSION

SACREBLEU = "2.6.0"
"""The version of sacreBLEU whose numbers ours are."""

_SACREBLEU_ORDER = 4


def signature(totals: CorpusTotals, config: BleuConfig) -> str:
    """The signature: sacreBLEU's fields, then those of ours that are not as in sacreBLEU.

    `norm` is the normalization, `reflen` the rule of reference lengths, `order` N
    where it is not 4 (sacreBLEU's signature does not tell), `weights` those given,
    then the versions of all that the number depends on.
    """
    fields = _fields(totals, config)
    if config.normalize is not None:
        fields["norm"] = config.normalize
    if config.reference_length != "closest":
        fields["reflen"] = config.reference_length
    if config.max_ngram_order != _SACREBLEU_ORDER:
        fields["order"] = str(config.max_ngram_order)
    if config.weights is not None:
        fields["weights"] = ",".join(f"{float(weight)!r}" for weight in config.weights)
    fields.update(text_versions(config))
    fields["version"] = f"beam-bleu-{VERSION}"
    return _line(fields)


def sacrebleu_signature(totals: CorpusTotals, config: BleuConfig) -> str | None:
    """The signature that sacreBLEU prints for this definition; None if it cannot be told to it."""
    expressible = (
        config.normalize is None
        and config.reference_length == "closest"
        and config.weights is None
        and config.smooth_method in SACREBLEU_SMOOTH_METHODS
        and config.tokenize not in ("spm", "ascii-space")
        and config.lowercase != "ascii"
    )
    if not expressible:
        return None
    fields = _fields(totals, config)
    if config.smooth_value is not None:
        fields["smooth"] = f"{config.smooth_method}[{config.smooth_value:.2f}]"
    return _line({**fields, "version": SACREBLEU})


def _fields(totals: CorpusTotals, config: BleuConfig) -> dict[str, str]:
    few, many = totals.min_references, totals.max_references
    return {
        "nrefs": str(many) if few == many else "var",
        "case": "lc-ascii"
        if config.lowercase == "ascii"
        else "lc"
        if config.lowercase
        else "mixed",
        "eff": "yes" if config.effective_order else "no",
        "tok": tokenizer_name(config),
        "smooth": _smoothing(config),
    }


def _smoothing(config: BleuConfig) -> str:
    if config.smooth_method not in DEFAULT_SMOOTH_VALUES:
        return config.smooth_method
    value = config.effective_smooth_value
    value += 0.0  # -0.0 is 0.0
    rounded = f"{value:.2f}"
    # sacreBLEU rounds to two digits; a value that would be lost is written whole.
    return f"{config.smooth_method}[{rounded if float(rounded) == value else repr(value)}]"


def _line(fields: dict[str, str]) -> str:
    return "|".join(f"{name}:{value}" for name, value in fields.items())
