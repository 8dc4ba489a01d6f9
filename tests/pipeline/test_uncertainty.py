"""Standard errors and intervals in the result, as a user asks for them."""

from __future__ import annotations

import json
import math

import pytest
from command_line import (
    EXAMPLE,
    EXAMPLES,
    REFERENCES,
    SYSTEMS,
    called,
    read_lines,
    streams,
    write_lines,
)
from jackknife import score_of, segment_counts, standard_error

KEYS_OF_EVIDENCE = {"uncertainty", "comparisons", "comparison_families", "clusters", "resampling"}
DOMAINS = [f"--labels=domain={EXAMPLES}/domains.txt", "--slice_by=domain"]


def document(*arguments):
    return called(*arguments, "--format=json").document


def test_each_score_has_the_standard_error_of_leaving_out_segments():
    found = document(*EXAMPLE)
    references = [read_lines(path) for path in REFERENCES]
    for score, path in zip(found["scores"], SYSTEMS.values(), strict=True):
        expected = standard_error(score_of, segment_counts(read_lines(path), references))
        assert score["standard_error"] == pytest.approx(expected, rel=0.03)
        low, high = score["interval"]
        assert high - score["score"] == pytest.approx(1.96 * score["standard_error"], rel=1e-4)
        assert score["score"] - low == pytest.approx(high - score["score"])
    assert found["uncertainty"] == {
        "unit": "segment",
        "label": None,
        "units": 72,
        "confidence": 0.95,
    }
    assert found["warnings"] == []


def test_fewer_than_30_segments_have_a_warning_and_no_standard_error(tmp_path):
    lines = [f"the cat sat on mat number {i}" for i in range(30)]
    for number in (29, 30):
        text = write_lines(tmp_path / f"text{number}.txt", lines[:number])
        reference = write_lines(tmp_path / "reference.txt", ["the cat sat on mat number"] * number)
        found = document(*streams([text], [reference]))
        (score,) = found["scores"]
        if number == 30:
            # All segments have the same counts.
            assert (score["standard_error"], score["interval"]) == (0, [score["score"]] * 2)
            assert found["warnings"] == []
        else:
            assert (score["standard_error"], score["interval"]) == (None, None)
            warning = "text29: no standard error: 29 segments are fewer than 30"
            assert found["warnings"] == [warning]


def test_slices_have_their_own_standard_errors_and_one_warning():
    found = document(*streams([SYSTEMS["atlas"]], REFERENCES), *DOMAINS)
    labels = read_lines(EXAMPLES / "domains.txt")
    candidates = read_lines(SYSTEMS["atlas"])
    references = [read_lines(path) for path in REFERENCES]
    by_domain = {each["slice"]["domain"]: each for each in found["scores"] if each["slice"]}
    kept = [i for i, label in enumerate(labels) if label == "news"]
    counts = segment_counts(
        [candidates[i] for i in kept], [[lines[i] for i in kept] for lines in references]
    )
    expected = standard_error(score_of, counts)
    assert by_domain["news"]["standard_error"] == pytest.approx(expected, rel=0.08)
    assert [name for name, each in by_domain.items() if each["standard_error"]] == ["news"]
    (warning,) = found["warnings"]
    assert warning.startswith(
        f"slices: {len(by_domain) - 1} of {len(by_domain)} scores have no standard error"
    )


def test_without_uncertainty_only_its_fields_are_missing():
    with_it = document(*EXAMPLE, *DOMAINS, "--compare_presets")
    without = document(*EXAMPLE, *DOMAINS, "--compare_presets", "--no_uncertainty")
    for each in with_it["scores"] + [s for p in with_it["presets"] for s in p["scores"]]:
        del each["standard_error"], each["interval"]
    with_it["warnings"] = [each for each in with_it["warnings"] if not each.startswith("slices: ")]
    expected = {key: each for key, each in with_it.items() if key not in KEYS_OF_EVIDENCE}
    assert json.dumps(without) == json.dumps(expected)  # the order, too


def test_the_mean_of_languages_has_a_standard_error(tmp_path):
    lines = [
        f"{'the cat sat on a mat' if i % 3 else 'a dog ran in the park'} {i}" for i in range(80)
    ]
    other = [line.replace("cat", "dog") if i % 4 else line for i, line in enumerate(lines)]
    one, reference = write_lines(tmp_path / "one.txt", other), write_lines(tmp_path / "r", lines)
    languages = write_lines(tmp_path / "languages.txt", ["en-de", "en-zh"] * 40)
    flags = [f"--labels=lp={languages}", "--language_column=lp"]
    found = document(*streams([one], [reference]), *flags)
    errors = [each["standard_error"] for each in found["scores"]]
    (mean,) = found["macro_average"]
    assert mean["standard_error"] == pytest.approx(math.hypot(*errors) / 2)
    assert sum(mean["interval"]) / 2 == pytest.approx(mean["score"])
    assert found["metrics"][0]["signature"] is None  # the tokenizers differ
