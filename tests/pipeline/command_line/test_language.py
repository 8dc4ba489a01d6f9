"""--language: the tokenizer that sacreBLEU chooses with -l."""

from __future__ import annotations

import pytest
import sacrebleu
from command_line import called, write_lines

from beam_bleu.pipeline.command_line.options import parse

CHINESE = ["猫坐在垫子上，3.5公斤。", "他说：“新的”。"]
CANDIDATES = ["猫坐在桌子上，3.5公斤。", "她说：“新的”！"]


@pytest.mark.parametrize("flag", ["-l", "--language-pair"])
def test_the_language_chooses_the_tokenizer_as_in_sacrebleu(tmp_path, flag):
    references = write_lines(tmp_path / "ref", CHINESE)
    candidates = write_lines(tmp_path / "hyp", CANDIDATES)
    for pair in ("en-zh", "zh-en"):
        run = called(references, flag, pair, "-f", "json", "-i", candidates)
        target = pair.split("-")[1]
        expected = sacrebleu.BLEU(trg_lang=target).corpus_score(CANDIDATES, [CHINESE])
        assert run.document["scores"][0]["score"] == expected.score
        tokenizer = "zh" if target == "zh" else "13a"
        assert f"|tok:{tokenizer}|" in run.signature


@pytest.mark.parametrize(
    ("words", "tokenizer"),
    [
        (["--language", "zh", "--tokenize", "zh"], "zh"),
        (["--language", "de", "--preset", "huggingface"], "13a"),
        (["--language", "zh", "--preset", "sacrebleu"], "zh"),
        (["--language", "zh", "--preset", "huggingface", "--tokenize", "zh"], "zh"),
    ],
)
def test_other_flags_may_choose_the_same_tokenizer(words, tokenizer):
    assert parse(["r", "-i", "a", *words]).job.metrics.lengths.tokenize == tokenizer
