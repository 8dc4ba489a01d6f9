"""Which results a history has, in which order, and what it says of their scores."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from command_line import REFERENCES, SYSTEMS, called, read_lines, write_lines
from made_results import SIGNATURE, entry, result, write_night, write_run, written
from memory_filesystem import OBJECTS

from beam_bleu.pipeline.history.history import Change, Gap, History, Series, history, history_text
from beam_bleu.pipeline.history.nights import Night, read_nights
from beam_bleu.pipeline.result.rows import ComparedRow
from beam_bleu.transforms.errors import InputError


def of(folder: Path, **choices: Any) -> History:
    return history(read_nights([str(folder)]), **choices)


def only(found: History) -> Series:
    (series,) = found.series
    return series


def last_change(found: History) -> Change:
    return only(found).scores[-1].change


def last_row(found: History) -> ComparedRow:
    row = last_change(found).row
    assert row is not None
    return row


def write_two(folder: Path, old: dict[str, Any], new: dict[str, Any], *digests: str) -> History:
    for day, document, digest in zip((20, 21), (old, new), digests or ("a", "a"), strict=True):
        write_night(folder / f"2026-11-{day}", document, digest)
    return of(folder)


def labelled(day: int, score: float, error: float | None = 0.5) -> dict[str, Any]:
    return result(entry("atlas", score, error), partition=f"2026-11-{day}")


def test_other_segments_have_independent_errors(tmp_path):
    found = write_two(tmp_path, labelled(20, 30.0, 0.3), labelled(21, 28.6, 0.4), "a", "b")
    (first, second), change, row = only(found).scores, last_change(found), last_row(found)
    assert first.change == Change()
    assert second.row.interval == pytest.approx((28.6 - 1.96 * 0.4, 28.6 + 1.96 * 0.4), abs=1e-4)
    assert (change.against, row.method, change.reason) == ("2026-11-20", "independent", "")
    assert row.difference == pytest.approx(-1.4)
    assert row.standard_error == pytest.approx(0.5)
    assert second.verdict == "worse"
    assert found.gaps == ()


def test_a_rise_of_an_error_rate_is_worse(tmp_path):
    counts = {"metric": "ter", "edits": 30, "ref_length": 100}
    old, new = (labelled(day, rate) for day, rate in ((20, 30.0), (21, 40.0)))
    for document in (old, new):
        names = {"metric": "ter", "name": "TER", "signature": "nrefs:1|case:lc"}
        document["metrics"] = [names | {"sacrebleu_signature": None}]
        document["scores"] = [document["scores"][0] | counts]
    assert only(write_two(tmp_path, old, new, "a", "b")).scores[-1].verdict == "worse"


def test_the_same_segments_without_totals_have_at_most_independent_errors(tmp_path):
    old, new = (result(entry("atlas", score, 0.3), partition="test") for score in (28.8, 22.7))
    found = write_two(tmp_path, old, new)
    change, row = last_change(found), last_row(found)
    assert (row.method, only(found).scores[-1].verdict) == ("independent", "worse")
    assert row.standard_error == pytest.approx(math.hypot(0.3, 0.3))
    assert "--resample" in change.reason
    (line,) = [line for line in history_text(found).splitlines() if "upper bound" in line]
    assert line == f"1 change whose p is an upper bound: {change.reason}"


def test_a_break_is_named_and_has_no_difference(tmp_path):
    old = result(entry("atlas", 30.0), partition="test")
    for number, (changed, digest, kind, metric, text) in enumerate(
        (
            (("tok:13a", "tok:char"), "a", "definition", "bleu", "the definition of BLEU changed"),
            (("nrefs:1", "nrefs:2"), "a", "references", "bleu", "the definition of BLEU changed"),
            (("", ""), "b", "references", None, "the references changed; "),
        )
    ):
        signature = SIGNATURE.replace(*changed)
        new = result(entry("atlas", 40.0), signature=signature, partition="test")
        found = write_two(tmp_path / str(number), old, new, "a", digest)
        (gap,) = found.gaps
        assert (gap.kind, gap.metric, gap.text[: len(text)]) == (kind, metric, text)
        assert gap.night == gap.until == "2026-11-21"
        change = last_change(found)
        assert (change.row, change.reason) == (None, gap.text)


def test_other_conditions_are_a_break(tmp_path):
    of_days = (labelled(day, 30.0) | {"where": [f"day={day}"]} for day in (20, 21))
    assert write_two(tmp_path / "days", *of_days, "a", "b").gaps == ()
    old = result(entry("atlas", 30.0), partition="test")
    (gap,) = write_two(tmp_path / "test", old, old | {"where": ["filter=none"]}, "a", "a").gaps
    assert (gap.kind, gap.text.split(" changed ")[1]) == ("definition", "from none to filter=none")


def test_new_texts_each_night_are_no_break_if_the_user_says_so(tmp_path):
    old, new = result(entry("atlas", 30.0)), result(entry("atlas", 28.0))
    (gap,) = write_two(tmp_path, old, new, "a", "b").gaps
    assert "--new_texts" in gap.text
    found = of(tmp_path, new_texts=True)
    assert (found.gaps, last_row(found).method) == ((), "independent")


def test_without_a_manifest_it_is_not_known_whether_segments_are_the_same(tmp_path):
    for day in (20, 21):
        write_night(tmp_path / f"2026-11-{day}", result(entry("atlas", float(day))))
    found = of(tmp_path)
    assert (last_row(found).difference, last_row(found).p_value) == (1.0, None)
    assert "manifest.json" in last_change(found).reason


def test_nights_without_a_result_are_gaps_and_the_next_one_looks_further_back(tmp_path):
    for day in (1, 2, 6, 7):
        write_night(tmp_path / f"2026-11-0{day}", labelled(day, float(day)), str(day))
    write_run(tmp_path / "2026-11-03", "failed", "2026-11-03T02:00:00.000Z", "no references")
    found = of(tmp_path)
    assert found.gaps == (
        Gap("failed", "2026-11-03", "2026-11-03", "the run failed: no references"),
        Gap("missing", "2026-11-04", "2026-11-05", "no results of 2 nights"),
    )
    assert len(found.nights) == 5
    changes = [row.change.against for row in only(found).scores]
    assert changes == [None, "2026-11-01", "2026-11-02", "2026-11-06"]


def test_a_system_that_stays_away_is_a_gap_of_its_series(tmp_path):
    for day, systems in enumerate(("ab", "ab", "a", "a", "ab", "a"), 1):
        document = result(*(entry(name, 30.0 + day) for name in systems), partition=str(day))
        write_night(tmp_path / f"2026-11-0{day}", document)
    found = of(tmp_path)
    one, other = found.series
    assert [gap.is_of(one.scores[0].row) for gap in found.gaps] == [False, False]
    assert all(gap.kind == "absent" and gap.is_of(other.scores[0].row) for gap in found.gaps)
    assert [(gap.night, gap.until) for gap in found.gaps] == [
        ("2026-11-03", "2026-11-04"),
        ("2026-11-06", "2026-11-06"),
    ]


def test_paired_nights_have_the_numbers_of_compare(tmp_path):
    reference = write_lines(tmp_path / "ref.txt", read_lines(REFERENCES[0])[:40])
    flags = ["--save_totals", "--resample=bootstrap", "--resamples=50", "--partition=test"]

    def run(day: str, system: str, *more: str) -> None:
        texts = write_lines(tmp_path / "mt.txt", read_lines(SYSTEMS[system])[:40])
        out = ["--output", tmp_path / "scores" / day]
        done = called(reference, "-i", texts, *flags, "-m", "bleu", "chrf", *more, *out)
        assert done.code == 0, done.err

    run("2026-11-20", "atlas")
    run("2026-11-21", "birch")
    nights = sorted((tmp_path / "scores").iterdir())
    expected = called("compare", *nights, "--format=json").document
    for series, score in zip(of(tmp_path / "scores").series, expected["systems"], strict=True):
        row = series.scores[-1].change.row
        assert row is not None
        keys = (row.metric, row.system, row.method)
        assert keys == (score["metric"], score["system"], "paired")
        assert (row.difference, row.p_value) == (score["difference"], score["p_value"])
        assert row.interval == tuple(score["interval"])
    # The new definition of one metric is no reason to leave out the p-values of another one.
    run("2026-11-22", "atlas", "--tokenize=char")
    rows = [series.scores[-1].change.row for series in of(tmp_path / "scores").series]
    assert [row and row.method for row in rows] == [None, "paired"]
    (nights[0] / "totals.json").write_text("{")
    with pytest.raises(Exception, match=r"2026-11-20/totals\.json is not a totals\.json"):
        of(tmp_path / "scores")


BLEU = result(entry("atlas", 30.0))


def moments(nights: list[Night]) -> list[str]:
    return [night.name for night in nights]


def test_dates_in_paths_order_nights_wherever_they_are(tmp_path):
    write_night(tmp_path / "dt=2026-11-09" / "en-de", BLEU)
    write_night(tmp_path / "2026-11" / "2026-11-20", BLEU)
    write_night(tmp_path / "2026-11" / "2026-11-20" / "aside" / "2026-11-01", BLEU)
    for hidden in ("_old", ".hidden"):
        write_night(tmp_path / hidden / "2026-11-02", BLEU)
    write_run(tmp_path / "20261121", "failed", "2026-11-21T02:00:00.000Z", "no disk")
    OBJECTS.clear()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            OBJECTS[f"mem://nights/{file.relative_to(tmp_path)}"] = file.read_bytes(), 1.0
    (tmp_path / "latest").symlink_to(tmp_path / "20261121")
    for folder in ("mem://nights", str(tmp_path)):
        nights = read_nights([folder])
        assert moments(nights) == ["2026-11-09", "2026-11-20", "2026-11-21"]
        assert [night.failure for night in nights] == ["", "", "the run failed: no disk"]
        for pattern in ("dt=*", "*/en-de", "dt=*/**/scores.json"):
            assert moments(read_nights([f"{folder}/{pattern}"])) == ["2026-11-09"]
        assert moments(read_nights([f"{folder}/2026*2[1]"])) == ["2026-11-21"]
    with pytest.raises(InputError, match=r"nothing matches mem://nights/2027"):
        read_nights(["mem://nights/2027*"])
    with pytest.raises(InputError, match="mem://other has no results of beam-bleu"):
        read_nights(["mem://other"])


def test_a_failed_run_is_a_night_without_a_result(tmp_path):
    write_run(tmp_path / "2026-11-20", "failed", "2026-11-20T02:00:00.000Z", "line 3 is bad")
    written(tmp_path / "2026-11-22" / "scores.json", BLEU)  # without _SUCCESS
    nights = read_nights([str(tmp_path)])
    assert [night.failure for night in nights] == [
        "the run failed: line 3 is bad",
        "there is no _SUCCESS: the last run failed, or is under way",
    ]
    assert not any(night.saved or night.scores for night in nights)


def test_an_order_that_is_not_clear_is_an_error(tmp_path):
    for number, (names, message) in enumerate(
        (
            (["a/2026-11-20", "b/2026-11-20"], "are both of 2026-11-20"),
            (["2026-11-20/rerun-2026-11-25"], "several dates in its path: 2026-11-20, 2026-11-25"),
            (["2026-11-20", "last"], "last has no date in its path"),
            (["first", "last"], "neither a date in its path nor a run.json"),
        )
    ):
        folder = tmp_path / str(number)
        for name in names:
            write_night(folder / name, BLEU)
        with pytest.raises(InputError, match=message):
            read_nights([str(folder)])
