"""--diversity: in scores.json and on stdout; saved totals do not have it, and say so."""

from __future__ import annotations

import pytest
from command_line import REFERENCES, SYSTEMS, called
from sacrebleu.metrics import BLEU


def test_diversity_of_each_system(tmp_path):
    folder = tmp_path / "out"
    flags = ["--diversity", "--save_totals", "--output", folder, "--no_uncertainty"]
    systems = [SYSTEMS["atlas"], SYSTEMS["birch"]]
    document = called(*REFERENCES, "-i", *systems, *flags, "--format", "json").document
    atlas, birch = document["diversity"]
    texts = SYSTEMS["atlas"].read_text(encoding="utf-8").splitlines()
    tokens = [token for text in texts for token in BLEU().tokenizer(text).split()]
    assert (atlas["system"], birch["system"]) == ("atlas", "birch")
    assert atlas["ngrams"][0] == len(tokens)
    assert atlas["different"][0] == len({*tokens})
    assert atlas["sample"] == len(texts)
    bleu = BLEU(effective_order=True)
    scores = [
        bleu.sentence_score(text, [*texts[:place], *texts[place + 1 :]]).score
        for place, text in enumerate(texts)
    ]
    assert atlas["self_bleu"] == pytest.approx(sum(scores) / len(scores), abs=1e-9)
    assert atlas["signature"].startswith(f"nrefs:{len(texts) - 1}|case:mixed|eff:yes|tok:13a|")
    merged = called("merge", folder, "--format", "json")
    assert "diversity" not in merged.document
    assert any("--diversity" in warning for warning in merged.document["warnings"])
