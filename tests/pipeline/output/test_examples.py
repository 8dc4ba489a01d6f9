"""--examples: what is in its file and in distributions, against all segment scores."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import pytest
from command_line import called, write_lines
from example_corpus import (
    METRICS,
    NUMBER,
    SYSTEMS,
    Corpus,
    assert_first_ones,
    examples_file,
    examples_in,
    scores_of,
)

from beam_bleu.transforms.examples.example import CUT_MARK, MOST_CHARACTERS


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return Corpus(tmp_path_factory.mktemp("scored"))


def test_the_examples_are_the_first_ones_of_all_segment_scores(scored):
    assert scored.run.code == 0, scored.run.err
    assert_first_ones(scored.out, "second", NUMBER)
    order = [(entry["metric"], entry["system"], entry["kind"]) for entry in scored.examples]
    assert list(dict.fromkeys(order)) == [
        (metric, system, kind)
        for metric in METRICS
        for system in SYSTEMS
        for kind in ("best", "worst", "gain", "loss", "sample")
        if system != "second" or kind not in ("gain", "loss")
    ]
    samples: dict[tuple[str, str], list[int]] = {}
    for entry in scored.examples:
        if entry["baseline"] is not None:
            assert entry["difference"] == entry["score"] - entry["baseline_score"]
        else:
            assert (entry["difference"], entry["baseline_candidate"]) == (None, None)
        if entry["kind"] == "sample":
            samples.setdefault((entry["metric"], entry["system"]), []).append(entry["index"])
    assert len({tuple(sample) for sample in samples.values()}) == 1


def some_systems() -> list[str]:
    """Records of three systems; many segments lack the first one, which is the baseline."""
    draw = random.Random(2)
    return [
        json.dumps(
            {
                **{"id": f"id {number}", "system": system, "reference": "a b c d e f"},
                "hypothesis": " ".join(draw.choices("abcdef", k=6)),
            }
        )
        for number in range(60)
        for system in "abc"
        if system != "a" or number % 3
    ]


def forms(folder: Path) -> dict[str, list[Any]]:
    """Runs on other forms of input, whose first system is the baseline."""
    good = [f"line {i} of a text" for i in range(30)]
    bad = write_lines(folder / "bad.txt", [line.replace("of", "in") for line in good[1:]])
    bad.write_bytes(b"\xff\n" + bad.read_bytes())
    same = write_lines(folder / "same.txt", good)
    numbers = [
        json.dumps({"a_y": i % 5 / 7, "b_y": -i, "a_l": [-i / 9], "b_l": [-700.5 * (i % 9 == 1)]})
        for i in range(40)
    ]
    of_numbers = write_lines(folder / "numbers.jsonl", numbers)
    return {
        "rejected": [same, "-i", bad, same, "--on_bad_record=reject", "--max_rejected=1"],
        "numbers": [
            *(f"--input={of_numbers}", "--metrics", "mean:{system}_y", "perplexity"),
            "--logprob_column={system}_l",
        ],
        "systems of some segments": [
            f"--input={write_lines(folder / 'long.jsonl', some_systems())}",
            *("--id_column=id", "--system_column=system", "--candidate_columns=hypothesis"),
            *("--reference_columns=reference", "--coverage=each"),
        ],
    }


@pytest.mark.parametrize(
    "form",
    ["rejected", "numbers", "systems of some segments"],
)
def test_each_form_of_input_has_examples(form, tmp_path, out):
    asked = forms(tmp_path)[form]
    run = called(*asked, "--segment_scores", "--examples=4", "--format=json", "--output", out)
    assert run.code == 0, run.err
    document = run.document
    averages = document.get("macro_average", document["scores"])
    assert_first_ones(out, averages[0]["system"], 4)
    entries = examples_in(out)
    assert (form == "numbers") == all(entry["candidate"] is None for entry in entries)
    assert (form == "systems of some segments") == all(entry["id"] is not None for entry in entries)
    if form == "rejected":
        assert 0 not in {entry["index"] for entry in entries}


def test_examples_have_the_texts_of_their_segments(scored):
    def shown(text: str) -> str:
        return text if len(text) <= MOST_CHARACTERS else text[:MOST_CHARACTERS] + CUT_MARK

    keys = [
        *("kind", "metric", "system", "baseline", "index", "id", "score", "baseline_score"),
        *("difference", "candidate", "baseline_candidate", "references", "labels", "kept"),
    ]
    for entry in scored.examples:
        assert list(entry) == keys
        number = entry["index"]
        candidates = dict(zip(SYSTEMS, scored.texts, strict=False))
        assert entry["candidate"] == shown(candidates[entry["system"]][number])
        if entry["baseline"] is not None:
            assert entry["baseline_candidate"] == shown(candidates["second"][number])
        assert entry["references"] == [shown(text[number]) for text in scored.texts[3:]]
        assert entry["labels"] == {"domain": scored.domains[number]}
    lines = examples_file(scored.out).read_bytes()
    assert all(byte >= 0x20 or byte == 0x0A for byte in lines)
    assert "\u202e" not in lines.decode()
    assert CUT_MARK in lines.decode()


def test_the_distributions_have_every_score_and_the_manifest_names_the_file(scored):
    document = scored.run.document
    scores = scores_of(scored.out)
    listed = [(entry["metric"], entry["system"]) for entry in document["distributions"]]
    assert listed == [(metric, system) for metric in METRICS for system in SYSTEMS]
    for entry in document["distributions"]:
        of_system = scores[entry["metric"], entry["system"]]
        assert sum(entry["counts"]) == len(of_system)
        assert len(entry["edges"]) == len(entry["counts"]) + 1
        if entry["metric"] != "ter":
            assert entry["edges"] == [float(edge) for edge in range(0, 101, 4)]
            assert entry["counts"][0] == sum(score < 4 for score in of_system.values())
    manifest = json.loads((scored.out / "manifest.json").read_bytes())
    content = examples_file(scored.out).read_bytes()
    assert manifest["examples"] == {
        "number": NUMBER,
        "sha256": hashlib.sha256(content).hexdigest(),
    }
