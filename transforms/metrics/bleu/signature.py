"""The signature: one line that says how a score was made.

Equal signatures and equal inputs give equal scores. So the signature has everything that
changes the number.
"""

from __future__ import annotations

from beam_bleu.transforms.metrics.bleu.reference_lengths import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.scoring import Scoring
from beam_bleu.transforms.metrics.bleu.smoothing import SMOOTH_METHODS
from beam_bleu.transforms.text.text import (
    CASES,
    SACREBLEU,
    TextName,
    reference_field,
    signature_line,
    text_versions,
)
from beam_bleu.transforms.text.tokenizers import TOKENIZERS
from beam_bleu.transforms.version import VERSION

_SACREBLEU_ORDER = 4


def signature(
    text: TextName, scoring: Scoring, min_reference_count: int, max_reference_count: int
) -> str:
    """The signature: the fields of sacreBLEU, then the choices that sacreBLEU does not show.

    `norm` is the normalization, `reflen` the rule of reference lengths, `order` is N
    if it is not 4 (sacreBLEU's signature does not show it), `weights` are the given
    weights. The last fields are the versions on which the number depends.

    Args:
      text: how texts become tokens.
      scoring: how sums become a score.
      min_reference_count: the smallest number of references that a segment has.
      max_reference_count: the largest number of them.
    """
    fields = _fields(text, scoring, min_reference_count, max_reference_count)
    if text.normalize is not None:
        fields["norm"] = text.normalize
    if not REFERENCE_LENGTHS[scoring.reference_length].in_sacrebleu:
        fields["reflen"] = scoring.reference_length
    if scoring.max_ngram_order != _SACREBLEU_ORDER:
        fields["order"] = str(scoring.max_ngram_order)
    if scoring.weights is not None:
        fields["weights"] = ",".join(f"{float(weight)!r}" for weight in scoring.weights)
    fields.update(text_versions(text))
    fields["version"] = f"beam-bleu-{VERSION}"
    return signature_line(fields)


def sacrebleu_signature(
    text: TextName, scoring: Scoring, min_reference_count: int, max_reference_count: int
) -> str | None:
    """The signature that sacreBLEU prints for this definition; None if it does not have it."""
    expressible = (
        TOKENIZERS[text.tokenize].sacrebleu is not None
        and CASES[text.lowercase].in_sacrebleu
        and text.normalize is None
        and SMOOTH_METHODS[scoring.smooth_method].sacrebleu is not None
        and REFERENCE_LENGTHS[scoring.reference_length].in_sacrebleu
        and scoring.weights is None
    )
    if not expressible:
        return None
    fields = _fields(text, scoring, min_reference_count, max_reference_count)
    if scoring.smooth_value is not None:
        fields["smooth"] = f"{scoring.smooth_method}[{scoring.smooth_value:.2f}]"
    return signature_line({**fields, "version": SACREBLEU})


def _fields(
    text: TextName, scoring: Scoring, min_reference_count: int, max_reference_count: int
) -> dict[str, str]:
    return {
        "nrefs": reference_field(min_reference_count, max_reference_count),
        "case": CASES[text.lowercase].name,
        "eff": "yes" if scoring.effective_order else "no",
        "tok": _tokenizer(text),
        "smooth": _smoothing(scoring),
    }


def _tokenizer(text: TextName) -> str:
    """The tokenizer, by its name in sacreBLEU if it has one."""
    signed = TOKENIZERS[text.tokenize].signed
    return text.tokenize if signed is None else signed(text.model)


def _smoothing(scoring: Scoring) -> str:
    if SMOOTH_METHODS[scoring.smooth_method].value is None:
        return scoring.smooth_method
    value = scoring.effective_smooth_value
    value += 0.0  # turns -0.0 into 0.0
    rounded = f"{value:.2f}"
    # sacreBLEU rounds to two digits. If that changes the value, all digits are written.
    return f"{scoring.smooth_method}[{rounded if float(rounded) == value else repr(value)}]"
