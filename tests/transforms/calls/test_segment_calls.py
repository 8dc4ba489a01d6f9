"""score_segments and score_pairs give the scores that oracles give one sentence at a time."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
import sacrebleu
from hostile_texts import Segment
from test_plain_scores import in_streams, made_segments

from beam_bleu import BleuConfig, ChrfConfig, TerConfig, score_pairs, score_segments
from beam_bleu.transforms import calls as call_segments
from beam_bleu.transforms.known_metrics import METRICS_OF_TEXTS
from beam_bleu.transforms.statistics import counting

SEGMENTS = made_segments(80, 2, seed=5)
CANDIDATES, STREAMS = in_streams(SEGMENTS)
LISTS = [references for _, references in SEGMENTS]
WORDS_OF_METRICS = [*METRICS_OF_TEXTS]


def present(segment: Segment) -> list[str]:
    return [reference for reference in segment[1] if reference is not None]


def scores_of(word: str, segments: list[Segment]) -> list[float]:
    """The scores of segments, as sacreBLEU gives them."""
    sentence = {
        "bleu": sacrebleu.BLEU(effective_order=True),
        "chrf": sacrebleu.CHRF(),
        "ter": sacrebleu.TER(),
    }[word].sentence_score
    return [sentence(each[0], present(each)).score for each in segments]


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_segments, "usual_rows", lambda columns: 7)
    monkeypatch.setattr(call_segments, "_FEWEST_ROWS", 7)


@pytest.mark.usefixtures("small_batches")
def test_each_metric_has_a_column():
    table = score_segments(CANDIDATES, STREAMS, metrics=WORDS_OF_METRICS, threads=3)
    assert table.schema == pa.schema([(word, pa.float64()) for word in WORDS_OF_METRICS])
    by_lists = score_segments(CANDIDATES, references_per_segment=LISTS, metrics=WORDS_OF_METRICS)
    assert by_lists.to_pylist() == table.to_pylist()
    for row in range(0, len(SEGMENTS), 5):
        alone = score_segments(
            *([CANDIDATES[row]],), references_per_segment=[LISTS[row]], metrics=WORDS_OF_METRICS
        )
        assert alone.to_pylist() == table.slice(row, 1).to_pylist()


def test_scores_are_those_of_sacrebleu():
    for word in ["bleu", "chrf", "ter"]:
        table = score_segments(CANDIDATES, STREAMS, metrics=[word])
        assert table[word].to_pylist() == scores_of(word, SEGMENTS)


def test_details_are_the_columns_that_the_command_writes():
    table = score_segments(CANDIDATES, STREAMS, metrics=["bleu", "ter"], details=True)
    fields = {"bleu": ["sys_len", "ref_len", "matches", "totals"], "ter": ["edits", "ref_length"]}
    assert table.column_names == [
        name for word, names in fields.items() for name in (word, *(f"{word}_{n}" for n in names))
    ]
    expected = [sacrebleu.BLEU()._extract_corpus_statistics([c], [[r] for r in rs])[0]
                for c, rs in ((each[0], present(each)) for each in SEGMENTS)]  # fmt: skip
    assert table["bleu_matches"].to_pylist() == [counts[2:6] for counts in expected]
    assert table["bleu_sys_len"].to_pylist() == [counts[0] for counts in expected]


# All pairs

MADE = [candidate for candidate, _ in made_segments(9, 1, seed=8)]


@pytest.mark.parametrize("most_pairs", [1, 20, 1 << 18])
def test_pairs_have_the_scores_of_segments(most_pairs, monkeypatch):
    monkeypatch.setattr(counting, "_MOST_PAIRS", most_pairs)
    candidates = [text for text in MADE for _ in MADE]
    alone = score_segments(candidates, [MADE * 9], metrics=WORDS_OF_METRICS)
    for word in WORDS_OF_METRICS:
        pairs = score_pairs(MADE, word)
        assert (pairs.dtype, pairs.shape) == (np.float64, (9, 9))
        assert pairs.ravel().tolist() == alone[word].to_pylist()


CONFIGS = [
    (
        BleuConfig(tokenize="intl", lowercase=True),
        sacrebleu.BLEU(tokenize="intl", lowercase=True, effective_order=True),
    ),
    (ChrfConfig(word_order=2, lowercase=True), sacrebleu.CHRF(word_order=2, lowercase=True)),
    # Its references are rewritten once more than its candidates.
    (TerConfig(normalized=True), sacrebleu.TER(normalized=True)),
]


def test_pairs_have_the_sentence_scores_of_sacrebleu():
    for config, theirs in CONFIGS:
        texts = [*MADE[:6], "1,.,2 a", "1,.2 a"]
        expected = [[theirs.sentence_score(one, [other]).score for other in texts] for one in texts]
        assert score_pairs(texts, config).tolist() == expected


def test_several_segments_have_an_array_each():
    found = score_pairs([MADE[:2], tuple(MADE[2:5]), pa.array(MADE[5:6])], "chrf")
    assert [array.shape for array in found] == [(2, 2), (3, 3), (1, 1)]
    assert found[1].tolist() == score_pairs(MADE[2:5], "chrf").tolist()


IMPOSSIBLE = [
    ([], "bleu", "candidates is empty: there is no candidate to score"),
    ([["a"], []], "bleu", r"candidates\[1\] is empty"),
    (["a", None], "bleu", r"candidates\[1\] is missing"),
    (
        [["a", "b"], [b"a"]],
        "bleu",
        r"candidates\[1\]\[0\] must be Unicode text, got b'a'",
    ),
    ("abc", "bleu", "candidates must be texts"),
    (["a"], "mean:comet", "a metric needs numbers"),
]


def test_impossible_pairs_are_refused():
    for candidates, metric, message in IMPOSSIBLE:
        with pytest.raises(ValueError, match=message):
            score_pairs(candidates, metric)
