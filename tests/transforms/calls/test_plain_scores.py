"""score and compare give the numbers of pipelines and of sacreBLEU, without a pipeline."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

import pytest
import sacrebleu
from found_in_pipelines import found_in
from hostile_texts import FRAGMENTS, WORDS, Segment

from beam_bleu import (
    BleuConfig,
    ChrfConfig,
    CompareSystems,
    CorpusScores,
    TerConfig,
    compare,
    score,
)
from beam_bleu.transforms import calls as call_segments
from beam_bleu.transforms.known_metrics import METRICS_OF_TEXTS

# The difficult texts are as suspicious as they are meant to be.
pytestmark = pytest.mark.filterwarnings("ignore:.* that were looked at:UserWarning")

PIECES = [*FRAGMENTS, *WORDS * 3, *[" "] * 200]


def made_segments(number: int, references: int, seed: int = 1) -> list[Segment]:
    """Segments of difficult text; some references are missing, but not the last one."""
    rng = random.Random(seed)

    def text() -> str:
        return "".join(rng.choices(PIECES, k=rng.randrange(24)))

    segments: list[Segment] = []
    for _ in range(number):
        last = text()
        others = [text() if rng.random() < 0.8 else None for _ in range(references - 1)]
        candidate = last[rng.randrange(5) :] + text() if rng.random() < 0.7 else text()
        segments.append((candidate, [*others, last]))
    return segments


def in_streams(segments: Sequence[Segment]) -> tuple[list[str], list[list[str | None]]]:
    """The candidates, and sacreBLEU's layout of the references."""
    candidates = [candidate for candidate, _ in segments]
    streams = zip(*(references for _, references in segments), strict=True)
    return candidates, [[*stream] for stream in streams]


SEGMENTS = made_segments(90, 3)
CANDIDATES, STREAMS = in_streams(SEGMENTS)
LISTS = [references for _, references in SEGMENTS]


@pytest.fixture
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_segments, "usual_rows", lambda columns: 7)


@pytest.mark.usefixtures("small_batches")
def test_scores_are_those_of_a_pipeline():
    metrics = [*METRICS_OF_TEXTS]
    (expected,) = found_in(SEGMENTS, CorpusScores.Globally(metrics))
    found = score(CANDIDATES, STREAMS, metrics=metrics)
    assert list(found) == metrics
    assert found == expected
    assert score(CANDIDATES, references_per_segment=LISTS, metrics=metrics, threads=3) == expected
    ters = score(CANDIDATES, STREAMS, metrics=["ter"], uncertainty=False)
    assert ters["ter"].score == expected["ter"].score
    assert ters["ter"].standard_error is None is not expected["ter"].standard_error


@pytest.mark.usefixtures("small_batches")
@pytest.mark.parametrize("references", [1, 4])
def test_scores_are_those_of_sacrebleu(references):
    candidates, streams = in_streams(made_segments(60, references, seed=references))
    configs = [
        BleuConfig(tokenize="intl", lowercase=True, smooth_method="floor"),
        ChrfConfig(word_order=2),
        TerConfig(normalized=True, case_sensitive=True),
    ]
    theirs = {
        "bleu": sacrebleu.BLEU(tokenize="intl", lowercase=True, smooth_method="floor", force=True),
        "chrf": sacrebleu.CHRF(word_order=2),
        "ter": sacrebleu.TER(normalized=True, case_sensitive=True),
    }
    found = score(candidates, streams, metrics=configs)
    for word, metric in theirs.items():
        expected = metric.corpus_score(candidates, streams).score
        if word == "ter":  # sacreBLEU adds up averages of reference lengths, which are floats
            expected = pytest.approx(expected, rel=1e-15 * len(candidates))
        assert found[word].score == expected
        assert found[word].sacrebleu_signature == str(metric.get_signature())


def test_the_form_of_references_is_the_one_that_is_named():
    # As many references as segments: both forms are possible, and give different scores.
    candidates = ["the cat sat", "a dog ran"]
    references = [["x", "the cat sat"], ["y", "a dog ran"]]
    by_stream = score(candidates, references, metrics=["chrf"])["chrf"].score
    by_segment = score(candidates, references_per_segment=references, metrics=["chrf"])["chrf"]
    assert by_stream == sacrebleu.corpus_chrf(candidates, references).score < 100
    assert by_segment.score == 100


@pytest.mark.usefixtures("small_batches")
def test_comparisons_are_those_of_a_pipeline():
    rng = random.Random(3)
    systems = {
        name: [text if rng.random() < share else rng.choice(CANDIDATES) for text in CANDIDATES]
        for name, share in {"good": 0.9, "bad": 0.2, "middle": 0.5}.items()
    }
    elements = [
        ({name: texts[row] for name, texts in systems.items()}, references)
        for row, references in enumerate(LISTS)
    ]
    config = TerConfig(no_punct=True)
    options: dict[str, Any] = {"baseline": "bad", "all_pairs": True}
    (expected,) = found_in(elements, CompareSystems.Globally([*systems], config, **options))
    found = compare(systems, STREAMS, metrics=["bleu", config], threads=2, **options)
    assert list(found) == ["bleu", "ter"]
    assert found["ter"] == expected
    assert found["bleu"].scores["good"] == score(systems["good"], STREAMS)["bleu"]
    by_lists = compare(systems, references_per_segment=LISTS, metrics=["bleu", config], **options)
    assert by_lists == found


IMPOSSIBLE = [
    ({"candidates": []}, "candidates is empty: there is no segment to score"),
    ({"candidates": "a b"}, "candidates must be texts: a list .* got 'a b', of type str"),
    ({"references": None}, "give exactly one of references= .* got neither"),
    ({"references_per_segment": [["a"], ["b"]]}, "give exactly one of .* got both"),
    ({"references": ["a", "b"]}, r"references\[0\] must be texts: a list .* got 'a', of type"),
    ({"references": []}, "references must be a list of lists, got ..,"),
    (
        {"references": [["a", "b"], ["c"]]},
        r"references\[1\] has the length 1, but candidates has 2: references= takes a list for "
        "each reference, each as long as candidates",
    ),
    (
        {"references": None, "references_per_segment": [["a"], [None]]},
        r"references_per_segment\[1\] has no reference",
    ),
    (
        {"references": [["a", None], ["b", None]]},
        r"references\[0\]\[1\] and references\[1\]\[1\] has no reference",
    ),
    (
        {"metrics": ["perplexity"]},
        "a metric needs the column .*score these records with the command",
    ),
    ({"metrics": [BleuConfig(smooth_method="nltk-method5")]}, "is for segment scores only"),
    ({"uncertainty": 1}, "uncertainty must be True or False, got 1"),
    ({"threads": 0}, "threads must be 1 or more, got 0"),
]


def test_impossible_arguments_are_refused():
    for arguments, message in IMPOSSIBLE:
        given = {"candidates": ["a", "b"], "references": [["a", "b"]], **arguments}
        with pytest.raises(ValueError, match=message):
            score(**given)


def test_impossible_systems_are_refused():
    for systems, options, message in [
        (["a"], {}, "systems must be a dict of names and candidates, got"),
        ({"one": ["a"], "two": ["a", "b"]}, {}, r"systems\['two'\] has the length 2, but .* has 1"),
        ({"one": ["a"], "two": [None]}, {}, r"systems\['two'\]\[0\] is missing"),
        ({"one": ["a"], "two": ["b"]}, {"baseline": "x"}, "baseline must be one of one, two"),
    ]:
        with pytest.raises(ValueError, match=message):
            compare(systems, [["a"]], **options)


def test_a_call_loads_neither_beam_nor_the_compiler():
    calls = (
        "from beam_bleu import compare, score, score_pairs, score_segments\n"
        "score(['a b'], [['a c']], metrics=['bleu', 'chrf', 'ter'])\n"
        "score_segments(['a b'], [['a c']])\n"
        "score_pairs(['a b', 'a c'])\n"
        "compare({'one': ['a'], 'two': ['b']}, [['a']])\n"
    )
    exec(calls, {})  # so that the code is in the cache
    loaded = "print(*({'apache_beam', 'numba', 'pandas'} & sys.modules.keys()))"
    program = f"import sys\n{calls}{loaded}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split()) == (0, []), done.stderr
