"""Suspicious input gives a warning, as docs/inputs.md says."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import sacrebleu
from scoring import corpus_sums, group_totals, score_of, score_of_totals, statistics_of

from beam_bleu import BleuConfig
from beam_bleu.transforms.known_metrics import config_type
from beam_bleu.transforms.pairing.segments.batching import Segment, to_batch
from beam_bleu.transforms.score import suspicious_input
from beam_bleu.transforms.statistics.counting import count_batch
from beam_bleu.transforms.text.text import TextName
from beam_bleu.transforms.text.tokenizers import SCRIPTS, TOKENIZERS, ScriptName, TokenizerName


def told(segments: Sequence[Segment], *words: str, **config: object) -> bool:
    """Whether a warning has these words. Checks that there is no other warning about the input."""
    warnings = score_of(segments, BleuConfig(**config)).warnings
    others = ("the score is", "no standard error")
    warnings = tuple(each for each in warnings if not each.startswith(others))
    if not warnings:
        return False
    (warning,) = warnings
    for word in words:
        assert word in warning
    return True


def lines(text: str, count: int, other: str, others: int, reference: str = "r s") -> list[Segment]:
    """`count` segments with one candidate, and `others` with the other one."""
    return [(text, [reference])] * count + [(other, [reference])] * others


def test_text_looks_tokenized_exactly_when_sacrebleu_says_so(caplog):
    for tokenized, rest in [(99, []), (99, ["."]), (100, []), (99, [" ."]), (110, ["a . ", ""])]:
        texts = [*["a b c ."] * tokenized, *rest]
        caplog.clear()
        with caplog.at_level(logging.WARNING, "sacrebleu"):
            sacrebleu.BLEU().corpus_score(texts, [["a b c"] * len(texts)])
        expected = "forgot to detokenize" in caplog.text
        segments = [(text, ["a b c"]) for text in texts]
        assert told(segments, "look tokenized", f"of {len(segments)}") == expected


def test_tokenized_text_gives_no_warning_with_a_tokenizer_for_such_text():
    segments = lines("a b .", 1204, "a b.", 1800)
    kernels = [row for row in TOKENIZERS.values() if row.extra is None]
    warned = {row for row in kernels if told(segments, "1,204 of 3,004", tokenize=row.name)}
    assert warned == {row for row in kernels if not row.takes_tokenized_text}


WRITTEN = {
    "chinese": ("我喜欢吃苹果和香蕉。", "我喜欢吃苹果。"),
    "japanese": ("私はリンゴとバナナが好きです。", "私はリンゴが好きです。"),
    "southeast_asian": ("ฉันชอบกินแอปเปิ้ลและกล้วย", "ฉันชอบกินแอปเปิ้ล"),
    "korean": ("고양이가 매트 위에 조용히 앉았다.", "고양이가 매트 위에 앉았다."),
}
"""A candidate and its reference in each script."""

NAMES = {
    "chinese": ("Chinese", "--language zh"),
    "japanese": ("Japanese", "--language ja"),
    "southeast_asian": ("Thai, Lao, Khmer or Burmese", "spm"),
    "korean": ("Korean", "ko-mecab (--language ko"),
}


def told_of_scripts(segments: Sequence[Segment], tokenize: TokenizerName = "13a") -> list[str]:
    """The warnings about text that a tokenizer does not split."""
    sums = corpus_sums(statistics_of(to_batch(segments), BleuConfig()))
    text = TextName(tokenize, False, None, "")
    found = suspicious_input.suspicions(sums, text, BleuConfig().metric.lengths(sums.columns))
    return [each for each in found if "finds words by spaces" in each]


def in_script(name: ScriptName, count: int, others: int = 0) -> list[Segment]:
    candidate, reference = WRITTEN[name]
    return [(candidate, [reference])] * count + [("ein Hund", ["eine Katze"])] * others


def test_a_tokenizer_that_does_not_split_a_script_gives_a_warning():
    for tokenize in TOKENIZERS:
        for script in SCRIPTS:
            warnings = told_of_scripts(in_script(script, 30), tokenize)
            assert len(warnings) == (script not in TOKENIZERS[tokenize].splits)
            for warning in warnings:
                assert warning.startswith(f"30 of 30 segments are {NAMES[script][0]} text, which ")
                assert f"the tokenizer {tokenize} finds" in warning
                assert NAMES[script][1] in warning


def test_a_part_of_the_corpus_is_enough():
    for tokenize, count, others, is_told in [
        ("13a", 1, 99, True),
        ("13a", 1, 100, False),
        ("none", 25, 75, True),  # some words of tokenized text are long, too
        ("none", 24, 76, False),
    ]:
        warnings = told_of_scripts(in_script("chinese", count, others), tokenize)
        assert len(warnings) == is_told
        verb = "is" if count == 1 else "are"
        assert all(f"{count} of {count + others} segments {verb} Ch" in each for each in warnings)


def test_japanese_texts_without_kana_do_not_look_chinese():
    for chinese, warnings in ((10, 1), (11, 2)):
        told = told_of_scripts(in_script("japanese", 100) + in_script("chinese", chinese))
        assert len(told) == warnings
        assert any("Japanese" in warning for warning in told)


def test_a_system_that_is_a_reference_gives_a_warning():
    words = "the same as references 2, byte for byte, in all 2 segments"
    assert told([("a b", ["x", "a b"]), ("", ["x", ""])], words)
    assert not told([("a b", ["x", "a b"]), ("c", ["x", "c "])])
    assert not told([("a b", ["x", "a b"]), ("c", ["x", None])])
    assert not told([("a b", ["x", "a b"]), ("c", ["c"])])  # each from another stream
    assert not told([("", [""]), ("", [""])])  # empty texts are equal
    assert not told([("\u2003", ["\u2003"])])


LINE_ENDS = [
    (
        lines("a\r", 6, "a", 4),
        ["in the candidates (6 of 10 lines), but not in references 1 (0 of 10 lines)"],
    ),
    (
        [("a\r", ["b", "c\r"])] * 3,
        ["the candidates (3 of 3 lines) and references 2", "not in references 1 (0 of 3"],
    ),
    # Only the references that are there have line ends.
    (
        [("a", ["b"])] * 3 + [("a", ["b", "c\r"])],
        ["in references 2 (1 of 1 lines), but not in the candidates (0 of 4 lines) and ref"],
    ),
    (lines("a\r", 5, "a", 5), []),  # exactly half is not enough
    (lines("a", 8, "a\r", 2, "b\r"), []),  # a fifth is more than a tenth
    (lines("a\r\n b", 10, "", 0), []),  # inside a text
]


def test_windows_line_ends_in_only_a_part_of_the_streams_give_a_warning():
    for segments, words in LINE_ENDS:
        assert told(segments, *words) == bool(words)


def test_a_warning_about_empty_candidates_needs_ten_segments():
    warned, others = [(4, 6), (1, 9), (1000, 2004)], [(5, 5), (4, 5), (0, 10)]
    for filled, empty in warned + others:
        segments = lines("a b c d e", filled, " \t", empty, "b c")
        warnings = score_of(segments, BleuConfig()).warnings
        found = [each for each in warnings if "most candidates are empty" in each]
        assert bool(found) == ((filled, empty) in warned)
        assert all(f"{empty:,} of {filled + empty:,} have no token" in each for each in found)


TOLD = [
    ("bleu", "the score is 0: no candidate has a token"),
    ("chrf", "the score is 0: no candidate has a character that can match"),
    ("rougeLsum", "the score is 0: no candidate has a word"),
    ("ter", "all candidates are empty: 40 of 40 have no word; check that"),
    ("cer", "all candidates are empty: 40 of 40 have no character; check that"),
]


def test_if_all_candidates_are_empty_each_metric_says_so():
    for metric, told_once in TOLD:
        config = config_type(metric)()
        batch = to_batch([("", ["b c d"])] * 40)
        counted = count_batch(batch, config.text, config.metric)
        warnings = score_of_totals(group_totals(counted), config).warnings
        (warning,) = warnings
        assert warning.startswith(told_once)


LENGTHS = [
    (50, 100, ""),
    (49, 100, "have 0.49 times as many tokens as the references (49 and 100)"),
    (200, 100, ""),
    (201, 100, "have 2.01 times as many tokens as the references (201 and 100)"),
    (999, 99, ""),  # too short for a warning
    (0, 500, ""),  # the score is 0, and its own warning gives the reason
]


def test_lengths_that_do_not_fit_give_a_warning():
    for candidate_tokens, reference_tokens, words in LENGTHS:
        segments = [("a " * candidate_tokens, ["b " * reference_tokens])]
        assert told(segments, words) == bool(words)
