"""The command scores by any definition, as sacreBLEU and as the library do."""

from __future__ import annotations

import os
import shutil
from typing import Any

import apache_beam as beam
from apache_beam.pipeline import PipelineVisitor
from command_line import (
    EXAMPLE,
    REFERENCES,
    SYSTEMS,
    assert_equals_sacrebleu,
    called,
    read_lines,
    streams,
    write_lines,
)
from sacrebleu.metrics import BLEU
from scoring import score_of

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.graph import build
from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import PRESETS, preset
from beam_bleu.transforms.version import VERSION

CANDIDATES = [read_lines(path) for path in SYSTEMS.values()]
OF_EXAMPLE = [read_lines(path) for path in REFERENCES]


def as_flags(choices: dict[str, object]) -> list[str]:
    return [
        f"--{name}" if value is True else f"--{name}={value}" for name, value in choices.items()
    ]


# sacreBLEU's definitions


def test_every_choice_means_what_it_means_to_sacrebleu(tmp_path):
    # Short texts, so that orders are without matches or without n-grams, where smoothing decides.
    candidates = [["the cat", "A dog barks .", ""], ["a b", "c", "d e"]]
    references = [["the cat sat", "a dog barked .", "nothing"]]
    files = [write_lines(tmp_path / f"{i}.txt", text) for i, text in enumerate(candidates)]
    words = streams(files, [write_lines(tmp_path / "ref.txt", references[0])], "--format=json")
    for choices in (
        {"smooth_method": "floor", "smooth_value": 0.25},
        {"effective_order": True, "max_ngram_order": 6, "smooth_method": "floor"},
        {"lowercase": True, "tokenize": "none", "max_ngram_order": 2, "smooth_method": "add-k"},
    ):
        document = called(*words, *as_flags(choices)).document
        assert_equals_sacrebleu(document, candidates, references, **choices)
        bleu = BLEU(**choices)
        bleu.corpus_score(candidates[0], references)
        sacrebleus = bleu.get_signature().format()
        (metric,) = document["metrics"]
        assert metric["sacrebleu_signature"] == sacrebleus
        assert metric["signature"].startswith(sacrebleus.rpartition("|")[0] + "|")
        assert metric["signature"].endswith(f"|version:beam-bleu-{VERSION}")


def test_the_language_or_another_flag_chooses_the_tokenizer():
    for words, tokenizer in (
        ("-l en-zh", "zh"),
        ("--language-pair zh-en", "13a"),
        ("--language zh --tokenize zh", "zh"),
        ("--language de --preset huggingface", "13a"),
        ("--language zh --preset sacrebleu", "zh"),
        ("--language zh --preset huggingface --tokenize zh", "zh"),
    ):
        job = parse(["r", *words.split(), "-i", "a"]).job
        assert job.metrics.lengths.tokenize == tokenizer, words


# Presets and other definitions


def test_single_flags_change_a_preset():
    for words, config in (
        ("--preset mteval13a --no_lowercase", BleuConfig(smooth_method="mteval")),
        ("--lowercase_ascii", BleuConfig(lowercase="ascii")),
        (
            "--preset d2l --no_effective_order --max_ngram_order 2",
            preset("d2l", effective_order=False, max_ngram_order=2),
        ),
        ("--weights 1,.5", BleuConfig(weights=(1.0, 0.5), max_ngram_order=2)),
        ("--reference_length average", BleuConfig(reference_length="average")),
    ):
        document = called(*EXAMPLE[:2], *EXAMPLE[-4:], *words.split(), "--format", "json").document
        references = [[*texts] for texts in zip(*OF_EXAMPLE, strict=True)]
        expected = score_of([*zip(CANDIDATES[0], references, strict=True)], config)
        (score,) = document["scores"]
        assert document["metrics"][0]["signature"] == expected.signature
        for name in ("score", "ref_len", "bp", "matches", "totals"):
            value = getattr(expected, name)
            assert score[name] == ([*value] if isinstance(value, tuple) else value), words


def test_presets_are_listed_without_a_job():
    run = called("--preset", "list")
    assert run.code == 0
    lines = run.out.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["preset", *PRESETS]
    tensorflow = next(line for line in lines if line.startswith("tensorflow"))
    assert "shortest" in tensorflow
    assert "compute_bleu" in tensorflow


def test_each_compared_preset_equals_a_run_of_its_own():
    own = ("--tokenize=intl", "--lowercase", "--normalize=nfkc", "--max_ngram_order=2")
    run = called(*EXAMPLE, *own, "--compare_presets", "all", "--format=json")
    compared = {each["preset"]: each for each in run.document["presets"]}
    assert [*compared] == [*PRESETS]
    for name in ("mteval13a", "tensorflow", "huggingface"):
        # The tokens of presets are others than those of the run, so they have no intervals.
        alone = called(*EXAMPLE, "--preset", name, "--no_uncertainty", "--format=json").document
        assert compared[name]["scores"] == alone["scores"], name
        for signature in ("signature", "sacrebleu_signature"):
            assert compared[name][signature] == alone["metrics"][0][signature]


def test_no_text_goes_through_a_shuffle(tmp_path):
    batches, statistics, grouped = set(), set(), set()

    class Shuffles(PipelineVisitor):
        def visit_transform(self, node):
            if isinstance(node.transform, beam.GroupByKey):
                grouped.update(node.inputs)
            elif node.full_label == "Count matches":
                batches.update(node.inputs)
                statistics.update(node.outputs.values())

    words = [*map(str, EXAMPLE), "--compare_presets=all", "--output", str(tmp_path)]
    parsed = parse(words)
    with parsed.runner.pipeline(parsed.beam) as pipeline:
        build(pipeline, parsed.job)
        pipeline.visit(Shuffles())
    (read,) = batches  # the same ones for all definitions
    assert read.producer.full_label.startswith("Pair lines/Read in lockstep")
    assert grouped
    assert not grouped & {read, *statistics}


# Names of systems


def test_a_system_is_called_by_its_name_or_its_files_stem():
    for given, name in (
        ("/some/hyp.LIUM.txt.gz", "hyp.LIUM"),  # the compression suffix, then one extension
        ("out/nllb-200-1.3B", "nllb-200-1.3B"),
        ("/some/größe.txt", "größe"),
        ("a b.c=/some/LIUM.txt", "a b.c"),
        ("/dt=2026-11-19/hyp.txt", "hyp"),  # a NAME has no slash, so this is a path
        ("best=/dt=2026-11-19/hyp.txt", "best"),  # the first = ends the NAME
        ("best=/shards/part-[0-9].tx?", "best"),
    ):
        assert parse(["--references=r", f"--candidates={given}"]).job.source.systems == (name,)


def test_a_file_name_that_is_not_utf8_is_scored_or_refused_before_the_job(tmp_path):
    path = os.fsencode(tmp_path) + b"/caf\xe9.txt"
    shutil.copy(SYSTEMS["atlas"], path)
    assert called(*streams([b"cafe=" + path], REFERENCES, "--format", "json")).code == 0
    run: Any = called(*streams([path], REFERENCES, "--format", "json"))
    if run.code:
        run.assert_failed(2, "caf")
