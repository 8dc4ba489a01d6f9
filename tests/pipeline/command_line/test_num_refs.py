"""--num_refs: several references on one line, with tabs between them, as in sacreBLEU."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import REFERENCES, SYSTEMS, Run, called, read_lines, streams, write_lines
from sacrebleu.metrics.bleu import BLEU

ATLAS = SYSTEMS["atlas"]
LINES = ["one two three four five", "six seven eight", "nine ten", "日本語　です", "end"]


def score(candidates: Path, references: Path | str, number: int, *flags: str) -> Run:
    flags = ("--num_refs", str(number), "--format", "json", *flags)
    return called(*streams([f"x={candidates}"], [references], *flags))


def test_fields_are_references_as_if_they_were_files(tmp_path):
    fields = zip(*map(read_lines, REFERENCES), strict=True)
    table = write_lines(tmp_path / "ab.tsv", ["\t".join(each) for each in fields])
    twice = called(*streams([f"x={ATLAS}"], [table, table], "-nr", "2", "--format", "json"))
    four = called(*streams([f"x={ATLAS}"], [*REFERENCES, *REFERENCES], "--format", "json"))
    assert twice.out == four.out


def test_the_integers_are_those_of_sacrebleus_command(tmp_path):
    references = [
        "one  two\t three\tfour",
        "\t\tsix",
        "nine ten\t\tx\r",
        "日本\t　です\t本\u3000\x1f\u00a0\x85",
        "a\tb\tc\u2028",
    ]
    hyp, ref = write_lines(tmp_path / "h", LINES), write_lines(tmp_path / "r", references)
    words = [ref, "-i", hyp, "-nr", "3", "-w", "10", "--force"]
    told = json.loads(subprocess.check_output([sys.executable, "-m", "sacrebleu", *words]))
    run = score(hyp, ref, 3)
    (ours,) = run.document["scores"]
    assert ours["score"] == pytest.approx(told["score"], abs=1e-9)
    lengths = f"hyp_len = {ours['sys_len']} ref_len = {ours['ref_len']})"
    assert told["verbose_score"].endswith(lengths)
    assert "nrefs:3|" in run.signature


def test_white_space_at_the_end_of_lines_changes_no_number_of_any_tokenizer(tmp_path):
    white = [chr(code) for code in range(0x110000) if chr(code).isspace() and chr(code) != "\n"]
    tails = ["", "\t", *white, *(f"\t{space}" for space in white), *(f"{s}\t\t" for s in white)]
    text = "It's 3.14 &amp; naïve 日本 end."
    candidates = [f"{text}{tail} x" for tail in tails]
    references = [f"It's 3.14\t{text}{tail}" for tail in tails]
    hyp, ref = write_lines(tmp_path / "h", candidates), write_lines(tmp_path / "r", references)
    fields = [line.rstrip().split("\t", maxsplit=1) for line in references]
    streams_of_fields = list(zip(*fields, strict=True))
    for tokenize in ("13a", "none", "zh"):
        told = BLEU(tokenize=tokenize, force=True).corpus_score(candidates, streams_of_fields)
        (ours,) = score(hyp, ref, 2, "--tokenize", tokenize).document["scores"]
        assert (ours["matches"], ours["totals"]) == (told.counts, told.totals)
        assert (ours["sys_len"], ours["ref_len"]) == (told.sys_len, told.ref_len)


def test_a_line_that_sacrebleu_refuses_is_refused(tmp_path):
    for number, line, fields in ((2, "six\t\u3000\u00a0\x1f", "1"), (3, "six\tseven\t ", "2")):
        hyp = write_lines(tmp_path / "h", LINES)
        ref = write_lines(tmp_path / "r", ["a\tb\tc"[: 2 * number - 1]] * 5)
        lines = read_lines(ref)
        write_lines(ref, [lines[0], line, *lines[2:]])
        cause = f"references: line 2 has {fields} field"
        score(hyp, ref, number).assert_failed(3, cause, f"and --num_refs is {number}: {ref}\n")
