"""Results as tables of Arrow: `beam_bleu.read_scores`, and `beam-bleu table`."""

from __future__ import annotations

import io
import json
import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from command_line import EXAMPLE, PROJECT, called
from made_reports import of_two_systems
from made_results import entry, result, write_night, written

from beam_bleu import ScoreTables, read_scores
from beam_bleu.pipeline.library.read_scores import RESULT_COLUMNS
from beam_bleu.pipeline.result.rows import slice_text
from beam_bleu.transforms.errors import InputError

METRICS = ("bleu", "chrf", "rouge1", "exact_match")
SLICES = (f"--labels=domain={PROJECT / 'examples/domains.txt'}", "--slice_by=domain")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with several metrics, slices, comparisons, presets and a missing score."""
    output = tmp_path_factory.mktemp("result") / "out"
    flags = [*SLICES, "--compare_presets", "--save_totals", "--examples=2", f"--output={output}"]
    run = called(*EXAMPLE, "--metrics", *METRICS, *flags)
    assert run.code == 0
    return output


@pytest.fixture(scope="module")
def read(folder: Path) -> ScoreTables:
    return read_scores(folder)


@pytest.fixture(scope="module")
def document(folder: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads((folder / "scores.json").read_bytes())
    return document


def as_columns(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Entries of scores.json with what stands in other columns of the tables."""
    rows = []
    for each in entries:
        of_slice, (low, high) = each["slice"], each["interval"] or (None, None)
        row = each | {
            "slice": None if of_slice is None else slice_text(of_slice),
            "labels": None if of_slice is None else list(of_slice.items()),
            "interval_low": low,
            "interval_high": high,
        }
        del row["interval"]
        if "score" in row:
            row["wilson_low"], row["wilson_high"] = row.pop("wilson_interval", (None, None))
        else:
            row["mcnemar_p_value"] = row.pop("mcnemar", {}).get("p_value")
        rows.append(row)
    return rows


def test_each_score_is_a_row_with_the_fields_of_its_metric(read, document):
    signatures = {each["metric"]: each["signature"] for each in document["metrics"]}
    names = read.scores.column_names
    expected = [
        {**dict.fromkeys(names), **row, "signature": signatures[row["metric"]]}
        for row in as_columns(document["scores"])
    ]
    assert read.scores.to_pylist() == expected
    assert {"bp", "hyp_ngrams", "recall", "exact_matches"} < set(names)


def test_each_comparison_is_a_row(read, document):
    assert read.comparisons.to_pylist() == as_columns(document["comparisons"])
    assert read.comparisons.num_rows == 2 * 7 * len(METRICS)
    assert read.metrics.to_pylist() == document["metrics"]
    assert read.document == document


def test_each_example_is_a_row(read, folder, tmp_path):
    lines = [json.loads(line) for line in (folder / "examples.jsonl").read_text().splitlines()]
    for line in lines:
        for name in ("candidates", "labels", "kept"):
            line[name] = list(line[name].items())
    assert read.examples.to_pylist() == lines
    assert read.examples["labels"][0].as_py()[0][0] == "domain"
    # A file does not say which examples belong to it.
    alone = read_scores(folder / "scores.json").examples
    assert (alone.num_rows, alone.schema) == (0, read.examples.schema)
    without = tmp_path / "without"
    assert called(*EXAMPLE, f"--output={without}").code == 0
    assert read_scores(without).examples.equals(alone)


def test_a_result_reads_like_its_table(read):
    lines = repr(read).splitlines()
    assert lines[0].split()[:2] == ["system", "BLEU"]
    assert lines[1].startswith("atlas   57.8 ± 3.4  70.8 ± 2.2")
    assert lines[-1] == f"rows: scores 84, comparisons 56, examples {read.examples.num_rows}"


def test_a_result_without_uncertainty_has_the_same_columns(read, tmp_path):
    made = entry("a", 30.0)
    del made["standard_error"], made["interval"]
    path = written(tmp_path / "scores.json", {"segments": 100, **result(made)})
    tables = read_scores(str(path))
    assert tables.scores["standard_error"].to_pylist() == [None]
    assert tables.scores.column_names == read.scores.column_names[: tables.scores.num_columns]
    assert tables.comparisons.schema == read.comparisons.schema
    assert tables.comparisons.num_rows == 0


def test_a_damaged_comparison_is_an_error_that_names_the_file(tmp_path):
    path = tmp_path / "scores.json"
    for change in (
        {"units": None},
        {"difference": "1.0"},
        {"p_value": math.nan},
        {"interval": [0.0]},
        {"slice": {"domain": 3}},
    ):
        document = of_two_systems()
        document["comparisons"][0] |= change
        written(path, document)
        with pytest.raises(InputError, match=rf"{path} is not a result of beam-bleu, or it is dam"):
            read_scores(path)
    assert read_scores(written(path, of_two_systems())).comparisons.num_rows


def printed_table(*words: Any) -> pa.Table:
    run = called("table", *words)
    assert (run.code, run.err) == (0, "")
    return pq.read_table(io.BytesIO(run.out))


def test_the_table_for_databases_has_the_scores_the_presets_and_the_comparisons(
    read, document, folder
):
    rows = printed_table(folder)
    assert rows.schema == RESULT_COLUMNS
    for kind, expected in (("score", read.scores), ("comparison", read.comparisons)):
        names = [name for name in rows.column_names if name in expected.column_names]
        assert len(names) >= 10
        own = rows.filter(pa.array(found == kind for found in rows["kind"].to_pylist()))
        assert own.select(names).to_pylist() == expected.select(names).to_pylist()
        assert {*own["path"].to_pylist()} == {str(folder)}
        assert own["signature"].null_count == own["preset"].null_count - len(own) == 0
    presets = [row for row in rows.to_pylist() if row["kind"] == "preset"]
    shown = ("metric", "preset", "signature", "system", "score", "family")
    assert [tuple(row[name] for name in shown) for row in presets] == [
        (*(preset[name] for name in shown[:3]), row["system"], row["score"], "corpus")
        for preset in document["presets"]
        for row in preset["scores"]
    ]


def test_a_table_of_several_results_names_each_and_shows_means(tmp_path):
    mean = {**entry("a", 31.0), "languages": 2}
    del mean["slice"], mean["segments"]
    document = result(entry("a", 30.0, of_slice={"lp": "en-de"}), macro_average=[mean])
    for day in ("2026-11-20", "2026-11-21"):
        write_night(tmp_path / day, document | {"partition": day})
    rows = [
        (
            row["path"],
            row["partition_label"],
            row["family"],
            row["slice"],
            row["segments"],
            row["score"],
        )
        for row in printed_table(tmp_path).to_pylist()
    ]
    assert rows == [
        (str(tmp_path / day), day, *about)
        for day in ("2026-11-20", "2026-11-21")
        for about in (("slices", "lp=en-de", 100, 30.0), ("macro_average", None, 2, 31.0))
    ]
    (tmp_path / "2026-11-20" / "_SUCCESS").unlink()
    run = called("table", tmp_path)
    assert f"{tmp_path}/2026-11-20 is left out: there is no _SUCCESS" in run.err
    assert pq.read_table(io.BytesIO(run.out)).to_pylist()[0]["partition_label"] == "2026-11-21"
    (tmp_path / "2026-11-21" / "_SUCCESS").unlink()
    called("table", tmp_path).assert_failed(3, f"{tmp_path}/2026-11-20 has no _SUCCESS")
