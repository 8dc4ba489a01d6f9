"""Signatures: every choice that changes a number, and sacreBLEU's signature if there is one."""

import itertools
import unicodedata

import pytest
from scoring import sacrebleu_signature_of, signature_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.totals.group_totals import CorpusSums
from beam_bleu.transforms.version import VERSION

SUMS = CorpusSums((0,) * 16)
CHOICES = {
    "tokenize": ["13a", "none"],
    "lowercase": [False, True],
    "smooth": [
        ("exp", None),
        ("none", None),
        ("floor", 0.1),
        ("floor", 0.11),
        ("add-k", 1),
        ("add-k-all", 1),
        ("epsilon", 1e-100),
        ("epsilon", 1e-99),
        ("leave-out", None),
        ("nltk-method0", None),
        ("nltk-method1", 0.1),
        ("nltk-method4", 5),
    ],
    "order": [(1, None), (4, None), (4, (0.5, 0, 0, 0.5)), (4, (0.5, 0, 0, 0.25)), (5, None)],
    "effective_order": [False, True],
    "normalize": [None, "nfc", "nfkc"],
    "reference_length": ["closest", "closest_first", "shortest", "longest", "average"],
}


def configs():
    for values in itertools.product(*CHOICES.values()):
        tokenize, lowercase, (method, value), (order, weights), *others = values
        if not (others[0] and (method == "leave-out" or method.startswith("nltk"))):
            yield BleuConfig(tokenize, lowercase, method, value, order, *others, weights)


def test_different_definitions_have_different_signatures():
    signatures = [signature_of(SUMS, config) for config in configs()]
    assert len(signatures) == 2 * 2 * (12 * 2 - 4) * 5 * 3 * 5
    assert len(set(signatures)) == len(signatures)


@pytest.mark.parametrize(
    ("config", "field"),
    [
        (BleuConfig(), ""),
        (BleuConfig(normalize="nfkc"), f"|norm:nfkc|unicode:{unicodedata.unidata_version}"),
        (BleuConfig(reference_length="closest_first"), "|reflen:closest_first"),
        (BleuConfig(max_ngram_order=9), "|order:9"),
        (BleuConfig(weights=(0.1, 1, 0, 2.5)), "|weights:0.1,1.0,0.0,2.5"),
        (BleuConfig(lowercase=True), f"|unicode:{unicodedata.unidata_version}"),
    ],
)
def test_fields_that_sacrebleu_does_not_have_come_before_the_version(config, field):
    written = signature_of(SUMS, config)
    assert f"|smooth:exp{field}|version:beam-bleu-{VERSION}" in written


@pytest.mark.parametrize(
    "config",
    [
        BleuConfig(normalize="nfc"),
        BleuConfig(reference_length="closest_first"),
        BleuConfig(weights=(0.25, 0.25, 0.25, 0.25)),
        BleuConfig(smooth_method="add-k-all"),
        BleuConfig(smooth_method="nltk-method3"),
    ],
)
def test_a_definition_that_sacrebleu_does_not_have_has_no_sacrebleu_signature(config):
    assert sacrebleu_signature_of(SUMS, config) is None
