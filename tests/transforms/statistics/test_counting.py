"""What is counted in texts: sizes, the counts of several languages, and suspicious signs."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import operator
import subprocess
import sys
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu_counts import integers, sacrebleu_integers
from scoring import assert_same_rows, corpus_sums, group_totals, statistics_of

from beam_bleu.transforms.errors import InputError, JobError
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.native.text_columns import find_sizes, padded, spans
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.pairing.segments.batching import to_batch
from beam_bleu.transforms.statistics.counting import PreparedBatch, SegmentLabel, count_batch
from beam_bleu.transforms.text import library_tokenizers
from beam_bleu.transforms.text.tokenizers import SCRIPTS, tokenizer_of
from beam_bleu.transforms.totals.group_totals import CorpusSums

BLEU = BleuConfig()

SENTENCES = {
    "en": ["The cat, of 3.5 kg, sat.", "It's &quot;new&quot;.", "The cat sat on the mat."],
    "de": ["Die Katze saß, 3,5 kg schwer.", "Er sagt: „Neu“.", "Die Katze saß da."],
    "zh": ["猫坐在垫子上。", "他说：“新的”，3.5公斤。", "猫坐在那里。"],
    "en-zh_TW": ["貓坐在墊子上。", "他說：「新的」，3.5公斤。"],
    "zh-en": ["A cat — 猫 — sat.", "It's 北京."],
}


def counted_by_language(segments, languages):
    """What is counted in segments with languages; the first label has other values."""
    column = pa.array(languages, pa.string()).dictionary_encode()
    other = pa.array(["x"] * len(segments)).dictionary_encode()
    numbers = np.arange(len(segments)) * 2 + 5
    batch = dataclasses.replace(to_batch(segments), numbers=numbers, labels=(other, column))
    return PreparedBatch(batch, SegmentLabel("lang", 1)).count([(BLEU.text, BLEU)])


def segments_of(draw):
    """Random segments with one or two references, and their languages."""
    languages = draw.choices(list(SENTENCES), k=draw.randrange(1, 40))
    segments = []
    for language in languages:
        texts = [*SENTENCES[language], "", "a"]
        references = [draw.choice(texts)]
        if draw.random() < 0.3:
            references.append(draw.choice(texts))
        segments.append((draw.choice(texts), references))
    return segments, languages


@settings(max_examples=25)
@given(st.randoms(use_true_random=False), st.data())
def test_each_language_has_the_integers_of_sacrebleu_in_any_order_and_split(draw, data):
    segments, languages = segments_of(draw)
    at = data.draw(st.integers(0, len(segments)))
    for part in (slice(0, at), slice(at, None), slice(None)):
        if not segments[part]:
            continue
        ours = integers(counted_by_language(segments[part], languages[part]))[0]
        for language in set(languages[part]):
            rows = [row for row, each in enumerate(languages[part]) if each == language]
            chosen = [segments[part][row] for row in rows]
            config = BleuConfig(tokenizer_of(language))
            assert_same_rows(chosen, ours[rows], sacrebleu_integers(chosen, config))


def test_a_missing_or_wrong_language_is_bad_input_and_the_first_one_is_named():
    for languages, cause in [
        (["en", "zh", None, "xx"], "segment 10 has no language in lang"),
        (["en", "jp", None], "segment 8: lang: 'jp' is not a language code"),
        (["en", "en", "English"], "segment 10: lang: 'English' is not a language code"),
        ([""], "segment 6: lang: '' is not a language code"),
    ]:
        with pytest.raises(InputError) as error:
            counted_by_language([("a", ["a"])] * len(languages), languages)
        assert error.value.cause == cause
        assert "a pair such as en-de" in error.value.remedy


def test_a_library_is_needed_only_by_its_language(monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)  # an ImportError
    library_tokenizers.mecab.cache_clear()
    counted_by_language([("a", ["a"])] * 2, ["en", "zh"])
    with pytest.raises(JobError) as error:
        counted_by_language([("a", ["a"])] * 2, ["en", "en-ja"])
    assert "'ja-mecab'" in error.value.cause
    assert "beam-bleu[ja]" in error.value.remedy or "install ja" in error.value.remedy


PROGRAM = """
import sys
import pyarrow as pa
from beam_bleu.transforms.native.compiling import CompiledFunction
from beam_bleu.transforms.pairing.batch import SegmentBatch
from beam_bleu.transforms.metrics.bleu.columns import CANDIDATE_LENGTH
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.statistics.batch_steps import CountMatches

def refuse(function, *types):
    sys.exit(f"{function.function} is compiled late")

def column(*texts):
    return pa.array(texts, pa.large_string())

config = BleuConfig("13a", max_ngram_order=2, normalize="nfc")
counting = CountMatches([(config.text, BleuConfig(max_ngram_order=2))], threads=1)
counting.setup()
CompiledFunction._kept_or_compiled = refuse
references = column("The c\\u00e1t <skipped> sat, 3.5!", None), column("It &amp; me-", "b")
batch = SegmentBatch((column("a \\u00c1 3-b", ""), column("x", "y")), references)
print(counting.work(batch)[0].counts[0][:, :, CANDIDATE_LENGTH].tolist())
"""


def test_setup_leaves_nothing_to_compile() -> None:
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "[[5, 0], [1, 1]]"), done.stderr


TEXTS = st.one_of(st.none(), st.text(max_size=9))


@settings(max_examples=60)
@given(st.integers(0, 3), st.integers(1, 3), st.integers(0, 5), st.data())
def test_the_sizes_of_texts_are_those_that_python_finds(references, systems, rows, data):
    texts = [data.draw(st.lists(TEXTS, min_size=rows, max_size=rows)) for _ in range(references)]
    texts += [
        data.draw(st.lists(st.text(max_size=9), min_size=rows, max_size=rows))
        for _ in range(systems)
    ]
    columns = [padded(pa.array(column, pa.large_string())) for column in texts]
    found = find_sizes(spans(columns), references)
    sizes = np.array([[len((text or "").encode()) for text in column] for column in texts])
    sizes = sizes.reshape(len(texts), rows)
    assert np.array_equal(found.candidate_bytes, sizes[references:])
    assert np.array_equal(found.reference_bytes, sizes[:references].sum(axis=0))
    counts = [sum(column[row] is not None for column in texts[:references]) for row in range(rows)]
    assert found.reference_counts.tolist() == counts
    assert found.bare_row == (counts.index(0) if 0 in counts else -1)
    if rows:
        of_segments = sizes.sum(axis=0).tolist()
        assert (found.longest, found.longest_row) == (
            max(of_segments),
            of_segments.index(max(of_segments)),
        )


def test_sizes_are_those_before_texts_are_normalized():
    batch = to_batch([("e\u0301", ["e\u0301", "a"])])
    found = count_batch(batch, BleuConfig(normalize="nfc").text, BLEU)
    assert (found.candidate_bytes.tolist(), found.reference_bytes.tolist()) == ([[3]], [4])


def test_columns_of_different_lengths_are_refused():  # compiled code would read other memory
    columns = [pa.array(["a"] * rows, pa.large_string()) for rows in range(4)]
    for one, other in ((3, 1), (1, 3), (2, 3), (0, 1)):
        for references in ((columns[other],), (columns[one], columns[other])):
            with pytest.raises(ValueError, match="rows"):
                count_batch(SegmentBatch((columns[one],), references), BLEU.text, BLEU)


# Signs of suspicious input agree with Python's strings, however the batches are divided.

Segment = tuple[tuple[str, ...], tuple[str | None, ...]]
"""(the candidate of each system, the references)"""

WRITTEN = [
    *("中文", "の", "漢字、かな", "ไทยไทยไ", "ခန်း", "ខ្មែរ", "ລາວ", "한국", "\u3000", "“é”", "हिंदी"),
    *("𠀀𠀁", "\t"),
]
PIECES = [" .", ".", " ", "\r", "\n", "a", "A", "é", "of eight", "the same sixteen", "<skipped>"]
SUSPICIOUS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
    st.lists(st.sampled_from(WRITTEN + PIECES), max_size=40).map("".join),
)
CONFIGS = [BleuConfig(), BleuConfig("none"), BleuConfig("intl", lowercase=True, normalize="nfkc")]
CUTS = st.sets(st.integers(1, 7))


@st.composite
def corpora(draw: st.DrawFn) -> list[Segment]:
    """Segments of one to three systems. References are often the same as a candidate."""
    systems = draw(st.integers(1, 3))
    segments = []
    for _ in range(draw(st.integers(1, 8))):
        candidates = draw(st.lists(SUSPICIOUS, min_size=systems, max_size=systems))
        text = st.one_of(st.sampled_from(candidates), SUSPICIOUS)
        references: list[str | None] = list(draw(st.lists(st.one_of(st.none(), text), max_size=3)))
        references.insert(draw(st.integers(0, len(references))), draw(text))
        segments.append((tuple(candidates), tuple(references)))
    return segments


def batch_of(segments: Sequence[Segment]) -> SegmentBatch:
    systems = range(len(segments[0][0]))
    batches = [
        to_batch([(candidates[system], list(references)) for candidates, references in segments])
        for system in systems
    ]
    return SegmentBatch(tuple(each.candidates[0] for each in batches), batches[0].references)


def by_brute_force(segments: Sequence[Segment], system: int) -> dict[str, object]:
    candidates = [texts[system] for texts, _ in segments]
    columns = list(itertools.zip_longest(*(references for _, references in segments)))
    while not any(text is not None for text in columns[-1]):
        columns.pop()
    present = [[text for text in column if text is not None] for column in columns]
    return {
        "tokenized": sum(text.removesuffix("\r").endswith(" .") for text in candidates),
        "candidate_returns": sum(text.endswith("\r") for text in candidates),
        "identical": tuple(
            sum(one == other for one, other in zip(candidates, column, strict=True))
            for column in columns
        ),
        "given": tuple(len(texts) for texts in present),
        "reference_returns": tuple(sum(text.endswith("\r") for text in texts) for texts in present),
        "scripts": tuple(
            sum(
                script_of(texts[system]) == name and any(map(script_of, references))
                for texts, references in segments
            )
            for name in SCRIPTS
        ),
    }


LETTERS = {
    "chinese": regex.compile(r"\p{Han}"),
    "kana": regex.compile(r"[\p{Hiragana}\p{Katakana}ー]"),
    "southeast_asian": regex.compile(r"[\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"),
    "korean": regex.compile(r"\p{Hangul}"),
}


def script_of(text: str | None) -> str | None:
    """The script of a text, by the classes of Unicode."""
    if text is None:
        return None
    words = regex.split(r"[\t-\r ]", text)
    counts = {name: len(letters.findall(text)) for name, letters in LETTERS.items()}
    if sum(counts.values()) <= len(words):
        return None
    found = sum(any(letters.search(word) for letters in LETTERS.values()) for word in words)
    if counts["southeast_asian"] > 8 * found:
        return "southeast_asian"
    if counts["chinese"] + counts["kana"] > 3 * found:
        return "japanese" if counts["kana"] else "chinese"
    return "korean" if counts["korean"] > 2 * found else None


@settings(max_examples=30)
@given(segments=corpora(), cuts=CUTS, config=st.sampled_from(CONFIGS))
def test_signs_agree_with_brute_force_for_all_cuts_of_batches(segments, cuts, config):
    bounds = [0, *sorted(cut for cut in cuts if cut < len(segments)), len(segments)]
    whole = statistics_of(batch_of(segments), config)
    cut = [slice(*ends) for ends in itertools.pairwise(bounds)]
    parts = [statistics_of(batch_of(segments[rows]), config) for rows in cut]
    for system in range(len(segments[0][0])):
        expected = by_brute_force(segments, system)
        assert signs_in(corpus_sums(whole, system)) == expected
        added = functools.reduce(operator.add, map(group_totals, parts))
        assert signs_in(added.sums(added.systems[system])) == expected
        for rows, part in zip(cut, parts, strict=True):
            of_rows = corpus_sums(whole, system, rows)
            assert signs_in(of_rows) == signs_in(corpus_sums(part, system))


def signs_in(sums: CorpusSums) -> dict[str, object]:
    names = "tokenized candidate_returns identical given reference_returns scripts"
    return {name: getattr(sums, name) for name in names.split()}


def signs_of(candidate: str, reference: str) -> CorpusSums:
    return corpus_sums(statistics_of(batch_of([((candidate,), (reference,))]), BleuConfig()), 0)


def test_a_single_byte_makes_texts_different():
    for size in [0, 1, 7, 8, 9, 15, 16, 17, 64, 1000]:
        text = "x" * size
        assert signs_of(text, text).identical == (1,)
        assert signs_of(text, text + "x").identical == (0,)
        for place in {0, size // 2, size - 1} - {-1, size}:
            assert signs_of(text, text[:place] + "y" + text[place + 1 :]).identical == (0,)


WITH_SCRIPTS = [
    ("我喜欢苹果。", "chinese"),
    ("使用 iPhone 15 Pro 拍摄的高清照片和视频文件", "chinese"),  # Latin words do not change it
    ("猫がマットの上に座った。", "japanese"),
    ("猫 が マット の 上 に 座っ た 。", None),  # its words have spaces between them
    ("แมวนั่งบนเสื่อ", "southeast_asian"),
    ("고양이가 매트 위에 앉았다.", "korean"),
    ("김치 is a dish", None),
    ("中" * 1000 + " a" * 999, None),  # as many words as letters
    (" ".join(["中文字"] * 300), None),
    (" ".join(["中文字"] * 300) + "文", "chinese"),
]


def test_the_script_of_a_text_is_found_by_its_letters_for_each_word():
    for text, script in WITH_SCRIPTS:
        assert signs_of(text, text).scripts == tuple(name == script for name in SCRIPTS)
        assert script_of(text) == script


def test_the_script_of_a_text_does_not_depend_on_the_texts_before_and_after_it():
    for before in [0, 1, 30, 31, 32, 33, 64, 99]:
        texts = ["“plain” – é", "", "🙂"] * 33
        texts.insert(before, "我喜欢苹果。")
        statistics = statistics_of(batch_of([((text,), (text,)) for text in texts]), BleuConfig())
        assert statistics.signs.scripts[0].nonzero()[0].tolist() == [before]


def test_every_letter_of_the_scripts_is_known_and_no_other_one_is():
    everything = "".join(map(chr, range(0x110000)))
    scripts = {"japanese": LETTERS["kana"], **LETTERS}
    wanted = {
        ord(letter): name
        for name, letters in reversed(scripts.items())  # the first of several scripts is kept
        for letter in letters.findall(everything)
    }
    codes = [ord(letter) for letter in regex.findall(r"[\p{L}\p{M}]", everything)]
    texts = [chr(code) * 9 for code in codes]
    scripts_of = []
    for first in range(0, len(texts), 4096):  # a batch has limited numbers of segments
        batch = batch_of([((text,), (text,)) for text in texts[first : first + 4096]])
        scripts_of += statistics_of(batch, BleuConfig()).signs.scripts[0].tolist()
    found = dict(zip(codes, scripts_of, strict=True))
    names = [None, *SCRIPTS]
    different = {code for code, position in found.items() if names[position] != wanted.get(code)}
    unknown = different - {0x3099, 0x309A}  # marks of kana, which other scripts may have, too
    assert all(found[code] == 0 for code in unknown)
    # Iteration and tone marks, half-width and historical letters, those of minorities of Myanmar,
    # and jamo that are not part of a syllable.
    rare = [(0x1080, 0x109F), (0x3005, 0x303B), (0x3131, 0x318E), (0x31F0, 0x31FF)]
    rare += [(0xA960, 0xA97F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xD7C0, 0xD7FF)]
    rare += [(0xFF66, 0xFFDC), (0x116D0, 0x116E3), (0x16FE3, 0x16FF6), (0x1AFF0, 0x1B168)]
    assert all(any(first <= code <= last for first, last in rare) for code in unknown)
