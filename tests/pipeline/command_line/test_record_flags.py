"""Flags of records: impossible ones end the command before anything runs, with exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import called

from beam_bleu.pipeline.command_line.options import our_flags
from beam_bleu.transforms.pairing.records.formats import RECORD_FORMATS
from beam_bleu.transforms.pairing.records.joins.coverage import COVERAGES

INPUT = ["--input", "x.jsonl"]
JOIN = ["--references", "r.jsonl", "--candidates", "c.jsonl", "--join_on", "id"]
LINES = ["--references", "r.txt", "--candidates", "c.txt"]

USAGE_ERRORS = [
    # one form of input only
    (["r.txt", *INPUT], ["'r.txt': with --input", "write -i: beam-bleu r.txt -i x.jsonl"]),
    ([*INPUT, "-i", "a.txt"], ["-i cannot be used with --input", "--join_on COLUMN"]),
    ([*INPUT, "--candidates", "a.jsonl"], ["--candidates cannot be used with --input"]),
    ([*INPUT, "--references", "a.jsonl"], ["--references cannot be used with --input"]),
    ([*INPUT, "--input", "y.jsonl"], ["--input is given twice: x.jsonl, y.jsonl", "one pattern"]),
    ([*INPUT, "--join_on", "id"], ["--join_on cannot be used with --input"]),
    (["--input", ""], ["--input is empty"]),
    # flags of line-parallel text
    ([*INPUT, "-nr", "2"], ["--num_refs is for line-parallel text, not for records"]),
    ([*INPUT, "--cuts", "any"], ["--cuts is for line-parallel text"]),
    ([*INPUT, "-e", "utf-8"], ["--encoding is for line-parallel text"]),
    ([*INPUT, "--labels", "a=b.txt"], ["--labels is for line-parallel", "are columns"]),
    ([*JOIN, "--cuts", "any"], ["--cuts is for line-parallel text"]),
    # flags of records without records
    (
        [*LINES, "--candidate_columns", "a"],
        ["--candidate_columns is for records", "--input PATTERN"],
    ),
    ([*LINES, "--reference_columns", "a"], ["--reference_columns is for records"]),
    ([*LINES, "--where", "a=b"], ["--where is for records", "--join_on COLUMN"]),
    ([*LINES, "--header"], ["--header is for records"]),
    ([*LINES, "--no_header"], ["--no_header is for records"]),
    ([*LINES, "--coverage", "each"], ["--coverage is for records"]),
    ([*LINES, "--system_column", "a"], ["--system_column is for records"]),
    ([*LINES, "--id_column", "a"], ["--id_column is for records"]),
    ([*LINES, "--input_format", "tsv"], ["without --input or --join_on", "add --join_on COLUMN"]),
    # record files are not taken for text
    (["r.txt", "-i", "a.jsonl"], ["a.jsonl is a file of records (JSON lines)", "--join_on COLUMN"]),
    (["r.parquet", "-i", "a.txt"], ["r.parquet is a file of records (Parquet)", "--input PATTERN"]),
    (["r.txt", "-i", "x=a/*.JSONL.gz"], ["records cannot be paired by their order"]),
    (["--references", "r.txt", "--candidates", "a.ndjson"], ["a.ndjson is a file of records"]),
    # formats
    (["--input", "x.txt"], ["format of x.txt is not known", ".jsonl", "--input_format parquet or"]),
    (["--input", "x.txt.gz"], ["format of x.txt.gz is not known"]),
    (["--input", "x.parquet.gz"], ["cannot be read as .gz", "decompress the file"]),
    ([*JOIN[:3], "c.txt", *JOIN[4:]], ["candidates c: the format of c.txt is not known"]),
    (
        ["--input", "x.csv", "--input_format", "csv"],
        ["--input_format csv", "choose one of"],
    ),
    (
        ["--input", "x", "--input_format", "json"],
        ["--input_format json", "did you mean jsonl?", "parquet, arrow, avro, jsonl, tsv"],
    ),
    (["--input", "x", "--input_format", "text"], ["--input_format text"]),
    # headers
    ([*INPUT, "--header"], ["--header cannot be used with JSON lines"]),
    (["--input", "x.parquet", "--no_header"], ["--no_header cannot be used with Parquet"]),
    (["--input", "x.tsv", "--header", "--no_header"], ["--header and --no_header contradict"]),
    (
        ["--input", "x.tsv", "--no_header", "--candidate_columns", "1", "--reference_columns", "b"],
        [
            "--no_header: without a header line, columns have numbers instead of names",
            "by their numbers",
        ],
    ),
    (["--input", "x.tsv", "--no_header"], ["--no_header: without", "--candidate_columns 2"]),
    # columns and conditions
    ([*INPUT, "--candidate_columns", "a,,b"], ["--candidate_columns", "is empty", "'a,,b'"]),
    ([*INPUT, "--candidate_columns", "x="], ["a name of a column is empty, got 'x='"]),
    ([*INPUT, "--candidate_columns", "a,b,a"], ["the column a is named twice, got a,b,a"]),
    ([*INPUT, "--reference_columns", ""], ["--reference_columns", "is empty"]),
    ([*INPUT, "--where", "a"], ["--where", "COLUMN=VALUE or COLUMN!=VALUE, got 'a'"]),
    ([*INPUT, "--where", "=a"], ["--where", "got '=a'"]),
    ([*INPUT, "--where", "!=a"], ["--where", "got '!=a'"]),
    ([*INPUT, "--where", "b==a"], ["--where", "one equals sign", "got 'b==a'"]),
    ([*INPUT, "--where", "b!==a"], ["--where", "one equals sign", "got 'b!==a'"]),
    # long records
    ([*INPUT, "--system_column", "s"], ["--system_column needs --id_column"]),
    ([*INPUT, "--id_column", "s"], ["--id_column needs --system_column"]),
    ([*INPUT, "--coverage", "each"], ["--coverage is for joins and for --system_column"]),
    (
        [*INPUT, "--system_column", "s", "--id_column", "i", "--candidate_columns", "a,b"],
        ["--candidate_columns a,b: only one column", "--system_column names the systems"],
    ),
    # joins
    ([*JOIN, "--candidate_columns", "a,b"], ["a,b: only one column", "each file has one system"]),
    ([*JOIN, "--system_column", "s"], ["--system_column cannot be used with --join_on"]),
    ([*JOIN, "--coverage", "all"], ["--coverage all", "strict, common, each"]),
    (["--join_on", "id"], ["--candidates is missing"]),
    ([*JOIN[:2], "--join_on", "id"], ["--candidates is missing"]),
    ([*JOIN[2:]], ["--references is missing"]),
    ([*JOIN, "--candidates", "d/c.jsonl"], ["two systems are called c"]),
]


@pytest.mark.parametrize(("flags", "fragments"), USAGE_ERRORS, ids=lambda each: " ".join(each))
def test_impossible_flags(flags: list[str], fragments: list[str]) -> None:
    called(*flags).assert_failed(2, *fragments)


def test_a_name_with_a_comma_is_written_in_brackets_in_every_flag(tmp_path: Path) -> None:
    path = tmp_path / "r.tsv"
    path.write_text("h,y=p\tr,ef\td,om\n" + "a b\ta b\t1\n" * 3)
    columns = ["--input", path, "--reference_columns", '["r,ef"]', "--format", "json"]
    columns += ["--slice_by", '["d,om"],length', "--where", '["d,om"]=1']
    columns += ["--metrics", "bleu", 'mean:["d,om"]']
    for candidate, name in (('["h,y=p"]', '["h,y=p"]'), ('x=["h,y=p"]', "x")):
        run = called(*columns, "--candidate_columns", candidate, "--no_uncertainty")
        assert {each["system"] for each in run.document["scores"]} == {name}, run.err
    run = called(*columns, "--candidate_columns", "h")
    run.assert_failed(3, """did you mean '["h,y=p"]'?""")


def test_an_engine_cannot_read_a_pipe(tmp_path: Path) -> None:
    run = called(
        *("--input", "-", "--input_format", "jsonl"),
        *("--runner", "FlinkRunner", "--output", tmp_path / "out"),
    )
    run.assert_failed(2, "input: the workers of an engine cannot read stdin", "save its text")


def test_a_pipe_needs_a_format() -> None:
    called("--input", "-").assert_failed(2, "the format of - is not known: a pipe has no suffix")


def test_the_output_cannot_be_in_the_input(tmp_path: Path) -> None:
    scores = tmp_path / "scores.json"
    scores.write_text('{"hyp": "a", "ref": "a"}\n')
    for pattern in (scores, tmp_path / "*.json"):
        run = called("--input", pattern, "--input_format", "jsonl", "--output", tmp_path)
        run.assert_failed(2, "input", "where results are written")


def test_tab_separated_text_can_still_be_line_parallel() -> None:
    """Files with tabs are text, unless a flag says that they are records."""
    flags = [flag for flag in our_flags() if flag.dest == "input_format"]
    assert flags[0].choices == tuple(RECORD_FORMATS)
    called("r.tsv", "-i", "a.tsv").assert_failed(3, "r.tsv")


def test_the_help_describes_each_rule_of_coverage() -> None:
    (flag,) = [flag for flag in our_flags() if flag.dest == "coverage"]
    assert flag.choices == tuple(COVERAGES)
    assert all(f"{name}: {row.description}" in str(flag.help) for name, row in COVERAGES.items())
