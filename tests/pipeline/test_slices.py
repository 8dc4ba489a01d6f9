"""`--slice_by` and `--labels`: each slice has the score of its lines alone."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sacrebleu
from command_line import (
    EXAMPLES,
    REFERENCES,
    SYSTEMS,
    called,
    read_lines,
    streams,
    write_lines,
    write_records,
)

from beam_bleu.transforms.definition.slicing import SliceKey, Slicing

LINES = 400
WORDS = ["a", "b", "cat", "sat", "1,000.5", "é", "。", "&lt;", "-", "\u2028", "end."]
DOMAINS = ["news", "part-10", "part-2", "", "null", "größe"]
LANGUAGES = ["en-de", "de-en"]


class Corpus:
    """Two systems, two references and two labels."""

    def __init__(self, folder: Path) -> None:
        draw = random.Random(5)

        def text() -> list[str]:
            return [" ".join(draw.choices(WORDS, k=draw.randrange(24))) for _ in range(LINES)]

        self.systems = {"one": text(), "two": text()}
        self.references = [text(), text()]
        self.labels = {
            "domain": draw.choices(DOMAINS, k=LINES),
            "lang": draw.choices(LANGUAGES, k=LINES),
        }
        self.folder = folder

    def arguments(self, *flags: str, pieces: int = 1, suffix: str = "") -> list[Any]:
        """The arguments for the corpus, in files with this many pieces each."""
        folder = self.folder / f"{pieces}{suffix}"
        named = {**self.systems, **{str(i): text for i, text in enumerate(self.references)}}
        size = -(-LINES // pieces)
        for name, text in {**named, **self.labels}.items():
            for i in range(pieces):
                path = folder / name / f"part-{i}.txt{suffix}"
                write_lines(path, text[i * size : (i + 1) * size])
        labels = [f"--labels={name}={folder}/{name}/*" for name in self.labels]
        return streams(
            [f"{name}={folder}/{name}/*" for name in self.systems],
            [f"{folder}/{i}/*" for i in range(2)],
            *labels,
            *flags,
        )


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("corpus"))


ITEMS = "lang,domain,domain*lang,length"


@pytest.fixture(scope="module")
def document(corpus) -> dict[str, Any]:
    return called(*corpus.arguments("--format=json", f"--slice_by={ITEMS}")).document


def test_each_slice_has_sacrebleus_score_of_its_lines(corpus, document):
    found = {(each["system"], json.dumps(each["slice"])): each for each in document["scores"]}
    for system, candidates in corpus.systems.items():
        for domain in DOMAINS:
            for lang in [*LANGUAGES, None]:
                rows = [
                    i
                    for i in range(LINES)
                    if corpus.labels["domain"][i] == domain
                    and lang in (None, corpus.labels["lang"][i])
                ]
                expected = sacrebleu.corpus_bleu(
                    [candidates[i] for i in rows],
                    [[text[i] for i in rows] for text in corpus.references],
                )
                labels = {"domain": domain or None, **({"lang": lang} if lang else {})}
                score = found[system, json.dumps(labels)]
                assert score["score"] == expected.score
                assert score["matches"] == expected.counts
                assert (score["sys_len"], score["ref_len"]) == (expected.sys_len, expected.ref_len)
                assert score["segments"] == len(rows)


def test_slices_come_after_the_whole_in_a_fixed_order(document):
    listed = [(each["slice"], each["system"]) for each in document["scores"]]
    whole = [(None, "one"), (None, "two")]
    langs = [({"lang": lang}, system) for lang in ("de-en", "en-de") for system in ("one", "two")]
    natural = ["größe", "news", "null", "part-2", "part-10", None]
    domains = [({"domain": name}, system) for name in natural for system in ("one", "two")]
    assert listed[: 2 + 4 + 12] == [*whole, *langs, *domains]
    assert listed[18][0] == {"domain": "größe", "lang": "de-en"}
    lengths = [each["length"] for each, system in listed if each and "length" in each]
    assert lengths[::2] == ["0-9", "10-19", "20-29"]


def test_the_bytes_do_not_depend_on_the_split(corpus, document):
    flags = ["--format=json", f"--slice_by={ITEMS}", "--range_bytes=1024"]
    assert called(*corpus.arguments(*flags, pieces=3, suffix=".gz")).document == document


def test_a_label_of_ids_is_an_error_that_shows_some(tmp_path):
    ids = write_lines(tmp_path / "ids.txt", [f"segment-{i}" for i in range(72)])
    arguments = streams(
        [SYSTEMS["atlas"]], REFERENCES, f"--labels=id={ids}", "--slice_by=id,length"
    )
    run = called(*arguments, "--max_slices=50", "--range_bytes=1024", "--output", tmp_path)
    run.assert_failed(3, "more than 50 slices, for example", "'segment-", "ids")
    assert not (tmp_path / "scores.json").exists()
    assert called(*arguments, "--max_slices=76").code == 0


# The order of slices


def test_values_are_in_natural_order_with_a_missing_label_last():
    slicing = Slicing((("a",), ("length",), ("b", "a")))
    values = ["", "2", "10", "010", "9" * 5000, "a", "a1", "a1b", "a2", "a10", "b", None]
    expected = [
        *(SliceKey(0, (value,)) for value in values),
        *(SliceKey(1, (number,)) for number in range(11)),
        SliceKey(2, ("x", "1")),
        SliceKey(2, ("x", None)),
        SliceKey(2, (None, "1")),
    ]
    for seed in range(2):
        keys = random.Random(seed).sample(expected, len(expected))
        ordered = slicing.in_order(keys)
        places = [expected.index(key) for key in ordered]
        # 10 and 010 are the same number, and are ordered by their characters.
        assert sorted(places) == list(range(len(expected)))
        assert [p for p in places if p not in (2, 3)] == [
            p for p in range(len(expected)) if p not in (2, 3)
        ]
        assert ordered == slicing.in_order(expected)


# Labels of records


def test_labels_of_records_are_columns_and_can_be_missing(tmp_path):
    hypothesis, reference = (read_lines(path) for path in (SYSTEMS["atlas"], REFERENCES[0]))
    labels = read_lines(EXAMPLES / "domains.txt")
    rows = [
        {
            **{"id": i, "hypothesis": hypothesis[i], "reference": reference[i]},
            **{"domain": None if label == "story" else label, "meta": {"year": 2020 + i % 2}},
        }
        for i, label in enumerate(labels)
    ]
    write_records(tmp_path / "rows.parquet", rows)
    for name, other in (("hyp", "reference"), ("ref", "hypothesis")):
        kept = [{key: value for key, value in row.items() if key != other} for row in rows]
        write_records(tmp_path / f"{name}.jsonl", kept)
    plain = streams([SYSTEMS["atlas"]], REFERENCES[:1], f"--labels=domain={EXAMPLES}/domains.txt")
    lines = called(*plain, "--slice_by=domain", "--format=json").document["scores"]
    expected = {each["slice"]["domain"]: each["score"] for each in lines[1:]}
    expected[None] = expected.pop("story")
    for form, arguments in (
        ("parquet", ["--input", tmp_path / "rows.parquet"]),
        ("join", [tmp_path / "ref.jsonl", "-i", tmp_path / "hyp.jsonl", "--join_on=id"]),
    ):
        flags = ["--slice_by=domain,meta.year", "--segment_scores", "--format=json", "--output"]
        run = called(*arguments, *flags, tmp_path / form)
        listed = [each for each in run.document["scores"] if each["slice"]]
        found = {s["slice"]["domain"]: s["score"] for s in listed if "domain" in s["slice"]}
        assert found == expected
        assert list(found)[-1] is None
        years = [(each["slice"].get("meta.year"), each["segments"]) for each in listed]
        assert years[len(found) :] == [("2020", 36), ("2021", 36)]
        table = pq.read_table(tmp_path / form / "segment_scores")
        assert table["domain"].null_count == 5
        assert set(table["meta.year"].to_pylist()) == {"2020", "2021"}


def test_the_same_labels_are_missing_in_every_form(tmp_path):
    values = [None, "", "  ", "NaN", " a", "a"]
    rows = [{"hyp": "a b", "ref": "a b", "x": value} for value in values]
    for suffix in ("parquet", "jsonl"):
        write_records(tmp_path / f"rows.{suffix}", rows)
    write_lines(tmp_path / "rows.tsv", ["hyp\tref\tx", *(f"a b\ta b\t{x or ''}" for x in values)])
    write_lines(tmp_path / "x.txt", [value or "" for value in values])
    texts = write_lines(tmp_path / "texts.txt", ["a b"] * len(values))
    forms = [["--input", path] for path in sorted(tmp_path.glob("rows.*"))]
    for form in (*forms, streams([texts], [texts], f"--labels=x={tmp_path / 'x.txt'}")):
        run = called(*form, "--slice_by=x", "--format=json", "--no_uncertainty")
        slices = {each["slice"]["x"]: each["segments"] for each in run.document["scores"][1:]}
        assert slices == {None: 3, "NaN": 1, " a": 1, "a": 1}
