"""`--format`, `--score_only` and `--width`: the numbers of scores.json in other forms."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from command_line import EXAMPLE, REFERENCES, SYSTEMS, called, streams
from shown_tables import document

from beam_bleu.pipeline.command_line.output_flags import DisplayFlags
from beam_bleu.pipeline.display.output_formats import FORMATS
from beam_bleu.pipeline.result.document import document_bytes, read_result

ATLAS, BIRCH, COBALT = SYSTEMS.values()


@pytest.fixture(scope="module")
def example() -> bytes:
    """The scores.json of the example, with presets."""
    run = called(*EXAMPLE, "--preset=nltk", "--compare_presets", "--format=json")
    assert run.code == 0
    return run.out


def shown(format: str, data: bytes, decimals: int | None = None, remarks: tuple[str, ...] = ()):
    return (
        DisplayFlags(format=format, width=decimals)
        .shown(data, read_result(json.loads(data)), remarks)
        .decode()
    )


def rows_of(tsv: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(tsv), delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.mark.parametrize("format", FORMATS)
def test_the_command_prints_each_format(format):
    run = called(*EXAMPLE, "-f", format)
    assert (run.code, run.err) == (0, "")
    assert run.out.decode() == shown(format, called(*EXAMPLE, "--format=json").out)
    for name in SYSTEMS:
        assert name in run.out.decode()


def flat(score: dict[str, Any]) -> dict[str, Any]:
    """The score with two numbers in place of the interval."""
    low, high = score["interval"] or (None, None)
    others = {key: value for key, value in score.items() if key != "interval"}
    return {**others, "interval_low": low, "interval_high": high}


def test_json_lines_are_the_entries_of_scores_json(example):
    document = json.loads(example)
    lines = [json.loads(line) for line in shown("jsonl", example).splitlines()]
    own = [
        {**flat(score), "signature": document["metrics"][0]["signature"]}
        for score in document["scores"]
    ]
    assert lines[:3] == own
    compared = [
        {**flat(score), "signature": preset["signature"], "preset": preset["preset"]}
        for preset in document["presets"]
        for score in preset["scores"]
    ]
    assert lines[3:] == compared
    assert len(compared) == 18


def test_tsv_has_the_fields_of_json_lines_with_all_digits(example):
    lines = [json.loads(line) for line in shown("jsonl", example).splitlines()]
    for row, line in zip(rows_of(shown("tsv", example)), lines, strict=True):
        lists = {
            name: " ".join(map(str, line[name])) for name in ("precisions", "matches", "totals")
        }
        texts = {name: "" if value is None else str(value) for name, value in line.items()}
        assert row == {"preset": "", **texts, **lists}


def test_tsv_rounds_scores_and_precisions_if_asked():
    (row,) = rows_of(shown("tsv", document_bytes(document(["a"])), decimals=1))
    assert (row["score"], row["precisions"]) == ("20.0", "60.1 30.5 20.2 9.8")
    assert row["bp"] == "0.9876"


def test_a_tab_in_a_name_does_not_make_a_field():
    data = document_bytes(document(["a\tb\nc"]))
    (row,) = rows_of(shown("tsv", data))
    assert row["system"] == r"a\tb\nc"
    assert row["segments"] == "2000"


# --score_only


def test_the_scores_alone(example):
    scores = [score["score"] for score in called(*EXAMPLE, "-fjson").document["scores"]]
    for flags, decimals in [(["-b"], 1), (["--score-only", "-w3"], 3), (["-bw", "0"], 0)]:
        run = called(*EXAMPLE, *flags)
        assert (run.code, run.err) == (0, "")
        assert run.out.decode() == "".join(f"{score:.{decimals}f}\n" for score in scores)


# --width


@pytest.mark.parametrize("flags", [["-w2"], ["--width", "2"]])
def test_decimals_are_those_of_the_scores(flags):
    def numbers(*more: Any) -> list[str]:
        (row,) = called(*streams([ATLAS], REFERENCES, *more)).out.decode().splitlines()[4:]
        return row.split()

    score = ["atlas", "57.8", "±", "3.4"]
    assert numbers() == [*score, "84.4/65.7/51.3/39.4", "1.000", "1.029", "1275", "1239"]
    assert numbers(*flags)[1:4:2] == ["57.84", "3.39"]
    assert numbers(*flags)[4:6] == ["84.39/65.67/51.28/39.38", "1.000"]


@pytest.mark.parametrize(
    ("flags", "fragments"),
    [
        (["-w", "16"], ["--width", "a whole number, 0 to 15, got 16"]),
        (["-w", "1.5"], ["--width", "0 to 15, got 1.5"]),
        (["-f", "xml"], ["--format", "xml", *FORMATS]),
        (["-b", "--compare_presets"], ["--score_only cannot be used with --compare_presets"]),
    ],
)
def test_flags_that_are_refused(flags, fragments):
    called(*EXAMPLE, *flags).assert_failed(2, *fragments)
