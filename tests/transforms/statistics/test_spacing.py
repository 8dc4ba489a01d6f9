"""zh and intl put spaces in the same places as sacreBLEU, so the tokens are the same."""

import itertools
import random
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from sacrebleu.metrics.bleu import _get_tokenizer
from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.statistics import spacing
from beam_bleu.transforms.statistics.splitting import splittable

CODE_POINTS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
# The planes that have code points of a class, and some of the others.
MOST_CLASSES = CODE_POINTS[: 0x20000 - 0x800] + CODE_POINTS[0x20000 - 0x800 :: 997]
# One or two characters of each class: ASCII and others, with one byte and with more.
ALPHABETS = {"intl": ["a5.$ -", "é٣。™\u3000,"], "zh": ["a5.中 -", "é5,＄\u2003-"]}


def tokens_of(texts, tokenize):
    spaced = splittable(pa.array(texts, pa.large_string()), BleuConfig(tokenize).text)
    return [text.split() for text in spaced.to_pylist()]


def assert_same_tokens(texts, tokenize):
    tokenizer = _get_tokenizer(tokenize)()
    uncached = type(tokenizer).__call__.__wrapped__
    wrong = []
    for text, ours in zip(texts, tokens_of(texts, tokenize), strict=True):
        expected = uncached(tokenizer, text.rstrip()).split()
        if ours != expected:
            wrong.append((text, expected, ours))
    assert not wrong[:3], f"{len(wrong)} of {len(texts)}: text, expected, got"


@pytest.mark.parametrize(
    ("tokenize", "text", "tokens"),
    [
        # A punctuation mark of any script is a token of its own, and so is a symbol.
        ("intl", "«a»—b, 5€ ©c", "« a » — b , 5 € © c"),
        # ... except between numbers of any script.
        ("intl", "3.14 ٣،٥ 5-6 ½.²", "3.14 ٣،٥ 5-6 ½.²"),
        # The apostrophe and the hyphen are punctuation marks, entities are not replaced.
        ("intl", "don't re-do &lt;", "don ' t re - do & lt ;"),
        # The ends of the line count as numbers: a mistake of mteval-v14.
        ("intl", "-5 -5 1999. ", "-5 - 5 1999."),
        ("intl", ".5 .5", ".5 . 5"),
        # sacreBLEU strips the end of a line, but not its start: a space is not a number.
        ("intl", " .5", ". 5"),
        # A run: the last one joins the next number if (its length is odd) == (a number is before).
        ("intl", "a..5 a...5 5..6 5...6", "a . .5 a . . . 5 5 . . 6 5 . . .6"),
        # Chinese code points, full-width forms and CJK punctuation are tokens of their own.
        ("zh", "中文，ＡＢ。abc", "中 文 ， Ａ Ｂ 。 abc"),
        # sacreBLEU takes the euro, arrows and dashes for Chinese, but not Extension B.
        ("zh", "\U00020000\U00020001 5€→—", "\U00020000\U00020001 5 € → —"),
        # Kana and Hangul are not Chinese.
        ("zh", "カナ 한국", "カナ 한국"),
        # Other text is split as by 13a, except entities, <skipped> and the ends.
        ("zh", "(a) 3.5 1-2 &lt;", "( a ) 3.5 1 - 2 & lt ;"),
        ("zh", "在1999.", "在 1999."),
        # zh strips both ends of a line.
        ("zh", " .5 .5", ".5 . 5"),
    ],
)
def test_characters_that_are_always_tokens_of_their_own(tokenize, text, tokens):
    assert_same_tokens([text], tokenize)
    assert tokens_of([text], tokenize) == [tokens.split()]


@pytest.mark.parametrize("tokenize", ALPHABETS)
def test_every_short_text(tokenize):
    for alphabet, longest in zip(ALPHABETS[tokenize], (6, 6), strict=True):
        for length in range(longest + 1):
            texts = map("".join, itertools.product(alphabet, repeat=length))
            assert_same_tokens(list(texts), tokenize)


EVERY_CONTEXT = "{0} a{0}b 5{0}6 .{0}. {0}.5 5.{0} {0}-{0}5 5{0}{0} {0}{0}5 5-{0}5 .{0}5"


@pytest.mark.parametrize(
    ("tokenize", "form", "points"),
    [
        ("intl", EVERY_CONTEXT, MOST_CLASSES),
        ("zh", EVERY_CONTEXT, MOST_CLASSES),  # the others: see what it takes for Chinese
        ("intl", "{0}.{0}5", CODE_POINTS),
    ],
    ids=["intl", "zh", "intl, all"],
)
def test_every_code_point_in_the_middle_of_a_line(tokenize, form, points):
    lines = [
        " x ".join(form.format(point) for point in points[start : start + 16])
        for start in range(0, len(points), 16)
    ]
    assert_same_tokens(lines, tokenize)


@pytest.mark.parametrize("tokenize", ALPHABETS)
@pytest.mark.parametrize("form", ["{0}", "{0}.5", "5{0}"])
def test_every_code_point_at_the_ends_of_a_line(form, tokenize):
    assert_same_tokens([form.format(point) for point in MOST_CLASSES], tokenize)


@pytest.mark.parametrize("tokenize", ALPHABETS)
def test_runs_of_points_of_any_length(tokenize):
    around = ["", " ", "5", "a", "$", "中", "٣", "。", "5 ", " \u3000", "x" * 61, "5" * 62]
    texts = [
        before + (points * length)[:length] + after
        for points in (".", ",.", "。", ".…,", "-", "..-")
        for length in (*range(1, 10), *range(60, 69), 127, 128)
        for before, after in itertools.product(around, repeat=2)
    ]
    assert_same_tokens(texts, tokenize)


@pytest.mark.parametrize("tokenize", ALPHABETS)
def test_long_lines_of_all_classes(tokenize):
    rng = random.Random(3)
    pieces = [*"".join(ALPHABETS[tokenize]), "abc ", "1999", "U.S.", "x" * 40, "é" * 30, "中文" * 9]
    texts = ["".join(rng.choices(pieces, k=rng.randrange(80))) for _ in range(4_000)]
    assert {len(text.encode()) for text in texts} >= {63, 64, 65, 127, 128, 129}
    assert_same_tokens(texts, tokenize)
    assert_same_tokens(
        [piece * 50_000 for piece in (".", ".5", "中", " ", "\u3000", "™")], tokenize
    )


def test_zh_has_the_same_chinese_characters_as_sacrebleu():
    is_chinese = TokenizerZh._is_chinese_char.__wrapped__
    expected = [point for point in CODE_POINTS if is_chinese(point) and not point.isspace()]
    alone = np.flatnonzero(spacing._classes("zh") == spacing._ALONE)
    assert [chr(code) for code in alone if code >= 0x80] == expected


@pytest.mark.parametrize("tokenize", ALPHABETS)
def test_white_space_is_what_str_strips(tokenize):
    white = np.flatnonzero(spacing._classes(tokenize) == spacing._WHITE)
    assert [chr(code) for code in white] == [point for point in CODE_POINTS if point.isspace()]


@pytest.mark.parametrize(
    ("tokenize", "loaded"), [("13a", "False"), ("zh", "False"), ("intl", "True")]
)
def test_only_intl_loads_the_tables_of_unicode(tokenize, loaded):
    program = (
        "import sys\n"
        "from beam_bleu.transforms.definition.config import BleuConfig\n"
        "from beam_bleu.transforms.statistics.kernel import compile_kernel\n"
        f"compile_kernel(BleuConfig({tokenize!r}).text)\n"
        "print('regex' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.strip() == loaded, done.stderr
