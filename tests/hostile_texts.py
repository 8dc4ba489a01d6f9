"""Texts with many difficult places for each tokenizer, made from fixed seeds."""

from __future__ import annotations

import functools
import itertools
import random
from collections.abc import Iterable, Iterator

Segment = tuple[str, list[str | None]]

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
    # Text that 13a removes before it splits, and text that only looks like it.
    *("<skipped>", "<skipped", "skipped>", "<SKIPPED>", "<skip<skipped>ped>", "<skip-\nped>"),
    *("-\n", "-\r\n", "--\n", "\n", "\n\n", "-<skipped>\n", "a-\nb", "- \n", "-\n\n"),
    # Points, commas and hyphens round digits.
    *(".", ",", "..", "...", ".,", ",.,", "....", ".....", "1.", ".1", "1.2", "1..2", "1...2"),
    *("1,.2", "1,.,2", ".5.", "3..", "..7", "a.1", "1.a", "1-", "-1", "1-2", "1--2", "1-.", ".-1"),
    *("1.-2", "-.5", "5-,", "٣.٣", "²-", "1&amp;.5", "5.&lt;", ".&.5", "5-&-5"),
    # All other symbols that are tokens of their own, and the apostrophe, which is not.
    *"!\"#$%()*+/:;<=>?@[\\]^_`{|}~'",
    # Code points that are difficult because of their case, their length or their neighbours.
    *("é", "e\u0301", "ô\u0323", "日本語", "😀", "𝒳", "𐐀𐐨", "\u200b", "\ufeff", "\u180e", "\0"),
    *("\x7f", "\x84", "\x86", "¡", "\u2012", "\u202a", "\u3001", "\u1681", "\ufffd", "\U0010ffff"),
    *("a\0", "İ", "I\u0307", "ı", "ß", "ẞ", "\u212a", "\u212b", "\u2126", "ǅ", "ﬁ", "ẀÉ", "Ⱥ", "ⱥ"),
    *("Σ", "ΑΣ", "Σα", "ς"),
    # Punctuation, symbols and numbers of Unicode, for intl; full-width ones, too.
    *"“”–…。、・।؟，．",
    *("1.5", "！？", "«5»", "…5", "5…5"),
    *("€", "£5", "5₩", "∑", "−5", "×", "™", "°", "→", "＄", "👨‍👩", "❤️"),
    *("٣", "٣،٥", "²", "½", "Ⅷ", "①", "〇", "㊿", "𝟘", "𐄇", "५.५", "5٣", "٣.5", "-²", "½-½"),
    # Chinese code points and their neighbours that are not Chinese; other code points that zh takes
    # for Chinese.
    *("中文", "中.文", "5中.5", "中5-中", " .", "⩭", "⩮", "぀", "䶶", "龼"),
    *("𠀀", "𪛖", "丽", "カ.ナ", "한.국", "", "͸", "󠀁"),
    *LONG_TOKENS,
]
WORDS = ["the", "cat", "sat", "on", "mat", "a", "The", "Mat", "12", "1999", "naïve", "Überraschung"]


def edited(pieces, rng, choices):
    """A text of the pieces. Up to two of them are left out, repeated or replaced."""
    pieces = list(pieces)
    for _ in range(rng.randrange(3)):
        at = rng.randrange(len(pieces) + 1)
        piece = slice(at, at + rng.randrange(1, 3))
        edit = rng.randrange(3)
        if edit == 0:
            del pieces[piece]
        elif edit == 1:
            pieces[at:at] = pieces[piece]
        else:
            pieces[piece] = rng.choices(choices, k=1)
    return "".join(pieces)


LINE_STARTS = ["x", "ab ", "5", " ", "é", ".", "Überraschung ", "the cat sat on the mat "]
BULK_CHOICES = [" "] * 250 + WORDS * 8 + FRAGMENTS


def hostile_segment(rng):
    pieces = rng.choices(BULK_CHOICES, k=rng.randrange(16))
    if rng.random() < 0.4:  # so that the next text crosses the edge of a block
        start = rng.choice(LINE_STARTS) * 128
        room = rng.choice([64, 128]) - rng.randrange(10)
        pieces[:0] = [start.encode()[:room].decode(errors="ignore"), rng.choice(FRAGMENTS)]
    references = [edited(pieces, rng, BULK_CHOICES) for _ in range(rng.choice([1, 1, 1, 2, 4]))]
    if len(references) > 1 and rng.random() < 0.3:
        references[rng.randrange(len(references))] = None
    return edited(pieces, rng, BULK_CHOICES), references


@functools.cache
def hostile_segments(count: int) -> list[Segment]:
    """The first segments of one endless series, which is always the same."""
    rng = random.Random(20020706)
    return [hostile_segment(rng) for _ in range(count)]


def segments_with_references(seed: int, number: int, references: int, *more: str) -> list[Segment]:
    """Segments with so many references, some of them missing. A candidate is like the first."""
    rng = random.Random(seed)
    pieces = [*FRAGMENTS, *WORDS * 3, *more, *[" "] * 200]

    def text() -> str:
        return "".join(rng.choices(pieces, k=rng.randrange(24)))

    segments: list[Segment] = []
    for _ in range(number):
        texts = [text() if rng.random() < 0.8 else None for _ in range(references)]
        if not any(each is not None for each in texts):
            texts[rng.randrange(references)] = text()
        first = next(each for each in texts if each is not None)
        candidate = first[rng.randrange(9) :] + text() if rng.random() < 0.7 else text()
        segments.append((candidate, texts))
    return segments


def at_the_edges_of_blocks(boundaries: Iterable[int]) -> Iterator[Segment]:
    """Special text across each boundary of blocks. A reference has it near its start."""
    for fragment, filler, after in itertools.product(FRAGMENTS, "a5 .É", ("", "b", "5")):
        size = len(fragment.encode())
        if size > 16:
            continue
        for boundary in boundaries:
            for start in range(boundary - size - 1, boundary + 2):
                before = (filler * start).encode()[-start:].decode(errors="replace")
                before = before.replace("\ufffd", "x")
                text = f"{before}{fragment}{after}"
                yield text, [text.swapcase(), f"{filler}{fragment}{after}"]


def cut_in_two() -> Iterator[Segment]:
    """Special text, cut in two at every place. The halves are neighbours in a batch."""
    around = [("5", "5"), ("5", ".b"), ("a ", "5"), ("a ", ".b")]
    for fragment, (before, after) in itertools.product(FRAGMENTS, around):
        text = before + fragment + after
        for at in range(1, len(text)):
            for half in (text[:at], text[at:]):
                yield half, [f"{half.swapcase()} . 5"]


def single_bytes_at_each_place_of_a_block() -> Iterator[Segment]:
    """Many tokens of one byte. The last of a block can begin a longer token, or join a digit."""
    for shift in range(64):
        rng = random.Random(shift)
        for after in ("", "1", "a", "ab", ".1", "..1", " a", "&lt;", "\u00e9", "-", "\u3000"):
            dense = "a" * shift + "".join(rng.choices("!;.&", k=200)) + after
            dense += "!;" * 300 + "9-" * 50
            text = dense + "." * 65 + after + "x" * shift + ";" * 64 + after
            yield text, [text[shift:] + text]
            yield text + text, [text + "!;" + text]


def with_every_code_point(form: str) -> Iterator[Segment]:
    """Every code point in this form, 64 in each line."""
    for start in range(0, len(CODE_POINTS), 64):
        line = " ".join(form.format(point) for point in CODE_POINTS[start : start + 64])
        yield line, [line.lower()]
