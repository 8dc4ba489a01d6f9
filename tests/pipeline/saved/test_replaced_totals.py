"""totals.json and examples.jsonl are always of the same run as the scores.json beside them."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from command_line import EXAMPLE, called
from result_folder import documents

from beam_bleu.pipeline.output import storage
from beam_bleu.pipeline.output.file_names import (
    BESIDE_SCORES,
    EXAMPLES,
    FIRST_BYTES_OF_EXAMPLES,
    FIRST_BYTES_OF_TOTALS,
    MANIFEST,
    SCORES,
    TOTALS,
)
from beam_bleu.pipeline.output.output_folder import former_folder
from beam_bleu.pipeline.output.publication import in_place, prepare, write_documents


def with_totals(run: str) -> dict[str, bytes]:
    """The documents of a run with saved totals."""
    found = documents(run)
    sha256 = hashlib.sha256(found[SCORES]).hexdigest()
    return {**found, TOTALS: FIRST_BYTES_OF_TOTALS + f',\n"scores_sha256": "{sha256}"}}'.encode()}


def with_examples(run: str) -> dict[str, bytes]:
    """The same with examples."""
    found = with_totals(run)
    content = FIRST_BYTES_OF_EXAMPLES + f'best", "system": "{run}"}}\n'.encode()
    named = {"number": 1, "sha256": hashlib.sha256(content).hexdigest()}
    manifest = json.dumps({**json.loads(found[MANIFEST]), "examples": named}).encode()
    return {**found, MANIFEST: manifest, EXAMPLES: content}


def published(out: Path, run: str, of_run: dict[str, bytes]) -> None:
    prepare(str(out), asked=False)
    with in_place(str(out), run, (), of_run):
        write_documents(str(out), of_run)


def found_in(out: Path) -> dict[str, bytes]:
    names = (MANIFEST, SCORES, TOTALS, EXAMPLES)
    return {name: (out / name).read_bytes() for name in names if (out / name).exists()}


def fail_before_scores(out: Path, run: str, of_run: dict[str, bytes]) -> None:
    with in_place(str(out), run, (), of_run):
        for name in BESIDE_SCORES:
            (out / name).write_bytes(of_run[name])
        raise OSError("full")


BEFORE = {
    "without totals": documents("one"),
    "with totals": with_totals("one"),
    "with examples": with_examples("one"),
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
@pytest.mark.parametrize("after", [documents("two"), with_totals("two"), with_examples("two")])
def test_a_run_replaces_the_documents_of_the_run_before(before, after, out):
    published(out, "one", before)
    published(out, "two", after)
    assert found_in(out) == after


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_a_run_that_fails_before_its_scores_leaves_the_documents_before(before, out):
    published(out, "one", before)
    with pytest.raises(OSError, match="full"):
        fail_before_scores(out, "two", with_examples("two"))
    assert found_in(out) == before


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_a_killed_run_leaves_no_documents_beside_other_scores(before, out):
    published(out, "one", before)
    moved = [name for name in BESIDE_SCORES if name in before]
    storage.move(moved, str(out), former_folder(str(out), "two"))
    new = with_examples("two")
    for name in BESIDE_SCORES:
        (out / name).write_bytes(new[name])
    prepare(str(out), asked=False)
    assert found_in(out) == before


def test_another_programs_totals_stay(out):
    out.mkdir()
    (out / TOTALS).write_text('{"total": 3}')
    run = called(*EXAMPLE, "--output", out)
    run.assert_failed(1, "totals.json")
    assert (out / TOTALS).read_text() == '{"total": 3}'
