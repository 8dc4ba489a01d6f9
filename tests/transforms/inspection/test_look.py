"""Texts that are not what they are taken for are named, and texts that are fine are not."""

from __future__ import annotations

import functools
import itertools
import json
import operator
import random
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from natural_texts import CANDIDATES, COUNT, REFERENCES, changed, sentences

from beam_bleu import compare, score
from beam_bleu.transforms.definition.choices import ALLOWED
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.inspection.look import look_at
from beam_bleu.transforms.inspection.sample import Sample
from beam_bleu.transforms.pairing.batch import SegmentBatch


def sampled(candidates: Mapping[str, Sequence[str]], references: Sequence[Sequence[str]]) -> Sample:
    """The sample of a corpus that comes in batches."""
    columns = [pa.array(texts, pa.large_string()) for texts in (*candidates.values(), *references)]
    count, systems = len(columns[0]), tuple(candidates)

    def part(start: int) -> Sample:
        cut = [column.slice(start, 150) for column in columns]
        numbers = np.arange(count)[start : start + 150]
        first, others = tuple(cut[: len(systems)]), tuple(cut[len(systems) :])
        return Sample.of(SegmentBatch(first, others, numbers=numbers, systems=systems))

    return functools.reduce(operator.add, map(part, range(0, count, 150)))


def pieces(text: str, joint: str, begin: str = "") -> str:
    return " ".join(
        begin + word[:3] + (joint + word[3:] if word[3:] else "") for word in text.split()
    )


In = Callable[[str, int], str]
IN_BOTH: dict[str, tuple[str, In]] = {
    "JSON objects": ("another-format", lambda t, i: json.dumps({"id": i, "text": t}) + ","),
    "JSON strings": ("another-format", lambda t, i: json.dumps(t) + ","),
    "SGML": ("another-format", lambda t, i: f'<seg id="{i}">{t}</seg>'),
    "subtitles": (
        "another-format",
        lambda t, i: [str(i), f"00:{i % 60:02}:01,000 --> x", t][i % 3],
    ),
    "tabs": ("another-format", lambda t, i: f"x{i}\t{t}"),
    "Python": ("another-format", lambda t, i: repr([t])),
    "bytes": ("another-format", lambda t, i: repr(t.encode())),
    "BPE": ("pieces", lambda t, i: pieces(t, "@@ ")),
    "SentencePiece": ("pieces", lambda t, i: pieces(t, " ", "▁")),
    "WordPiece": ("pieces", lambda t, i: pieces(t, " ##")),
    "byte-level BPE": ("pieces", lambda t, i: pieces(t, " ", "Ġ")),
    "joiners": ("pieces", lambda t, i: pieces(t, "￭ ")),
    "letters": ("pieces", lambda t, i: " ".join(t.replace(" ", "|").replace(",", ""))),
    "ids first": ("ids", lambda t, i: f"spk{i % 7}-utt{i} {t}"),
    "ids last": ("ids", lambda t, i: f"{t} (spk{i % 7}-utt{i})"),
    "mojibake": ("characters", lambda t, i: t.encode().decode("cp1252", "replace")),
    "lost characters": ("characters", lambda t, i: t.replace("ü", "\ufffd")),
    "byte order marks": ("characters", lambda t, i: "\ufeff" + t),
}
IN_CANDIDATES: dict[str, tuple[str, In]] = {
    "fairseq": ("another-format", lambda t, i: f"H-{i}\t-0.3\t{t}"),
    "end of text": ("marks", lambda t, i: f"{t} </s>"),
    "chat": ("marks", lambda t, i: f"<|im_start|>{t}"),
    "reasoning": ("marks", lambda t, i: f"<think>Hm.</think> {t}"),
    "label": ("marks", lambda t, i: f"Translation: {t}"),
    "fences": ("marks", lambda t, i: f"```{t}```"),
    "entities": ("marks", lambda t, i: t.replace(",", "&apos;")),
    "hyphens": ("marks", lambda t, i: t.replace(",", " @-@ ")),
    "line breaks": ("marks", lambda t, i: t.replace(" ", "\\n ", 3)),
}


def made(change: In, texts: Sequence[str]) -> list[str]:
    return [change(text, number) for number, text in enumerate(texts)]


def test_what_is_certain_is_refused():
    causes = {}
    for name, (kind, change) in {**IN_BOTH, **IN_CANDIDATES}.items():
        references = made(change, REFERENCES) if name in IN_BOTH else REFERENCES
        sample = sampled({"a": made(change, CANDIDATES)}, [references])
        with pytest.raises(InputError, match=f"--allow {kind}$") as caught:
            look_at(sample)
        assert "the candidates of a" in caught.value.cause
        causes[kind] = caught.value.cause, sample
    for cause, sample in causes.values():
        assert sum(cause in notice.sentence for notice in look_at(sample, list(ALLOWED))) == 1


def test_a_list_of_references_that_was_made_a_text_is_refused_in_records():
    """As lm-eval 0.4.13 and lmms-eval write a `target` that is a list."""
    listed = [repr([text, text.lower()]) for text in REFERENCES]
    with pytest.raises(InputError, match="references 1 look like values of Python"):
        look_at(sampled({"a": CANDIDATES}, [listed]), of_values=True)
    (notice,) = look_at(
        sampled({"a": [*map(repr, map(str.split, CANDIDATES))]}, [listed]), of_values=True
    )
    assert "look like values of Python" in notice.sentence


def test_a_rare_sign_is_a_warning_with_its_share_and_its_first_place():
    candidates = list(CANDIDATES)
    for place in (7, 99, 300, 311):
        candidates[place] += " </s>"
    (notice,) = look_at(sampled({"a": candidates}, [REFERENCES]))
    assert "4 of 400 segments that" in notice.sentence
    assert "the first is segment 8" in notice.sentence
    assert look_at(sampled({"a": candidates}, [REFERENCES]), ["marks"]) == ()


SHIFTS = [
    (1, "1 below", 400, 200),
    (1, "1 below", 400, 0),
    (3, "3 below", 400, 0),
    (-1, "1 above", 3000, 2500),
]


def test_lines_that_are_shifted_from_a_line_on():
    for shift, told, count, at in SHIFTS:
        references = sentences(count)
        good = changed(references, 0.6)
        new = sentences(abs(shift), seed=9)
        rest = good[at + shift :] + new if shift > 0 else new + good[at:shift]
        with pytest.raises(InputError, match="--allow order") as caught:
            look_at(sampled({"good": good, "a": good[:at] + rest}, [references]))
        cause = caught.value.cause
        assert told in cause
        assert "the candidates of a " in cause
        place = "between segments " if at else "at the first segments for "
        assert caught.value.remedy.startswith(f"look {place}")
        first = int(cause.split(" on,")[0].removeprefix("from segment ").replace(",", ""))
        assert abs(first - 1 - at) <= (4 if count == 400 else 140)


def test_candidates_of_other_segments_are_a_warning():
    told = "the candidates of a are no more similar to references 1"
    for count in (100, 2000):
        references = sentences(count)
        shuffled = changed(references, 0.3)
        random.Random(1).shuffle(shuffled)
        for candidates in (shuffled, sentences(count, seed=7)):
            (notice,) = look_at(sampled({"a": candidates}, [references]))
            assert notice.sentence.startswith(told)


def test_ids_in_another_order_are_seen_in_few_segments():
    for first in ("spk{}-utt1", "1089-134686-000{}", "spk_{}"):  # Kaldi's files begin with such ids
        lines = [f"{first.format(number)} {text}" for number, text in enumerate(REFERENCES[:3])]
        assert look_at(sampled({"a": lines}, [lines])) == ()
        with pytest.raises(InputError, match="begin with the same ids, such as"):
            look_at(sampled({"a": lines[::-1]}, [lines]))


def test_a_batch_that_was_filled_up_is_a_warning():
    for rows, times in ((slice(300, 400), 1), (slice(30), 1), (slice(399, 400), 12)):
        filled = [[*texts, *(times * texts[rows])] for texts in (CANDIDATES, REFERENCES)]
        (notice,) = look_at(sampled({"a": filled[0]}, [filled[1]]))
        last = len(filled[0]) - COUNT
        assert notice.sentence.startswith(f"the last {last} segments are the same")


RNG = random.Random(5)
CHINESE = sentences(COUNT, letters="".join(map(chr, range(0x4E00, 0x5200))), space="")
THAI = sentences(COUNT, letters="".join(map(chr, range(0xE01, 0xE2F))), space="\u200b")
ARABIC = sentences(COUNT, letters="ابتثجحخدذرزسشصضطظعغفقكلمنهوي")
UKRAINIAN = sentences(COUNT, letters="абвгґдеєжзиіїйклмнопрстуРСФшьюя")
MANY = sentences(2000)
SPOKEN = [t.lower()[:-1].replace(",", "") for t in REFERENCES]
NUMBERS = [str(7 * i) for i in range(COUNT)]


def both(change: In) -> tuple[list[str], list[str]]:
    """The usual texts, changed on both sides."""
    return made(change, CANDIDATES), made(change, REFERENCES)


CLEAN: dict[str, tuple[Sequence[str], Sequence[str]]] = {
    "text": (CANDIDATES, REFERENCES),
    "much text": (changed(MANY, 0.3), MANY),
    "identical": (REFERENCES, REFERENCES),
    "lower case": both(lambda t, i: t.lower()),
    "tokenized": both(lambda t, i: t.replace(",", " ,")),
    "escaped on both sides": both(lambda t, i: t.replace(",", "&quot;")),
    "one word": both(lambda t, i: t.split()[0]),
    "dialogue": both(lambda t, i: f"{'AB'[i % 2]}: {t}"),
    "quotes": both(lambda t, i: f'"{t}"'),
    "speech": (changed(SPOKEN, 0.05), SPOKEN),
    "very bad": (changed(REFERENCES, 0.93), REFERENCES),
    "one sentence": ([REFERENCES[0]] * COUNT, REFERENCES),
    "empty": ([""] * COUNT, REFERENCES),
    "wrong labels": (["yes", "no"] * 200, ["no", "yes"] * 200),
    "numbers": (NUMBERS, NUMBERS),
    "answers": both(lambda t, i: f"The answer is {RNG.randrange(999)}."),
    "choices": (["b2", "c3", "a1"], ["a1", "b2", "c3"]),
    "lists": (["1. b c", "3. d e", "2. f g"], ["1. b c", "2. d e", "3. f g"]),
    "years": (["1999 b c", "1990-95 d", "1980s e"], ["1990-95 d", "1999 b c", "1980s e"]),
    "code": (
        [f'\tif (a[{i % 9}] < b) {{ print("x\\n{t[:9]}"); }}' for i, t in enumerate(CANDIDATES)],
        [f'\tif (a[{i % 8}] < b) {{ print("y\\n{t[:9]}"); }}' for i, t in enumerate(REFERENCES)],
    ),
    "Chinese": (changed(CHINESE, 0.3, space="，"), CHINESE),
    "Arabic": (changed(ARABIC, 0.3), ARABIC),
    "Thai": (changed(THAI, 0.3), THAI),
    "Ukrainian": (changed(UKRAINIAN, 0.3), UKRAINIAN),
    "windows of sentences": (
        [" ".join(CANDIDATES[i : i + 3]) for i in range(COUNT)],
        [" ".join(REFERENCES[i : i + 3]) for i in range(COUNT)],
    ),
}


def test_there_is_no_false_alarm():
    for name, (candidates, references) in CLEAN.items():
        assert look_at(sampled({"a": candidates}, [references])) == (), name


@settings(max_examples=20)
@given(st.data())
def test_a_sample_does_not_depend_on_the_split_or_the_order(data):
    count, systems = data.draw(st.integers(1, 5000)), data.draw(st.sampled_from([1, 34, 80]))
    cuts = sorted(data.draw(st.sets(st.integers(0, count), max_size=9)) | {0, count})
    texts = [str(number) for number in range(count)]

    def of(start: int, stop: int) -> Sample:
        column = pa.array(texts[start:stop], pa.large_string())
        return Sample.of(SegmentBatch((column,) * systems, (column,), np.arange(start, stop)))

    parts = [of(start, stop) for start, stop in itertools.pairwise(cuts)]
    data.draw(st.randoms()).shuffle(parts)
    summed = functools.reduce(operator.add, parts, Sample())
    assert summed.rows == of(0, count).rows
    assert len(summed.rows) <= 1024 + 512


def test_plain_calls_look_at_their_texts():
    wrapped = [f"{text} </s>" for text in CANDIDATES]
    with pytest.raises(InputError, match=r"special tokens.* if it is meant, allow=\['marks'\]$"):
        score(wrapped, [REFERENCES])
    with pytest.warns(UserWarning, match="special tokens"):
        assert score(wrapped, [REFERENCES], allow=["marks"])["bleu"].segments == COUNT
    with pytest.raises(InputError, match="the candidates of b have special tokens"):
        compare({"a": CANDIDATES, "b": wrapped}, [REFERENCES])
    with pytest.warns(UserWarning, match="look like SGML"):  # a value can be meant to be that
        score([f"<seg>{text}</seg>" for text in CANDIDATES], [REFERENCES])
    with pytest.raises(ValueError, match="allow must be one of another-format, "):
        score(CANDIDATES, [REFERENCES], allow=["format"])
