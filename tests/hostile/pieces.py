"""The pieces from which hostile text is made."""

from __future__ import annotations

_SPACES = [c for c in map(chr, range(0x110000)) if c.isspace() and c != "\n"]

WORDS = [
    *("the", "cat", "sat", "on", "mat", "a", "The", "of", "to", "12", "end."),
    *("It's", "well-known"),
]

PIECES = [
    *_SPACES,
    # Entities, complete and incomplete; text that 13a removes.
    *("&quot;", "&amp;", "&lt;", "&gt;", "&amp;lt;", "&amp;amp;", "&", "&am", "&lt", "&apos;"),
    *("<skipped>", "<skip<skipped>ped>", "skipped>", "-", "--", "-\r"),
    # Points and commas next to digits.
    *("1.5", "1,000.25", ".5", "5.", "1..2", "1,.2", "...", ".,.", "a.1", "1-2", "3.-"),
    *("٣.٣", "½-½"),
    # Control characters, byte order marks, and characters that end a line for other programs.
    *("\r", "\r\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x1f", "\x7f", "\x85"),
    *("\u2028", "\u2029"),
    *("\ufeff", "\u200b", "\u202e", "\ufffd", "\u180e", "\x01", "\x1b[2J", "\U0010ffff"),
    # Case, accents, length.
    *("İ", "I\u0307", "ß", "ẞ", "Σ", "ΑΣ", "ﬁ", "ǅ", "ô\u0323", "e\u0301", "naïve", "Łódź"),
    *("𐐀𐐨", "😀"),
    # Punctuation and scripts for intl, zh and char.
    *("“quoted”", "–", "…", "。", "、", "؟", "！？", "€5", "£", "∑"),
    *("中文", "中.文", "5中5", "日本語", "한국", "𠀀", "龼", "䶶", "⩮"),
    *("x" * 70, "ab" * 40, "5" * 66, "." * 61, "é" * 33),
]
