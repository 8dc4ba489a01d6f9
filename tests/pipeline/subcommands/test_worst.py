"""`beam-bleu worst`: the segments that a user sees, against brute force over all scores."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from command_line import Run, called, streams, write_lines
from example_corpus import METRICS, NUMBER, Corpus, examples_in, scores_of

from beam_bleu.transforms.known_metrics import row_of


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("scored"))


@pytest.fixture(scope="module")
def only_examples(scored: Corpus, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same result without the scores of all segments."""
    out = tmp_path_factory.mktemp("only") / "out"
    assert called(*scored.asked, "--output", out).code == 0
    return out


def shown(*arguments: Any) -> list[dict[str, Any]]:
    run = called("worst", *arguments, "--format=json")
    assert run.code == 0, run.err
    entries: list[dict[str, Any]] = json.loads(run.out)
    return entries


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    ("domain", "pair"), [("größe", ("second", None)), (None, ("größe", "erste"))]
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
                rows.append((rank, number, score, other))
    flags = ["-m", metric, "--system", system, "-n", "30"]
    flags += [] if against is None else ["--against", against]
    flags += [] if domain is None else ["--slice", f"domain={domain}"]
    title = called("worst", scored.out, *flags).out.decode().split("\n")[0]
    assert title.startswith(f"{min(30, len(rows))} of {len(rows)} segments")
    entries = shown(scored.out, *flags)
    assert [(entry["index"], entry["score"], entry["baseline_score"]) for entry in entries] == [
        row[1:] for row in sorted(rows)[:30]
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


def test_what_is_unknown_is_named_with_the_choices(scored, only_examples):
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
    called("worst", only_examples, "--system=erste", "--against=größe").assert_failed(
        2, "the examples do not compare with it", "--baseline größe"
    )


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


def test_results_without_segments_say_which_flags_to_use(tmp_path):
    texts = [write_lines(tmp_path / name, ["a b c"]) for name in ("r.txt", "s.txt")]
    out = tmp_path / "out"
    assert called(texts[0], "-i", texts[1], "--output", out).code == 0
    called("worst", out).assert_failed(3, "--examples 20", "--segment_scores")


def joined_run(folder: Path) -> Run:
    draw = random.Random(1)
    lines = [[draw.choice("abcdef") for _ in range(6)] for _ in range(40)]
    files = []
    for name, column in (("refs", "reference"), ("one", "candidate"), ("two", "candidate")):
        changed = [
            " ".join(word if draw.random() < 0.7 else "x" for word in words) for words in lines
        ]
        records = [
            json.dumps({"id": f"doc-{number}", column: text, "topic": "ab"[number % 2]})
            for number, text in enumerate(changed)
            if name == "refs" or number % 7
        ]
        draw.shuffle(records)
        files.append(write_lines(folder / f"{name}.jsonl", records))
    return called(
        *streams([f"one={files[1]}", f"two={files[2]}"], [files[0]]),
        *("--join_on=id", "--coverage=each", "--examples=4", "--segment_scores"),
        *("--output", folder / "out", "--keep=topic,text"),
    )


def test_segments_of_joins_have_ids_kept_texts_are_shown_and_kept_columns_choose_segments(tmp_path):
    run = joined_run(tmp_path)
    assert run.code == 0, run.err
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
        assert entry["kept"] == {"topic": references["topic"]}
    flags = ["--system=two", "--against=one", "--slice=topic=b"]
    chosen = [entry for entry in entries if entry["kept"]["topic"] == "b"]
    assert 0 < len(chosen) < len(entries)
    assert shown(tmp_path / "out", *flags, "-n", "100") == chosen
    shutil.rmtree(tmp_path / "out" / "segment_scores")
    assert all(entry["kept"]["topic"] == "b" for entry in shown(tmp_path / "out", *flags))
