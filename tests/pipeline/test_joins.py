"""Joins by ids and long records: what a user sees, against sacreBLEU on the same texts."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from command_line import EXAMPLES, Run, called, read_lines, write_records
from sacrebleu.metrics import BLEU

from beam_bleu.transforms.pairing.records.joins import join_sources, rows

NAMES = ["atlas", "birch", "cobalt"]
REFERENCES = read_lines(EXAMPLES / "references" / "a.txt")
SYSTEMS = {name: read_lines(EXAMPLES / "systems" / f"{name}.txt") for name in NAMES}
COUNT = len(REFERENCES)

Record = dict[str, Any]


def references() -> list[Record]:
    return [
        {"id": f"s{i}", "ref": text, "domain": ["news", "talk"][i % 2]}
        for i, text in enumerate(REFERENCES)
    ]


def candidates(name: str, rows: Sequence[int] = range(COUNT)) -> list[Record]:
    return [{"id": f"s{i}", "hyp": SYSTEMS[name][i]} for i in rows]


def long_records(rows: dict[str, Sequence[int]]) -> list[Record]:
    return [
        {"id": i, "system": name, "ref": REFERENCES[i], "hyp": SYSTEMS[name][i]}
        for name, of_system in rows.items()
        for i in of_system
    ]


def joined(folder: Path, systems: dict[str, Sequence[Record]], *flags: str) -> Run:
    """Joins records of systems with the references."""
    path = write_records(folder / "references.jsonl", references())
    named = [
        f"{name}={write_records(folder / f'{name}.jsonl', of)}" for name, of in systems.items()
    ]
    arguments = [f"--candidates={each}" for each in named]
    return called(*arguments, f"--references={path}", "--join_on=id", "--format=json", *flags)


def long(folder: Path, records: Sequence[Record], *flags: str) -> Run:
    path = write_records(folder / "long.jsonl", records)
    columns = ["--system_column=system", "--id_column=id"]
    return called(f"--input={path}", *columns, "--format=json", *flags)


def score(name: str, rows: Sequence[int]) -> float:
    references = [[REFERENCES[i] for i in rows]]
    return float(BLEU().corpus_score([SYSTEMS[name][i] for i in rows], references).score)


WITHOUT = {
    "atlas": range(COUNT),
    "birch": [i for i in range(COUNT) if i not in (3, 7)],  # what all systems have
    "cobalt": [i for i in range(COUNT) if i != 7],
}


def test_coverage_each_scores_each_system_on_what_it_has(tmp_path):
    run = long(tmp_path, long_records(WITHOUT), "--coverage=each")
    document = run.document
    assert [each["score"] for each in document["scores"]] == [
        score(name, rows) for name, rows in WITHOUT.items()
    ]
    assert [each["segments"] for each in document["scores"]] == [COUNT, COUNT - 2, COUNT - 1]
    missing = [("atlas", 0), ("birch", 2), ("cobalt", 1)]
    systems = [{"system": name, "missing": count, "unknown": 0} for name, count in missing]
    assert document["coverage"] == {"rule": "each", "segments": COUNT, "systems": systems}
    assert f"candidates birch: 2 of {COUNT} segments are missing" in run.err


def test_coverage_common_does_not_depend_on_order_files_or_partitions(tmp_path, monkeypatch):
    flags = ["--coverage=common", "--slice_by=domain", f"--output={tmp_path / 'out'}"]
    of_systems = {name: candidates(name, rows) for name, rows in WITHOUT.items()}
    usual = joined(tmp_path / "usual", of_systems, *flags)
    scores = [each for each in usual.document["scores"] if each["slice"] is None]
    assert [each["score"] for each in scores] == [score(name, WITHOUT["birch"]) for name in NAMES]
    assert f"2 of {COUNT} segments are left out for all systems" in usual.err
    draw = random.Random(2)
    arguments = []
    for name, records in of_systems.items():
        draw.shuffle(records)
        for shard in range(3):
            write_records(tmp_path / "other" / f"{name}-{shard}.jsonl", records[shard::3])
        arguments.append(f"--candidates={name}={tmp_path / 'other' / f'{name}-*.jsonl'}")
    shuffled = references()
    draw.shuffle(shuffled)
    path = write_records(tmp_path / "other" / "references.jsonl", shuffled)
    monkeypatch.setattr(join_sources, "_BUCKET_BYTES", 500)
    monkeypatch.setattr(join_sources, "_MESSAGE_BYTES", 1000)
    # As on an engine: the messages themselves go through the shuffle.
    monkeypatch.setattr(join_sources, "kept", lambda _, messages: messages)
    monkeypatch.setattr(join_sources, "taken", lambda _, sent: sent)
    arguments += [f"--references={path}", "--join_on=id", "--format=json", "--range_bytes=700"]
    assert called(*arguments, *flags).out == usual.out


def test_the_default_is_strict_and_says_which_segments_are_missing(tmp_path):
    of_systems = {name: candidates(name, rows) for name, rows in WITHOUT.items()}
    of_systems["atlas"].append({"id": "s999", "hyp": "what is this"})
    run = joined(tmp_path, of_systems)
    run.assert_failed(
        3,
        "candidates atlas: records with an id that references do not have: 1",
        '(ids "s999"): ',
        f"atlas.jsonl line {COUNT + 1}",
        f'candidates birch: missing segments: 2 of {COUNT} (ids "s3", "s7")',
        f'candidates cobalt: missing segments: 1 of {COUNT} (ids "s7")',
        "--coverage common",
    )


def test_an_id_that_is_twice_is_named_with_both_places(tmp_path):
    records = [*candidates("atlas"), *candidates("atlas", [4, 2])]
    run = joined(tmp_path, {"atlas": records}, "--coverage=each")
    run.assert_failed(
        3,
        'candidates atlas: ids that occur several times: 2 (ids "s2", "s4"): ',
        f"atlas.jsonl line 3, {tmp_path}/atlas.jsonl line {COUNT + 2}",
    )


REJECT = ["--on_bad_record=reject", "--max_rejected=1"]


def rejected_in(folder: Path) -> Record:
    (file,) = folder.glob("**/rejected-*.jsonl")
    (line,) = file.read_text().splitlines()
    return json.loads(line)


def test_a_bad_record_is_named_or_rejected(tmp_path):
    records = candidates("atlas")
    systems = {"atlas": records, "birch": candidates("birch")}
    records[3] = {"id": "s3", "hyp": None}
    said = "candidates atlas: line 4 has no candidate in the column hyp"
    joined(tmp_path, systems).assert_failed(3, said)
    run = joined(tmp_path, systems, *REJECT, f"--output={tmp_path / 'out'}")
    rows = [i for i in range(COUNT) if i != 3]
    scores = [each["score"] for each in run.document["scores"]]
    assert scores == [score(name, rows) for name in systems]
    assert rejected_in(tmp_path / "out")["position"] == "line 4"
    records[3] = {"id": None, "hyp": "x"}
    joined(tmp_path, systems).assert_failed(3, "candidates atlas: line 4 has no id")
    # Nobody knows which segment it belongs to.
    run = joined(tmp_path, systems, *REJECT, f"--output={tmp_path / 'other'}")
    run.assert_failed(3, f"candidates atlas: missing segments: 1 of {COUNT}")


def test_a_rejected_long_record_rejects_its_segment_for_all_systems(tmp_path):
    records = long_records({"atlas": range(COUNT), "birch": range(COUNT)})
    records[COUNT + 4]["ref"] = None
    run = long(tmp_path, records, *REJECT, f"--output={tmp_path / 'out'}")
    rows = [i for i in range(COUNT) if i != 4]
    scores = [each["score"] for each in run.document["scores"]]
    assert scores == [score(name, rows) for name in ("atlas", "birch")]
    assert rejected_in(tmp_path / "out")["position"] == f"line {COUNT + 5}"
    records[3]["system"] = "\u00a0"
    long(tmp_path, records).assert_failed(3, "line 4 has no system", "the name of the system")


def test_a_column_of_ids_is_not_one_of_systems(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, "MOST_SYSTEMS", 10)
    records = [{"id": i, "system": f"s{i}", "ref": "a", "hyp": "a"} for i in range(30)]
    long(tmp_path, records).assert_failed(
        3, "the column system names more than 10 systems: s0, s1, s2 and"
    )


def test_a_system_without_any_segment_is_an_error(tmp_path):
    strangers = [{"id": "x1", "hyp": "a"}, {"id": "x2", "hyp": "a"}]
    of_systems = {"atlas": candidates("atlas"), "other": strangers}
    run = joined(tmp_path, of_systems, "--coverage=each")
    run.assert_failed(3, f"candidates other: none of the {COUNT} segments can be scored")


def test_rows_leave_no_temporary_files(tmp_path, monkeypatch):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert joined(tmp_path, {"atlas": candidates("atlas")}).code == 0
    assert joined(tmp_path, {"atlas": candidates("atlas", [1, 2])}).code == 3
    assert list(temporary.iterdir()) == []


def test_a_condition_must_have_a_column_in_one_stream(tmp_path):
    run = joined(tmp_path, {"atlas": candidates("atlas")}, "--where=lang=en")
    run.assert_failed(3, "no file of the join has the column lang (--where)")


def test_expected_segments_are_those_of_the_input_before_conditions(tmp_path):
    flags = [f"--expect_segments={COUNT}", *REJECT, f"--output={tmp_path / 'out'}"]
    rows = candidates("atlas")
    rows[1]["hyp"] = None
    run = joined(tmp_path, {"atlas": rows}, "--where=domain=talk", *flags)
    counters = run.document["counters"]
    assert counters["read"] == COUNT
    assert counters["filtered"] == COUNT // 2
    assert counters["rejected"] == 1
    assert f"1 of {COUNT} segments " in run.err


def with_column(name: str, column: str, values: Sequence[object]) -> list[Record]:
    """The records of a system, with another column."""
    return [
        {**record, column: value} for record, value in zip(candidates(name), values, strict=True)
    ]


def test_equal_ids_of_different_documents_end_the_run(tmp_path):
    """Two checkpoints with other pages under the same ids were "better, p < 0.001"."""
    changed = ["another text" if i in (3, 7) else text for i, text in enumerate(REFERENCES)]

    def systems(column: str, texts: Sequence[object]) -> dict[str, list[Record]]:
        birch = with_column("birch", column, texts)[::-1]
        return {"atlas": with_column("atlas", column, REFERENCES), "birch": birch}

    said = f"2 of {COUNT} segments with the same id have a different"
    joined(tmp_path, systems("source", changed)).assert_failed(
        3, f'candidates atlas and candidates birch: {said} source: "s3", "s7"'
    )
    of_references = f'references and candidates birch: {said} ref: "s3", "s7"'
    run = joined(tmp_path, systems("ref", changed))
    run.assert_failed(3, of_references, "add --allow")
    allowed = joined(tmp_path, systems("ref", changed), "--allow=other-documents").document
    assert allowed["warnings"][0].startswith(of_references)
    right = joined(tmp_path, systems("ref", REFERENCES)).document
    assert allowed["scores"] == right["scores"]
    assert right["warnings"] == allowed["warnings"][1:]  # without a mismatch, nothing is said
    # The first record has a text, so that it is a column of texts; numbers are not compared.
    numbers = systems("source", [REFERENCES[0], *range(1, COUNT)])
    assert joined(tmp_path, numbers).document["warnings"] == right["warnings"]
