"""The kernel's integers equal sacreBLEU's on every segment, however hostile the text."""

import dataclasses
import itertools
import random
import re
import string
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from scoring import statistics_of

from beam_bleu.transforms.definition.config import BleuConfig
from beam_bleu.transforms.definition.tokenizers import TOKENIZERS
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.records.segments import batch_segments
from beam_bleu.transforms.statistics import kernel, rewriting, tokenization

SACREBLEUS = [
    name
    for name, tokenizer in TOKENIZERS.items()
    if tokenizer.sacrebleu is not None and tokenizer.extra is None
]
CODE_POINTS = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
WHITE_SPACE = [point for point in CODE_POINTS if point.isspace()]
LONG_TOKENS = [
    "first8by" + middle * copies + tail + "last8byt"
    for copies in (0, 1, 6, 14)
    for middle in ("abcdefgh", "abcdefgx")
    for tail in ("", "y", "z", "wvutsrq")
]
FRAGMENTS = [
    *WHITE_SPACE,
    # Entities: whole, nested, cut short, in the wrong case.
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;gt;", "&amp;quot;", "&amp;amp;"),
    *("&amp;amp;lt;", "&lt;skipped&gt;", "&", "&&lt;", "&am", "&amp", "&amp;l", "&amp;lt", "&qu"),
    *("&quot", "&l", "&gt", "&apos;", "&AMP;", "&Lt;", "&l<skipped>t;", "&am-\np;"),
    # What 13a takes out before it splits, and what only looks like it.
    *("<skipped>", "<skipped", "skipped>", "<SKIPPED>", "<skip<skipped>ped>", "<skip-\nped>"),
    *("-\n", "-\r\n", "--\n", "\n", "\n\n", "-<skipped>\n", "a-\nb", "- \n", "-\n\n"),
    # Points, commas and hyphens round digits.
    *(".", ",", "..", "...", ".,", ",.,", "....", ".....", "1.", ".1", "1.2", "1..2", "1...2"),
    *("1,.2", "1,.,2", ".5.", "3..", "..7", "a.1", "1.a", "1-", "-1", "1-2", "1--2", "1-.", ".-1"),
    *("1.-2", "-.5", "5-,", "٣.٣", "²-", "1&amp;.5", "5.&lt;", ".&.5", "5-&-5"),
    # All other symbols that split, and the apostrophe, which does not.
    *"!\"#$%()*+/:;<=>?@[\\]^_`{|}~'",
    # Code points that case, length or neighbours make awkward.
    *("é", "e\u0301", "ô\u0323", "日本語", "😀", "𝒳", "𐐀𐐨", "\u200b", "\ufeff", "\u180e", "\0"),
    *("\x7f", "\x84", "\x86", "¡", "\u2012", "\u202a", "\u3001", "\u1681", "\ufffd", "\U0010ffff"),
    *("a\0", "İ", "I\u0307", "ı", "ß", "ẞ", "\u212a", "\u212b", "\u2126", "ǅ", "ﬁ", "ẀÉ", "Ⱥ", "ⱥ"),
    *("Σ", "ΑΣ", "Σα", "ς"),
    # Punctuation, symbols and numbers of Unicode, for intl; full-width ones, too.
    *(
        "“",
        "”",
        "–",
        "…",
        "。",
        "、",
        "・",
        "।",
        "؟",
        "，",
        "．",
        "1.5",
        "！？",
        "«5»",
        "…5",
        "5…5",
    ),
    *("€", "£5", "5₩", "∑", "−5", "×", "™", "°", "→", "＄", "👨‍👩", "❤️"),
    *("٣", "٣،٥", "²", "½", "Ⅷ", "①", "〇", "㊿", "𝟘", "𐄇", "५.५", "5٣", "٣.5", "-²", "½-½"),
    # Chinese code points and those just outside; planes that only look Chinese to zh.
    *("中文", "中.文", "5中.5", "中5-中", " .", "⩭", "⩮", "぀", "䶶", "龼"),
    *("𠀀", "𪛖", "丽", "カ.ナ", "한.국", "", "͸", "󠀁"),
    *LONG_TOKENS,
]
WORDS = ["the", "cat", "sat", "on", "mat", "a", "The", "Mat", "12", "1999", "naïve", "Überraschung"]
TEXTS_OF_PIECES = st.lists(
    st.one_of(
        st.sampled_from([" ", *WORDS]),
        st.sampled_from(FRAGMENTS),
        st.sampled_from(["x" * 55, "ab " * 20, "5" * 62, " " * 63, "é" * 31, "." * 61]),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    ),
    max_size=24,
)
CONFIGS = st.builds(
    BleuConfig,
    tokenize=st.sampled_from(SACREBLEUS),
    lowercase=st.booleans(),
    max_ngram_order=st.integers(1, 16),
)
DETERMINISTIC = settings(deadline=None, derandomize=True, max_examples=1000)
EVERY_TOKENIZATION = [
    BleuConfig(tokenize, lowercase) for tokenize in SACREBLEUS for lowercase in (False, True)
]
WITH_LONG_TOKENS = [tokenize for tokenize in SACREBLEUS if tokenize != "char"]


def name(value):
    """A short name of a parameter, for the test's name."""
    if isinstance(value, BleuConfig):
        return value.tokenize + ("-lowercase" if value.lowercase else "")
    return getattr(value, "__name__", None)


def integers(statistics):
    """All counts as sacreBLEU orders them, int64 (systems, segments, 2 + 2 N)."""
    lengths = np.stack(
        [statistics.candidate_length, statistics.reference_length("closest")], axis=-1
    )
    return np.concatenate([lengths, statistics.matches, statistics.totals], axis=-1)


def sacrebleu_integers(segments, config):
    metric = sacrebleu.BLEU(
        tokenize=config.tokenize,
        lowercase=config.lowercase,
        max_ngram_order=config.max_ngram_order,
        force=True,
    )
    candidates = [candidate for candidate, _ in segments]
    references = list(itertools.zip_longest(*(references for _, references in segments)))
    return np.array(metric._extract_corpus_statistics(candidates, references))


def assert_same(segments, config, ours, expected):
    wrong = np.flatnonzero((ours != expected).any(axis=1))
    if len(wrong):
        first = wrong[0]
        pytest.fail(
            f"{len(wrong)} of {len(segments)} segments differ, first {segments[first]!r} with "
            f"{config}: expected {expected[first].tolist()}, got {ours[first].tolist()}"
        )


def assert_equal_to_sacrebleu(segments, config):
    """Compares a batch; returns its integers (segments, 2 + 2 N)."""
    ours = integers(statistics_of(batch_segments(segments), config))[0]
    assert_same(segments, config, ours, sacrebleu_integers(segments, config))
    return ours


def edited(pieces, rng, choices):
    """The pieces with up to two of them left out, repeated or replaced, as a text."""
    pieces = list(pieces)
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(pieces) + 1)
        some = slice(at, at + rng.randrange(1, 3))
        edit = rng.randrange(3)
        if edit == 0:
            del pieces[some]
        elif edit == 1:
            pieces[at:at] = pieces[some]
        else:
            pieces[some] = rng.choices(choices, k=1)
    return "".join(pieces)


@st.composite
def hostile_segments(draw):
    """Segments whose candidates are made from the same pieces as their references."""
    rng = draw(st.randoms(use_true_random=False))
    segments = []
    for pieces in draw(st.lists(TEXTS_OF_PIECES, min_size=1, max_size=5)):
        references = [edited(pieces, rng, FRAGMENTS) for _ in range(draw(st.integers(1, 4)))]
        missing = draw(st.sets(st.integers(0, 3), max_size=len(references) - 1))
        references = [None if i in missing else text for i, text in enumerate(references)]
        segments.append((edited(pieces, rng, FRAGMENTS), references))
    return segments


@DETERMINISTIC
@given(hostile_segments(), CONFIGS)
def test_any_text_counts_as_in_sacrebleu(segments, config):
    assert_equal_to_sacrebleu(segments, config)


NOT_ASCII_SPACE = {
    ord(space): 0xF0000 + i for i, space in enumerate(WHITE_SPACE) if space not in "\t\n\v\f\r "
}
ASCII_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def translated(segments, table):
    return [
        (candidate.translate(table), [each and each.translate(table) for each in references])
        for candidate, references in segments
    ]


@DETERMINISTIC
@given(hostile_segments())
def test_other_white_space_is_like_a_letter_to_ascii_space(segments):
    ours = integers(statistics_of(batch_segments(segments), BleuConfig("ascii-space")))[0]
    theirs = sacrebleu_integers(translated(segments, NOT_ASCII_SPACE), BleuConfig("none"))
    assert_same(segments, BleuConfig("ascii-space"), ours, theirs)


@DETERMINISTIC
@given(hostile_segments(), st.sampled_from(SACREBLEUS))
def test_ascii_lower_case_leaves_other_letters_as_they_are(segments, tokenize):
    config = BleuConfig(tokenize, lowercase="ascii")
    ours = integers(statistics_of(batch_segments(segments), config))[0]
    theirs = sacrebleu_integers(translated(segments, ASCII_LOWER), BleuConfig(tokenize))
    assert_same(segments, config, ours, theirs)


@DETERMINISTIC
@given(hostile_segments(), CONFIGS, st.integers(2, 5), st.randoms(use_true_random=False))
def test_a_system_counts_the_same_beside_others_as_alone(segments, config, systems, rng):
    candidates = [candidate for candidate, _ in segments]
    candidates += [reference for _, references in segments for reference in references if reference]
    references = [references for _, references in segments]
    alone = [
        batch_segments([(rng.choice(candidates), each) for each in references])
        for _ in range(systems)
    ]
    together = SegmentBatch(tuple(batch.candidates[0] for batch in alone), alone[0].references)
    side_by_side = integers(statistics_of(together, config))
    for system, batch in enumerate(alone):
        assert (side_by_side[system] == integers(statistics_of(batch, config))[0]).all()


def boundary_texts(boundaries):
    """(text, the same special piece near the text's start) with the piece round a boundary."""
    for fragment, filler, behind in itertools.product(FRAGMENTS, "a5 .É", ("", "b", "5")):
        size = len(fragment.encode())
        if size > 16:
            continue
        for boundary in boundaries:
            for start in range(boundary - size - 1, boundary + 2):
                before = (filler * start).encode()[-start:].decode(errors="replace")
                before = before.replace("\ufffd", "x")
                yield f"{before}{fragment}{behind}", f"{filler}{fragment}{behind}"


@pytest.mark.parametrize("config", EVERY_TOKENIZATION, ids=name)
def test_special_text_across_the_edges_of_64_byte_blocks(config):
    config = dataclasses.replace(config, max_ngram_order=2)
    boundaries = (64, 128) if config.tokenize in ("13a", "none") else (64,)
    segments = [(text, [text.swapcase(), short]) for text, short in boundary_texts(boundaries)]
    lengths = {len(text.encode()) for text, _ in segments}
    assert lengths >= {edge + i for edge in boundaries for i in (-1, 0, 1)}
    assert_equal_to_sacrebleu(segments, config)


@pytest.mark.parametrize("config", EVERY_TOKENIZATION, ids=name)
def test_texts_do_not_reach_into_their_neighbours(config):
    # Neighbours in a batch are neighbours in memory: cut special text anywhere, and
    # neither half may see the other.
    around = [("5", "5"), ("5", ".b"), ("a ", "5"), ("a ", ".b")]
    texts = [before + fragment + behind for fragment in FRAGMENTS for before, behind in around]
    rows = [row for text in texts for at in range(1, len(text)) for row in (text[:at], text[at:])]
    assert_equal_to_sacrebleu([(row, [f"{row.swapcase()} . 5"]) for row in rows], config)


@pytest.mark.parametrize(
    ("config", "form"),
    [
        (BleuConfig("13a", max_ngram_order=1), "{0} x{0} {0}x 5{0}X"),
        (BleuConfig("none", lowercase=True, max_ngram_order=1), "{0} x{0} {0}x 5{0}X"),
        (BleuConfig("char", max_ngram_order=1), "{0}x{0}"),
    ],
    ids=name,
)
def test_every_code_point_counts_as_in_sacrebleu(config, form):
    lines = (
        " ".join(form.format(point) for point in CODE_POINTS[start : start + 64])
        for start in range(0, len(CODE_POINTS), 64)
    )
    assert_equal_to_sacrebleu([(line, [line.lower()]) for line in lines], config)


def test_every_code_point_is_lowered_as_python_lowers_it():
    for form in ("{}", "A{}B", "{0}{0} É{0}", "ΑΣ{}", "{}Σ", "Α{}Σ{}Α"):
        texts = [form.format(point, point) for point in CODE_POINTS]
        lowered = rewriting.lowered(pa.array(texts, pa.large_string()))
        wrong = [
            (text, ours)
            for text, ours in zip(texts, lowered.to_pylist(), strict=True)
            if ours != text.lower()
        ]
        assert not wrong[:5], form


def test_sigma_is_lowered_by_what_stands_round_it():
    around = ["", " ", "a", "Α", "Σ", ".", "'", "\u0301", "\u00ad", "1", "\0", "😀", "\u0345"]
    texts = [
        f"{filler}{first}{second}Σ{third}{fourth}"
        for first, second, third, fourth in itertools.product(around, repeat=4)
        for filler in ("", "É" * 31)
    ]
    segments = [(text, [text.lower()]) for text in texts]
    assert_equal_to_sacrebleu(segments, BleuConfig("none", lowercase=True, max_ngram_order=2))


@pytest.mark.parametrize(
    "length", [1, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 63, 64, 65, 127, 128, 129]
)
@pytest.mark.parametrize("tokenize", WITH_LONG_TOKENS)
def test_tokens_that_differ_in_one_byte_are_different(length, tokenize):
    token = "".join(itertools.islice(itertools.cycle("abcdefghijk"), length))
    others = [token[:i] + "x" + token[i + 1 :] for i in range(length)] + [token + "a", token + "\0"]
    segments = [(f"{token} {token}", [f"{other} {other}"]) for other in others]
    segments.append((" ".join([token, *others]), [" ".join([*others, token])]))
    ours = assert_equal_to_sacrebleu(segments, BleuConfig(tokenize))
    assert ours[:-1, 2].sum() == 0  # no unigram matches
    assert ours[-1, 2] == length + 3  # every unigram matches


def colliding_tokens(rng, pairs):
    """Pairs of different 32-byte tokens that have one key, and one first and last word.

    Only whoever knows this process's secret can find them.

    In the key, words follow one another as fold(fold(fold(w0, w1), w2), w3), and
    fold(k, w) = g(k) ^ w, so a change of w1 is undone by the right change of w2.
    """
    token_bytes = [byte for byte in range(1, 128) if chr(byte).isalpha() or byte < 9]
    with_difference = {a ^ b: (a, b) for a in token_bytes for b in token_bytes}

    def word():
        return bytes(rng.choices(b"abcdefghijklmnopqrstuvwxyz", k=8))

    def folded(key, text=bytes(8)):
        word = np.uint64(int.from_bytes(text, "little"))
        return int(tokenization._fold(np.uint64(key), word, kernel._SEED))

    while pairs:
        first, last, one, other = (word() for _ in range(4))
        start = int.from_bytes(first, "little")
        needed = folded(folded(start, one)) ^ folded(folded(start, other))
        differences = needed.to_bytes(8, "little")
        if all(difference in with_difference for difference in differences):
            left, right = zip(*(with_difference[each] for each in differences), strict=True)
            yield first + one + bytes(left) + last, first + other + bytes(right) + last
            pairs -= 1


def key(token):
    text = np.frombuffer(token + bytes(72), np.uint8)
    end = text.ctypes.data + len(token)
    return tokenization._token_key(text.ctypes.data, len(token), end, kernel._SEED)


@pytest.mark.parametrize("tokenize", WITH_LONG_TOKENS)
def test_tokens_with_the_same_hash_are_different(tokenize):
    tokens = list(colliding_tokens(random.Random(5), pairs=8))
    assert all(key(one) == key(other) and one != other for one, other in tokens)
    ones, others = ([token.decode() for token in side] for side in zip(*tokens, strict=True))
    segments = [
        (" ".join(ones), [" ".join(others)]),
        (" ".join(ones), [" ".join(others), " ".join(reversed(ones))]),
        (" ".join(ones + others), [" ".join(others + ones)]),
    ]
    ours = assert_equal_to_sacrebleu(segments, BleuConfig(tokenize))
    assert ours[:, 2].tolist() == [0, 8, 16]


# What is to occur in the bulk's candidates.
HOSTILE = {
    "an empty line": r"\A\Z",
    "only white space": r"\A\s+\Z",
    "white space of two bytes": r"[\x85\xa0]",
    "white space of three bytes": r"[\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]",
    "control white space": r"[\x0b\x0c\x1c-\x1f\r\t]",
    "a newline": r"\n",
    "a hyphen at a line end": r"-\n",
    "<skipped>": "<skipped>",
    "an entity": "&(quot|amp|lt|gt);",
    "a nested entity": "&amp;(quot|amp|lt|gt);",
    "an entity cut short": "&(quo?|quot|am?|amp|l|lt|gt?)(?![a-z;])",
    "a run of points before a digit": "[.,]{2,}[0-9]",
    "a run of points between digits": "[0-9][.,]{2,}[0-9]",
    "a point between digits": "[0-9][.,][0-9]",
    "a hyphen behind a digit": "[0-9]-",
    "a combining mark": r"[\u0300-\u036f]",
    "an astral character": r"[\U00010000-\U0010ffff]",
    "NUL": r"\0",
    "a letter whose lower case has another length": "[İẞȺ\u212a\u212b\u2126]",
    "a sigma": "Σ",
    "a mark of another script": "[“”–…。、・।؟，．«»]",
    "a symbol of another script": "[€£₩∑−×™°→＄]",
    "a number of another script": "[٣²½Ⅷ①㊿𝟘𐄇५]",
    "a point between numbers of another script": "[٣५][،.][٥५5]",
    "a Chinese code point": "[\u2e80-\u2fdf\u3001-\u303f\u4e00-\u9fbb\uff00-\uffef]",
    "a point at the start": r"\A[.,]",
    "a run of points at the start before a digit": r"\A[.,]{2,}[0-9]",
    "a point at the end behind a digit": r"[0-9][.,]\s*\Z",
    "a run of points at the end": r"[.,]{2,}\s*\Z",
    "a token of more than 64 bytes": r"[a-z0-9]{65}",
    "a token of more than 128 bytes": r"[a-z0-9]{129}",
}
LINE_STARTS = ["x", "ab ", "5", " ", "é", ".", "Überraschung ", "the cat sat on the mat "]
BULK_CHOICES = [" "] * 250 + WORDS * 8 + FRAGMENTS


def hostile_segment(rng):
    pieces = rng.choices(BULK_CHOICES, k=rng.randrange(16))
    if rng.random() < 0.4:  # a start that puts what follows round the edge of a block
        start = rng.choice(LINE_STARTS) * 128
        room = rng.choice([64, 128]) - rng.randrange(10)
        pieces[:0] = [start.encode()[:room].decode(errors="ignore"), rng.choice(FRAGMENTS)]
    references = [edited(pieces, rng, BULK_CHOICES) for _ in range(rng.choice([1, 1, 1, 2, 4]))]
    if len(references) > 1 and rng.random() < 0.3:
        references[rng.randrange(len(references))] = None
    return edited(pieces, rng, BULK_CHOICES), references


@pytest.mark.parametrize("config", EVERY_TOKENIZATION, ids=name)
def test_thousands_of_hostile_segments_count_as_in_sacrebleu(config):
    rng = random.Random(20020706)
    # Most for the kernel itself; intl and zh are spaces in the text, which none splits.
    size, more_orders = (5000, [4] * 6) if config.tokenize in ("13a", "none") else (2000, [])
    for order in [4, 1, 7, 16, *more_orders]:
        segments = [hostile_segment(rng) for _ in range(size)]
        config = dataclasses.replace(config, max_ngram_order=order)
        ours = assert_equal_to_sacrebleu(segments, config)
        if order >= 4:
            assert np.count_nonzero(ours[:, 5]) > 0.15 * size  # have matches of order 4


def test_each_hostile_feature_is_in_many_segments_and_at_the_edge_of_a_block():
    rng = random.Random(20020706)
    texts = [hostile_segment(rng)[0] for _ in range(20_000)]
    for feature, pattern in HOSTILE.items():
        found = [(text, match) for text in texts for match in re.finditer(pattern, text)]
        assert len(found) >= 50, feature
        spans = ([len(text[:place].encode()) for place in match.span()] for text, match in found)
        if feature != "an empty line" and "at the start" not in feature:
            assert any(begin <= 64 <= end for begin, end in spans), f"{feature} at byte 64"
    assert {len(text.encode()) for text in texts} >= {63, 64, 65, 127, 128, 129}


def test_threads_count_side_by_side():
    rng = random.Random(9)
    batches = [batch_segments([hostile_segment(rng) for _ in range(2000)]) for _ in range(8)]
    config = BleuConfig(lowercase=True)
    with ThreadPoolExecutor(4) as pool:
        threaded = list(pool.map(lambda batch: integers(statistics_of(batch, config)), batches))
    for batch, ours in zip(batches, threaded, strict=True):
        assert (ours == integers(statistics_of(batch, config))).all()


MEGABYTES_10 = 10_000_000


def test_a_line_of_ten_megabytes_is_exact():
    rng = random.Random(7)
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    words = ["".join(rng.choices(letters, k=rng.randrange(1, 14))) for _ in range(50_000)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    reference = rng.choices(words, weights, k=MEGABYTES_10 // 6)
    candidate = [rng.choice(words) if rng.random() < 0.1 else word for word in reference]
    line = " ".join(candidate)
    assert len(line) > MEGABYTES_10
    batch = batch_segments([(line, [" ".join(reference)])])
    ours = integers(statistics_of(batch, BleuConfig()))[0, 0].tolist()
    matches = [
        (n_grams(candidate, order) & n_grams(reference, order)).total() for order in range(1, 5)
    ]
    assert ours[:2] == [len(candidate), len(reference)]
    assert ours[2:6] == matches
    assert ours[6:] == [len(candidate) - n for n in range(4)]


def n_grams(words, order):
    return Counter(zip(*(words[n:] for n in range(order)), strict=False))


@pytest.mark.parametrize(
    ("candidate", "reference", "length", "matches"),
    [
        # Every symbol is a token: as many matches as the shorter one has n-grams.
        ("!" * MEGABYTES_10, "!" * (MEGABYTES_10 - 5), MEGABYTES_10, MEGABYTES_10 - 5),
        # One token.
        ("a" * MEGABYTES_10, "a" * MEGABYTES_10, 1, 1),
        ("a" * MEGABYTES_10, "a" * (MEGABYTES_10 - 1) + "b", 1, 0),
        # An even run of points: the last joins the digit behind it, the others are alone.
        ("." * MEGABYTES_10 + "5", "...x", MEGABYTES_10, 3),
        # ... but not behind a digit.
        ("5" + "." * MEGABYTES_10 + "5", "...5", MEGABYTES_10 + 2, 4),
        # Every hyphen goes with its newline.
        ("-\n" * (MEGABYTES_10 // 2) + "a", "a", 1, 1),
        (" " * MEGABYTES_10, "a", 0, 0),
    ],
    ids=["symbols", "token", "tokens", "even run", "digit and even run", "line ends", "blank"],
)
def test_degenerate_lines_of_ten_megabytes_are_exact(candidate, reference, length, matches):
    ours = integers(statistics_of(batch_segments([(candidate, [reference])]), BleuConfig()))[0, 0]
    assert ours[0] == length
    assert ours[2:6].tolist() == [max(matches - n, 0) for n in range(4)]


@pytest.fixture(scope="module")
def layout_segments():
    rng = random.Random(11)
    segments = [hostile_segment(rng) for _ in range(500)]
    return [(candidate, (references + [None] * 4)[:4]) for candidate, references in segments]


def sliced(texts):
    """Out of a larger array, from the middle of a byte of its validity bits on."""
    around = ["5", None, "&amp;", "", "-", "."]
    column = pa.array([*around, *around, "b", *texts, "5", None, "amp;"], pa.large_string())
    return column.slice(13, len(texts))


def sliced_twice(texts):
    return sliced([*texts, "x"]).slice(0, len(texts) + 1).slice(0, len(texts))


def with_nothing_behind(texts):
    """In buffers that end with the last text's last byte."""
    column = pa.array(texts, pa.large_string())
    validity, offsets, data = column.buffers()
    size = np.frombuffer(offsets, np.int64)[len(texts)]
    exact = pa.py_buffer(bytes(data)[:size])
    return pa.LargeStringArray.from_buffers(len(texts), offsets, exact, validity)


def with_text_under_nulls(texts):
    """A null may stand over any bytes; Arrow promises nothing of them."""
    column = pa.array([text if text is not None else "aΣİ 5." for text in texts], pa.large_string())
    validity = pa.array(texts, pa.large_string()).buffers()[0]
    _, offsets, data = column.buffers()
    return pa.LargeStringArray.from_buffers(len(texts), offsets, data, validity)


@pytest.mark.parametrize(
    "layout", [sliced, sliced_twice, with_nothing_behind, with_text_under_nulls], ids=name
)
@pytest.mark.parametrize("config", EVERY_TOKENIZATION, ids=name)
def test_the_memory_layout_of_columns_does_not_matter(layout, config, layout_segments):
    candidates = [candidate for candidate, _ in layout_segments]
    references = list(zip(*(references for _, references in layout_segments), strict=True))
    batch = SegmentBatch((layout(candidates),), tuple(layout(list(texts)) for texts in references))
    assert any(column.null_count for column in batch.references)
    statistics = statistics_of(batch, config)
    expected = sacrebleu_integers(layout_segments, config)
    assert_same(layout_segments, config, integers(statistics)[0], expected)
    assert statistics.candidate_bytes[0].tolist() == [len(text.encode()) for text in candidates]
    assert statistics.reference_bytes.tolist() == [
        sum(len(text.encode()) for text in references if text is not None)
        for _, references in layout_segments
    ]
