"""The command scores with any definition, compares definitions, and explains a score of 0."""

from __future__ import annotations

import pytest
from command_line import (
    EXAMPLE,
    REFERENCES,
    SYSTEMS,
    beside_standard_errors,
    called,
    read_lines,
    streams,
    write_lines,
)
from scoring import score_of

from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
from beam_bleu.transforms.metrics.bleu.presets import PRESETS, preset

SEGMENTS = {
    name: list(
        zip(
            read_lines(path),
            map(list, zip(*map(read_lines, REFERENCES), strict=True)),
            strict=True,
        )
    )
    for name, path in SYSTEMS.items()
}


def expected(system: str, config: BleuConfig):
    """The score that the library computes of an example's system in one go."""
    return score_of(SEGMENTS[system], config)


def assert_scored(scores, config: BleuConfig) -> None:
    assert [each["system"] for each in scores] == list(SYSTEMS)
    for each in scores:
        ours = expected(each["system"], config)
        assert (each["score"], each["ref_len"]) == (ours.score, ours.ref_len)
        assert each["precisions"] == list(ours.precisions)
        assert (each["matches"], each["totals"]) == (list(ours.matches), list(ours.totals))
        assert (each["bp"], each["ratio"]) == (ours.bp, ours.ratio)


@pytest.mark.parametrize(
    ("flags", "config"),
    [
        (["--preset", "mteval13a", "--no_lowercase"], BleuConfig(smooth_method="mteval")),
        (["--lowercase_ascii"], BleuConfig(lowercase="ascii")),
        (
            ["--preset", "d2l", "--no_effective_order", "--max_ngram_order", "2"],
            preset("d2l", effective_order=False, max_ngram_order=2),
        ),
        (["--weights", "1,.5"], BleuConfig(weights=(1.0, 0.5), max_ngram_order=2)),
        *(
            (["--reference_length", rule], BleuConfig(reference_length=rule))
            for rule in ("closest_first", "shortest", "average")
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_single_flags_change_a_preset(flags, config):
    document = called(*EXAMPLE, *flags, "--format", "json").document
    assert document["metrics"][0]["signature"] == expected("atlas", config).signature
    assert_scored(document["scores"], config)


def test_presets_are_listed_without_a_job():
    run = called("--preset", "list")
    assert run.code == 0
    lines = run.out.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["preset", *PRESETS]
    tensorflow = next(line for line in lines if line.startswith("tensorflow"))
    assert "shortest" in tensorflow
    assert "compute_bleu" in tensorflow


@pytest.mark.parametrize(
    ("flags", "names"),
    [
        ([], ["sacrebleu", "huggingface"]),
        (["--preset", "mteval13a"], ["mteval13a"]),
        (
            ["--preset", "nltk", "--max_ngram_order", "2", "--reference_length", "average"],
            [name for name in PRESETS if preset(name).tokenize == "none"],
        ),
        (["--max_ngram_order", "16"], ["sacrebleu", "huggingface"]),
    ],
    ids=" ".join,
)
def test_presets_with_the_same_tokens_are_compared_in_one_run(flags, names, tmp_path):
    run = called(*EXAMPLE, *flags, "--compare_presets", "--format=json", "--output", tmp_path)
    document = run.document
    assert [each["preset"] for each in document["presets"]] == names
    for each in document["presets"]:
        config = preset(each["preset"])
        assert_scored(each["scores"], config)
        assert each["signature"] == expected("atlas", config).signature
    without = called(*EXAMPLE, *flags, "--format=json").document
    del document["presets"]
    assert document == without
    assert (tmp_path / "scores.json").read_bytes() == run.out


def test_a_preset_that_scores_0_gives_the_reason(tmp_path):
    short = write_lines(tmp_path / "short.txt", ["a b c"])
    reference = write_lines(tmp_path / "reference.txt", ["a b  c"])
    run = called(
        *streams([short], [reference]),
        "--preset",
        "nltk_legacy",
        "--compare_presets",
        "--format=json",
    )
    assert beside_standard_errors(run.document["warnings"]) == []
    with_warnings = {each["preset"]: each["warnings"] for each in run.document["presets"]}
    assert [name for name, each in with_warnings.items() if each] == [
        "papineni2002",
        "tensorflow",
        "nltk",
        "torchmetrics",
    ]
    for name, each in with_warnings.items():
        for warning in each:
            assert f"beam-bleu: warning: {name}: {warning}\n" in run.err
            assert "short: the score is" in warning
            assert "no candidate has 4 tokens" in warning


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_corpus_without_4_grams_scores_0_with_a_warning(form, tmp_path):
    short = write_lines(tmp_path / "short.txt", ["a b c", "d"])
    reference = write_lines(tmp_path / "reference.txt", ["a b  c", "d"])
    run = called(*streams([short], [reference]), "--format", form)
    assert run.code == 0
    (warning,) = beside_standard_errors(run.err.splitlines())
    assert warning.startswith(
        "beam-bleu: warning: short: the score is 0: no candidate has 4 tokens"
    )
    assert "effective_order" in warning
    document = called(*streams([short], [reference]), "--format", "json").document
    assert document["scores"][0]["score"] == 0
    assert warning == f"beam-bleu: warning: {document['warnings'][0]}"
    better = called(*streams([short], [reference]), "--effective_order")
    assert beside_standard_errors(better.err.splitlines()) == []
    assert "100.0" in better.out.decode()
