"""Which partitions merged results name, which dates are missing, and candidates of two models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import Run, called, write_lines
from saved_parts import TEXTS

from beam_bleu.pipeline.saved.dates import missing_dates


def days(month: int, *numbers: int) -> list[str]:
    return [f"2026-{month:02}-{each:02}" for each in numbers]


GAPS: dict[str, tuple[Sequence[str], str | None]] = {
    "one day": (days(11, 20, 21, 23), "lack 2026-11-22:"),
    "between two days": (days(11, 21, 23), "lack 2026-11-22:"),
    "the end of a month": ([*days(10, 30, 31), *days(11, 2)], "lack 2026-11-01:"),
    "many days": (days(11, 1, 2, 20), "2026-11-06, 2026-11-07 and 12 more:"),
    "in other words": (["dt=2026-11-20/x", "dt=2026-11-22/x"], "lack dt=2026-11-21/x:"),
    "without hyphens": (["d20261120", "d20261122"], "lack d20261121:"),
    "a month": (["2026-01", "2026-02", "2026-04"], "lack 2026-03:"),
    "a quarter": (["m=202510", "m=202601", "m=202607"], "lack m=202604:"),
    "a week": (days(11, 2, 9, 23), "lack 2026-11-16:"),
    "no day": (days(11, 20, 21, 22), None),
    "weeks": (days(11, 2, 9, 16), None),
    "the first day of each month": (["2026-09-01", "2026-10-01", "2026-11-01"], None),
    "one date": (days(11, 20), None),
    "no dates": (["news", "law", "2026-13-45", "12345678901"], None),
    "other series": (["de-2026-11-20", "fr-2026-11-22"], None),
}


@pytest.mark.parametrize(("labels", "warning"), GAPS.values(), ids=GAPS)
def test_missing_dates(labels, warning):
    found = list(missing_dates(reversed(labels)))
    assert [warning in each for each in found] == ([] if warning is None else [True])


def saved(folder: Path, rows: slice, name: str, *flags: str, system: str = "hyp") -> Path:
    """A folder with the totals of some rows, whose candidates are in the file of this name."""
    candidates, references = folder / name, folder / name.replace("out", "ref")
    write_lines(candidates, TEXTS["atlas"][rows])
    write_lines(references, TEXTS["ref"][rows])
    out = candidates.with_suffix(".totals")
    run = called(
        f"--candidates={system}={candidates}",
        f"--references={references}",
        *flags,
        *("--save_totals", "--output", out, "--quiet"),
    )
    assert run.code == 0, run.err
    return out


def of_two(folder: Path, names: tuple[str, str], *flags: str, labels: Sequence[str] = ()) -> Run:
    parts = [
        saved(folder, rows, name, *([f"--partition={labels[place]}"] if labels else []))
        for place, (name, rows) in enumerate(zip(names, (slice(0, 30), slice(30, 72)), strict=True))
    ]
    return called("merge", *parts, "--format=json", *flags)


MODELS = {
    "other folders": ("modelA/out.txt", "modelB/out.txt"),
    "other names": ("out_a.txt", "out_b.txt"),
    "other versions": ("v1/out.txt", "v2/out.txt"),
    "other generations": ("gpt-3.txt", "gpt-4.txt"),
    "other sizes": ("llama-7b.txt", "llama-70b.txt"),
    "other checkpoints": ("out-checkpoint_1000.txt", "out-checkpoint_2000.txt"),
}


@pytest.mark.parametrize("names", MODELS.values(), ids=MODELS)
def test_two_models_are_not_added_up(names, tmp_path):
    run = of_two(tmp_path, names)
    run.assert_failed(2, "candidates of system hyp", *names, "--partition LABEL", "--force")


def test_two_models_are_added_up_if_the_user_says_so(tmp_path):
    names = MODELS["other folders"]
    forced = of_two(tmp_path / "1", names, "--force")
    assert forced.document["segments"] == 72
    labelled = of_two(tmp_path / "2", names, labels=("a", "b"))
    assert labelled.document["partitions"] == ["a", "b"]
    assert "partitions" not in forced.document


PARTS = {
    "dates": ("2026-11-20/out.txt", "2026-11-21/out.txt"),
    "hours": ("dt=2026-11-20/hour=05/out.txt", "dt=2026-11-21/hour=17/out.txt"),
    "numbers": ("out-1.txt", "out-12.txt"),
    "uuids": (
        "out-00000-1f0e4a6e-93ab-4b6c-8d5e-0a1b2c3d4e5f.txt",
        "out-00000-77777777-93ab-4b6c-8d5e-ffffffffffff.txt",
    ),
}


@pytest.mark.parametrize("names", PARTS.values(), ids=PARTS)
def test_parts_need_no_labels(names, tmp_path):
    assert of_two(tmp_path, names).document["segments"] == 72


def test_one_file_with_a_relative_path(tmp_path, monkeypatch):
    first = saved(tmp_path, slice(0, 30), "2026-11-20/out.txt")
    monkeypatch.chdir(tmp_path)
    second = saved(Path(), slice(30, 72), "./2026-11-21/out.txt")
    assert called("merge", first, second, "-q").code == 0


def test_a_month_without_a_day(tmp_path):
    rows = [slice(0, 20), slice(20, 40), slice(40, 72)]
    parts = [
        saved(tmp_path, each, f"{day}/out.txt", f"--partition={day}")
        for day, each in zip(days(11, 20, 21, 23), rows, strict=True)
    ]
    out = tmp_path / "month"
    run = called("merge", *parts, "--output", out)
    assert run.code == 0
    assert "beam-bleu: warning: the partitions from 2026-11-20 to 2026-11-23 lack" in run.err
    assert b"partitions 2026-11-20, 2026-11-21, 2026-11-23\n" in run.out
    labels = days(11, 20, 21, 23)
    assert json.loads((out / "scores.json").read_bytes())["partitions"] == labels
    again = called("rescore", out, "-s=floor", "--format=json")
    assert again.document["partitions"] == labels


def test_a_shard_that_two_partitions_have(tmp_path):
    parts = []
    for label, shards in (("mon", "[12]"), ("tue", "[23]")):
        for number in (1, 2, 3):
            for role, name in (("out", "atlas"), ("ref", "ref")):
                rows = slice(20 * number - 20, 20 * number)
                write_lines(tmp_path / f"{role}-{number}.txt", TEXTS[name][rows])
        out = tmp_path / label
        run = called(
            *(f"--candidates=hyp={tmp_path}/out-{shards}.txt", f"--partition={label}"),
            *(f"--references={tmp_path}/ref-{shards}.txt", "--save_totals", "--output", out),
        )
        assert run.code == 0, run.err
        parts.append(out)
    run = called("merge", *parts)
    assert run.code == 0
    assert "out-2.txt is in the partitions mon, tue: are its texts counted twice?" in run.err
