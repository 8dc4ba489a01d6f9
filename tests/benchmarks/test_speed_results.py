"""The rows of the benchmark of speed: what is reached, and what is not."""

from __future__ import annotations

import pathlib

import pytest

from benchmarks.measure import Run, medians
from benchmarks.speed.command.against_others import crossing
from benchmarks.speed.command.shown_results import examples_figures, make_nights
from benchmarks.speed.figures import FIGURES
from benchmarks.speed.report import report
from benchmarks.speed.results import Measurement, Reach, at_least, at_most


@pytest.mark.parametrize(
    ("reach", "value", "is_reached", "shown"),
    [
        (at_most(1.35), 1.35, True, ("≤ 1.35x", "1.35x")),
        (at_most(1.35), 1.36, False, ("≤ 1.35x", "1.36x")),
        (at_least(230, digits=1), 230, True, ("≥ 230x", "230.0x")),
        (at_least(230, digits=1), 229.99, False, ("≥ 230x", "230.0x")),
        (at_most(320, " MB", digits=0), 302.4, True, ("≤ 320 MB", "302 MB")),
        (at_most(6_000, "", digits=0), float("inf"), False, ("≤ 6,000", "inf")),
    ],
)
def test_a_figure_says_whether_it_is_reached(
    reach: Reach, value: float, is_reached: bool, shown: tuple[str, str]
) -> None:
    figure = reach.figure("what", value)
    assert figure.reached == is_reached
    assert (figure.reach, figure.measured) == shown


def test_a_fast_program_with_a_wrong_result_reaches_nothing() -> None:
    figure = at_most(1.0).figure("what", 0.5, "**DIFFERENT SCORE**", is_right=False)
    assert not figure.reached
    assert figure.measured == "0.50x; **DIFFERENT SCORE**"


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ((2.0, 2.0, 2.0), (1.0, 3.0, 5.0), (4_500.0, "")),
        ((1.0, 1.0, 1.0), (2.0, 3.0, 4.0), (3_000.0, "or fewer")),
        ((2.0, 2.0, 9.0), (1.0, 3.0, 5.0), (float("inf"), "more than 9,000")),
    ],
)
def test_the_number_of_lines_from_which_we_are_faster(
    ours: tuple[float, ...], theirs: tuple[float, ...], expected: tuple[float, str]
) -> None:
    assert crossing((3_000, 6_000, 9_000), ours, theirs) == expected


def test_the_report_has_a_row_for_each_figure_and_each_measurement() -> None:
    runs = [Run(1.0, 0.5, 10**8), Run(3.0, 0.7, 10**8), Run(2.0, 0.6, 3 * 10**8)]
    text = report(
        {7: ([at_most(2.0).figure("small", 2.5)], [Measurement("beam-bleu", 1_000, runs)])}, "here"
    )
    assert "| 7 | small | ≤ 2.0x | 2.50x | **missed** |" in text
    row = "| 7 | beam-bleu | 1,000 | 3 | 2.00 (1.00–3.00) | 0.600 (0.500–0.700) | 500 | 300 |"
    assert row in text


def test_examples_are_measured_against_the_run_without_and_the_page_by_itself() -> None:
    without = [Run(cpu, 1.0, 300_000_000, user=cpu - 0.5) for cpu in (2.5, 2.0, 9.0)]
    assert medians(without).user == 2.0
    picked = [Run(2.7, 1.0, 310_000_000, user=2.5)]
    reported = [Run(5.0, 1.0, 351_000_000, user=4.0)]
    figures = examples_figures(
        "2 systems", without, picked, reported, [Run(2.9, 9.0, 10**9)], is_right=True
    )
    assert [figure.reached for figure in figures] == [True, False, True]
    cpu, memory, page = (figure.measured for figure in figures)
    assert cpu.startswith("1.08x; user seconds 1.25x; ")
    assert cpu.endswith("CPU 2.00x, user seconds 2.00x")
    assert memory.startswith("51 MB; 300 MB without, 310 MB with examples, 351 MB with")
    assert page == "2.9 s"


def test_a_history_has_a_result_for_each_night(tmp_path: pathlib.Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scores.json").write_text(name)
    results = [str(tmp_path / name) for name in ("one", "two")]
    nights = make_nights(tmp_path / "nights", results, 61)
    assert (nights / "2024-02-29" / "scores.json").read_text() == "two"
    assert (nights / "2024-03-01" / "scores.json").read_text() == "one"
    assert len([*nights.iterdir()]) == 61


def test_every_row_has_a_number_that_pages_can_name() -> None:
    # docs/scale.md names rows by their numbers, so new rows come last.
    first = ("kernel", "words", "bleuscore", "cores", "systems", "memory", "small", "segments")
    assert tuple(FIGURES)[: len(first)] == first
    assert tuple(FIGURES)[20:24] == ("examples", "compare", "report", "history")
