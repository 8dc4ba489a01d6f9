"""Signs that texts are not what they are taken for: another format, pieces of words, marks, ...

A sign is a row of `SIGNS`. It is found in each stream of a sample: the candidates of a system, or
the references of a position.
"""

from __future__ import annotations

import codecs
import collections
import csv
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.inspection.streams import Finding, Stream

# The most characters of a text in a message.
_SHOWN = 70

FEWEST_TEXTS = 20
"""With fewer texts that could show a sign, it is not looked for."""

# Shorter texts of numbered steps are often a corpus of their own.
_FEWEST_COUNTING = 50

# A sign that few texts could show is certain only from this share of all texts on.
_CERTAIN_OF_ALL = 1 / 10

# In place of a share, for a sign that is only a warning.
_NEVER = 2.0

Found = tuple[Sequence[bool], int]
"""Which texts of a stream show a sign, and the number of texts that could show it."""

_NOTHING: Found = ((), 0)


def _matching(pattern: str, *needles: str) -> Callable[[Stream], Found]:
    """Finds the texts that match a regular expression.

    Each match has one of the needles in it: to look for these is much faster.
    """

    def find(stream: Stream) -> Found:
        if not any(needle in stream.data for needle in needles):
            return _NOTHING
        search = re.compile(pattern).search
        return [search(text) is not None for text in stream.texts], len(stream)

    return find


def _csv(stream: Stream) -> Found:
    """Lines with the same number of fields, of which just those are in quotes that must be."""
    if stream.data.count(',"') + stream.data.count('\n"') < len(stream) / 10:
        return _NOTHING
    rows = [next(csv.reader([" ".join(text.splitlines())]), []) for text in stream.texts]
    ((width, _),) = collections.Counter(map(len, rows)).most_common(1)
    needing = [any("," in field or '"' in field for field in row) for row in rows]
    if width == 1:
        # In speech, there are quotes around lines that have no comma, too.
        quoted = [text[0] == text[-1] == '"' for text in stream.texts]
        is_csv = quoted == needing and len(rows) / 10 < sum(quoted) < len(rows) * 9 / 10
    else:
        no_space = sum(not any(field.startswith(" ") for field in row[1:]) for row in rows)
        is_csv = sum(needing) >= len(rows) / 10 and no_space > 0.95 * len(rows)
    return ([len(row) == width for row in rows], len(rows)) if is_csv else _NOTHING


_ITEM, _NUMBER = r"[\[(]?(\d{1,9})[.,:;)\]|\t]+\s*\S", r"(\d{1,9}) +[^\W\d]"
_ID = r"(?!\S*://)[\w./]*[^\W\d_]{2}[\w./]*[-_/:][\w./-]*?(\d+)"
_IDS = {  # and the part of a text in which they are
    re.compile(rf"^\s*{_ID}[\s,;|:]+\S"): slice(80),
    re.compile(rf"[\s,;|]\(?{_ID}\)?\s*$"): slice(-80, None),
}


def _numbered(pattern: str) -> Callable[[Stream], Found]:
    """Finds texts that begin with the number of their line, with a constant added."""
    match = re.compile(rf"\s*{pattern}").match

    def find(stream: Stream) -> Found:
        found = [match(text) for text in stream.texts]
        if len(stream) < _FEWEST_COUNTING or sum(map(bool, found[:10])) < 5:
            return _NOTHING
        offsets = [
            int(head[1]) - number if head else None
            for head, number in zip(found, stream.numbers.tolist(), strict=True)
        ]
        ((offset, _),) = collections.Counter(offsets).most_common(1)
        return [own is not None and own == offset for own in offsets], len(stream)

    return find


def _with_ids(stream: Stream) -> Found:
    """Texts that begin or end with ids whose last number counts the texts."""
    for pattern, part in _IDS.items():
        if not any(pattern.search(text[part]) for text in stream.texts[:FEWEST_TEXTS]):
            continue
        found = [pattern.search(text[part]) for text in stream.texts]
        values = [int(word[1]) if word else -9 for word in found]
        flags = [
            value >= 0 and 1 in (value - before, after - value)
            for before, value, after in zip(
                [-9, *values[:-1]], values, [*values[1:], -9], strict=True
            )
        ]
        if sum(flags) > len(stream) / 2:
            return flags, len(stream)
    return _NOTHING


_LABEL = re.compile(
    r"[^:：\n]{1,60}[:：](?=\s|$)|[^\s:]*[_<>*\[\]|#][^\s:]*(?=\s)|[^:：\n]{1,60}："
)


def _labelled(stream: Stream) -> Found:
    """Texts that begin with the same label, such as "Translation:" or "deu_Latn"."""
    heads = [_LABEL.match(text) for text in stream.texts]
    labels = collections.Counter(head[0] for head in heads if head)
    ((label, count),) = labels.most_common(1) or ((None, 0),)
    rests = {text[len(label) :] for text in stream.texts if text.startswith(label)} if label else ()
    if label is None or len(rests) < count / 2:  # nearly the same text everywhere
        return _NOTHING
    return [head is not None and head[0] == label for head in heads], len(stream)


def _decomposed(stream: Stream) -> Found:
    """Texts with letters that Unicode's form NFC composes of several characters.

    There are also letters that NFC takes apart, or whose marks it orders: these are usual. ASCII
    texts cannot show the sign.
    """
    if stream.data.isascii():
        return _NOTHING
    flags = [
        not text.isascii() and len(unicodedata.normalize("NFC", text)) < len(text)
        for text in stream.texts
    ]
    return flags, sum(not text.isascii() for text in stream.texts)


# Two characters whose bytes in Windows-1252 or -1251 begin a character of UTF-8.
_PROBABLY_MOJIBAKE = re.compile("[Â-ô][\u0080-¿ŒœŠšŸŽžƒˆ˜–-›€™]|[РС][Ђ-ЏЁёђ-џҐґ\u00a0-¿–-™№]")

_OTHER_WORD = re.compile(r"[^ ]*[^\x00-\x7f][^ ]*")
_PUNCTUATION = "«»“”„‘’…–—®™²³±°"

# Two letters that happen to look like one are not evidence, but three kinds of them are.
_FEWEST_DECODED = 3


def _wrongly_decoded(stream: Stream) -> Found:
    if stream.data.isascii():
        return _NOTHING
    probable = [_PROBABLY_MOJIBAKE.search(text) is not None for text in stream.texts]
    decoded = [
        _decoded(text) if is_probable else ""
        for text, is_probable in zip(stream.texts, probable, strict=True)
    ]
    letters = set("".join(decoded))
    # The dashes and quotation marks of English are often all that was damaged.
    if len(letters) < _FEWEST_DECODED and not any("‐" <= letter <= "…" for letter in letters):
        return _NOTHING
    return [bool(found) for found in decoded], sum(not text.isascii() for text in stream.texts)


def _decoded(text: str) -> str:
    """The letters of words that were UTF-8, and were read as Windows-1252, Latin-1 or -1251."""
    letters = ""
    for word in _OTHER_WORD.findall(text):
        for encode in (_as_western, lambda word: word.encode("cp1251")):
            try:
                data = encode(word.strip(_PUNCTUATION))
                # Without its last bytes, because the text may have been cut there.
                decoded = codecs.getincrementaldecoder("utf-8")().decode(data)
            except ValueError:
                continue
            found = "".join(letter for letter in decoded if not letter.isascii())
            is_whole = len(decoded.encode()) == len(data)
            if len(found) >= (1 if is_whole else 2):
                letters += found
    return letters


def _as_western(word: str) -> bytes:
    return b"".join(
        bytes([ord(letter)]) if ord(letter) < 256 else letter.encode("cp1252") for letter in word
    )


# Scripts whose words can be divided by spaces without width.
_SPACED_SCRIPTS = re.compile("[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u4e00-\u9fff]")


def _without_width(stream: Stream) -> Found:
    is_usual = _SPACED_SCRIPTS.search(stream.data) is not None
    return _NOTHING if is_usual else _matching("[\u200b\u2060]", "\u200b", "\u2060")(stream)


class Sign(NamedTuple):
    """A sign.

    Attributes:
      kind: its kind, a key of `ALLOWED`.
      what: what is said of the texts: "look like JSON objects".
      certain: from this share of the texts that could show it, they are not scored.
      likely: from this share on, there is a warning.
      find: finds the texts that show it.
      remedy: what to do.
      in_one_side: whether it counts only if the other side, of candidates or of references, has it
        far less often.
    """

    kind: str
    what: str
    certain: float
    likely: float
    find: Callable[[Stream], Found]
    remedy: str
    in_one_side: bool = False


_Find = Callable[[Stream], Found]

_ALONE = "give the text of the segments alone, a line each"
_RECORDS = (
    "read JSON lines as records: --input FILE.jsonl --candidate_columns COLUMN,... "
    "(jq -c '.[]' makes lines of an array)"
)
_JOINED = "join the pieces to words, as the program that made them does (decode, detokenize)"
_REMOVE = "remove this from the texts that have it"
_MADE_AGAIN = "make the file again, reading and writing UTF-8"


def _format(what: str, certain: float, likely: float, find: _Find, remedy: str = _ALONE) -> Sign:
    return Sign("another-format", f"look like {what}, not like text", certain, likely, find, remedy)


def _pieces(what: str, certain: float, likely: float, find: _Find) -> Sign:
    return Sign("pieces", f"have {what}: pieces of words", certain, likely, find, _JOINED)


def _mark(what: str, certain: float, likely: float, find: _Find) -> Sign:
    return Sign("marks", f"have {what}", certain, likely, find, _REMOVE, in_one_side=True)


def _invisible(what: str, certain: float, likely: float, find: _Find) -> Sign:
    return Sign("characters", f"have {what}", certain, likely, find, _REMOVE, in_one_side=True)


def _damaged(what: str, likely: float, find: _Find, remedy: str = _MADE_AGAIN) -> Sign:
    return Sign("characters", what, 0.5, likely, find, remedy)


DECOMPOSED = Sign(
    *("characters", "have letters in pieces (Unicode's form NFD)", 0.5, 0.05, _decomposed),
    *("bring all texts into one form: --normalize nfc", True),
)

SIGNS: tuple[Sign, ...] = (
    _format(
        *("JSON objects", 0.8, 0.3),
        _matching(
            r'^\s*(?:\[?\s*\{\s*"[^"]+"\s*:.*\}\s*[,\]]*|"\w+"\s*:\s.*|[\[\]{}]+,?)\s*$', "{", "["
        ),
        _RECORDS,
    ),
    _format(
        *("JSON strings", 0.8, 0.5),
        _matching(r'^\s*\[?\s*".*(?:"\s*[,\]]+|\\(?:"|u[0-9a-f]{4}).*")\s*$', '"'),
        _RECORDS,
    ),
    _format(
        *("SGML or XML", 0.8, 0.3),
        _matching(r"^\s*</?[a-zA-Z][\w-]*(?:\s[^>]*)?/?>(?:.*</[\w-]+>)?\s*$", "<"),
    ),
    _format("subtitles", 0.12, 0.02, _matching(r"\d\d:\d\d[:.,\d]*\s+-->", "-->")),
    _format(
        *("the output of fairseq-generate", 0.3, 0.05, _matching(r"^[STHDPA]-\d+\t", "\t")),
        "give the text of the lines that begin with D- or H-, in the order of their numbers",
    ),
    _format("an n-best list", 0.8, 0.3, _matching(r"^\d+ \|\|\| ", "|||")),
    _format(
        *("tab-separated values", 0.9, 0.5, _matching(r"\S\t+\S", "\t")),
        "read the file as records: --input FILE.tsv --candidate_columns COLUMN,...",
    ),
    _format("CSV", 0.95, 0.95, _csv),
    _format(
        *("values of Python", 0.9, 0.5),
        _matching(
            r"""^\s*(?:\['.*'\]|\[".*"\]|\[\{'.*|b'.*'|b".*"|\{'\w+'\s*:.*\}|tensor\(.*)$""",
            *("['", '["', "[{'", "b'", 'b"', "{'", "tensor("),
        ),
    ),
    _pieces("'@@' of BPE", 0.2, 0.01, _matching(r"\S@@(?: |$)", "@@")),
    _pieces("the mark U+2581 of SentencePiece", 0.2, 0.01, _matching(r"(?:^| )▁", "▁")),
    _pieces("'##' of WordPiece", 0.2, 0.05, _matching(r" ##[^\W\d_]", " ##")),
    _pieces("the mark U+0120 of byte-level BPE", 0.5, 0.05, _matching(r"(?:Ġ[^Ġ]{1,24}){4}", "Ġ")),
    _pieces("the joiner U+FFED", 0.2, 0.01, _matching("￭", "￭")),
    _pieces(
        *("single letters", 0.4, 0.05),
        _matching(r"^(?:\S ){3,}(?:[|_▁<] ?| )(?:\S ){2,}", "|", "_", "▁", "<", "  "),
    ),
    _pieces(
        *("numbers of tokens", 0.5, 0.5),
        _matching(r"^\[?\d(?=.*\d{4})\d*(?:,? +\d+){7,}\]?$", " "),
    ),
    Sign("ids", "begin with their numbers", 0.9, 0.9, _numbered(_ITEM), _ALONE),
    # Made corpora have numbers in their texts, so that no two are the same.
    Sign("ids", "begin with their numbers", _NEVER, 0.9, _numbered(_NUMBER), _ALONE),
    Sign("ids", "begin or end with ids", 0.9, 0.9, _with_ids, f"{_ALONE}, without the ids"),
    _mark(
        *("special tokens of a model", 0.8, 0.01),
        _matching(
            r"^\s*<s>|</s>\s*$|<pad>|<eos>|<bos>|\[(?:CLS|SEP|PAD)\]|<\|[^|>]{1,40}\|>"
            r"|<(?:end|start)_of_turn>|\[/?INST\]|<extra_id_\d+>",
            *("s>", "<pad>", "[CLS]", "[SEP]", "[PAD]", "<|", "_turn>", "INST]", "<extra_id"),
        ),
    ),
    _mark(
        *("reasoning between tags", 0.5, 0.01),
        _matching(r"</?(?:think|thinking|thought|reasoning)>", "think", "thought>", "reasoning>"),
    ),
    _mark("code fences", 0.5, 0.05, _matching(r"^\s*```", "```")),
    _mark("quotation marks around them", _NEVER, 0.5, _matching(r'^\s*["“«].*["”»]\s*$', *'"“«')),
    _mark(
        *("entities of HTML", 0.8, 0.05),
        _matching(r"&(?:amp|quot|apos|lt|gt|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,5});", "&"),
    ),
    _mark("'@-@' of a tokenizer", 0.8, 0.02, _matching(" @-@ ", "@-@")),
    _mark(r"'\n' in place of line breaks", 0.8, 0.1, _matching(r"\\n(?:\s|[A-Z]|\\n|$)", "\\n")),
    _mark("the same label at their beginning", 0.9, 0.3, _labelled),
    DECOMPOSED,
    _damaged("were decoded wrongly, such as 'Ã¼' for 'ü'", 0.01, _wrongly_decoded),
    _damaged("have U+FFFD in place of lost characters", 0.005, _matching("\ufffd", "\ufffd")),
    _damaged(
        *("have byte order marks (U+FEFF) inside", 0.001, _matching("\ufeff", "\ufeff")),
        "remove them: files that begin with one were joined",
    ),
    _invisible("spaces without width (U+200B, U+2060)", 0.8, 0.01, _without_width),
    _invisible("soft hyphens (U+00AD)", 0.8, 0.2, _matching("\u00ad", "\u00ad")),
    _invisible(
        *("letters made for display (U+FB50 to U+FEFC)", 0.8, 0.3),
        _matching("[\ufb50-\ufd3d\ufd50-\ufdcf\ufe70-\ufefc]", *map(chr, range(0xFE80, 0xFEFD))),
    ),
)
"""All signs. Shares are of the texts that are not empty."""


def signs_in(
    streams: Sequence[Stream], *, is_composed: bool = False, of_values: bool = False
) -> Iterator[Finding]:
    """All signs in the streams of a sample.

    Args:
      streams: the streams.
      is_composed: as for `look_at`.
      of_values: as for `look_at`.
    """
    refused: set[Stream] = set()
    for sign in SIGNS:
        if sign is DECOMPOSED and is_composed:
            continue
        # A text in another format has marks and labels, too.
        found = {stream: sign.find(stream) for stream in streams if stream not in refused}
        counts = {stream: sum(flags) for stream, (flags, _) in found.items()}
        shares = {
            stream: counts[stream] / considered if considered >= FEWEST_TEXTS else 0.0
            for stream, (_, considered) in found.items()
        }
        likely = [
            stream
            for stream, share in shares.items()
            if share >= sign.likely
            and counts[stream] > 1  # a single text is not worth a warning
            and not (sign.in_one_side and _is_in_others(stream, shares))
        ]
        certain = [
            stream
            for stream in likely
            if shares[stream] >= sign.certain
            and counts[stream] >= _CERTAIN_OF_ALL * len(stream)
            and not (sign.kind == "another-format" and of_values)
            and not (sign.kind == "marks" and not stream.is_of_candidates)
        ]
        refused |= {*certain}
        if told := certain or likely:
            flags, considered = found[told[0]]
            place = list(flags).index(True)
            which = "" if considered == len(told[0]) else " with other letters than ASCII"
            yield Finding(
                sign.kind,
                bool(certain),
                f"{joined([stream.name for stream in told], separator=' and ')} {sign.what}: "
                f"{counts[told[0]]:,} of {considered:,} segments{which} that were looked at; the "
                f"first is segment {told[0].numbers[place] + 1:,}, {_shown(told[0].texts[place])}",
                sign.remedy,
            )


def _is_in_others(stream: Stream, shares: Mapping[Stream, float]) -> bool:
    """Whether a stream of the other side shows a sign at least half as often."""
    return any(
        shares[stream] <= 2 * share
        for other, share in shares.items()
        if other.is_of_candidates != stream.is_of_candidates
    )


def _shown(text: str) -> str:
    """A text as a part of a message: its beginning and its end."""
    half = _SHOWN // 2
    return repr(text if len(text) <= _SHOWN else f"{text[:half]} ... {text[-half:]}")
