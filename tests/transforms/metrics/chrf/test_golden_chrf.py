"""The cases of sacreBLEU's own tests of chrF (test/test_chrf.py, Apache License 2.0)."""

from __future__ import annotations

import pytest
from test_chrf_against_sacrebleu import counted, score_of

from beam_bleu import ChrfConfig, score

RISK = (
    " risk assessment must be made of those who are qualified and expertise in the sector - these "
    "are the scientists .",
    "risk assessment has to be undertaken by those who are qualified and expert in that area - "
    "that is the scientists .",
)
RELATION = (
    " Die    Beziehung zwischen  Obama und Netanjahu ist nicht gerade  freundlich. ",
    "Das Verhältnis zwischen Obama und Netanyahu ist nicht gerade freundschaftlich.",
)
WALL = "Niemand hat die Absicht, eine Mauer zu errichten"

SMOOTHED = ChrfConfig(beta=3, eps_smoothing=True)
EFFECTIVE = ChrfConfig(beta=3)
WITH_SPACES = ChrfConfig(beta=3, whitespace=True)
OF_SENTENCES = ChrfConfig(eps_smoothing=True)

CASES = [
    (SMOOTHED, [("abcdefg", "hijklmnop")], 0.0),
    (SMOOTHED, [("a", "b")], 0.0),
    (SMOOTHED, [("", "b")], 0.0),
    (SMOOTHED, [("", "ref")], 0.0),
    (SMOOTHED, [("", "reference")], 0.0),
    (SMOOTHED, [("aa", "ab")], 8.3333),
    (SMOOTHED, [("a", "a"), ("b", "c")], 8.3333),
    (SMOOTHED, [("a", "a")], 16.6667),
    (SMOOTHED, [("a b c", "a b c")], 50.0),
    (SMOOTHED, [("a b c", "abc")], 50.0),
    (SMOOTHED, [RISK], 63.361730),
    (SMOOTHED, [RELATION], 64.1302698),
    (SMOOTHED, [(WALL, WALL)], 100.0),
    (EFFECTIVE, [("a", "a")], 100.0),
    (EFFECTIVE, [("", "reference")], 0.0),
    (EFFECTIVE, [("a b c", "a b c")], 100.0),
    (EFFECTIVE, [("a b c", "abc")], 100.0),
    (EFFECTIVE, [("", "c")], 0.0),
    (EFFECTIVE, [("a", "a"), ("b", "c")], 50.0),
    (EFFECTIVE, [("aa", "ab")], 25.0),
    (WITH_SPACES, [(" ".join(RELATION[0].split()), RELATION[1])], 67.3481606),
    (WITH_SPACES, [(RISK[0].strip(), RISK[1])], 65.2414427),
    (
        OF_SENTENCES,
        [
            (
                "Co nás nejvíc trápí, protože lékaři si vybírají, kdo bude žít a kdo zemře.",
                "Nejvíce smutní jsme z toho, že musíme rozhodovat o tom, kdo bude žít a kdo zemře.",
            )
        ],
        39.14078509,
    ),
    (
        OF_SENTENCES,
        [
            (
                "Nebo prostě nemají vybavení, které by jim pomohlo, uvedli lékaři.",
                "A někdy nemáme ani potřebný materiál, abychom jim pomohli, popsali lékaři.",
            )
        ],
        31.22557079,
    ),
    (
        OF_SENTENCES,
        [
            (
                "Lapali po dechu, jejich životy skončily dřív, než skutečně začaly.",
                "Lapali po dechu a pak jejich život skončil - dřív, než skutečně mohl začít, "
                "připomněli.",
            )
        ],
        57.15704367,
    ),
]


@pytest.mark.parametrize(("config", "pairs", "expected"), CASES)
def test_sacrebleus_own_cases(config, pairs, expected):
    segments = [(candidate, [reference]) for candidate, reference in pairs]
    ours = score_of(counted(segments, config), config)
    assert ours.score == pytest.approx(expected, abs=1e-4)
    candidates, references = zip(*pairs, strict=True)
    assert score(candidates, [references], metrics=[config]) == {"chrf": ours}
