"""The command scores with any definition, compares definitions, and explains a score of 0."""

from __future__ import annotations

import pytest
from command_line import (
    EXAMPLE,
    REFERENCES,
    SYSTEMS,
    called,
    read_lines,
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
