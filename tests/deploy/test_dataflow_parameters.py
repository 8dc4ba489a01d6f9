"""A Flex Template's parameters: the launcher accepts what metadata.json declares."""

from __future__ import annotations

import functools
import io
import json
import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
import spm_models
from command_line import REFERENCES, SYSTEMS, Run, called, streams
from google.cloud.dataflow_v1beta3.types import TemplateMetadata
from google.protobuf import json_format

from beam_bleu.pipeline.command_line import layouts
from beam_bleu.pipeline.command_line.options import our_flags, parse
from beam_bleu.transforms.known_metrics import METRICS_OF_TEXTS, flags_of
from beam_bleu.transforms.metrics.bleu.config import COMPARISONS, DEFAULT_PRESET, preset
from beam_bleu.transforms.metrics.chrf.metric import Chrf
from beam_bleu.transforms.wiring.object_stores import ObjectStores
from deploy.dataflow.launch import command_line, main
from deploy.dataflow.make_metadata import METADATA

DECLARED: list[dict[str, Any]] = json.loads(METADATA.read_text())["parameters"]
BY_NAME = {parameter["name"]: parameter for parameter in DECLARED}

REQUIRED = {
    "output": "gs://corpus/scores",
    "sdk_container_image": "europe-west4-docker.pkg.dev/project/images/beam-bleu:1",
}
TEXT = REQUIRED | {
    "candidates": "gs://corpus/base.txt",
    "references": "gs://corpus/human.txt",
}
JOINED = REQUIRED | {
    "candidates": "gs://corpus/base.jsonl",
    "references": "gs://corpus/human.jsonl",
}
RECORDS = REQUIRED | {"input": "gs://corpus/table-*.parquet"}
TWO_SYSTEMS = TEXT | {"candidates": "gs://corpus/base.txt; gs://corpus/tuned.txt"}
LONG = RECORDS | {"system_column": "system", "id_column": "id"}

LAYOUTS = {
    "mt-metrics-eval": REQUIRED | {"input": "gs://corpus/wmt23", "language": "en-de"},
    "wmt25": JOINED | {"where": "tgt_lang=de_DE"},
    "wmt24pp": JOINED | {"language": "en-de"},
    "lm-eval": RECORDS | {"where": "filter=none"},
    "lighteval": RECORDS,
    "hf-translation": RECORDS | {"language": "en-fr"},
    "opus": TEXT,
}
"""For each layout, parameters with which it can be given."""

USED_WITH = {
    "smooth_value": TEXT | {"smooth_method": "floor"},
    "segment_smooth_method": TEXT | {"segment_scores": "true"},
    "segment_smooth_value": TEXT | {"segment_scores": "true", "segment_smooth_method": "floor"},
    "input": RECORDS | {"input_format": "tsv"},
    "input_format": RECORDS,
    "candidate_columns": RECORDS,
    "reference_columns": RECORDS,
    "header": RECORDS | {"input_format": "tsv"},
    "no_header": RECORDS
    | {"input_format": "tsv", "candidate_columns": "1", "reference_columns": "2"},
    "where": RECORDS,
    "system_column": LONG,
    "id_column": LONG,
    "coverage": LONG,
    "join_on": JOINED,
    "language_column": RECORDS,
    "slice_by": RECORDS,
    "length_edges": TEXT | {"slice_by": "length"},
    "label_from_path": RECORDS | {"slice_by": "domain"},
    "pool_tasks": RECORDS | {"layout": "lm-eval", "where": "filter=none"},
    "max_slices": TEXT | {"slice_by": "length"},
    "keep": RECORDS | {"segment_scores": "true"},
    "labels": TEXT | {"slice_by": "domain"},
    "documents": RECORDS,
    "max_rejected": TEXT | {"on_bad_record": "reject"},
    "fail_over": TEXT | {"metrics": "ter"},
    "warn_over": TEXT | {"metrics": "ter"},
    "baseline": RECORDS,
    "compare": TWO_SYSTEMS,
    "resample": TWO_SYSTEMS,
    "resamples": TEXT | {"resample": "bootstrap"},
    "seed": TEXT | {"resample": "bootstrap"},
    "max_drop": TEXT | {"against": "gs://corpus/old/scores.json"},
    "against": TEXT | {"max_drop": "0.5"},
    "drop": TEXT | {"max_drop": "0.5", "against": "gs://corpus/old/scores.json"},
    **{
        flag.name: TEXT | {"metrics": "; ".join(METRICS_OF_TEXTS)}
        for metric in METRICS_OF_TEXTS
        for flag in flags_of(metric)
    },
    **{flag.name: RECORDS | {"metrics": "perplexity"} for flag in flags_of("perplexity")},
}
"""The parameters with which a parameter can be given, if they are not those of text."""

VALUES = {
    "weights": ["1", "0.5,.25,0"],
    "metrics": [*METRICS_OF_TEXTS, "; ".join(METRICS_OF_TEXTS)],
    "compare_presets": ["true", "false", "same", "all"],
    "perplexity_per": ["token", "segment"],
    **{flag.name: ["n", "resps[0][0]"] for flag in flags_of("perplexity") if flag.field != "per"},
    "input": ["gs://corpus/table.tsv", "gs://corpus/a b/part-*.txt.gz"],
    "candidate_columns": ["hyp", "resps[0][0]", "base=a,tuned=b.c", "hyp_*", '["a.b"].c', "3"],
    "reference_columns": ["ref0,ref1", "references"],
    "where": ["domain=news", "domain!=news; is_bad_source=false", "domain="],
    "language": ["de", "en-de"],
    "keep": ["id", "id,source; text", "src=meta.source"],
    "labels": ["domain=gs://corpus/labels.txt", "domain,lang=gs://a/b.tsv; x=gs://corpus/x.gz"],
    "label_from_path": ["domain=news/*/(.*)/"],
    "slice_by": ["length", "domain,domain*length", "domain; lang"],
    "length_edges": ["10", "5,10,100"],
    "documents": ["document", "gs://corpus/documents-*.txt"],
    "allow": ["other-documents", "other-documents; other-documents"],
    "max_rejected": ["0", "16", "0.05", "1.0"],
    "partition": ["2026-11-21"],
    "fail_under": ["30", "30; base=32.5"],
    "warn_under": ["30", "30; base=32.5"],
    "fail_over": ["ter=30", "ter=30; ter=base=32.5"],
    "warn_over": ["ter=30", "ter=30; ter=base=32.5"],
    "max_drop": ["0.5", "1; base=0.5"],
    "against": ["gs://corpus/old/scores.json"],
}
"""Values that a user could choose, if the kind of the parameter does not say them."""


def given(**parameters: str) -> list[str]:
    """The form in which Dataflow gives parameters to the launcher."""
    return [f"--{name}={value}" for name, value in parameters.items()]


def allowed(name: str, value: str) -> bool:
    """Whether Dataflow would accept this value."""
    return all(re.fullmatch(regex, value) for regex in BY_NAME[name]["regexes"])


@pytest.fixture
def launched(monkeypatch, capsys) -> Callable[..., Run]:
    """Runs the launcher in this process."""
    monkeypatch.setattr(logging, "basicConfig", lambda **keywords: None)

    def launch(*parameters: str) -> Run:
        code = main(parameters)
        out, err = capsys.readouterr()
        return Run(code, out.encode(), err)

    return launch


# What is declared


def test_metadata_is_of_dataflows_own_format():
    template = json_format.Parse(METADATA.read_text(), TemplateMetadata()._pb)
    assert template.name == "beam-bleu"
    for parameter in template.parameters:
        assert parameter.name
        assert parameter.label
        assert parameter.help_text
        assert parameter.param_type


def test_every_flag_with_an_effect_is_a_parameter():
    flags = {flag.dest for flag in our_flags()}
    only_print = {"help", "help_beam", "version", "format", "score_only", "width"}
    only_print |= {"log_format", "progress", "quiet"}
    have_another_spelling = {"refs", "systems"}
    has_one_value = {"encoding"}
    need_a_launcher = {"lineage", "metrics_label", "metrics_slices", "report", "worker_timeout"}
    left_out = only_print | have_another_spelling | has_one_value | need_a_launcher
    assert flags - BY_NAME.keys() == left_out
    assert BY_NAME.keys() - flags == {"sdk_container_image"}


def test_parameters_that_every_job_needs_are_required():
    required = {name for name, each in BY_NAME.items() if not each["isOptional"]}
    assert required == REQUIRED.keys()


def test_the_regular_expressions_are_posix():
    for parameter in DECLARED:
        for regex in parameter["regexes"]:
            assert regex[0] + regex[-1] == "^$"
            assert "\\" not in regex
            assert "(?" not in regex


# What is declared is taken


def test_the_required_parameters_and_an_input_are_enough():
    for needed in (TEXT, RECORDS):
        assert all(allowed(name, value) for name, value in needed.items())
        assert parse(command_line(given(**needed))).job.output == REQUIRED["output"]
    assert parse(command_line(given(**TEXT))).job.source.systems == ("base",)


def examples(parameter: dict[str, Any]) -> list[str]:
    """Values that a user could choose."""
    choices = [option["value"] for option in parameter.get("enumOptions", [])]
    kinds = {
        "BOOLEAN": ["true", "false"],
        "ENUM": choices,
        "GCS_READ_FILE": ["gs://corpus/pieces.model"],
        "GCS_WRITE_FOLDER": ["gs://corpus/scores", "gs://corpus/scores/2026-11-19/"],
        "NUMBER": ["16"],
        "TEXT": ["gs://corpus/a.txt", "gs://corpus/a b.txt.gz; gs://corpus/c=d/e,f.txt"],
    }
    if parameter["name"] in VALUES:
        return VALUES[parameter["name"]]
    default = [parameter["defaultValue"]] if "defaultValue" in parameter else []
    return [*kinds[parameter["paramType"]], *default]


@functools.cache
def old_result() -> bytes:
    """A result with which a new one can be compared."""
    run = called(*streams([f"base={SYSTEMS['atlas']}"], REFERENCES, "--format", "json"))
    assert run.code == 0
    return run.out


@pytest.mark.parametrize(
    ("name", "value"),
    [(each["name"], value) for each in DECLARED for value in examples(each)],
)
def test_every_declared_value_is_accepted(name, value, monkeypatch):
    def opened(self: ObjectStores, path: str, *_: Any, **__: Any) -> io.BytesIO:
        is_result = path.endswith("scores.json")
        return io.BytesIO(old_result() if is_result else spm_models.model())

    monkeypatch.setattr(ObjectStores, "open", opened)
    monkeypatch.setattr(ObjectStores, "exists", lambda self, path: path.endswith("scores.json"))
    if name == "sdk_container_image":
        value = REQUIRED[name]
    monkeypatch.setattr(
        layouts, "_found", lambda pattern: [pattern.replace("*", name) for name in ("base", "refA")]
    )
    others = LAYOUTS[value] if name == "layout" else USED_WITH.get(name, TEXT)
    if "spm" in (name.partition("_")[0], value):
        others = TEXT | {"tokenize": "spm", "spm_model": "gs://corpus/pieces.model"}
    words = others | {name: value}
    assert all(allowed(*each) for each in words.items())
    parse(command_line(given(**words)))


def test_a_default_is_what_happens_without_the_parameter():
    defaults = {each["name"]: each["defaultValue"] for each in DECLARED if "defaultValue" in each}
    assert defaults
    without = parse(command_line(given(**TEXT)))
    with_defaults = parse(command_line(given(**TEXT, **defaults)))
    assert with_defaults.job == without.job
    assert with_defaults.verbose == without.verbose


def test_a_list_of_streams_is_one_parameter():
    given_once = given(
        **TEXT
        | {
            "candidates": "base=gs://corpus/base/part-*;tuned=gs://corpus/t,u/part-*; gs://x/c.txt",
            "references": "gs://corpus/dt=2026-11-19/a.txt ; gs://corpus/b.txt.gz",
        }
    )
    assert all(allowed(*word[2:].split("=", 1)) for word in given_once)
    job = parse(command_line(given_once)).job
    assert job.source.systems == ("base", "tuned", "c")
    assert [stream.pattern for stream in job.source.candidates] == [
        "gs://corpus/base/part-*",
        "gs://corpus/t,u/part-*",
        "gs://x/c.txt",
    ]
    assert [stream.pattern for stream in job.source.references] == [
        "gs://corpus/dt=2026-11-19/a.txt",
        "gs://corpus/b.txt.gz",
    ]


@pytest.mark.parametrize(("value", "lowercase"), [("true", True), ("false", False)])
def test_a_switch_has_a_value(value, lowercase):
    job = parse(command_line(given(**TEXT, lowercase=value))).job
    assert job.text.lowercase is lowercase


@pytest.mark.parametrize(
    ("value", "compared"), [("true", "same"), ("false", None), ("same", "same"), ("all", "all")]
)
def test_a_switch_whose_value_may_be_left_out_is_true_false_or_a_value(value, compared):
    job = parse(command_line(given(**TEXT, compare_presets=value))).job
    (metric,) = job.metrics
    presets = COMPARISONS[compared](preset(DEFAULT_PRESET)) if compared else {}
    assert [*metric.presets] == [*presets]


def test_a_job_can_have_several_metrics():
    words = given(**TEXT, metrics="chrf; bleu", chrf_beta="1")
    chrf, bleu = parse(command_line(words)).job.metrics
    assert (chrf.name, chrf.corpus) == ("chrf", Chrf(beta=1))
    assert bleu.name == "bleu"


def test_beams_switches_have_a_value():
    words = given(**TEXT, no_use_public_ips="true", enable_hot_key_logging="false")
    options = parse(command_line(words)).beam.get_all_options()
    assert options["use_public_ips"] is False
    assert options["enable_hot_key_logging"] is False


# What is wrong is refused


@pytest.mark.parametrize(
    ("name", "value", "fragments"),
    [
        ("lowercase", "yes", ["--lowercase must be true or false, got 'yes'"]),
        ("lowercase", "", ["--lowercase must be true or false, got ''"]),
        ("tokenize", "14a", ["--tokenize", "14a", "13a", "none"]),
        ("smooth_value", "much", ["--smooth_value", "much"]),
        ("max_ngram_order", "0", ["max_ngram_order must be 1 to 16, an int, got 0"]),
        ("threads", "-1", ["--threads", "-1"]),
        ("max_rejected", "-1", ["--max_rejected", "-1"]),
        ("labels", "gs://corpus/a.txt", ["--labels", "gs://corpus/a.txt"]),
        ("candidates", "gs://corpus/a.txt;", ["--candidates is empty"]),
        ("references", "", ["--references is empty"]),
        ("output", "", ["--output is empty"]),
    ],
)
def test_a_wrong_value_is_refused_by_dataflow_and_by_the_launcher(launched, name, value, fragments):
    assert not allowed(name, value)
    launched(*given(**TEXT | {name: value})).assert_failed(2, *fragments)


@pytest.mark.parametrize("name", ["candidates", "references", "output"])
def test_a_missing_parameter_is_named(launched, name):
    rest = {other: value for other, value in TEXT.items() if other != name}
    launched(*given(**rest)).assert_failed(2, f"--{name}")
    launched("--runner=DirectRunner", *given(**rest)).assert_failed(2, f"--{name}")


def test_a_missing_option_for_dataflow_is_a_usage_error(launched, monkeypatch):
    monkeypatch.setenv("CLOUDSDK_COMPUTE_REGION", "europe-west4")
    locations = given(temp_location="gs://corpus/tmp", staging_location="gs://corpus/tmp")
    run = launched("--dry_run=true", *given(**TEXT), *locations)
    run.assert_failed(2, "DataflowRunner", "Missing required option: project")


def test_an_unknown_parameter_is_refused(launched):
    run = launched(*given(**TEXT, smoth_method="exp"))
    run.assert_failed(2, "unknown flag --smoth_method", "--smooth_method?")


# What it runs


def test_the_launcher_runs_the_job_that_the_command_runs(launched, tmp_path):
    parameters = {
        "candidates": ";".join(map(str, SYSTEMS.values())),
        "references": "; ".join(map(str, REFERENCES)),
        "lowercase": "true",
        "tokenize": "none",
        "output": str(tmp_path),
    }
    run = launched("--runner=DirectRunner", *given(**parameters))
    assert (run.code, run.out, run.err) == (0, b"", "")
    flags = ["--lowercase", "--tokenize=none", "--format=json"]
    command = called(*streams([*SYSTEMS.values()], REFERENCES, *flags))
    assert (tmp_path / "scores.json").read_bytes() == command.out


# What is documented


def test_the_documented_launch_works():
    page = METADATA.with_name("README.md").read_text()
    (command,) = re.findall(r"^gcloud dataflow flex-template run .*?^```", page, re.M | re.S)
    filled = command.replace("$BUCKET", "my-bucket").replace("$IMAGE", "images/beam-bleu:1")
    documented = dict(re.findall(r'--parameters "(\w+)=(.*?)"', filled))
    assert len(documented) == command.count("--parameters")
    assert all(allowed(name, value) for name, value in documented.items())
    job = parse(command_line(given(**documented))).job
    assert job.source.systems == ("base", "tuned")
    assert len(job.source.references) == 2
    assert job.text.lowercase
