"""--examples and `beam-bleu worst`, against brute force over the scores of all segments."""

from __future__ import annotations

import hashlib
import json
import random
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from command_line import called, streams, write_lines
from hypothesis import given
from hypothesis import strategies as st

from beam_bleu.pipeline.examples import closest, compared, words
from beam_bleu.transforms.examples.example import CUT_MARK, MOST_CHARACTERS
from beam_bleu.transforms.examples.sampling import sample_ranks
from beam_bleu.transforms.known_metrics import row_of

NUMBER = 5
SEGMENTS = 700
METRICS = ["chrf", "bleu", "ter"]
SYSTEMS = ["erste", "second", "größe"]
HOSTILE = [
    "\u202eright to left\u202c \u2066isolate",
    "\x1b[2J\x1b]0;title\x07 escape",
    "carriage\rreturn \x85 \u2028 \u2029",
    "nul\0 \x7f \x9b31m",
    '"quoted" \\ {"json": 1} <script>alert(1)</script>',
    "👨‍👩‍👧 e\u0301 \ufeff\u200b",
    "word " * 2000,
    "",
    " ",
]


class Corpus:
    """Three systems, two references and a label, with hostile texts among them."""

    def __init__(self, folder: Path) -> None:
        draw = random.Random(7)
        words = ["the", "a", "of", "3.14", "well-known", "北京", ",", "end.", "It's", "1"]
        self.texts: list[list[str]] = [[] for _ in range(5)]
        for _ in range(SEGMENTS):
            line = draw.choices(words, k=draw.randrange(9))
            for text in self.texts:
                kept = " ".join(word for word in line if draw.random() < 0.8)
                text.append(draw.choice(HOSTILE) if draw.random() < 0.04 else kept)
        self.domains = [draw.choice(["news", "talks", "größe"]) for _ in range(SEGMENTS)]
        files = [write_lines(folder / f"{i}.txt", text) for i, text in enumerate(self.texts)]
        named = [f"{name}={file}" for name, file in zip(SYSTEMS, files, strict=False)]
        labels = write_lines(folder / "domains.txt", self.domains)
        self.asked = [
            *streams(named, files[3:], "--baseline=second", f"--labels=domain={labels}"),
            *("--metrics", *METRICS, "--format=json", f"--examples={NUMBER}"),
        ]
        self.out = folder / "out"
        self.run = called(*self.asked, "--segment_scores", "--output", self.out)
        self.examples = examples_in(self.out)


def examples_in(out: Path) -> list[dict[str, Any]]:
    """The objects of the file of examples."""
    text = (out / "examples.jsonl").read_bytes().decode()
    return [json.loads(line) for line in text.splitlines()]


def scores_of(out: Path) -> dict[tuple[str, str], dict[int, float]]:
    """By metric and system, the score of each segment that has one, from the Parquet files."""
    scores: dict[tuple[str, str], dict[int, float]] = {}
    for row in pq.read_table(out / "segment_scores").to_pylist():
        if row["score"] is not None:
            scores.setdefault((row["metric"], row["system"]), {})[row["index"]] = row["score"]
    return scores


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("scored"))


@pytest.fixture(scope="module")
def only_examples(scored: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same result without the scores of all segments."""
    out = tmp_path_factory.mktemp("only") / "out"
    assert called(*scored.asked, "--output", out).code == 0
    return out


def drawn(number: int) -> float:
    """The random number by which segments with equal scores are put in order."""
    return float(sample_ranks(np.array([number]))[0])


def shown(*arguments: Any) -> list[dict[str, Any]]:
    run = called("worst", *arguments, "--format=json")
    assert run.code == 0, run.err
    entries: list[dict[str, Any]] = json.loads(run.out)
    return entries


@pytest.mark.parametrize(
    ("metric", "domain", "pair"),
    [
        *((metric, "größe", ("second", None)) for metric in ("bleu", "ter")),
        *((metric, None, ("größe", "erste")) for metric in ("chrf", "ter")),
    ],
)
def test_all_segment_scores_give_any_number_slice_and_pair(scored, metric, domain, pair):
    (system, against), scores = pair, scores_of(scored.out)
    lower = row_of(metric).lower_is_better
    rows = []
    for number, score in scores[metric, system].items():
        if domain is None or scored.domains[number] == domain:
            other = None if against is None else scores[metric, against][number]
            rank = score if other is None else score - other
            rank = -rank if lower else rank
            if other is None or rank < 0:
                rows.append((rank, drawn(number), number, score, other))
    flags = ["-m", metric, "--system", system, "-n", "30"]
    flags += [] if against is None else ["--against", against]
    flags += [] if domain is None else ["--slice", f"domain={domain}"]
    title = called("worst", scored.out, *flags).out.decode().split("\n")[0]
    assert title.startswith(f"{min(30, len(rows))} of {len(rows)} segments")
    entries = shown(scored.out, *flags)
    assert [(entry["index"], entry["score"], entry["baseline_score"]) for entry in entries] == [
        row[2:] for row in sorted(rows)[:30]
    ]
    by_number = {entry["index"]: entry for entry in scored.examples}
    for entry in entries:
        assert list(entry) == list(scored.examples[0])
        assert entry["labels"] == {"domain": scored.domains[entry["index"]]}
        if entry["index"] in by_number:  # then the examples have its texts
            assert entry["references"] == by_number[entry["index"]]["references"]


def test_examples_are_shown_without_all_segment_scores(scored, only_examples):
    for kind, flags in (("worst", []), ("loss", ["--against=second"])):
        expected = [
            entry
            for entry in examples_in(only_examples)
            if (entry["kind"], entry["metric"], entry["system"]) == (kind, "bleu", "größe")
        ]
        asked = [only_examples, "--system=größe", "-m", "bleu", *flags]
        assert shown(*asked) == expected
        # With the scores of all segments, the first ones are the same, with the same texts.
        both = ("index", "score", "candidate", "references", "labels")
        of_all = shown(scored.out, *asked[1:], f"-n{NUMBER}")
        for entry, other in zip(of_all, expected, strict=True):
            assert {key: entry[key] for key in both} == {key: other[key] for key in both}
        domain = expected[0]["labels"]["domain"]
        assert shown(*asked, "--slice", f"domain={domain}", "-n1") == expected[:1]
    run = called("worst", only_examples, "--system=größe", "--slice=domain=news")
    assert "a run with --segment_scores has all" in run.err


def test_hostile_texts_are_printable_and_differing_words_are_marked(scored, only_examples):
    asked = ["--system=erste", "--against=second", "-m", "bleu"]
    for out in (scored.out, only_examples):
        lines = called("worst", out, *asked).out.decode().split("\n")
        assert all(line.isprintable() for line in lines)
        assert any(line.startswith("   reference") and "[" in line for line in lines)
    title, _, heading, scores, *_ = lines
    assert title.endswith(
        " where the BLEU of erste is worse than that of second, the largest loss first (examples)"
    )
    entry = shown(only_examples, *asked)[0]
    assert heading == f"1. index {entry['index']}, domain={entry['labels']['domain']}"
    assert scores == (
        f"   erste {entry['score']:.1f}, second {entry['baseline_score']:.1f}, "
        f"difference {entry['difference']:+.1f}"
    )


def test_what_is_unknown_is_named_with_the_choices(scored, only_examples, tmp_path):
    for out in (scored.out, only_examples):
        for flags, said in (
            (["--system=x"], "choose one of erste, second, größe"),
            (["--system=erste", "--against=secund"], "did you mean second?"),
            ([], "the result has erste, second, größe"),
            (["--system=erste", "--against=erste"], "another one with --against"),
            (["--system=erste", "-m", "meteor"], "choose one of chrf, bleu, ter"),
            (["--system=erste", "--slice=topic=a"], "no segment has topic=a"),
            (["--system=erste", "--slice=domain=a"], "the labels of segments are: domain"),
            (["--system=erste", "--slice=domain"], "must be NAME=VALUE"),
        ):
            called("worst", out, *flags).assert_failed(2, said)
    run = called("worst", only_examples, "--system=erste", "--against=größe")
    run.assert_failed(2, "the examples do not compare with it", "--baseline größe")
    out = shutil.copytree(only_examples, tmp_path / "out")
    (out / "examples.jsonl").unlink()
    called("worst", out, "--system=erste").assert_failed(3, "--examples 20", "--segment_scores")


def test_a_missing_label_is_no_text(tmp_path):
    records = [{"mt": "a b", "ref": "a b c", **({} if d is None else {"d": d})} for d in VALUES]
    path = write_lines(tmp_path / "in.jsonl", [json.dumps(record) for record in records])
    flags = ["--candidate_columns=mt", "--reference_columns=ref", "--slice_by=d", "--examples=9"]
    out = tmp_path / "out"
    assert called("--input", path, *flags, "--segment_scores", "--output", out).code == 0
    for _ in ("segment_scores", "examples"):
        for value, written in VALUES.items():
            (entry,) = shown(out, f"--slice=d={written}", "--quiet")
            assert entry["labels"] == {"d": value}
        called("worst", out, "--slice=d=x").assert_failed(2, "no segment has d=x")
        called("worst", out, '--slice=d="x').assert_failed(2, "a string of JSON")
        shutil.rmtree(out / "segment_scores", ignore_errors=True)


VALUES = {"news": "news", None: "null", "null": '"null"'}
"""Values of a label, as tables and flags write them."""


def joined_run(folder: Path) -> None:
    draw = random.Random(1)
    lines = [[draw.choice("abcdef") for _ in range(6)] for _ in range(40)]
    files = []
    for name, column in (("refs", "reference"), ("one", "candidate"), ("two", "candidate")):
        changed = [
            " ".join(word if draw.random() < 0.7 else "x" for word in words) for words in lines
        ]
        records = [
            json.dumps(
                {"id": f"doc-{number}", column: text, "topic": f"{name} {number % 2}", "text": name}
            )
            for number, text in enumerate(changed)
            if name == "refs" or number % 7
        ]
        draw.shuffle(records)
        files.append(write_lines(folder / f"{name}.jsonl", records))
    run = called(
        *streams([f"one={files[1]}", f"two={files[2]}"], [files[0]]),
        *("--join_on=id", "--coverage=each", "--examples=4", "--segment_scores"),
        *("--output", folder / "out", "--keep=topic,text,t=text"),
    )
    assert run.code == 0, run.err


def test_segments_of_joins_have_ids_kept_texts_are_shown_and_kept_columns_choose_segments(tmp_path):
    joined_run(tmp_path)
    by_id = {
        name: {record["id"]: record for record in map(json.loads, (tmp_path / file).open())}
        for name, file in (("refs", "refs.jsonl"), ("one", "one.jsonl"), ("two", "two.jsonl"))
    }
    entries = shown(tmp_path / "out", "--system=two", "--against=one", "-n", "100")
    assert len(entries) > 8  # so not all of them are examples
    ids = [*by_id["refs"]]
    assert all(ids[each["index"]] == each["id"] for each in examples_in(tmp_path / "out"))
    for entry in entries:
        assert ids[entry["index"]] == entry["id"]
        references, own, baseline = (by_id[name][entry["id"]] for name in ("refs", "two", "one"))
        assert entry["references"] == [references["reference"]]
        assert (entry["candidate"], entry["baseline_candidate"]) == (
            own["candidate"],
            baseline["candidate"],
        )
        assert entry["kept"] == {"topic": references["topic"], "t": "refs"}
    flags = ["--system=two", "--against=one", "--slice=topic=refs 1"]
    chosen = [entry for entry in entries if entry["kept"]["topic"] == "refs 1"]
    assert 0 < len(chosen) < len(entries)
    assert shown(tmp_path / "out", *flags, "-n", "100") == chosen
    shutil.rmtree(tmp_path / "out" / "segment_scores")
    assert all(entry["kept"]["topic"] == "refs 1" for entry in shown(tmp_path / "out", *flags))


# Which words two texts have in common


def marked(runs):
    """The text, with brackets around words that the other text lacks."""
    return "".join(run.text if run.is_common else f"[{run.text}]" for run in runs)


def test_words_that_only_one_text_has_are_marked():
    for text, other, shown, shown_other in [
        ("a black cat", "a cat sat", "a [black] cat", "a cat [sat]"),
        ("The end.", "The end!", "The end[.]", "The end[!]"),
        ("", "new", "", "[new]"),
        ("我喜欢猫", "我喜欢狗", "我喜欢[猫]", "我喜欢[狗]"),
        ("tokyo東京都", "tokyo京都", "tokyo[東]京都", "tokyo京都"),
        ("word " * 5000, "word " * 5000 + "end", "word " * 5000, "word " * 5000 + "end"),
    ]:  # of long texts, only the first words are compared
        first, second = compared(text, other)
        assert (marked(first), marked(second)) == (shown, shown_other)


@given(st.text(), st.text())
def test_no_character_is_lost(text, other):
    first, second = compared(text, other)
    assert "".join(run.text for run in first) == text
    assert "".join(run.text for run in second) == other
    common = ("".join(run.text for run in runs if run.is_common) for runs in (first, second))
    one, another = ("".join(of_text.split()) for of_text in common)
    assert one == another
    assert "".join(words(text)) == text


def test_the_closest_reference_is_the_first_one_of_equal_ones():
    assert closest("a cat sat", ["a dog ran off", "a cat sat down", "a cat sat down"]) == 1


# The file of examples, and distributions


def first_ones(
    kind: str, own: dict[int, float], of_baseline: dict[int, float], lower_is_better: bool
) -> list[int]:
    """The numbers of the segments of a kind, in the simplest way."""
    sign = -1 if (kind in ("best", "gain")) != lower_is_better else 1
    ranks = {number: sign * score for number, score in own.items()}
    if kind in ("gain", "loss"):
        differences = {
            number: rank - sign * of_baseline[number]
            for number, rank in ranks.items()
            if number in of_baseline
        }
        ranks = {number: difference for number, difference in differences.items() if difference < 0}
    return sorted(ranks, key=lambda number: (ranks[number], drawn(number)))[:NUMBER]


def test_the_examples_are_the_first_ones_of_all_segment_scores(scored):
    assert scored.run.code == 0, scored.run.err
    scores, lists = scores_of(scored.out), {}
    for entry in scored.examples:
        lists.setdefault((entry["metric"], entry["system"], entry["kind"]), []).append(entry)
    assert list(lists) == [
        (metric, system, kind)
        for metric in METRICS
        for system in SYSTEMS
        for kind in ("best", "worst", "gain", "loss", "sample")
        if system != "second" or kind not in ("gain", "loss")
    ]
    samples = set()
    for (metric, system, kind), entries in lists.items():
        own, of_baseline = scores[metric, system], scores[metric, "second"]
        numbers = [entry["index"] for entry in entries]
        if kind == "sample":
            assert len({*numbers}) == len(numbers) <= NUMBER
            samples.add(tuple(numbers))
        else:
            assert numbers == first_ones(kind, own, of_baseline, row_of(metric).lower_is_better)
        for entry in entries:
            assert entry["score"] == own.get(entry["index"])
            if system == "second" or entry["index"] not in of_baseline:
                empty = ("baseline", "baseline_candidate", "difference")
                assert [entry[name] for name in empty] == [None] * 3
            else:
                assert entry["baseline"] == "second"
                assert entry["baseline_score"] == of_baseline[entry["index"]]
                assert entry["difference"] == entry["score"] - entry["baseline_score"]
    assert len(samples) == 1


def test_examples_have_the_texts_of_their_segments(scored):
    def shown(text: str) -> str:
        return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + CUT_MARK

    keys = [
        *("kind", "metric", "system", "baseline", "index", "id", "score", "baseline_score"),
        *("difference", "candidate", "baseline_candidate", "candidates", "references"),
        *("labels", "kept"),
    ]
    for entry in scored.examples:
        assert list(entry) == keys
        number = entry["index"]
        candidates = dict(zip(SYSTEMS, scored.texts, strict=False))
        assert entry["candidate"] == shown(candidates[entry["system"]][number])
        assert entry["candidates"] == {
            system: shown(texts[number]) for system, texts in candidates.items()
        }
        if entry["baseline"] is not None:
            assert entry["baseline_candidate"] == shown(candidates["second"][number])
        assert entry["references"] == [shown(text[number]) for text in scored.texts[3:]]
        assert entry["labels"] == {"domain": scored.domains[number]}
    lines = (scored.out / "examples.jsonl").read_bytes()
    assert all(byte >= 0x20 or byte == 0x0A for byte in lines)
    assert "\u202e" not in lines.decode()
    assert CUT_MARK in lines.decode()


def test_the_distributions_have_every_score_and_the_manifest_names_the_file(scored):
    document = scored.run.document
    scores = scores_of(scored.out)
    listed = [(entry["metric"], entry["system"]) for entry in document["distributions"]]
    assert listed == [(metric, system) for metric in METRICS for system in SYSTEMS]
    for entry in document["distributions"]:
        of_system = scores[entry["metric"], entry["system"]]
        assert sum(entry["counts"]) == len(of_system)
        assert len(entry["edges"]) == len(entry["counts"]) + 1
        (of_metric,) = {
            tuple(other["edges"])
            for other in document["distributions"]
            if other["metric"] == entry["metric"]
        }
        if entry["metric"] != "ter":
            assert of_metric == tuple(range(0, 101, 4))
            assert entry["counts"][0] == sum(score < 4 for score in of_system.values())
    manifest = json.loads((scored.out / "manifest.json").read_bytes())
    content = (scored.out / "examples.jsonl").read_bytes()
    assert manifest["examples"] == {
        "number": NUMBER,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
