"""`--format`, `--score_only` and `--width`: the numbers of scores.json in other forms."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams

from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.display.output_formats import FORMATS
from beam_bleu.pipeline.result.document import read_result

ATLAS = SYSTEMS["atlas"]


def test_the_command_prints_each_format():
    data = called(*EXAMPLE, "--format=json").out
    for format in FORMATS:
        run = called(*EXAMPLE, "-f", format)
        assert (run.code, run.err) == (0, "")
        assert run.out == DisplayFlags(format=format).shown(data, read_result(json.loads(data)))
        assert all(name in run.out.decode() for name in SYSTEMS)


def test_tsv_has_the_fields_of_json_lines_with_all_digits():
    lines, tsv = (
        called(*EXAMPLE, "--compare_presets", "-f", name).out for name in ("jsonl", "tsv")
    )
    text = io.StringIO(tsv.decode())
    rows = [*csv.DictReader(text, delimiter="\t", quoting=csv.QUOTE_NONE)]
    for row, line in zip(rows, map(json.loads, lines.splitlines()), strict=True):
        lists = {
            name: " ".join(map(str, line[name])) for name in ("precisions", "matches", "totals")
        }
        texts = {name: "" if value is None else str(value) for name, value in line.items()}
        assert row == {"preset": "", **texts, **lists}


def test_the_scores_alone():
    scores = [score["score"] for score in called(*EXAMPLE, "-fjson").document["scores"]]
    for flags, decimals in [(["-b"], 1), (["--score-only", "-w3"], 3), (["-bw", "0"], 0)]:
        run = called(*EXAMPLE, *flags)
        assert (run.code, run.err) == (0, "")
        assert run.out.decode() == "".join(f"{score:.{decimals}f}\n" for score in scores)


def test_decimals_are_those_of_the_scores():
    def numbers(*more: Any) -> list[str]:
        (row,) = called(*streams([ATLAS], REFERENCES, *more)).out.decode().splitlines()[4:]
        return row.split()

    score = ["atlas", "57.8", "±", "3.4"]
    assert numbers() == [*score, "84.4/65.7/51.3/39.4", "1.000", "1.029", "1275", "1239"]
    assert numbers("-w2")[1:4:2] == ["57.84", "3.39"]
    assert numbers("-w2")[4:6] == ["84.39/65.67/51.28/39.38", "1.000"]
    for flags, named in (("-w 16", "0 to 15, got 16"), ("-w 1.5", "0 to 15, got 1.5")):
        called(*EXAMPLE, *flags.split()).assert_failed(2, "--width", named)
