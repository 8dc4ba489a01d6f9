"""Records of every format and form give the scores of the same texts as line-parallel text."""

from __future__ import annotations

import json
import os
import shutil
from typing import Any

import pytest
from command_line import (
    EXAMPLE,
    EXAMPLES,
    Run,
    called,
    read_lines,
    write_lines,
    write_records,
)
from memory_filesystem import OBJECTS
from shells import run_shell

REFERENCES = [read_lines(EXAMPLES / "references" / f"{name}.txt") for name in "ab"]
NAMES = ["atlas", "birch", "cobalt"]
SYSTEMS = {name: read_lines(EXAMPLES / "systems" / f"{name}.txt") for name in NAMES}

ROWS: list[dict[str, Any]] = [
    {
        "id": f"s{i}",
        "domain": ["news", "talk"][i % 2],
        "ref0": REFERENCES[0][i],
        "ref1": REFERENCES[1][i],
        **{f"hyp_{name}": SYSTEMS[name][i] for name in NAMES},
    }
    for i in range(len(REFERENCES[0]))
]


def scores(run: Run) -> dict[str, dict[str, Any]]:
    """The score of each system, without the system's name."""
    return {score.pop("system"): score for score in run.document["scores"]}


@pytest.fixture(scope="module")
def of_lines():
    return scores(called(*EXAMPLE, "--format", "json"))


def test_each_format_gives_the_bytes_and_the_scores_of_lines(tmp_path, of_lines):
    written = set()
    for suffix in ("parquet", "arrow", "arrows", "jsonl.gz", "tsv", "csv.xz"):
        path, out = write_records(tmp_path / f"all.{suffix}", ROWS), tmp_path / suffix
        flags = ["--candidate_columns", "hyp_*", "--slice_by", "domain", "--format", "json"]
        run = called("--input", path, *flags, "--output", out)
        whole = [score for score in run.document["scores"] if score["slice"] is None]
        found = {score.pop("system"): score for score in whole}
        assert found == {f"hyp_{name}": score for name, score in of_lines.items()}
        chosen = "candidates from hyp_atlas, hyp_birch, hyp_cobalt, references from ref0, ref1"
        assert f"columns: {chosen}" in run.err
        written.add((out / "scores.json").read_bytes())
    assert len(written) == 1


def test_tab_separated_text_without_a_header(tmp_path, of_lines):
    """ParaCrawl's .txt.gz is tab-separated text: the flag says it."""
    fields = zip(*REFERENCES, *SYSTEMS.values(), strict=True)
    path = write_lines(tmp_path / "corpus.txt.gz", ["\t".join(row) for row in fields])
    flags = ["--input_format", "tsv", "--candidate_columns", "b=4,3", "--reference_columns", "1,2"]
    run = called("--input", path, *flags, "--format", "json")
    assert scores(run) == {"b": of_lines["birch"], "3": of_lines["atlas"]}
    assert "columns: " not in run.err  # the user named all of them


def test_files_of_several_formats_are_joined_by_ids(tmp_path, of_lines):
    (tmp_path / "outputs").mkdir()
    for place, name in enumerate(NAMES):  # each in another order
        rows = [{"id": i, "mt": text} for i, text in enumerate(SYSTEMS[name])]
        write_records(
            tmp_path / "outputs" / f"{name}.jsonl.gz", rows[place * 9 :] + rows[: place * 9]
        )
    references = [
        write_records(
            tmp_path / f"r{n}.{suffix}", [{"id": i, "ref": text} for i, text in enumerate(texts)]
        )
        for n, (texts, suffix) in enumerate(zip(REFERENCES, ["tsv", "parquet"], strict=True))
    ]
    outputs = f"{tmp_path}/outputs/*.jsonl.gz"
    run = called(*references, "-i", outputs, "--join_on", "id", "--format", "json")
    assert scores(run) == of_lines


def test_records_from_a_pipe(tmp_path, of_lines):
    for suffix, script in (
        ("jsonl", "cat {path} | {command} --input -"),
        ("parquet", "{command} --input <(cat {path})"),
    ):
        path, folder = write_records(tmp_path / f"all.{suffix}", ROWS), tmp_path / suffix
        flags = f" --input_format {suffix} --candidate_columns atlas=hyp_atlas --format json"
        line = script.format(path=path, command=folder / "beam-bleu") + flags
        found = json.loads(run_shell(["bash", "-c", line], folder, os.environ).stdout)
        (score,) = found["scores"]
        assert score == {"system": "atlas", **of_lines["atlas"]}


@pytest.mark.parametrize("partition", ["", "lang=de/year=2026/"])
def test_files_of_a_delta_table_are_refused(tmp_path, partition):
    """A pattern over them would read rows that were replaced."""
    folder = tmp_path / "table" / partition
    (folder / "_delta_log").mkdir(parents=True)  # a folder without a log is none of Delta
    for number in range(2):
        shutil.copy(EXAMPLES / "records" / "paired.parquet", folder / f"part-{number}.parquet")
    arguments = ["--input", folder / "part-*.parquet", "--candidate_columns=hyp_*"]
    assert called(*arguments).code == 0
    (tmp_path / "table" / "_delta_log").mkdir(exist_ok=True)
    (tmp_path / "table" / "_delta_log" / "0.json").write_text("{}")
    cause = f"files of a Delta table, also of its older versions: {tmp_path}/table"
    called(*arguments).assert_failed(3, cause, f"write delta:{tmp_path}/table in place of")
    arguments[1] = folder / "part-0.parquet"
    called(*arguments).assert_failed(3, cause)


def test_a_delta_table_on_an_object_store_is_seen():
    OBJECTS.clear()
    data = (EXAMPLES / "records" / "paired.parquet").read_bytes()
    OBJECTS["mem://bucket/table/lang=de/part-0.parquet"] = data, 1.0
    OBJECTS["mem://bucket/table/_delta_log/00000000000000000000.json"] = b"{}", 1.0
    run = called("--input", "mem://bucket/table/*/part-*.parquet", "--candidate_columns=hyp_*")
    run.assert_failed(3, "write delta:mem://bucket/table in place of")
