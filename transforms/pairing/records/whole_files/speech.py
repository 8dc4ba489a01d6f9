"""Transcripts of speech: .trn and .stm, the formats of sclite, and the text of Kaldi."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa

from beam_bleu.transforms.pairing.records.whole_files.whole_file import lines

_TRN = re.compile(r"(.*)\(([^()]+)\)[ \t]*")
_FIELD, _TIME = r"([^ \t]+)[ \t]+", r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_STM = re.compile(rf"{_FIELD * 3}{_TIME}[ \t]+{_TIME}(?:[ \t]+(<[^ \t]*))?(|[ \t].*)")
_IGNORED = "ignore_time_segment_in_scoring"
_WORD = re.compile(r"[^ \t]+")
_TAGS = re.compile(r"(?<!\\);.*")


def trn_rows(data: bytes) -> Iterator[dict[str, str]]:
    for number, line in _sclites_lines(data):
        match = _TRN.fullmatch(line)
        if match is None:
            raise pa.ArrowInvalid(f"line {number} does not end with an id, such as (speaker-1)")
        speaker = match[2].partition("-" if "-" in match[2] else "_")[0]  # as for sclite -i spu_id
        yield {"id": match[2], "text": _plain(match[1], number), "speaker": speaker}


def stm_rows(data: bytes) -> Iterator[dict[str, str | None]]:
    """A segment's id is its file, channel, begin and end: sclite ignores the speaker, too."""
    for number, line in _sclites_lines(data):
        match = _STM.fullmatch(line)
        if match is None:
            raise pa.ArrowInvalid(f"line {number} is not like FILE CHANNEL SPEAKER 0.0 2.5 TEXT")
        file, channel, speaker, *times, labels, text = match.groups()
        if text.strip().lower() != _IGNORED:
            begin, end = (f"{Decimal(time).normalize():f}" for time in times)  # 2.50 is 2.5
            row = {"id": f"{file} {channel} {begin} {end}", "text": _plain(text, number)}
            yield {**row, "file": file, "channel": channel, "speaker": speaker, "labels": labels}


def kaldi_rows(data: bytes) -> Iterator[dict[str, str]]:
    for number, line in lines(data):
        utterance, _, text = line.replace("\t", " ").partition(" ")
        if not utterance:
            raise pa.ArrowInvalid(f"line {number} begins with a space, not with an id")
        yield {"id": utterance, "text": text.strip(" ")}


def _sclites_lines(data: bytes) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in lines(data) if line[:2] not in (";;", "**"))


def _plain(text: str, number: int) -> str:
    if "{" in text or "}" in text or "@" in text.split():
        raise pa.ArrowInvalid(
            f"line {number} has alternatives, {{ a / b }}, or @ for no word, which only sclite "
            "reads: leave one alternative"
        )
    if any(mark in text for mark in ";\\*"):
        text = _WORD.sub(lambda word: _without_tags(word[0]), text)
    return text.replace("\t", " ").strip(" ")


def _without_tags(word: str) -> str:
    """What sclite compares of WORD;TAG;TAG. A word that has only tags is a word, too: ";"."""
    value = _TAGS.sub("", word).replace("\\", "")
    return (value.removesuffix("*") if len(value) > 1 else value) or ";"
