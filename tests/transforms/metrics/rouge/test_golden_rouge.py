"""The cases of rouge_score's own tests (rouge_scorer_test.py, Apache License 2.0).

These cases cannot apply: other names of metrics, which `--metrics` refuses; tokenizers of a user;
`split_summaries`, which splits sentences by a model of NLTK; and the functions for lists of indices
(`_lcs_table`, `_find_union`), whose results are hits here. testRougeLsumLarge needs a large file
that is not in the package; test_against_rouge_score.py compares many other summaries.
"""

from __future__ import annotations

import pytest
from metric_segments import segment_scores

TARGETS = [
    "ZfbCUIUuePaiLVUlCaUXxkpu XPeWing tUHfPMuZ',-Xd Y BrUgVJing M-HV.-DgdDaY.rFDJCRing Ht-LM "
    "EKBDXkME,yz'RBr q'wtion wIojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxer tKM L",
    "KsJdPByEtAor fE-Qg Dpdbring cw-WeFyu vC MoBL Xdn g wkvcEiGvKtion BDFhrpMtion psing sbKao Q m "
    "qiing LMmer HqqLFXe,XPY,J XsurkMer ,ed nB'wH'bWVHjWFEing tQ.saefZwJtKrTlixYpMMsJing "
    "UCAPwNHeYVjDing c T BUySKtion gMPfJpwGw p'NvxAoping eu pBwMBKV'I DNxqelhu,PHPxDEq,mtion SN",
]
PREDICTIONS = [
    "rFDJCRtion Ht-LM EKtDXkME,yz'RBr q'wer wrojNbN wL,b .a-'XdQggyFl jB-RPP'iyOIcUxi",
    "n cw-WeFyu vC MoBL Xdn g wkvcEiGvKtion BDFhrpMer pstion sbKao Q m qier LMmed HqqLFXe,XPY,J "
    "XsurkMeo ,ed nB'wH'bWVHjWFEer tQ.saefZwJtKrTlixYpMMNJtion UCAPwNHeYVjD",
]
TARGET_OF_LINES = "\n".join(
    [
        *TARGETS,
        "NhETebUbBk'er WOvoHMTjSRizKgH'vHiing Xu,hWxfs VkNE QhgKiLHE -HidivzoM.dO anhtion "
        "jbLQiSGDTCsuhREebUaKM dv J dVN tmbOT",
        "vMR HDm,xOAetion D,tion HJtodT.mHl UIv-p VjWH'BdyWjnfGU-OjT aEMdFICyLWfQMtion wEMfdOKing "
        "AwkeKbO 'DxqNOHBH qKtVvm OYJl mM\n",
    ]
)
PREDICTION_OF_LINES = "\n".join(
    [
        *PREDICTIONS,
        "xfs VkJE QhgKiLHE -HidivzoM.dO anhing jbLQiSGDTCsuhREebUaKM dv J",
        "VjWH'BdyWjnfGU-OjTNaEMdFICyLWfQMing wEMfdOKijg AwkeKbO 'DxqNO\n",
    ]
)

# Precision, recall and F, as far as the test gives them.
CASES = [
    ("rouge1", False, "testing", ["testing one two"], 1, 1 / 3, 1 / 2),
    ("rouge2", False, "testing one", ["testing one two"], 1, 1 / 2, 2 / 3),
    ("rougeL", False, "testing one", ["testing one two"], 1, 2 / 3, 4 / 5),
    ("rougeL", False, "testing two", ["testing one two"], 1, 2 / 3, 4 / 5),
    ("rouge1", False, "testing one", ["testing one two"], 1, 2 / 3, 4 / 5),
    ("rouge1", False, "text first", ["first text", "first something"], 1, 1, 1),
    ("rouge2", False, "text first", ["first text", "first something"], 0, 0, 0),
    ("rougeL", False, "text first", ["first text", "first something"], 0.5, 0.5, 0.5),
    *((metric, False, "", ["testing one two"], 0, 0, 0) for metric in ("rouge1", "rouge2")),
    *((metric, False, "", ["testing one two"], 0, 0, 0) for metric in ("rougeL", "rougeLsum")),
    ("rouge1", False, "this is a test", ["this is a test"], 1, 1, 1),
    # From ROUGE-1.5.5.
    ("rouge1", False, PREDICTIONS[0], TARGETS[:1], 0.68750, 0.40741, 0.51163),
    ("rouge1", False, PREDICTIONS[1], TARGETS[1:], 0.65385, 0.40476, 0.50000),
    ("rouge1", True, PREDICTIONS[0], TARGETS[:1], 0.68750, 0.40741, 0.51163),
    ("rouge1", True, PREDICTIONS[1], TARGETS[1:], 0.69231, 0.42857, 0.52941),
    ("rouge2", False, PREDICTIONS[0], TARGETS[:1], 0.53333, 0.30769, 0.39024),
    ("rouge2", False, PREDICTIONS[1], TARGETS[1:], 0.48000, 0.29268, 0.36364),
    ("rouge2", True, PREDICTIONS[0], TARGETS[:1], 0.53333, 0.30769, 0.39024),
    ("rouge2", True, PREDICTIONS[1], TARGETS[1:], 0.48000, 0.29268, 0.36364),
    ("rougeL", False, PREDICTIONS[0], TARGETS[:1], 0.68750, 0.40741, 0.51163),
    ("rougeL", False, PREDICTIONS[1], TARGETS[1:], 0.65385, 0.40476, 0.50000),
    ("rougeLsum", True, PREDICTION_OF_LINES, [TARGET_OF_LINES], 0.66667, 0.36538, 0.47205),
    # Sentences.
    (
        "rougeLsum",
        True,
        "Second sentence.\nFirst Sentence.",
        ["First sentence.\nSecond Sentence."],
        *(1, 1, 1),
    ),
    (
        "rougeLsum",
        True,
        "Second sentence. First Sentence.",
        ["First sentence. Second Sentence."],
        *(0.5, 0.5, 0.5),
    ),
    (
        "rougeLsum",
        False,
        "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5",
        ["w1 w2 w3 w4 w5"],
        *(0.4, 0.8, 0.53333),
    ),
    ("rougeLsum", False, "", ["w1 w2 w3 w4 w5"], 0, 0, 0),
    ("rougeLsum", False, "w1", [""], 0, 0, 0),
    ("rougeLsum", False, "/", ["w1 w2 w3 w4 w5"], 0, 0, 0),
]


@pytest.mark.parametrize(
    ("metric", "stemmer", "candidate", "references", "precision", "recall", "f"), CASES
)
def test_cases_of_rouge_score(metric, stemmer, candidate, references, precision, recall, f):
    (row,) = segment_scores([(candidate, references)], metric, stemmer=stemmer)
    found = row["precision"], row["recall"], row["score"]
    assert found == pytest.approx((100 * precision, 100 * recall, 100 * f), abs=5e-4)
