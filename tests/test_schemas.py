"""What the program writes follows the schemas in docs/, and they describe each score."""

from __future__ import annotations

import itertools
import json

import pytest
from command_line import EXAMPLE, EXAMPLES, PROJECT, called, streams, write_lines
from jsonschema import Draft202012Validator

import beam_bleu.pipeline.graph
from beam_bleu.transforms.known_metrics import METRICS_OF_TEXTS

SCHEMAS = {
    name: json.loads((PROJECT / "docs" / f"{file}.schema.json").read_text())
    for name, file in (("document", "scores"), ("manifest", "manifest"), ("run", "run"))
}
"""The schema of each document, by the name that the page gives to the document."""

LANGUAGES = EXAMPLES / "languages"


def result(folder, *arguments):
    """The document of a run that must succeed."""
    run = called(*arguments, "--format=json", "--output", folder)
    assert run.code == 0, run.err
    assert (folder / "scores.json").read_bytes() == run.out
    return run.document


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """Documents of every form, with the folders that they are in."""
    folder = tmp_path_factory.mktemp("texts")
    lines = [f"the cat sat on mat {i}" for i in range(12)]
    same = write_lines(folder / "same.txt", lines)
    empty = write_lines(folder / "empty.txt", [""] * 12)
    other = write_lines(folder / "größe.txt", [f"a dog ran {i}" for i in range(12)])
    bad = folder / "bad.txt"
    bad.write_bytes(same.read_bytes().replace(b"mat 3\n", b"mat \xff\n"))
    for name, missing in (("one", 1), ("two", 2), ("references", 3)):
        records = [{"id": i, "hyp": line, "ref": line} for i, line in enumerate(lines)]
        del records[missing]
        write_lines(folder / f"{name}.jsonl", [json.dumps(each) for each in records])
    for task in ("one", "two"):
        samples = [{"filtered_resps": [line], "target": line, "filter": "none"} for line in lines]
        write_lines(folder / f"samples_{task}.jsonl", [json.dumps(each) for each in samples])
    numbers = [
        json.dumps(
            {
                **{"domain": "ab"[i % 2], "a_y": i / 7, "a_z": -i, "b_y": 1, "b_z": i**2},
                **{"l_y": [-i / 9, -2.5], "l_z": [-0.25] * (i + 1), "text": line * i},
            }
        )
        for i, line in enumerate([*lines, *lines, *lines])
    ]
    runs = {
        "all that can be asked for": [
            *EXAMPLE,
            *("--compare_presets=all", "--segment_scores", "--segment_smooth_method=nltk-method6"),
            *("--compare=all", "--resample=bootstrap", "--resamples=50", "--partition=2026"),
            "--examples=3",
        ],
        "too few for a bootstrap": [
            *streams([same, other, empty], [same], "--compare=all"),
            *("--resample=bootstrap", "--resamples=50"),
        ],
        "averages without tokens": streams(
            [same], [empty], "--reference_length=average", "--segment_scores"
        ),
        "rejected": streams([bad], [same], "--on_bad_record=reject", "--max_rejected=1"),
        "joined": [
            *streams([folder / "one.jsonl", folder / "two.jsonl"], []),
            *streams([], [folder / "references.jsonl", folder / "one.jsonl"]),
            *("--join_on=id", "--coverage=common"),
        ],
        "several metrics": [
            *(*EXAMPLE, "--metrics", *reversed(METRICS_OF_TEXTS), "--segment_scores"),
            "--compare=all",
            *("--resample=bootstrap", "--resamples=50", "--compare_presets"),
            *(f"--labels=domain={EXAMPLES}/domains.txt", "--slice_by=domain,length"),
        ],
        "numbers": [
            *(f"--input={write_lines(folder / 'numbers.jsonl', numbers)}", "--slice_by=domain"),
            *("--metrics", "mean:a_{system}", "mean_error:b_{system}", "perplexity"),
            *("--logprob_column=l_{system}", "--text_column=text", "--examples=3"),
            *("--compare=all", "--resample=bootstrap", "--resamples=50"),
        ],
        "languages": [
            LANGUAGES / "references.txt",
            *("-i", *sorted((LANGUAGES / "systems").iterdir()), "--segment_scores"),
            *(f"--labels=pair={LANGUAGES}/pairs.txt", "--language_column=pair"),
        ],
        "tasks": ["--layout=lm-eval", f"--input={folder}/samples_*.jsonl", "--where=filter=none"],
        "smoothed beyond 100": [
            *streams([other], [same], "--smooth_method=epsilon", "--smooth_value=1000"),
            *("--segment_scores", "--segment_smooth_method=nltk-method5"),
        ],
    }
    found = {}
    for number, (name, arguments) in enumerate(runs.items()):
        out = folder / str(number)
        found[name] = result(out, *arguments), out
    parts = [folder / "monday", folder / "tuesday"]
    for part, text in zip(parts, (same, other), strict=True):
        saved = ("--save_totals", f"--partition={part.name}")
        result(part, f"--candidates=hyp={text}", f"--references={same}", *saved)
    found["merged"] = result(folder / "merged", "merge", *parts), folder / "merged"
    return found


def test_real_results_are_valid(results):
    for document, out in results.values():
        assert json.loads((out / "scores.json").read_bytes()) == document
        for file, schema in zip(("scores", "manifest", "run"), SCHEMAS.values(), strict=True):
            if file == "run" and "partitions" in document:
                continue  # nothing ran
            written = json.loads((out / f"{file}.json").read_bytes())
            Draft202012Validator(schema).validate(written)


def test_the_records_of_failed_and_of_running_runs_are_valid(tmp_path, monkeypatch):
    validator = Draft202012Validator(SCHEMAS["run"])
    called(*EXAMPLE, "--references=missing.txt", "--output", tmp_path).assert_failed(3)
    validator.validate(json.loads((tmp_path / "run.json").read_bytes()))
    states = []

    def watched(*arguments):
        running = json.loads((tmp_path / "run.json").read_bytes())
        validator.validate(running)
        states.append(running["state"])

    monkeypatch.setattr(beam_bleu.pipeline.graph, "commit", watched)
    called(*EXAMPLE, "--output", tmp_path)
    assert states == ["running"]


def test_each_field_of_a_score_is_described():
    fields = SCHEMAS["document"]["$defs"]["score"]["properties"]
    assert [name for name, field in fields.items() if "description" not in field] == ["metric"]


def test_a_score_has_no_field_of_another_metric(results):
    document, _ = results["several metrics"]
    schema = SCHEMAS["document"]
    validator = Draft202012Validator({**schema["$defs"]["score"], "$defs": schema["$defs"]})
    scores = {score["metric"]: score for score in document["scores"]}.values()
    for score, other in itertools.product(scores, repeat=2):
        is_valid = validator.is_valid({**other, **score})
        assert is_valid == (other.keys() <= score.keys()), (score["metric"], other["metric"])
