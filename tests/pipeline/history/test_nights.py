"""Which results a history has, and what puts them in order."""

from __future__ import annotations

import pytest
from made_nights import write_night, write_run
from made_results import entry, result, written
from memory_filesystem import OBJECTS

from beam_bleu.pipeline.history.nights import Night, read_nights
from beam_bleu.transforms.errors import InputError

BLEU = result(entry("atlas", 30.0))


def moments(nights: list[Night]) -> list[str]:
    return [night.name for night in nights]


def test_dates_in_paths_order_nights_wherever_they_are(tmp_path):
    write_night(tmp_path / "old" / "dt=2026-11-09" / "en-de", BLEU)
    write_night(tmp_path / "20261121", BLEU)
    write_night(tmp_path / "2026-11" / "2026-11-20", BLEU)
    write_night(tmp_path / ".hidden-2026-11-01", BLEU)
    (tmp_path / "latest").symlink_to(tmp_path / "20261121")
    nights = read_nights([str(tmp_path)])
    assert moments(nights) == ["2026-11-09", "2026-11-20", "2026-11-21"]


def test_nights_on_an_object_store_are_found_like_those_in_folders(tmp_path):
    write_night(tmp_path / "dt=2026-11-09" / "en-de", BLEU)
    write_night(tmp_path / "2026-11-20", BLEU)
    write_night(tmp_path / "2026-11-20" / "aside" / "2026-11-01", BLEU)
    write_night(tmp_path / "_old" / "2026-11-02", BLEU)
    write_run(tmp_path / "2026-11-21", "failed", "2026-11-21T02:00:00.000Z", "no disk")
    OBJECTS.clear()
    for file in tmp_path.rglob("*"):
        if file.is_file():
            OBJECTS[f"mem://nights/{file.relative_to(tmp_path)}"] = file.read_bytes(), 1.0
    nights = read_nights(["mem://nights"])
    local = read_nights([str(tmp_path)])
    assert moments(nights) == moments(local) == ["2026-11-09", "2026-11-20", "2026-11-21"]
    assert [night.failure for night in nights] == ["", "", "the run failed: no disk"]
    for pattern in ("dt=*", "*/en-de", "dt=*/**/scores.json", "*-2[1]"):
        for folder in ("mem://nights", tmp_path):
            nights = read_nights([f"{folder}/{pattern}"])
            assert moments(nights) == ["2026-11-21" if pattern == "*-2[1]" else "2026-11-09"]
    with pytest.raises(InputError, match=r"nothing matches mem://nights/2027"):
        read_nights(["mem://nights/2027*"])
    (one,) = read_nights(["mem://nights/2026-11-21"])
    assert one.failure
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
