"""`beam-bleu meta`: human scores from files and from runs."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from command_line import called, write_lines, write_records

from beam_bleu.transforms.score.agreement import MEASURES

SYSTEMS = ("a", "b", "c")
SEGMENTS = 40
_DRAW = random.Random(5)
QUALITY = {
    system: [_DRAW.gauss(place, 2) for _ in range(SEGMENTS)] for place, system in enumerate(SYSTEMS)
}
HUMAN = {system: [round(x + _DRAW.gauss(0, 1)) for x in own] for system, own in QUALITY.items()}
HUMAN["a"][3] = None


def write_scores(path, by_system):
    lines = [f"{system}\t{score}" for system, own in by_system.items() for score in own]
    return write_lines(path, lines)


def shown(*arguments):
    run = called("meta", *arguments, "--format=json")
    assert run.code == 0, run.err
    return json.loads(run.out)["agreements"], run.err


def array(by_system):
    return np.array([by_system[system] for system in SYSTEMS], float)


def agrees(rows, metric, human, scores):
    """Whether these rows of the metric are the measures of these scores."""
    own = [row for row in rows if row["metric"] == metric]
    assert [row["measure"] for row in own] == [*MEASURES]
    for row in own:
        found = MEASURES[row["measure"]].agreement(array(human), array(scores))
        expected = [found.value, found.standard_error, found.segments]
        assert [row["value"], row["standard_error"], row["segments"]] == pytest.approx(expected)
        assert row["systems"] == len(SYSTEMS)
    return True


def test_files_of_mt_metrics_eval_are_compared(tmp_path):
    human = write_scores(tmp_path / "en-de.mqm.seg.score", HUMAN | {"unrated": ["None"] * SEGMENTS})
    scores = dict(reversed([*QUALITY.items()])) | {"refA": [1.5] * SEGMENTS}
    write_scores(tmp_path / "metrics" / "chrf.seg.score", scores)
    write_scores(tmp_path / "metrics" / "COMET-refA.seg.score", QUALITY)
    rows, said = shown("--human", human, "--metric", tmp_path / "metrics" / "*.seg.score")
    assert agrees(rows, "chrf", HUMAN, QUALITY)
    assert agrees(rows, "COMET-refA", HUMAN, QUALITY)
    assert "en-de.mqm.seg.score has no scores of refA" in said
    assert "unrated" not in said


def test_a_run_has_human_scores_and_metrics(tmp_path):
    rows = [
        {"id": segment, "system": system, "metricx": -QUALITY[system][segment], "esa": human}
        for segment in range(SEGMENTS)
        for system in reversed(SYSTEMS)
        if (human := HUMAN[system][segment]) is not None
    ]
    records = write_records(tmp_path / "rated.jsonl", rows)
    flags = ["--input", records, "--system_column=system", "--id_column=id", "--coverage=each"]
    flags += ["-m", "mean:esa", "mean_error:metricx", "--segment_scores"]
    out = tmp_path / "out"
    assert called(*flags, "--output", out, "--quiet").code == 0
    found, _ = shown(out, "--human=mean:esa")
    assert agrees(found, "mean_error:metricx", HUMAN, QUALITY)
    assert {row["metric"] for row in found} == {"mean_error:metricx"}
    called("meta", out, "--human=esa").assert_failed(2, "mean:esa")


def test_numbers_that_are_missing_have_a_reason(tmp_path):
    human = write_scores(tmp_path / "h.seg.score", {"a": [3, 1, 2]})
    metric = write_scores(tmp_path / "m.seg.score", {"a": [2, 1, 3]})
    found, said = shown("--human", human, "-m", metric)
    values = [row["value"] for row in found]
    assert values == [None, None, pytest.approx(1 / 2), pytest.approx(1 / 3)]
    assert "m: SPA: no segment has the scores of two or more systems" in said
    assert "m: Pearson: 3 segments are fewer than 30" in said


def test_the_table_has_a_row_for_each_metric(tmp_path):
    human = write_scores(tmp_path / "h.seg.score", HUMAN)
    metric = write_scores(tmp_path / "m.seg.score", QUALITY)
    flags = ["meta", "--human", human, "-m", f"first={metric}", "-m", f"second={metric}"]
    text = called(*flags).out.decode().splitlines()
    assert text[1].split() == [
        *("metric", "systems", "segments", "SPA", "acc_eq", "threshold", "Pearson", "tau-b")
    ]
    assert [line.split()[:3] for line in text[2:]] == [["first", "3", "40"], ["second", "3", "40"]]
    assert called(*flags, "-f", "latex").out.decode().count(r"\begin{table}") == 1


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a\t1", "a"], "line 2 is not a system and a number"),
        (["a\tnan"], "line 1"),
        (["a\t1", "b\t1", "b\t2"], "a has 1, b has 2"),
        (["a\t1"] * 3, "has scores of 3 segments, and"),
        (["x\t1"] * SEGMENTS, "no system in common"),
        ([], "it is empty"),
    ],
)
def test_wrong_files_are_refused(tmp_path, lines, said):
    human = write_scores(tmp_path / "h.seg.score", HUMAN)
    wrong = write_lines(tmp_path / "m.seg.score", lines)
    called("meta", "--human", human, "-m", wrong).assert_failed(3, "m.seg.score", said)


def test_what_is_missing_is_named(tmp_path):
    human = write_scores(tmp_path / "h.seg.score", HUMAN)
    called("meta", "--human", human).assert_failed(2, "no metric")
    called("meta", "-m", human).assert_failed(2, "no human scores")
    called("meta", "--human=esa", "-m", human).assert_failed(2, "NAME.seg.score")
    called("meta", "--human", human, "-m", human, "-m", human).assert_failed(2, "called h")
