"""The signature: one line that says how a score was made."""

from __future__ import annotations

from transforms.config import DEFAULT_SMOOTH_VALUES, BleuConfig
from transforms.totals.corpus_totals import CorpusTotals
from transforms.version import VERSION

_SACREBLEU_ORDER = 4


def signature(totals: CorpusTotals, config: BleuConfig) -> str:
    """The signature in sacreBLEU's form, with beam-bleu's version in place of sacreBLEU's.

    sacreBLEU's signature does not tell the n-gram order; here `order:N` stands
    in it where N is not 4.
    """
    few, many = totals.min_references, totals.max_references
    fields = {
        "nrefs": str(many) if few == many else "var",
        "case": "lc" if config.lowercase else "mixed",
        "eff": "yes" if config.effective_order else "no",
        "tok": config.tokenize,
        "smooth": _smoothing(config),
    }
    if config.max_ngram_order != _SACREBLEU_ORDER:
        fields["order"] = str(config.max_ngram_order)
    fields["version"] = f"beam-bleu-{VERSION}"
    return "|".join(f"{name}:{value}" for name, value in fields.items())


def _smoothing(config: BleuConfig) -> str:
    if config.smooth_method not in DEFAULT_SMOOTH_VALUES:
        return config.smooth_method
    value = config.smooth_value
    if value is None:
        value = DEFAULT_SMOOTH_VALUES[config.smooth_method]
    rounded = f"{value:.2f}"
    # sacreBLEU rounds to two digits; a value that would be lost is written whole.
    return f"{config.smooth_method}[{rounded if float(rounded) == value else repr(value)}]"
