"""Bootstrap and randomization, as a user asks for them."""

from __future__ import annotations

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, read_lines, streams, write_lines

ALL = "--format=json"
BOOTSTRAP = ["--resample=bootstrap", "--resamples=400"]
RANDOMIZATION = ["--resample=randomization", "--resamples=400"]


def document(*arguments):
    return called(*arguments, ALL).document


def test_the_bootstrap_agrees_with_the_standard_errors():
    found = document(*EXAMPLE, *BOOTSTRAP)
    resampling = found["resampling"]
    described = [resampling[key] for key in ("method", "resamples", "seed", "unit", "generator")]
    assert described == ["bootstrap", 400, 12345, "segment", "philox4x32-10"]
    for drawn, score in zip(resampling["scores"], found["scores"], strict=True):
        assert drawn["system"] == score["system"]
        assert drawn["mean"] == pytest.approx(
            score["score"], abs=0.1 * score["standard_error"] + 0.3
        )
        drawn_width = drawn["interval"][1] - drawn["interval"][0]
        assert drawn_width == pytest.approx(score["interval"][1] - score["interval"][0], rel=0.15)
    for drawn, exact in zip(resampling["comparisons"], found["comparisons"], strict=True):
        assert (drawn["system"], drawn["baseline"]) == (exact["system"], exact["baseline"])
        assert drawn["difference"] == pytest.approx(exact["difference"])
        drawn_width = drawn["interval"][1] - drawn["interval"][0]
        assert drawn_width == pytest.approx(exact["interval"][1] - exact["interval"][0], rel=0.15)
        assert drawn["p_value"] == drawn["p_sacrebleu"] == 1 / 401  # none is so far away


def test_randomization_compares_and_has_no_scores():
    found = document(*EXAMPLE, *RANDOMIZATION, "--compare=all")
    resampling = found["resampling"]
    assert (resampling["method"], resampling["scores"]) == ("randomization", [])
    assert len(resampling["comparisons"]) == 3
    for each in resampling["comparisons"]:
        assert (each["mean"], each["interval"]) == (None, None)
        assert each["p_value"] == 1 / 401


@pytest.mark.parametrize("method", [BOOTSTRAP, RANDOMIZATION], ids=["bootstrap", "randomization"])
def test_identical_systems_have_a_p_value_of_1(tmp_path, method):
    copy = write_lines(tmp_path / "copy.txt", read_lines(SYSTEMS["atlas"]))
    found = document(*streams([SYSTEMS["atlas"], copy], REFERENCES), *method)
    (each,) = found["resampling"]["comparisons"]
    assert (each["difference"], each["p_value"]) == (0, 1)


FEW = "use --resample randomization, which is also valid for few"


def first_lines(folder, number, names=("atlas", "birch")):
    """Some systems of the example and the first references, with so many segments."""
    paths = (*(SYSTEMS[name] for name in names), REFERENCES[0])
    texts = [write_lines(folder / path.name, read_lines(path)[:number]) for path in paths]
    return streams(texts[:-1], texts[-1:])


@pytest.mark.parametrize("number", [1, 30])
def test_a_bootstrap_of_too_few_segments_has_only_means_and_a_warning(tmp_path, number):
    run = called(*first_lines(tmp_path, number), *BOOTSTRAP, ALL)
    found = run.document
    resampling = found["resampling"]
    entries = [*resampling["scores"], *resampling["comparisons"]]
    assert None not in [each["mean"] for each in entries]
    is_null = [each["interval"] is None for each in entries]
    (only,) = resampling["comparisons"]
    is_null += [only["p_value"] is None, only["p_sacrebleu"] is None]
    assert is_null == [number < 30] * 5
    shown = "1 segment is" if number == 1 else f"{number} segments are"
    warning = (
        f"--resample bootstrap: no intervals and no p-values, because {shown} fewer than 30; {FEW}"
    )
    assert (warning in found["warnings"]) == (warning in run.err) == (number < 30)
    swapped = document(*first_lines(tmp_path, number), *RANDOMIZATION)
    assert not [each for each in swapped["warnings"] if "--resample" in each]
    (only,) = swapped["resampling"]["comparisons"]
    assert only["p_value"] > only["p_sacrebleu"] if number == 1 else only["p_value"] < 0.05


def test_a_bootstrap_of_too_few_documents_has_only_means_and_a_warning(tmp_path):
    for number, flags in ((29, ["--no_uncertainty"]), (30, [])):
        labels = [f"document-{min(i, number - 1)}" for i in range(72)]
        documents = f"--documents={write_lines(tmp_path / 'documents.txt', labels)}"
        found = document(*EXAMPLE, *BOOTSTRAP, documents, *flags)
        p_values = [each["p_value"] for each in found["resampling"]["comparisons"]]
        assert (p_values == [None, None]) == (number < 30)
        warnings = [each for each in found["warnings"] if "--resample" in each]
        assert len(warnings) == (number < 30)
        assert all(
            f"because {number} documents are fewer than 30; {FEW}" in each for each in warnings
        )
        assert ("standard_error" in found["scores"][0]) == (not flags)


@pytest.mark.parametrize(
    ("method", "flags"),
    [(BOOTSTRAP, ["--threads=2"]), (RANDOMIZATION, ["--range_bytes=300", "--threads=1"])],
    ids=["bootstrap", "randomization"],
)
def test_the_bytes_do_not_depend_on_the_division_of_the_work(method, flags):
    expected = called(*EXAMPLE, *method, ALL).out
    assert called(*EXAMPLE, *method, ALL, *flags).out == expected
