"""--confusions: the file has the most frequent edits of all parts of a corpus, by exact counts."""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import jiwer
import pytest
from command_line import called, write_lines

from beam_bleu.pipeline.report.figures import confusions

KINDS = {"substitute": "substitution", "delete": "deletion", "insert": "insertion"}


def edits(reference: str, candidate: str) -> Iterator[tuple[str, str | None, str | None]]:
    output = jiwer.process_words(reference, candidate)
    left, right = reference.split(), candidate.split()
    for chunk in output.alignments[0]:
        kind = KINDS.get(chunk.type)
        if kind is None:
            continue
        words = left[chunk.ref_start_idx : chunk.ref_end_idx]
        others = right[chunk.hyp_start_idx : chunk.hyp_end_idx]
        for place in range(max(len(words), len(others))):
            yield kind, words[place] if words else None, others[place] if others else None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, rng = tmp_path_factory.mktemp("texts"), random.Random(5)
    for name in ("ref", "one", "two"):
        lines = [" ".join(rng.choices("abcd\u00e9", k=rng.randrange(1, 9))) for _ in range(300)]
        write_lines(folder / f"{name}.txt", lines)
    return folder


def test_the_most_frequent_edits_of_each_kind(folder: Path) -> None:
    files = [folder / f"{name}.txt" for name in ("ref", "one", "two")]
    out = folder / "out"
    flags = ["-m", "bleu", "wer", "--range_bytes=400", "--confusions=4", "--output", out]
    run = called(files[0], "-i", *files[1:], *flags, "--format=json")
    data = (out / "confusions.jsonl").read_bytes()
    expected = []
    texts = {file.stem: file.read_text().splitlines() for file in files}
    scores = {score["system"]: score for score in run.document["scores"]}
    for system in ("one", "two"):
        counted = Counter(
            edit for pair in zip(texts["ref"], texts[system], strict=True) for edit in edits(*pair)
        )
        for kind in KINDS.values():
            own = [(-times, *map(str, edit[1:]), edit) for edit, times in counted.items()]
            rows = sorted(row for row in own if row[3][0] == kind)
            assert -sum(row[0] for row in rows) == scores[system][f"{kind}s"]
            expected += [
                {
                    **{"metric": "wer", "system": system, "edit": kind, "times": -row[0]},
                    **{"reference": row[3][1], "candidate": row[3][2]},
                }
                for row in rows[:4]
            ]
    assert [json.loads(line) for line in data.splitlines()] == expected
    manifest = json.loads((out / "manifest.json").read_bytes())
    digest = hashlib.sha256(data).hexdigest()
    assert manifest["confusions"] == {"number": 4, "sha256": digest}
    figures = [*confusions(expected, {"wer": "WER"})]
    assert [figure.title for figure in figures] == [
        f"What {system} confuses most often, by WER" for system in ("one", "two")
    ]
    assert [(len(table.rows), *table.header) for table in figures[0].tables] == [
        (4, "in the reference", "in the candidate", "times"),
        (4, "in the reference", "times"),
        (4, "in the candidate", "times"),
    ]


def test_without_them_the_file_of_an_earlier_run_goes(folder: Path) -> None:
    out = folder / "again"
    line = [folder / "ref.txt", "-i", folder / "ref.txt", "-m", "cer", "--output", out]
    assert called(*line, "--confusions=1").code == 0
    assert (out / "confusions.jsonl").read_bytes() == b""
    kept = called(*line, "--confusions=1", "--if_exists=skip")
    assert "already has the result" in kept.err
    called(*line, "--if_exists=skip").assert_failed(2, "only there: confusions = 1")
    assert called(*line).code == 0
    assert not (out / "confusions.jsonl").exists()
