"""The subcommand gate, as a user types it."""

from __future__ import annotations

import json
import re

import pytest
from command_line import REFERENCES, SYSTEMS, called, streams, write_lines
from made_results import entry, result, written
from memory_filesystem import OBJECTS

from beam_bleu.pipeline.folder import storage
from beam_bleu.transforms.errors import JobError

NEWS = {"domain": "news"}


@pytest.fixture
def scores(tmp_path):
    return written(tmp_path / "new" / "scores.json", result(entry("a", 29.97), entry("b", 35)))


def test_a_line_for_each_check_and_the_reasons(scores):
    run = called("gate", scores, "--fail_under", "30")
    assert run.code == 4
    assert run.out.decode().splitlines() == [
        "failed  a scores 29.97, below 30 (--fail_under)",
        "passed  b scores 35, not below 30 (--fail_under)",
    ]
    # Not the same sentences again.
    assert run.err.splitlines()[0] == "beam-bleu: 1 of 2 checks failed"
    # With --quiet, only the reasons.
    run = called("gate", scores, "--warn_under", "40", "--quiet")
    assert (run.code, run.out, run.err) == (0, b"", "")
    run = called("gate", scores, "-q", "--fail_under", "30")
    assert (run.code, run.out) == (4, b"")
    assert "29.97" in run.err


def test_a_drop_against_a_folder(scores, tmp_path):
    old = tmp_path / "old"
    written(old / "scores.json", result(entry("a", 40), entry("b", 35), entry("b", 3, None, NEWS)))
    (old / "_SUCCESS").touch()
    run = called("gate", scores, "--max_drop", "2", "--against", old, "--drop", "proven")
    assert run.code == 4
    lines = run.out.decode().splitlines()
    assert [line.split()[0] for line in lines] == ["failed", "passed", "failed"]
    assert lines[0].endswith(
        f"a scores 29.97, 10.03 below the 40 of {old} (difference -11.415904 to -8.6440962 with "
        "independent standard errors): a drop of more than 2 is proven (--max_drop, --drop proven)"
    )
    assert "has no b[domain=news]" in lines[2]


@pytest.mark.parametrize("folder", ["local", "mem://nights"])
def test_a_gate_keeps_its_verdict_beside_the_result(folder, tmp_path):
    OBJECTS.clear()
    out = f"{tmp_path if folder == 'local' else folder}/since-2025-01-01"
    texts = streams([SYSTEMS["birch"]], REFERENCES[:1])
    called(*texts, "--output", f"{out}/2026-11-20", "--metrics_label", "corpus=a b{}")

    def kept() -> tuple[str, str | None, float]:
        record = json.loads(storage.read(f"{out}/2026-11-20/run.json"))
        text = storage.read(f"{out}/2026-11-20/metrics.prom").decode()
        (number,) = re.findall(r'^beam_bleu_gate_passed\{corpus="a b\{\}"\} (.*)$', text, re.M)
        assert (record["state"], record["exit_code"], record["message"]) == ("done", 0, None)
        return record["verdict"], record["verdict_message"], float(number)

    assert kept() == ("passed", None, 1)
    assert called("gate", f"{out}/2026-11-20/scores.json", "--fail_under=99").code == 4
    assert called("gate", f"{out}/2026-11-20", "--warn_under=99").code == 0
    assert kept() == ("passed", None, 1)
    assert called("gate", f"{out}/2026-11-20", "--fail_under=99").code == 4
    verdict, message, number = kept()
    assert (verdict, number) == ("failed", 0)
    assert "below 99 (--fail_under)" in message
    nights = called("history", out, "--order_by=run", "--format=jsonl")
    gap, _ = map(json.loads, nights.out.splitlines())
    assert (gap["gap"], gap["text"]) == ("gate", f"the gate failed: {message}")
    against = ("--max_drop=1", "--against", out)
    gate = ("gate", f"{out}/2026-11-21", *against)
    for words in ([*texts, "--output", f"{out}/2026-11-21", *against], gate):
        assert "has passed, so --max_drop checks nothing" in called(*words).err
    assert called("gate", f"{out}/2026-11-20", "--fail_under=1").code == 0
    assert kept() == ("passed", None, 1)
    assert f"the same counts as in {out}/2026-11-20" in called(*gate).out.decode()


def test_a_verdict_that_cannot_be_kept_is_a_warning(scores, tmp_path, monkeypatch):
    called(*streams([SYSTEMS["birch"]], REFERENCES[:1]), "--output", tmp_path / "out")

    def full(path: str, data: bytes) -> None:
        raise JobError(f"{path}: no space", "")

    monkeypatch.setattr(storage, "write_atomically", full)
    run = called("gate", tmp_path / "out", "--fail_under", "99")
    assert run.code == 4
    assert "warning: the record of the run is not complete: " in run.err


def test_a_folder_of_nights_is_for_one_result_with_a_date(scores, tmp_path):
    against = ["--max_drop=1", "--against", tmp_path]
    run = called("gate", scores, *against)
    run.assert_failed(3, "has no date in its path", "name the earlier result itself")
    run = called("gate", scores, scores, *against)
    run.assert_failed(2, f"--against {tmp_path} is a folder of nights, and there are 2 results")


def test_impossible_flags(scores):
    for words, cause in {
        "": "there is no threshold",
        "--max_drop 1": "--max_drop needs --against",
        "--against x --fail_under 1": "--against needs --max_drop",
        "--drop proven --fail_under 1": "--drop needs --max_drop",
        "--drop prooven --max_drop 1 --against x": "prooven",
        "--fail 1": "--fail",
    }.items():
        called("gate", scores, *words.split()).assert_failed(2, cause)


def bounds(run):
    found = re.search(r"difference (\S+) to (\S+) (of paired|with independent)", run.out.decode())
    assert found is not None, run.out
    return float(found[1]), float(found[2]), found[3]


def test_results_of_the_same_segments_are_compared_in_pairs(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    birch, atlas = (SYSTEMS[name].read_text().splitlines() for name in ("birch", "atlas"))
    better = write_lines(tmp_path / "better.txt", [*atlas[:3], *birch[3:]])
    for out, system in ((old, SYSTEMS["birch"]), (new, better)):
        run = called(
            *streams([f"mt={system}"], REFERENCES[:1], "--output", out),
            *("--save_totals", "--resample=bootstrap", "--resamples=200", "--partition=a"),
        )
        assert run.code == 0, run.err
    run = called("gate", old, "--max_drop=3", "--against", new)
    low, high, how = bounds(run)
    assert how == "of paired"
    (compared,) = json.loads(
        called("compare", new / "totals.json", old / "totals.json", "--format=json").out
    )["systems"]
    assert [low, high] == pytest.approx(compared["interval"], rel=1e-7)
    assert run.code == 0
    # Without totals they are independent, and such a drop is not excluded.
    run = called("gate", old / "scores.json", "--max_drop=3", "--against", new)
    assert bounds(run)[2] == "with independent"
    assert bounds(run)[1] - bounds(run)[0] > 2 * (high - low)
    assert run.code == 4
