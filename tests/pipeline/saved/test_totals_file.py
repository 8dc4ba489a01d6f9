"""totals.json: its format, and files that are damaged, of other versions or of other programs."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_line import EXAMPLE, PROJECT, called
from jsonschema import Draft202012Validator
from saved_parts import lines_in, run_into

from beam_bleu.pipeline.saved import json_arrays
from beam_bleu.pipeline.saved.totals_file import read_totals, sha256_of, totals_bytes, totals_of
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.metrics.bleu.columns import (
    CANDIDATE_LENGTH,
    CLOSEST,
    FIRST_MATCHES,
    first_short,
)

SCHEMA = json.loads((PROJECT / "docs" / "totals.schema.json").read_text())


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    out: Path = tmp_path_factory.mktemp("out")
    flags = ("--slice_by=domain,length", "--compare_presets", "--segment_scores")
    flags += ("--resample=bootstrap", "--resamples=20")
    run_into(out, *lines_in(out / "texts", slice(None), *flags))
    return out


@pytest.fixture(scope="module")
def data(folder) -> bytes:
    return (folder / "totals.json").read_bytes()


def test_it_follows_its_schema(data):
    validator = Draft202012Validator(SCHEMA)
    validator.validate(json.loads(data))


def test_it_is_read_as_it_was_written(folder, data):
    saved = read_totals(str(folder / "totals.json"))
    scores = (folder / "scores.json").read_bytes()
    assert totals_bytes(saved, scores) == data
    (metric,) = json.loads(data)["content"]["definition"]["metrics"]
    assert metric["signature"] == saved.document["metrics"][0]["signature"]


def test_the_digest_does_not_depend_on_the_layout(data):
    found = json.loads(data)
    assert sha256_of(found["content"]) == found["sha256"]
    pretty = json.dumps(found, indent=2, sort_keys=True).encode()
    assert totals_of(pretty, "x").document == totals_of(data, "x").document


def changed(data: bytes, **fields: Any) -> bytes:
    return json.dumps({**json.loads(data), **fields}).encode()


def with_content(data: bytes, **fields: Any) -> bytes:
    """A file of another program, whose digest is right."""
    content = {**json.loads(data)["content"], **fields}
    return changed(data, content=content, sha256=sha256_of(content))


BAD = {
    "truncated": (lambda data: data[: len(data) // 2], "it ends in the middle"),
    "empty": (lambda data: b"", "it is not JSON"),
    "a list": (lambda data: b"[]", "not a totals.json"),
    "another file": (lambda data: b'{"scores": []}', "it is a scores.json"),
    "one digit": (lambda data: data.replace(b'"read":72', b'"read":73'), "is damaged"),
    "no content": (lambda data: changed(data, content=None), "is damaged"),
    "a later version": (lambda data: changed(data, version=4), "version 4 of the format"),
    "no version": (lambda data: changed(data, version=None), "version None of the format"),
    "a foreign content": (lambda data: with_content(data, tally=3), "does not have the content"),
    "NaN": (lambda data: data.replace(b'"read":72', b'"read":NaN'), "it is not JSON"),
    "a wrong name": (lambda data: with_content(data, metrics=[{}]), "does not have the content"),
}


def edited(data: bytes, edit: Callable[[Any], object]) -> bytes:
    """A file whose content is changed in place, and whose digest is right."""
    content = json.loads(data)["content"]
    edit(content)
    return with_content(data, **content)


def inputs(content: Any) -> Any:
    """The inputs of the first partition."""
    return content["partitions"][0]["inputs"]


def one_more(values: Any, place: Any = 0, by: int = 1) -> None:
    """Adds 1, or another number, to a number of a list or of an object."""
    values[place] += by


def in_array(part: str, name: str) -> Callable[[Any], object]:
    """Adds 1 to the first number of an array."""
    return lambda all: one_more(bleu(all)[part][name]["values"])


def bleu(content: Any) -> Any:
    """What was added up for the only metric."""
    return content["metrics"][0]


def defined(content: Any) -> Any:
    """The definition of the only metric."""
    return content["definition"]["metrics"][0]


def atlas(content: Any) -> Any:
    """The sums of a system."""
    return bleu(content)["sums"][0]["systems"]["atlas"]


EDITS: dict[str, Callable[[Any], object]] = {
    "a negative number": lambda all: atlas(all)["columns"].__setitem__(FIRST_MATCHES, -5),
    "a fraction": lambda all: atlas(all)["columns"].__setitem__(FIRST_MATCHES, 1.5),
    "a float": lambda all: atlas(all)["columns"].__setitem__(0, 72.0),
    "a text": lambda all: atlas(all)["columns"].__setitem__(FIRST_MATCHES, "9"),
    "null": lambda all: atlas(all)["columns"].__setitem__(FIRST_MATCHES, None),
    "a bool": lambda all: atlas(all)["signs"].__setitem__("tokenized", False),
    "a column less": lambda all: atlas(all)["columns"].pop(),
    "no metric": lambda all: all.__setitem__("metrics", []),
    "an unknown metric": lambda all: bleu(all).__setitem__("metric", "x"),
    "another metric": lambda all: bleu(all).__setitem__("metric", "chrf"),
    "a metric twice": lambda all: all["metrics"].append(bleu(all)),
    "no sums": lambda all: bleu(all).__setitem__("sums", []),
    "an empty input": lambda all: all["partitions"][0].__setitem__("inputs", [{}]),
    "an input with other lines": lambda all: all["partitions"][0]["inputs"][0].update(lines="72"),
    "a list as a label": lambda all: all["partitions"][0].__setitem__("label", [1]),
    "no partition": lambda all: all.__setitem__("partitions", []),
    "no moments": lambda all: bleu(all).__setitem__("moments", None),
    "no slices": lambda all: bleu(all).__setitem__("slices", None),
    "no replicates": lambda all: bleu(all).__setitem__("replicates", None),
    "fewer replicates": lambda all: all["evidence"]["resampling"].update(resamples=19),
    "a system twice": lambda all: all["systems"].append("atlas"),
    "another system": lambda all: all.__setitem__("systems", ["atlas", "birch", "X"]),
    "no system": lambda all: all.__setitem__("systems", []),
    "an unknown field": lambda all: all.__setitem__("more", 1),
    "an unknown field of sums": lambda all: atlas(all).__setitem__("more", 1),
    "a fraction in an array": lambda all: bleu(all)["moments"]["own_sums"]["values"].__setitem__(
        0, 1.5
    ),
    "a text in an array": lambda all: bleu(all)["moments"]["own_sums"]["values"].__setitem__(
        0, "72"
    ),
    "an array of another shape": lambda all: bleu(all)["moments"]["own_units"]["shape"].reverse(),
    "a negative number in slices": lambda all: bleu(all)["slices"]["sums"]["values"].__setitem__(
        0, -1
    ),
    "another program": lambda all: all.__setitem__("program", 3),
    "another signature": lambda all: defined(all).__setitem__("signature", 3),
    "a tally of texts": lambda all: all["tally"].__setitem__("read", "72"),
    "a warning that is a number": lambda all: all.__setitem__("warnings", [3]),
    "an unknown label of languages": lambda all: all["definition"].__setitem__("languages", "x"),
    "an unknown tokenizer": lambda all: defined(all)["text"].__setitem__("tokenize", "x"),
    "a preset of another name": lambda all: defined(all)["presets"][0].update(name="x"),
    "another preset": lambda all: defined(all)["presets"][0]["scoring"].update(
        smooth_method="floor"
    ),
    "a slice of no item": lambda all: bleu(all)["slices"]["keys"][0].__setitem__(0, 7),
    "a slice that is a number": lambda all: bleu(all)["slices"]["keys"][0].__setitem__(1, 7),
    "an input with another field": lambda all: inputs(all)[0].update(more=1),
    "an input without a digest": lambda all: inputs(all)[0].update(digest="x"),
    "a case that is a number": lambda all: bleu(all)["sums"][0]["text"].update(lowercase=0),
    "a seed that is true": lambda all: all["evidence"]["resampling"].update(seed=True),
    "moments that are not asked for": lambda all: all["evidence"].update(uncertainty=False),
    "an unknown baseline": lambda all: all["evidence"].__setitem__("baseline", "X"),
}
"""Contents that no run writes. The sums are all possible as JSON."""


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_an_impossible_content_is_named(edit, data, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(edited(data, edit))
    assert path.read_bytes() != data
    for words in (["merge", path], ["gate", path, "--fail_under=1"]):
        called(*words).assert_failed(3, str(path), "does not have the content of version 3")


CONTRADICTIONS: dict[str, Callable[[Any], object]] = {
    "a huge number": lambda all: atlas(all)["columns"].__setitem__(FIRST_MATCHES, 10**30),
    "a match less": lambda all: one_more(atlas(all)["columns"], FIRST_MATCHES, -1),
    "a segment more": lambda all: all["tally"]["scored"].update(atlas=73),
    "no segment was read": lambda all: all["tally"].update(read=0),
    "a segment is missing": lambda all: all["tally"].update(missing={"atlas": 1}),
    "a bad record": lambda all: all["tally"].update(bad_records=1),
    "a rejected record": lambda all: all["rejected"].update(x=1),
    "a line more": lambda all: one_more(inputs(all)[0], "lines"),
    "a line more in the file, too": lambda all: (
        one_more(inputs(all)[0], "lines"),
        one_more(inputs(all)[0]["files"][0], "lines"),
    ),
    "longer candidates than their file": lambda all: atlas(all).update(candidate_bytes=10**6),
    "other references for one system": lambda all: one_more(atlas(all), "reference_bytes"),
    "a token more": lambda all: one_more(atlas(all)["columns"], CANDIDATE_LENGTH),
    "a short candidate more": lambda all: one_more(atlas(all)["columns"], first_short(4)),
    "longer references than the longest": lambda all: one_more(atlas(all)["columns"], CLOSEST),
    "another signature": lambda all: defined(all).update(signature="x"),
    "another smoothing": lambda all: defined(all)["scoring"].update(smooth_method="none"),
    "another range of lengths": lambda all: all["definition"]["slicing"].update(
        length_edges=[1, 2, 3, 4, 5]
    ),
    **{
        f"one more: {part}, {name}": in_array(part, name)
        for part, names in (
            ("slices", ("sums", "by_reference")),
            (
                "moments",
                (
                    *("own_units", "own_sums", "own_products"),
                    *("common_units", "common_sums", "common_products"),
                    *("cross_products", "slice_cross_products"),
                ),
            ),
            ("replicates", ("sums", "unweighted")),
        )
        for name in names
    },
    "a token more in slices": lambda all: bleu(all)["slices"]["sums"]["values"].__setitem__(
        0, bleu(all)["slices"]["sums"]["values"][0] + 1
    ),
}


@pytest.mark.parametrize("edit", CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_sums_that_contradict_each_other_are_those_of_a_file(edit, data, folder, tmp_path):
    path, good = tmp_path / "bad.json", tmp_path / "good.json"
    path.write_bytes(edited(data, lambda all: (edit(all), relabel(all, "bad"))))
    good.write_bytes(edited(data, lambda all: relabel(all, "good")))
    for words in (
        ["merge", path],
        ["merge", good, path],
        ["rescore", path, "-s=floor"],
        ["compare", good, path],
        ["gate", path, "--fail_under=1"],
    ):
        run = called(*words, "-q")
        run.assert_failed(3, f"{path}: its sums contradict each other", "cannot be right")
        assert "runner" not in run.err


def relabel(content: Any, label: str) -> None:
    content["partitions"][0]["label"] = label


@pytest.mark.parametrize(("spoil", "cause"), BAD.values(), ids=BAD)
def test_a_bad_file_is_named(spoil, cause, data, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(spoil(data))
    called("merge", path).assert_failed(3, str(path), cause)


def test_a_folder_stands_for_its_file(folder):
    assert (
        called("merge", folder, "--format=json", "-q").out == (folder / "scores.json").read_bytes()
    )


def test_a_missing_file_is_named(tmp_path):
    called("merge", tmp_path / "none.json").assert_failed(3, "none.json", "No such file")


def test_tokens_of_other_libraries_are_refused(folder, tmp_path):
    saved = read_totals(str(folder / "totals.json"))
    other = dataclasses.replace(saved, versions={"unicode": "3.0"})
    path = tmp_path / "other.json"
    path.write_bytes(totals_bytes(other, b""))
    with pytest.raises(InputError, match=r"made with unicode 3\.0"):
        read_totals(str(path))


@pytest.mark.parametrize("largest", [7, 2**63 - 1, 2**70])
def test_arrays_are_exact(largest):
    array = np.zeros((2, 3, 4), object if largest >= 2**63 else np.int64)
    array[:] = 0
    array[1, 2, 3], array[0, 0, 1] = largest, 5
    for axes in (1, 2, 3):
        found = json.loads(json.dumps(json_arrays.encoded(array, axes)))
        again = json_arrays.decoded(found, axes)
        assert again.dtype == array.dtype
        assert (again == array).all()
    assert json_arrays.encoded(array)["columns"] == [1, 3]


def test_an_empty_array():
    empty = np.zeros((0, 3, 5), np.int64)
    assert json_arrays.decoded(json_arrays.encoded(empty, 2), 2).shape == (0, 3, 5)


def test_it_needs_a_folder():
    called(*EXAMPLE, "--save_totals").assert_failed(2, "--save_totals needs --output")


def test_a_run_without_the_flag_removes_the_old_one(folder, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(folder, out)
    run = called(
        out / "texts" / "ref.txt", "-i", out / "texts" / "atlas.txt", "--output", out, "--quiet"
    )
    assert run.code == 0, run.err
    assert not (out / "totals.json").exists()
    assert (out / "_SUCCESS").exists()


def test_signatures_of_other_versions_are_no_contradiction(tmp_path):
    run_into(tmp_path / "out", *lines_in(tmp_path, slice(None), "--tokenize=intl"))
    data = (tmp_path / "out" / "totals.json").read_bytes()
    path = tmp_path / "other.json"
    path.write_bytes(
        edited(
            data,
            lambda all: (
                defined(all).update(signature="x"),
                all["definition"].update(versions={"unicode": "3"}),
            ),
        )
    )
    called("merge", path).assert_failed(3, "made with unicode 3")
    path.write_bytes(edited(data, lambda all: defined(all).update(signature="x")))
    called("merge", path).assert_failed(3, "definition: signature cannot be right")
