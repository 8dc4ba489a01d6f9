"""Signs that texts are not what they are taken for: another format, pieces of words, marks, ..."""

from __future__ import annotations

import collections
import contextlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from beam_bleu.transforms.errors import joined
from beam_bleu.transforms.inspection.sample import Stream

_SHOWN = 70  # the most characters of a text in a message
Find = Callable[[Stream, float], Sequence[bool]]
"""Finds the texts of a stream with a sign; perhaps none if less than a share of them have it."""


class Finding(NamedTuple):
    """Something that is wrong with the input, certainly or perhaps, of a kind in `ALLOWED`."""

    kind: str
    is_certain: bool
    cause: str
    remedy: str


def _matching(pattern: str, *needles: str) -> Find:
    """Finds the texts that match an expression; to look for its needles first is much faster."""

    def find(stream: Stream, fewest: float) -> Sequence[bool]:
        if not any(needle in stream.data for needle in needles):
            return ()
        search = re.compile(pattern).search
        is_shown: list[bool] = []
        may_lack = (1 - fewest) * len(stream)
        for text in stream.texts:
            is_shown.append(search(text) is not None)
            may_lack -= not is_shown[-1]
            if may_lack < 0:
                return ()
        return is_shown

    return find


_FIELD = r'(?:"(?:[^"]|"")*"|[^\s",][^",]*)?'
_ID = r"(?!\S*://)[\w./]*[^\W\d_]{2}[\w./]*[-_/:][\w./-]*?\d+"

_LABEL = re.compile(
    r"[^:：\n]{1,60}[:：](?=\s|$)|[^\s:]*[_<>*\[\]|#][^\s:]*(?=\s)|[^:：\n]{1,60}："
)


def _labelled(stream: Stream, _: float) -> Sequence[bool]:
    heads = [match[0] if (match := _LABEL.match(text)) else None for text in stream.texts]
    ((label, count),) = collections.Counter(filter(None, heads)).most_common(1) or [("", 0)]
    rests = {text[len(label) :] for text in stream.texts if text.startswith(label)}
    if not label or len(rests) < count / 2:  # nearly the same text everywhere
        return ()
    return [head == label for head in heads]


_OTHER_WORD = re.compile(r"[^ ]*[^\x00-\x7f][^ ]*")
_BYTES = bytes(range(0x80, 0xC0))
_AS_UTF_8 = re.compile(
    "|".join(
        f"[{bytes(range(0xC2, 0xF5)).decode(encoding)}][{_BYTES.decode(encoding, 'ignore')}]"
        for encoding in ("cp1252", "latin-1", "cp1251")
    )
)
"""The first two bytes of a character in UTF-8, decoded wrongly: texts without them are right."""
_PUNCTUATION = "«»“”„‘’…–—®™²³±°"

_FEWEST_DECODED = 3
"""One or two different letters may look wrongly decoded by chance, but three are evidence."""


def _wrongly_decoded(stream: Stream, _: float) -> Sequence[bool]:
    if stream.data.isascii() or _AS_UTF_8.search(stream.data) is None:
        return ()
    decoded = [_decoded(text) for text in stream.texts]
    letters = set("".join(decoded))
    # The dashes and quotation marks of English are often all that was damaged.
    if len(letters) < _FEWEST_DECODED and not any("‐" <= letter <= "…" for letter in letters):
        return ()
    return [bool(letters_of_text) for letters_of_text in decoded]


def _decoded(text: str) -> str:
    """The letters of words that were UTF-8, and were read as Windows-1252, Latin-1 or -1251."""
    letters = ""
    for word in _OTHER_WORD.findall(text):
        # Short words of Ukrainian, such as "Ні", are bytes of UTF-8 by chance.
        for encoding, fewest in (("cp1252", 1), ("latin-1", 1), ("cp1251", 2)):
            with contextlib.suppress(UnicodeError):
                decoded = word.strip(_PUNCTUATION).encode(encoding).decode()
                of_word = "".join(letter for letter in decoded if not letter.isascii())
                letters += of_word if len(of_word) >= fewest else ""
    return letters


class Sign(NamedTuple):
    """A sign, with the shares of the texts from which on it is certain, or likely: a warning.

    Values of records can be meant to be in another format, except in one that a program writes by
    mistake, `is_slip`, if only one side has it.
    """

    kind: str
    what: str
    certain: float
    likely: float
    find: Find
    remedy: str = ""
    is_slip: bool = False


_ALONE = "give the text of the segments alone, a line each"

_REMEDIES = {
    "another-format": _ALONE,
    "pieces": "join the pieces to words, as the program that made them does (decode, detokenize)",
    "ids": f"{_ALONE}, without numbers or ids",
    "marks": "remove this from the texts that have it",
    "characters": "make the file again, reading and writing UTF-8",
}

SIGNS: tuple[Sign, ...] = (
    Sign(
        *("another-format", "look like JSON, not like text", 0.8, 0.3),
        _matching(
            r'^\s*(?:\[?\s*\{\s*"[^"]+"\s*:.*\}\s*[,\]]*|"\w+"\s*:\s.*|[\[\]{}]+,?'
            r'|\[?\s*".*(?:"\s*[,\]]+|\\(?:"|u[0-9a-f]{4}).*"))\s*$',
            *'{["',
        ),
        "read JSON lines as records: --input FILE.jsonl --candidate_columns COLUMN,... "
        "(jq -c '.[]' makes lines of an array)",
    ),
    Sign(
        *("another-format", "look like SGML or XML, not like text", 0.8, 0.3),
        _matching(r"^\s*</?[a-zA-Z][\w-]*(?:\s[^>]*)?/?>(?:.*</[\w-]+>)?\s*$", "<"),
    ),
    Sign(
        *("another-format", "look like subtitles, not like text", 0.12, 0.02),
        _matching(r"\d\d:\d\d[:.,\d]*\s+-->", "-->"),
    ),
    Sign(
        *("another-format", "look like the output of fairseq-generate, not like text", 0.3, 0.05),
        _matching(r"^[STHDPA]-\d+\t", "\t"),
        "give the text of the lines that begin with D- or H-, in the order of their numbers",
    ),
    Sign(
        *("another-format", "look like an n-best list, not like text", 0.8, 0.3),
        _matching(r"^\d+ \|\|\| ", "|||"),
    ),
    Sign(
        *("another-format", "look like tab-separated values, not like text", 0.9, 0.5),
        _matching(r"\S\t+\S", "\t"),
        "read the file as records: --input FILE.tsv --candidate_columns COLUMN,...",
    ),
    Sign(
        *("another-format", "look like CSV, not like text", 0.95, 0.95),
        _matching(f"^(?:{_FIELD},)+{_FIELD}$", ',"', '",'),
        "read the file as records: --input FILE.csv --candidate_columns COLUMN,...",
    ),
    Sign(
        *("another-format", "look like values of Python, not like text", 0.9, 0.5),
        _matching(
            r"""^\s*(?:\['.*'\]|\[".*"\]|\[\{'.*|b'.*'|b".*"|\{'\w+'\s*:.*\}|tensor\(.*)$""",
            *("['", '["', "[{'", "b'", 'b"', "{'", "tensor("),
        ),
        "give the texts themselves; for references in records, name a column that has them as a "
        "list, such as --reference_columns doc.answers",
        is_slip=True,
    ),
    Sign(
        *("pieces", "have '@@' of BPE, or the marks U+2581 or U+FFED of other pieces", 0.2, 0.01),
        _matching(r"\S@@(?: |$)|(?:^| )▁|￭", "@@", "▁", "￭"),
    ),
    Sign("pieces", "have '##' of WordPiece", 0.2, 0.05, _matching(r" ##[^\W\d_]", " ##")),
    Sign(
        *("pieces", "have the mark U+0120 of byte-level BPE", 0.5, 0.05),
        _matching("(?:Ġ[^Ġ]{1,24}){4}", "Ġ"),
    ),
    Sign(
        *("pieces", "have single letters in place of words", 0.4, 0.05),
        _matching(r"^(?:\S ){3,}(?:[|_▁<] ?| )(?:\S ){2,}", "|", "_", "▁", "<", "  "),
    ),
    Sign(
        *("ids", "begin or end with ids", 0.9, 0.9),
        _matching(rf"^\s*{_ID}[\s,;|:]+\S|[\s,;|]\(?{_ID}\)?\s*$", *"-_/:"),
    ),
    Sign(
        *("marks", "have special tokens of a model, tags or code fences", 0.5, 0.01),
        _matching(
            r"^\s*(?:<s>|```)|</s>\s*$|<pad>|<eos>|<bos>|\[(?:CLS|SEP|PAD)\]|<\|[^|>]{1,40}\|>"
            r"|<(?:end|start)_of_turn>|\[/?INST\]|<extra_id_\d+>"
            r"|</?(?:think|thinking|thought|reasoning)>",
            *("s>", "```", "<pad>", "[CLS]", "[SEP]", "[PAD]", "<|", "_turn>", "INST]"),
            *("<extra_id", "think", "thought>", "reasoning>"),
        ),
    ),
    Sign(
        *("marks", "have entities of HTML", 0.8, 0.05),
        _matching(r"&(?:amp|quot|apos|lt|gt|nbsp|#\d{2,5}|#x[0-9a-fA-F]{2,5});", "&"),
    ),
    Sign("marks", "have '@-@' of a tokenizer", 0.8, 0.02, _matching(" @-@ ", "@-@")),
    Sign(
        *("marks", r"have '\n' in place of line breaks", 0.8, 0.1),
        _matching(r"\\n(?:\s|[A-Z]|\\n|$)", "\\n"),
    ),
    Sign("marks", "have the same label at their beginning", 0.9, 0.3, _labelled),
    Sign(
        *("characters", "were decoded wrongly, such as 'Ã¼' for 'ü'", 0.1, 0.005), _wrongly_decoded
    ),
    Sign(
        *("characters", "have U+FFFD in place of lost characters", 0.5, 0.005),
        _matching("\ufffd", "\ufffd"),
    ),
    Sign(
        *("characters", "have byte order marks (U+FEFF) inside", 0.5, 0.001),
        _matching("\ufeff", "\ufeff"),
        "remove them: files that begin with one were joined",
    ),
)


def signs_in(streams: Sequence[Stream], *, of_values: bool = False) -> Iterator[Finding]:
    refused: set[Stream] = set()
    for sign in SIGNS:
        # Half of a likely share in other streams shows that marks are meant.
        fewest = sign.likely / 2 if sign.kind == "marks" else sign.likely
        # A text in another format has marks and labels, too.
        flags = {stream: sign.find(stream, fewest) for stream in streams if stream not in refused}
        shares = {stream: sum(is_shown) / len(stream) for stream, is_shown in flags.items()}
        likely = [
            stream
            for stream, share in shares.items()
            if share >= sign.likely
            and sum(flags[stream]) > 1  # a single text is not worth a warning
            and not (sign.kind == "marks" and _is_in_others(stream, shares))
        ]
        certain = [
            stream
            for stream in likely
            if shares[stream] >= sign.certain
            and not (
                sign.kind == "another-format"
                and of_values
                and (not sign.is_slip or _is_in_others(stream, shares))
            )
            and not (sign.kind == "marks" and not stream.is_of_candidates)
        ]
        refused |= {*certain}
        if told := certain or likely:
            first, is_shown = told[0], flags[told[0]]
            place = is_shown.index(True)
            names = joined([stream.name for stream in told], separator=" and ")
            cause = (
                f"{names} {sign.what}: {sum(is_shown):,} of {len(first):,} segments that were "
                f"looked at; the first is segment {first.numbers[place] + 1:,}, "
                f"{_shown(first.texts[place])}"
            )
            yield Finding(sign.kind, bool(certain), cause, sign.remedy or _REMEDIES[sign.kind])


def _is_in_others(stream: Stream, shares: Mapping[Stream, float]) -> bool:
    return any(
        shares[stream] <= 2 * share
        for other, share in shares.items()
        if other.is_of_candidates != stream.is_of_candidates
    )


def _shown(text: str) -> str:
    half = _SHOWN // 2
    return repr(text if len(text) <= _SHOWN else f"{text[:half]} ... {text[-half:]}")
