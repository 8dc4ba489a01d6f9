"""Comparisons of systems in the result, as a user asks for them."""

from __future__ import annotations

import json
import math

import numpy as np
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

REFERENCE_LINES = [read_lines(path) for path in REFERENCES]
DOMAINS = [f"--labels=domain={EXAMPLES}/domains.txt", "--slice_by=domain"]


def document(*arguments):
    return called(*arguments, "--format=json").document


def clusters_of(found):
    return [each["systems"] for each in found["clusters"]]


def pairs(found):
    return [
        (each["system"], each["baseline"]) for each in found["comparisons"] if each["slice"] is None
    ]


def test_each_system_is_compared_with_the_first_one():
    found = document(*EXAMPLE)
    assert pairs(found) == [("birch", "atlas"), ("cobalt", "atlas")]
    scores = {each["system"]: each["score"] for each in found["scores"]}
    for each in found["comparisons"]:
        assert each["difference"] == pytest.approx(scores[each["system"]] - scores["atlas"])
        assert (each["segments"], each["units"]) == (72, 72)

        both = _both_counts(SYSTEMS[each["system"]], SYSTEMS["atlas"], range(72))
        expected = standard_error(_difference_of_scores, both)
        assert each["standard_error"] == pytest.approx(expected, rel=0.04)
        z = abs(each["difference"]) / each["standard_error"]
        assert each["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)))
        assert each["detectable"] == pytest.approx(2.8016 * each["standard_error"], rel=1e-4)
    assert found["comparison_families"] == [
        {
            "metric": "bleu",
            "family": "corpus",
            "description": "2 systems against atlas, on the whole corpus",
            "comparisons": 2,
        }
    ]
    small, large = sorted(found["comparisons"], key=lambda each: each["p_value"])
    assert small["p_value_holm"] == 2 * small["p_value"]
    assert large["p_value_holm"] == large["p_value"]
    assert "clusters" not in found


def test_all_pairs_and_clusters(tmp_path):
    # A copy of a system is in its cluster: p = 1.
    copy = write_lines(tmp_path / "copy.txt", read_lines(SYSTEMS["birch"]))
    found = document(*streams([*SYSTEMS.values(), copy], REFERENCES), "--compare=all", *DOMAINS)
    assert pairs(found) == [
        *(("birch", "atlas"), ("cobalt", "atlas"), ("copy", "atlas")),
        *(("cobalt", "birch"), ("copy", "birch"), ("copy", "cobalt")),
    ]
    assert clusters_of(found) == [["atlas"], ["birch", "copy"], ["cobalt"]]
    same = found["comparisons"][4]
    assert (same["difference"], same["standard_error"]) == (0, 0)
    assert (same["p_value"], same["p_value_holm"]) == (1, 1)
    # Slices are compared with the baseline only, and are a family of their own.
    sliced = [each for each in found["comparisons"] if each["slice"]]
    assert {each["baseline"] for each in sliced} == {"atlas"}
    assert {each["family"] for each in sliced} == {"slices"}
    with_p = [each for each in sliced if each["p_value"] is not None]
    assert {each["slice"]["domain"] for each in with_p} == {"news"}
    assert [each["comparisons"] for each in found["comparison_families"]] == [6, len(with_p)]


def test_macro_averages_and_languages_are_compared(tmp_path):
    languages = ["en-de"] * 40 + ["de-en"] * 32
    labels = write_lines(tmp_path / "languages.txt", languages)
    found = document(*EXAMPLE, f"--labels=lang={labels}", "--language_column=lang")
    averages = {each["system"]: each for each in found["macro_average"]}
    of_languages = {
        (each["system"], each["slice"]["lang"]): each
        for each in found["comparisons"]
        if each["slice"]
    }
    assert len(of_languages) == 4
    for compared in found["macro_average_comparisons"]:
        system = compared["system"]
        assert (compared["baseline"], compared["family"]) == ("atlas", "macro_average")
        assert (compared["segments"], compared["units"]) == (72, 72)
        difference = averages[system]["score"] - averages["atlas"]["score"]
        assert compared["difference"] == pytest.approx(difference)
        squares = 0.0
        for language in ("en-de", "de-en"):
            rows = [row for row, name in enumerate(languages) if name == language]
            both = _both_counts(SYSTEMS[system], SYSTEMS["atlas"], rows)
            expected = standard_error(_difference_of_scores, both)
            squares += expected**2
            own = of_languages[system, language]
            assert own["difference"] == pytest.approx(_difference_of_scores(both.sum(axis=0)))
            assert own["standard_error"] == pytest.approx(expected, rel=0.06)
        assert compared["standard_error"] == pytest.approx(math.sqrt(squares) / 2, rel=0.05)
        z = abs(difference) / compared["standard_error"]
        assert compared["p_value"] == pytest.approx(math.erfc(z / math.sqrt(2)))
    assert [(each["family"], each["comparisons"]) for each in found["comparison_families"]] == [
        ("corpus", 2),
        ("macro_average", 2),
        ("slices", 4),
    ]


def _both_counts(system, baseline, rows):
    references = [[lines[row] for row in rows] for lines in REFERENCE_LINES]
    counts = [
        segment_counts([read_lines(path)[row] for row in rows], references)
        for path in (system, baseline)
    ]
    return np.concatenate(counts, axis=1)


def _difference_of_scores(sums):
    return score_of(sums[: len(sums) // 2]) - score_of(sums[len(sums) // 2 :])


def test_a_system_without_a_standard_error_leaves_the_lines_between_the_others(tmp_path):
    empty = [write_lines(tmp_path / f"{name}.txt", [""] * 72) for name in ("none", "nothing")]
    usual = document(*EXAMPLE, "--compare=all")
    assert clusters_of(usual) == [["atlas"], ["birch"], ["cobalt"]]
    one, two = (
        document(*streams([*SYSTEMS.values(), *empty[:number]], REFERENCES), "--compare=all")
        for number in (1, 2)
    )
    assert clusters_of(one) == clusters_of(two) == clusters_of(usual)
    assert "clusters: without none, because it has no standard error" in one["warnings"]
    both = "clusters: without none, nothing, because they have no standard error"
    assert both in two["warnings"]
    assert not [each for each in usual["warnings"] if "clusters" in each]


def test_systems_of_a_join_are_compared_on_the_segments_that_all_have(tmp_path):
    texts = {name: read_lines(path) for name, path in SYSTEMS.items()}
    references = REFERENCE_LINES[0]
    for place, (name, lines) in enumerate(texts.items()):
        records = [
            json.dumps({"id": i, "hyp": line})
            for i, line in enumerate(lines)
            if i % 10 != place  # each system lacks other segments
        ]
        write_lines(tmp_path / f"{name}.jsonl", records)
    records = [json.dumps({"id": i, "ref": line}) for i, line in enumerate(references)]
    reference = write_lines(tmp_path / "reference.jsonl", records)
    systems = [tmp_path / f"{name}.jsonl" for name in texts]
    joined = [*streams(systems, [reference]), "--join_on=id"]
    found = document(*joined, "--coverage=each", "--compare=all")
    kept = [i for i in range(72) if i % 10 > 2]
    paths = [
        write_lines(tmp_path / f"{name}.txt", [lines[i] for i in kept])
        for name, lines in texts.items()
    ]
    plain = write_lines(tmp_path / "reference.txt", [references[i] for i in kept])
    expected = document(*streams(paths, [plain]), "--compare=all")
    assert found["comparisons"] == expected["comparisons"]
    assert clusters_of(found) == clusters_of(expected)
    assert [each["segments"] for each in found["scores"]] != [len(kept)] * 3


def test_systems_that_are_found_in_records(tmp_path):
    records = [
        {"id": i, "system": name, "mt": mt, "ref": ref, "domain": "odd" if i % 2 else "even"}
        for name in ("b10", "b9", "a")
        for i, (mt, ref) in enumerate(
            zip(
                read_lines(SYSTEMS["atlas" if name == "a" else "birch"]),
                REFERENCE_LINES[0],
                strict=True,
            )
        )
    ]
    path = write_lines(tmp_path / "long.jsonl", [json.dumps(each) for each in records])
    arguments = [
        *(f"--input={path}", "--candidate_columns=mt", "--reference_columns=ref"),
        *("--system_column=system", "--id_column=id", "--slice_by=domain"),
    ]
    found = document(*arguments)
    assert pairs(found) == [("b9", "a"), ("b10", "a")]  # in natural order
    sliced = [each for each in found["comparisons"] if each["slice"]]
    assert len(sliced) == 4
    turned = document(*arguments, "--baseline=b10")
    assert pairs(turned) == [("a", "b10"), ("b9", "b10")]
    run = called(*arguments, "--baseline=c")
    run.assert_failed(3, "--baseline c: the input has no system with this name", "a, b9, b10")
