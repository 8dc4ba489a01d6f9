"""--language_column: each language is scored with its own tokenizer."""

from __future__ import annotations

import glob
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import sacrebleu
from command_line import Run, called, write_lines, write_records

SENTENCES = {
    "en": ["The cat, of 3.5 kg, sat on the mat.", "It's &quot;new&quot;, isn't it?", "cat 猫"],
    "en-de": ["Die Katze saß, 3,5 kg schwer, da.", "Er sagt: „Das ist neu“.", "Die Katze saß."],
    "en-zh": ["猫坐在垫子上，重3.5公斤。", "他说：“这是新的”，3.5公斤。", "猫坐在那里。a b c"],
    "ja-zh_TW": ["貓坐在墊子上，重3.5公斤。", "他說：「這是新的」，3.5公斤。"],
}
TARGETS = {"en": "en", "en-de": "de", "en-zh": "zh", "ja-zh_TW": "zh"}


class Corpus:
    """Random segments of two systems, with two references, a language and a domain each."""

    def __init__(self, sentences: dict[str, list[str]], segments: int, seed: int = 1) -> None:
        draw = random.Random(seed)
        self.languages = [*sentences, *draw.choices(list(sentences), k=segments)]
        self.domains = draw.choices(["news", "web"], k=len(self.languages))
        texts = [
            [" ".join(draw.choices(sentences[language], k=2)) for language in self.languages]
            for _ in range(4)
        ]
        self.systems = {"atlas": texts[0], "birch": texts[1]}
        self.references = texts[2:]

    def arguments(self, folder: Path, *, domains: bool = False) -> list[Any]:
        """The files of the corpus, as arguments."""
        labels = {"lang": self.languages} | ({"domain": self.domains} if domains else {})
        references = {f"ref{number}": lines for number, lines in enumerate(self.references)}
        paths = {
            name: write_lines(folder / f"{name}.txt", lines)
            for name, lines in {**references, **self.systems, **labels}.items()
        }
        of_labels = [f"--labels={name}={paths[name]}" for name in labels]
        systems = [paths[name] for name in self.systems]
        return [
            *(paths[name] for name in references),
            *of_labels,
            "--language_column=lang",
            "-i",
            *systems,
        ]

    def rows(self, language: str, domain: str | None = None) -> list[int]:
        """The segments of a slice."""
        return [
            row
            for row, pair in enumerate(zip(self.languages, self.domains, strict=True))
            if pair in ((language, domain), (language, pair[1] if domain is None else domain))
        ]

    def expected(self, system: str, rows: Sequence[int], **choices: Any) -> Any:
        """sacreBLEU's score of segments of one language, with its signature."""
        bleu = sacrebleu.BLEU(trg_lang=TARGETS[self.languages[rows[0]]], force=True, **choices)
        chosen = [self.systems[system][row] for row in rows]
        score = bleu.corpus_score(chosen, [[of[row] for row in rows] for of in self.references])
        score.signature = str(bleu.get_signature())
        return score


def assert_languages_are_those_of_sacrebleu(run: Run, corpus: Corpus, **choices: Any) -> None:
    """Compares every score of every language, and the macro average, with sacreBLEU's."""
    document = run.document
    languages = sorted(set(corpus.languages))
    scores = [each for each in document["scores"] if each["slice"] and len(each["slice"]) == 1]
    assert [(each["slice"]["lang"], each["system"]) for each in scores] == [
        (language, system) for language in languages for system in corpus.systems
    ]
    for each in scores:
        rows = corpus.rows(each["slice"]["lang"])
        expected = corpus.expected(each["system"], rows, **choices)
        assert each["score"] == expected.score
        assert (each["matches"], each["totals"]) == (expected.counts, expected.totals)
        assert (each["sys_len"], each["ref_len"]) == (expected.sys_len, expected.ref_len)
        assert each["segments"] == len(rows)
    assert [each["slice"] for each in document["languages"]] == [{"lang": of} for of in languages]
    for each in document["languages"]:
        rows = corpus.rows(each["slice"]["lang"])
        expected = corpus.expected("atlas", rows, **choices)
        assert each["sacrebleu_signature"] == expected.signature
        assert f"|tok:{each['tokenize']}" in each["signature"]
    for average in document["macro_average"]:
        own = [each["score"] for each in scores if each["system"] == average["system"]]
        assert average["score"] == math.fsum(own) / len(languages)
        assert average["languages"] == len(languages)
    assert [each["system"] for each in document["macro_average"]] == list(corpus.systems)


def test_each_language_has_the_score_of_sacrebleu(tmp_path):
    corpus = Corpus(SENTENCES, 60)
    run = called(*corpus.arguments(tmp_path), "-f", "json", "-lc", "-s=floor")
    assert_languages_are_those_of_sacrebleu(run, corpus, lowercase=True, smooth_method="floor")
    document = run.document
    (metric,) = document["metrics"]
    assert metric["signature"] is metric["sacrebleu_signature"] is None
    assert all(each["slice"] is not None for each in document["scores"])
    assert document["segments"] == document["counters"]["segments"] == len(corpus.languages)


def test_the_order_and_the_split_do_not_matter_and_slices_are_within_languages(tmp_path):
    corpus = Corpus(SENTENCES, 600)
    flags = ["--slice_by", "domain,length*lang", "-f", "json"]
    first = called(*corpus.arguments(tmp_path / "a", domains=True), *flags)
    assert_languages_are_those_of_sacrebleu(first, corpus)
    kinds = {tuple(each["slice"]) for each in first.document["scores"]}
    assert kinds == {("lang",), ("lang", "domain"), ("length", "lang")}
    for each in first.document["scores"]:
        if tuple(each["slice"]) == ("lang", "domain"):
            rows = corpus.rows(each["slice"]["lang"], each["slice"]["domain"])
            assert each["score"] == corpus.expected(each["system"], rows).score
            assert each["segments"] == len(rows)
    for lines in (corpus.languages, corpus.domains, *corpus.systems.values(), *corpus.references):
        random.Random(2).shuffle(lines)
    other = corpus.arguments(tmp_path / "b", domains=True)
    assert called(*other, *flags, "--range_bytes", "4096", "--threads", "1").out == first.out


def test_languages_with_one_tokenizer_have_a_pooled_score(tmp_path):
    corpus = Corpus({of: SENTENCES[of] for of in ("en-zh", "ja-zh_TW")}, 30)
    arguments = corpus.arguments(tmp_path)
    document = called(*arguments, "-f", "json").document
    alone = called(*arguments[:2], "-l", "zh", "-f", "json", *arguments[4:]).document
    whole = [each for each in document["scores"] if each["slice"] is None]
    assert document["scores"][:2] == whole == alone["scores"]
    for name in ("metrics", "counters", "segments"):
        assert document[name] == alone[name]
    assert [each for each in document["warnings"] if "no standard error" not in each] == (
        alone["warnings"]
    )
    assert len(document["languages"]) == 2


def test_segment_scores_have_the_tokenizer_of_their_language(tmp_path):
    corpus = Corpus(SENTENCES, 30)
    document = called(
        *corpus.arguments(tmp_path),
        *("--segment_scores", "--output", tmp_path / "out"),
        *("-f", "json"),
    ).document
    (shard,) = glob.glob(f"{tmp_path}/out/segment_scores/*.parquet")
    rows = pq.read_table(shard).to_pylist()
    assert len(rows) == 2 * len(corpus.languages)
    for row in rows:
        at = row["index"]
        assert row["lang"] == corpus.languages[at]
        bleu = sacrebleu.BLEU(trg_lang=TARGETS[row["lang"]], effective_order=True)
        expected = bleu.sentence_score(
            corpus.systems[row["system"]][at], [of[at] for of in corpus.references]
        )
        assert row["score"] == pytest.approx(expected.score, abs=1e-12)
    of_segments = document["segment_scores"]
    (metric,) = of_segments["metrics"]
    assert metric["signature"] is metric["sacrebleu_signature"] is None
    signed = {each["slice"]["lang"]: each["signature"] for each in of_segments["languages"]}
    assert list(signed) == sorted(SENTENCES)
    assert all("|eff:yes|" in each for each in signed.values())
    assert "|tok:zh|" in signed["en-zh"]


def test_a_wrong_code_is_bad_input_and_its_place_is_named(tmp_path):
    corpus = Corpus(SENTENCES, 20)
    for code in ("jp", "en-cn", "English"):
        corpus.languages[16] = code
        cause = f"segment 17: lang: '{code}' is not a language code: {tmp_path}/"
        run = called(*corpus.arguments(tmp_path))
        run.assert_failed(3, cause, " line 17\n", "each segment needs", "en-de")


def test_a_system_that_lacks_a_language_has_no_macro_average(tmp_path):
    corpus = Corpus(SENTENCES, 20)
    first, second = corpus.references
    files = {
        "atlas": [{"id": i, "hyp": text} for i, text in enumerate(corpus.systems["atlas"])],
        "birch": [
            {"id": i, "hyp": text}
            for i, text in enumerate(corpus.systems["birch"])
            if corpus.languages[i] != "en-zh"
        ],
        "ref": [
            {"id": i, "meta": {"lang": language}, "ref0": first[i], "ref1": second[i]}
            for i, language in enumerate(corpus.languages)
        ],
    }
    atlas, birch, ref = (
        write_records(tmp_path / f"{name}.jsonl", rows) for name, rows in files.items()
    )
    run = called(
        *(ref, "-i", atlas, birch, "--join_on", "id", "--reference_columns", "ref0,ref1"),
        *("--coverage", "each", "--language_column", "meta.lang", "-f", "json"),
    )
    atlas, birch = run.document["macro_average"]
    assert (atlas["languages"], birch["languages"]) == (4, 3)
    assert birch["score"] is None
    scores = [corpus.expected("atlas", corpus.rows(language)).score for language in SENTENCES]
    assert atlas["score"] == math.fsum(scores) / 4
    assert "birch: there is no macro average, because it has no segment in en-zh" in run.err
