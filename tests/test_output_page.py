"""docs/output.md, docs/folder.md and the schemas in docs/ describe exactly what the program writes.

The page has a table for each object of the documents, and one for the columns of the segment
scores. The schemas are compared with the page, and real results with both.
"""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from command_line import (
    EXAMPLE,
    EXAMPLES,
    PROJECT,
    REFERENCES,
    SYSTEMS,
    called,
    streams,
    write_lines,
)
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from markdown_tables import sections, tables
from scoring import bleu_table_schema

import beam_bleu.pipeline.graph
from beam_bleu.transforms.known_metrics import METRICS, METRICS_OF_TEXTS, kind_of
from beam_bleu.transforms.metrics.bleu.columns import REFERENCE_LENGTHS
from beam_bleu.transforms.metrics.bleu.scoring import Scoring

PAGE = "\n".join((PROJECT / "docs" / name).read_text() for name in ("output.md", "folder.md"))
SCHEMAS = {
    name: json.loads((PROJECT / "docs" / f"{file}.schema.json").read_text())
    for name, file in (("document", "scores"), ("manifest", "manifest"), ("run", "run"))
}
"""The schema of each document, by the name that the page gives to the document."""

SCHEMA = SCHEMAS["document"]
VALIDATOR = Draft202012Validator(SCHEMA)

LANGUAGES = EXAMPLES / "languages"

LABELS = {
    "languages": ["lang_pair"],
    "slices": ["domain"],
    "several metrics": ["domain"],
    "numbers": ["domain"],
}
"""The labels of the runs of `results` that have any."""

Json = dict[str, Any]

OWN_COLUMNS = {
    name: {*kind.segment_fields(kind.metric_of(kind.config()))}
    for name, kind in ((name, kind_of(name)) for name in METRICS_OF_TEXTS)
}
"""By metric, the columns of the scores of segments that not every metric has."""

MEANS = {"precision", "recall"}
"""Those whose mean a score of a corpus has, and not their sum."""

DEFINITIONS: Json = {name: each for of in SCHEMAS.values() for name, each in of["$defs"].items()}
"""The parts of all schemas. Each has a name of its own."""


def resolved(schema: Json) -> Json:
    """A part of a schema; if it is a reference, the part to which it refers."""
    reference = schema.get("$ref")
    return DEFINITIONS[reference.removeprefix("#/$defs/")] if reference else schema


def objects_of_the_schema() -> dict[str, Json]:
    """Each object of the documents by the name that the page gives it."""
    found = {}
    for document, schema in SCHEMAS.items():
        found[document] = schema
        found |= {name: each for name, each in schema["$defs"].items() if each["type"] == "object"}
    return found


def name_of(schema: Json) -> str:
    """The words with which the page names the type of a field."""
    schema_or_target = resolved(schema)
    if schema_or_target["type"] == "object" and "$ref" not in schema:
        return f"mapping of {name_of(schema['additionalProperties'])}"
    if schema_or_target["type"] == "object":
        return schema["$ref"].removeprefix("#/$defs/")
    types = schema_or_target["type"]
    named = [types] if isinstance(types, str) else types
    return " or ".join(
        f"list of {name_of(schema_or_target['items'])}" if each == "array" else each
        for each in named
    )


def range_of(schema: Json) -> str:
    """The words with which the page names the range of a field, or of a list's items."""
    schema = resolved(schema)
    if "items" in schema:
        return range_of(schema["items"])
    if "maximum" in schema and "minimum" not in schema:
        return f"{schema['maximum']} or less"
    if "maximum" in schema:
        return f"{schema['minimum']} to {schema['maximum']}"
    return f"{schema['minimum']} or more" if "minimum" in schema else ""


# The page and the schema


def test_the_schemas_are_schemas_that_allow_nothing_unknown():
    for schema in SCHEMAS.values():
        Draft202012Validator.check_schema(schema)
        assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert len(DEFINITIONS) == sum(len(schema["$defs"]) for schema in SCHEMAS.values())
    for name, each in objects_of_the_schema().items():
        assert each["additionalProperties"] is False, name


def test_the_page_has_a_table_for_each_object_of_the_schema():
    named = [re.fullmatch("`(.*)`", title) for title in sections(PAGE)]
    assert [each[1] for each in named if each] == list(objects_of_the_schema())


@pytest.mark.parametrize("name", objects_of_the_schema())
def test_the_page_and_the_schema_have_the_same_fields(name):
    (header, *rows), *others = tables(sections(PAGE)[f"`{name}`"])
    assert header == ["field", "type", "range", "unit", "meaning"]
    assert not others
    schema = objects_of_the_schema()[name]
    expected = [
        (field, name_of(each), range_of(each)) for field, each in schema["properties"].items()
    ]
    plain = [[cell.replace("`", "") for cell in row[:3]] for row in rows]
    assert [tuple(row) for row in plain] == expected
    always = [field for (field, *_), row in zip(plain, rows, strict=True) if not is_optional(row)]
    assert always == schema["required"]
    for row in rows:
        # Each number has a unit, except shares.
        has_number = "number" in row[1] or "integer" in row[1]
        assert bool(row[3]) == has_number or row[0] in ("`bp`", "`ratio`")
        assert row[4]


def is_optional(row: list[str]) -> bool:
    return row[4].startswith(("Only with `--", "Only without `--", "Only after `beam-bleu merge`"))


def test_the_schema_has_the_fields_of_each_metric():
    score = SCHEMA["$defs"]["score"]
    own = dict(zip(METRICS, score["oneOf"], strict=True))
    for name, each in own.items():
        word = f"{name}:x" if METRICS[name].parameter else name
        for pattern in (each["properties"]["metric"], SCHEMA["$defs"]["metric_name"]):
            assert Draft202012Validator(pattern).is_valid(word)
            assert not Draft202012Validator(pattern).is_valid(f"{name}-")
    common = {"metric", "system", "slice", "segments", "score", "standard_error", "interval"}
    assert {*score["properties"]} - common == {
        field for name in METRICS for field in kind_of(name).fields
    }
    for name, each in own.items():
        fields = {*kind_of(name).fields}
        assert {*each["required"], *score["required"]} - common == fields
        refused = {field for field, schema in each["properties"].items() if schema is False}
        assert refused == {*score["properties"]} - common - fields


# Real results


def result(folder: Path, *arguments: Any) -> Json:
    """The document of a run that must succeed."""
    run = called(*arguments, "--format=json", "--output", folder)
    assert run.code == 0, run.err
    assert (folder / "scores.json").read_bytes() == run.out
    return run.document


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> dict[str, tuple[Json, Path]]:
    """Documents of every form, with the folders that they are in."""
    folder = tmp_path_factory.mktemp("texts")
    lines = [f"the cat sat on mat {i}" for i in range(12)]
    same = write_lines(folder / "same.txt", lines)
    empty = write_lines(folder / "empty.txt", [""] * 12)
    other = write_lines(folder / "größe.txt", [f"a dog ran {i}" for i in range(12)])
    one = streams([SYSTEMS["atlas"]], REFERENCES[:1])
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
        "one system": one,
        "all that can be asked for": [
            *EXAMPLE,
            *("--compare_presets=all", "--segment_scores", "--segment_smooth_method=nltk-method6"),
            *("--compare=all", "--resample=bootstrap", "--resamples=50", "--partition=2026"),
            "--examples=3",
        ],
        "randomization": [*EXAMPLE, "--resample=randomization", "--resamples=50"],
        "too few for a bootstrap": [
            *streams([same, other, empty], [same], "--compare=all"),
            *("--resample=bootstrap", "--resamples=50"),
        ],
        **{
            f"reference length {rule}": [*EXAMPLE, f"--reference_length={rule}", "--segment_scores"]
            for rule in REFERENCE_LENGTHS
        },
        "warnings": [
            *streams([same, other], [same]),
            *("--tokenize=none", "--compare_presets"),
        ],
        "no tokens": streams([empty], [same], "--segment_scores"),
        "no tokens in the references": streams([same], [empty], "--segment_scores"),
        "rejected": streams([bad], [same], "--on_bad_record=reject", "--max_rejected=1"),
        "joined": [
            *streams([folder / "one.jsonl", folder / "two.jsonl"], []),
            *streams([], [folder / "references.jsonl", folder / "one.jsonl"]),
            *("--join_on=id", "--coverage=common"),
        ],
        "several metrics": [
            *(
                *EXAMPLE,
                "--metrics",
                *reversed(METRICS_OF_TEXTS),
                "--segment_scores",
                "--compare=all",
            ),
            *("--resample=bootstrap", "--resamples=50", "--compare_presets"),
            *(f"--labels=domain={EXAMPLES}/domains.txt", "--slice_by=domain,length"),
        ],
        "numbers": [
            *(f"--input={write_lines(folder / 'numbers.jsonl', numbers)}", "--slice_by=domain"),
            *("--metrics", "mean:a_{system}", "mean_error:b_{system}", "perplexity"),
            *("--logprob_column=l_{system}", "--text_column=text", "--examples=3"),
            *("--compare=all", "--resample=bootstrap", "--resamples=50"),
        ],
        "16 orders": [*one, "--max_ngram_order=16", "--effective_order"],
        "slices": [
            *streams([SYSTEMS["atlas"], SYSTEMS["birch"]], REFERENCES),
            *(f"--labels=domain={EXAMPLES}/domains.txt", "--slice_by=domain,length,domain*length"),
        ],
        "languages": [
            LANGUAGES / "references.txt",
            *("-i", *sorted((LANGUAGES / "systems").iterdir())),
            *(f"--labels=lang_pair={LANGUAGES}/pairs.txt", "--language_column=lang_pair"),
            "--segment_scores",
        ],
        "tasks": [
            *("--layout=lm-eval", f"--input={folder}/samples_*.jsonl", "--where=filter=none"),
        ],
        "not sacreBLEU's": [
            *one,
            *("--lowercase_ascii", "--normalize=nfkc", "--weights=1,0.5,0,0", "--tokenize=intl"),
        ],
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


def objects_in(value: Any, schema: Json) -> Iterator[tuple[str, Json]]:
    """Each object in a document, with its name on the page."""
    schema = resolved(schema)
    if "items" in schema:
        for each in value or ():
            yield from objects_in(each, schema["items"])
    elif schema["type"] == "object":
        yield next(name for name, each in objects_of_the_schema().items() if each is schema), value
        for field, each in value.items():
            yield from objects_in(each, schema["properties"][field])


OF_TABLES = {"stream": {"snapshot"}}
"""Fields of results of tables, whose libraries are not here: tests/pipeline/test_tables.py."""

OF_ENGINES = {"worker"}
"""Objects of runs on an engine: tests/engines/test_handshake_on_flink.py."""


def test_real_results_are_valid_and_have_every_field(results):
    seen: dict[str, set[str]] = {}
    for document, out in results.values():
        assert json.loads((out / "scores.json").read_bytes()) == document
        for file, schema in zip(("scores", "manifest", "run"), SCHEMAS.values(), strict=True):
            if file == "run" and "partitions" in document:
                continue  # nothing ran
            written = json.loads((out / f"{file}.json").read_bytes())
            Draft202012Validator(schema).validate(written)
            for name, each in objects_in(written, schema):
                seen.setdefault(name, set()).update(each)
                fields = objects_of_the_schema()[name]["properties"]
                assert list(each) == [field for field in fields if field in each]  # the order, too
    assert seen == {
        name: set(schema["properties"]) - OF_TABLES.get(name, set())
        for name, schema in objects_of_the_schema().items()
        if name not in OF_ENGINES
    }


def test_the_records_of_failed_and_of_running_runs_are_valid(tmp_path, monkeypatch):
    validator = Draft202012Validator(SCHEMAS["run"])
    called(*EXAMPLE, "--references=missing.txt", "--output", tmp_path).assert_failed(3)
    validator.validate(json.loads((tmp_path / "run.json").read_bytes()))
    states = []

    def watched(*arguments: Any) -> None:
        running = json.loads((tmp_path / "run.json").read_bytes())
        validator.validate(running)
        states.append(running["state"])

    monkeypatch.setattr(beam_bleu.pipeline.graph, "write_documents", watched)
    called(*EXAMPLE, "--output", tmp_path).assert_failed(1)
    assert states == ["running"]


@pytest.mark.parametrize("name", ["manifest", "run"])
def test_wrong_manifests_and_records_are_refused(results, name):
    _, out = results["one system"]
    right = json.loads((out / f"{name}.json").read_bytes())
    validator = Draft202012Validator(SCHEMAS[name])
    for path in [*places(right)]:
        value: Any = right
        for key in path:
            value = value[key]
        wrongs: list[Any] = [True, {"a": 1}, [[]]]
        if isinstance(value, dict):
            wrongs.append({**value, "unknown": 1})
            wrongs += [{k: v for k, v in value.items() if k != left_out} for left_out in value]
        for wrong in wrongs:
            with pytest.raises(ValidationError):
                validator.validate(changed(right, path, wrong))


def test_the_results_are_of_every_form(results):
    def documents(name: str) -> Json:
        return results[name][0]

    signatures = " ".join(
        document["metrics"][0]["signature"] or "" for document, _ in results.values()
    )
    unsigned = {name for name, (each, _) in results.items() if not each["metrics"][0]["signature"]}
    assert unsigned == {"languages"}
    assert set(re.findall(r"\|reflen:(\w+)", signatures)) == {*REFERENCE_LENGTHS} - {"closest"}
    assert "presets" not in documents("one system")
    assert "segment_scores" not in documents("one system")
    assert documents("not sacreBLEU's")["metrics"][0]["sacrebleu_signature"] is None
    assert len(documents("all that can be asked for")["scores"]) == 3
    assert documents("reference length average")["scores"][0]["ref_len"] % 1 == 0.5
    assert documents("smoothed beyond 100")["scores"][0]["score"] > 101
    assert documents("no tokens")["scores"][0]["bp"] == 0
    assert documents("no tokens in the references")["scores"][0]["ratio"] == 0
    assert documents("warnings")["warnings"]
    assert any(each["warnings"] for each in documents("warnings")["presets"])
    assert len(documents("16 orders")["scores"][0]["totals"]) == 16


# Wrong documents


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of each value in a document, itself included."""
    yield path
    children = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in children:
        yield from places(each, (*path, key))


def changed(document: Json, path: tuple[Any, ...], value: Any) -> Json:
    """The document with another value at a path."""
    if not path:
        return value
    wrong = copy.deepcopy(document)
    parent = wrong
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return wrong


NULLABLE = [("metrics", 0, "signature"), ("segment_scores", "metrics", 0, "signature")]
"""These are null if languages have different tokenizers."""

NULLABLE_FIELDS = {
    *("standard_error", "interval", "p_value", "p_value_holm", "detectable"),
    *("mean", "label", "p_sacrebleu"),
}
"""These are null where there is no standard error, without documents, for randomization, or for a
bootstrap of too few units."""

OPTIONAL_AT_TOP = {
    *("presets", "segment_scores", "uncertainty", "comparisons", "comparison_families"),
    *("clusters", "distributions", "resampling", "partition"),
}
"""A run can leave these out."""

SIGNED = {"difference", "mean", "interval", "log_probability", "edges"}
"""These can be below 0."""


def test_a_wrong_document_is_refused(results):
    document = results["all that can be asked for"][0]
    # The objects of a list have the same fields, so the first one is enough.
    document = copy.deepcopy(document)
    document["scores"], document["presets"] = document["scores"][:1], document["presets"][:1]
    document["warnings"] = ["atlas: a warning"]
    document["comparisons"] = document["comparisons"][:1]
    document["distributions"] = document["distributions"][:1]
    VALIDATOR.validate(document)
    refused = 0
    for path in places(document):
        value: Any = document
        for key in path:
            value = value[key]
        wrongs: list[Any] = [True, {"a": 1}, [[]]]  # of no field's type
        if path[-1:] == ("slice",):
            wrongs = [True, {"a": 1}, [[]], {}]
        elif not (
            value is None
            or {"sacrebleu_signature", "edges"} & {*path}
            or path in NULLABLE
            or NULLABLE_FIELDS & {*path[-1:]}
        ):
            wrongs.append(None)
        if isinstance(value, (int, float)):
            wrongs += [str(value)] if SIGNED & {*path} else [-1, str(value)]
        if isinstance(value, str):
            wrongs += ["", 1]
        if isinstance(value, dict):
            wrongs.append({**value, "unknown": 1})
            optional = OPTIONAL_AT_TOP if not path else {"standard_error", "interval"}
            if {"comparisons", "resampling"} & {*path}:
                optional = set()
            wrongs += [
                {key: each for key, each in value.items() if key != left_out}
                for left_out in value.keys() - optional
            ]
        for wrong in wrongs:
            with pytest.raises(ValidationError):
                VALIDATOR.validate(changed(document, path, wrong))
            refused += 1
    assert refused > 200


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        (("scores",), []),
        (("scores", 0, "bp"), 1.001),
        (("scores", 0, "precisions"), [1.0] * 17),
        (("scores", 0, "matches"), [1.5]),
        (("scores", 0, "totals"), []),
        (("scores", 0, "slice"), "en-de"),
        (("segments",), 0),
        (("format",), 1),
        (("metrics", 0, "signature"), "tok:13a"),
        (
            ("metrics", 0, "sacrebleu_signature"),
            "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:2.5.0",
        ),
        (("scores", 0, "metric"), "chrf"),
        (("scores", 0, "hyp_ngrams"), [1]),
    ],
)
def test_a_value_out_of_range_is_refused(results, path, wrong):
    with pytest.raises(ValidationError):
        VALIDATOR.validate(changed(results["one system"][0], path, wrong))


# Segment scores


def column_rows() -> list[list[str]]:
    (header, *rows), *others = tables(sections(PAGE)["Segment scores"])
    assert header == ["column", "Parquet type", "null", "range", "unit", "meaning"]
    assert not others
    return rows


def type_of(kind: pa.DataType) -> str:
    """The words with which the page names the type of a column."""
    if pa.types.is_list(kind):
        return f"list of {type_of(kind.value_type)}"
    if pa.types.is_dictionary(kind):
        return f"dictionary of {type_of(kind.value_type)}"
    return str(kind)


def test_the_page_has_the_columns_of_the_segment_scores():
    plain, average = (
        [(f"`{each.name}`", type_of(each.type), each.nullable) for each in schema]
        for schema in (
            bleu_table_schema(Scoring()),
            bleu_table_schema(Scoring(reference_length="average")),
        )
    )
    assert [(name, kind, null == "can be") for name, kind, null, *_ in column_rows()] == plain
    assert {row[2] for row in column_rows()} == {"can be", "never"}
    (other,) = set(average) - set(plain)
    (row,) = (row for row in column_rows() if row[0] == other[0])
    assert f"the type is {other[1]} with `average`" in row[5]


def test_the_files_of_segment_scores_have_the_columns_of_the_page(results):
    with_nulls = set()
    files = [(name, file) for name, (_, out) in results.items() for file in out.rglob("*.parquet")]
    assert len(files) >= 4
    for name, file in files:
        table = pq.read_table(file)
        labels = LABELS.get(name, [])
        of_others = set().union(*OWN_COLUMNS.values()) if name == "several metrics" else set()
        expected = {*(row[0].strip("`") for row in column_rows()), *labels, *of_others}
        assert {*table.column_names} == expected
        for metric in table["metric"].unique().to_pylist():
            own = table.filter(pc.equal(table["metric"].cast("string"), metric))
            with_nulls |= {(metric, each) for each in expected if own[each].null_count}
        for column, _, _, limits, *_ in column_rows():
            if limits:
                assert limits == "0 or more"
                values = table[column.strip("`")].combine_chunks()
                flat = values.flatten() if pa.types.is_list(values.type) else values
                assert min(flat.drop_null().to_pylist(), default=0) >= 0, name
    everywhere = set().union(*OWN_COLUMNS.values())
    assert with_nulls == {
        ("bleu", "score"),
        *((name, each) for name, own in OWN_COLUMNS.items() for each in everywhere - own),
    }
    assert {("bleu", "hyp_ngrams"), ("chrf", "sys_len")} < with_nulls


def test_the_rows_of_a_system_add_up_to_its_score(results):
    for document, out in results.values():
        if "segment_scores" not in document:
            continue
        rows = pq.read_table(out / "segment_scores").to_pylist()
        assert len(rows) == document["segment_scores"]["rows"]
        for score in document["scores"]:
            of_slice = score["slice"] or {}
            if "length" in of_slice:
                continue  # it is no column
            of_system = [
                row
                for row in rows
                if (row["system"], row["metric"]) == (score["system"], score["metric"])
                and all(row[label] == value for label, value in of_slice.items())
            ]
            assert len({row["index"] for row in of_system}) == score["segments"]
            for column in OWN_COLUMNS[score["metric"]]:
                values = [row[column] for row in of_system]
                if isinstance(score[column], list):
                    added: Any = [*map(sum, zip(*values, strict=True))]
                else:
                    added = sum(values)
                if column in MEANS:
                    added /= len(values)
                if isinstance(score[column], float):
                    assert math.isclose(added, score[column])
                else:
                    assert added == score[column]
