"""The command as users type it: its numbers, its flags, its refusals and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from command_line import (
    EXAMPLE,
    REFERENCES,
    SYSTEMS,
    Run,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    typed,
    write_lines,
)
from result_folder import assert_files
from sacrebleu.metrics import BLEU

from beam_bleu.transforms.version import VERSION

ATLAS, BIRCH, COBALT = SYSTEMS.values()
EXAMPLE_CANDIDATES = [read_lines(path) for path in SYSTEMS.values()]
EXAMPLE_REFERENCES = [read_lines(path) for path in REFERENCES]

# Short texts, so that orders are without matches or without n-grams, where smoothing decides.
SHORT_CANDIDATES = [["the cat", "A dog barks .", ""], ["a b", "c", "d e"]]
SHORT_REFERENCES = [["the cat sat", "a dog barked .", "nothing"]]


@pytest.fixture(scope="module")
def example_table() -> bytes:
    """What the command prints of the example."""
    return called(*EXAMPLE).out


@pytest.fixture
def short(tmp_path) -> list[str | Path]:
    systems = [
        write_lines(tmp_path / f"system{i}.txt", lines) for i, lines in enumerate(SHORT_CANDIDATES)
    ]
    return streams(systems, [write_lines(tmp_path / "reference.txt", SHORT_REFERENCES[0])])


# What it prints


def test_scores_equal_sacrebleus_as_typed():
    run = typed(*EXAMPLE, "--tokenize", "none", "--lowercase", "--format", "json")
    assert run.err == ""
    assert_equals_sacrebleu(
        run.document, EXAMPLE_CANDIDATES, EXAMPLE_REFERENCES, tokenize="none", lowercase=True
    )


CHOICES = [
    {"tokenize": "none"},
    {"lowercase": True},
    {"smooth_method": "floor", "smooth_value": 0.25},
    {"smooth_method": "add-k"},
    {"max_ngram_order": 6},
    {"effective_order": True, "max_ngram_order": 6, "smooth_method": "floor"},
    {"lowercase": True, "tokenize": "none", "max_ngram_order": 2, "smooth_method": "add-k"},
]


def as_flags(choices: dict[str, object]) -> list[str]:
    return [
        f"--{name}" if value is True else f"--{name}={value}" for name, value in choices.items()
    ]


@pytest.mark.parametrize("choices", CHOICES, ids=lambda choices: " ".join(as_flags(choices)))
def test_every_choice_means_what_it_means_to_sacrebleu(choices, short):
    run = called(*EXAMPLE, *as_flags(choices), "--format", "json")
    assert_equals_sacrebleu(run.document, EXAMPLE_CANDIDATES, EXAMPLE_REFERENCES, **choices)
    run = called(*short, *as_flags(choices), "--format", "json")
    assert_equals_sacrebleu(run.document, SHORT_CANDIDATES, SHORT_REFERENCES, **choices)


@pytest.mark.parametrize(
    "choices",
    [
        {},
        {"lowercase": True, "smooth_method": "floor"},
        {"tokenize": "none", "effective_order": True},
    ],
)
def test_the_signature_is_sacrebleus_with_our_versions(choices):
    bleu = BLEU(**choices)
    bleu.corpus_score(EXAMPLE_CANDIDATES[0], EXAMPLE_REFERENCES)
    sacrebleus = bleu.get_signature().format()
    document = called(*EXAMPLE, *as_flags(choices), "--format", "json").document
    assert document["metrics"][0]["sacrebleu_signature"] == sacrebleus
    assert document["metrics"][0]["signature"].startswith(sacrebleus.rpartition("|")[0] + "|")
    assert document["metrics"][0]["signature"].endswith(f"|version:beam-bleu-{VERSION}")


def test_the_table_has_sacrebleus_line_for_each_system():
    run = called(*EXAMPLE, "--no_uncertainty")
    assert (run.code, run.err) == (0, "")
    title, segments, blank, header, *rows = run.out.decode().splitlines()
    assert title == (
        f"BLEU|nrefs:2|case:mixed|eff:no|tok:13a|smooth:exp|version:beam-bleu-{VERSION}"
    )
    assert (segments, blank) == ("72 segments", "")
    assert header.split() == ["system", "BLEU", "precisions", "BP", "ratio", "hyp_len", "ref_len"]
    assert len(rows) == len(SYSTEMS)
    for row, name, candidate in zip(rows, SYSTEMS, EXAMPLE_CANDIDATES, strict=True):
        score = BLEU(force=True).corpus_score(candidate, EXAMPLE_REFERENCES)
        assert row.split() == [
            name,
            f"{score.score:.1f}",
            "/".join(f"{precision:.1f}" for precision in score.precisions),
            f"{score.bp:.3f}",
            f"{score.ratio:.3f}",
            str(score.sys_len),
            str(score.ref_len),
        ]


def test_output_gets_the_bytes_that_json_shows(tmp_path):
    folder = tmp_path / "new" / "folder"
    run = typed(*EXAMPLE, "--format", "json", "--output", folder)
    assert run.code == 0, run.err
    assert (folder / "scores.json").read_bytes() == run.out
    assert_files(folder)
    assert json.loads(run.out)["segments"] == 72


# How streams are named


def systems_of(run: Run) -> list[str]:
    return [score["system"] for score in run.document["scores"]]


@pytest.mark.parametrize(
    ("file", "given", "name"),
    [
        ("LIUM.txt", "{}", "LIUM"),
        ("LIUM.txt.gz", "{}", "LIUM"),  # the compression suffix, then one extension
        ("hyp.LIUM.txt", "{}", "hyp.LIUM"),  # one extension only
        ("größe.txt", "{}", "größe"),
        ("LIUM.txt", "a b.c={}", "a b.c"),
        ("dt=2026-11-19/hyp.txt", "{}", "hyp"),  # a NAME has no slash, so this is a path
        ("dt=2026-11-19/hyp.txt", "best={}", "best"),  # the first = ends the NAME
        ("shards/part-1.txt", "best={dir}/part-[0-9].tx?", "best"),
    ],
)
def test_a_system_is_called_by_its_name_or_its_files_stem(tmp_path, file, given, name):
    path = write_lines(tmp_path / file, ["a b c"])
    reference = write_lines(tmp_path / "reference", ["a b c"])
    given = given.format(path, dir=path.parent)
    assert systems_of(called(*streams([given], [reference], "--format", "json"))) == [name]


def test_a_file_name_that_is_not_utf8_is_scored_or_refused_before_the_job(tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    shutil.copy(ATLAS, path)
    assert called(*streams([b"cafe=" + path], REFERENCES, "--format", "json")).code == 0
    run = called(*streams([path], REFERENCES, "--format", "json"))
    if run.code:
        run.assert_failed(2, "caf")
