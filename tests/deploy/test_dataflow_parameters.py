"""A Flex Template's parameters: the launcher accepts what metadata.json declares."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from typing import Any

import pytest
from command_line import REFERENCES, SYSTEMS, Run, called, streams

from beam_bleu.pipeline.command_line.config import FLAGS
from beam_bleu.pipeline.command_line.options import parse
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
RECORDS = REQUIRED | {"input": "gs://corpus/table-*.parquet"}


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


def test_every_flag_with_an_effect_is_a_parameter():
    flags = {flag.name for flag in FLAGS}
    only_print = {"help", "help_beam", "version", "format", "score_only", "width"}
    only_print |= {"log_format", "progress", "quiet"}
    have_another_spelling = {"systems", "refs", "runner"}
    has_one_value = {"encoding"}
    need_a_launcher = {"lineage", "metrics_label", "metrics_slices", "report", "worker_timeout"}
    left_out = only_print | have_another_spelling | has_one_value | need_a_launcher
    assert flags - BY_NAME.keys() == left_out
    assert BY_NAME.keys() - flags == {"sdk_container_image"}
    required = {name for name, each in BY_NAME.items() if not each["isOptional"]}
    assert required == REQUIRED.keys()
    for regex in (regex for parameter in DECLARED for regex in parameter["regexes"]):
        assert regex[0] + regex[-1] == "^$"
        assert not re.search(r"\\|\(\?", regex), "not a regular expression of POSIX"


def test_the_required_parameters_and_an_input_are_enough():
    for needed in (TEXT, RECORDS):
        assert all(allowed(name, value) for name, value in needed.items())
        assert parse(command_line(given(**needed))).job.output == REQUIRED["output"]
    assert parse(command_line(given(**TEXT))).job.source.systems == ("base",)


def test_a_default_is_what_happens_without_the_parameter():
    defaults = {each["name"]: each["defaultValue"] for each in DECLARED if "defaultValue" in each}
    assert defaults
    without = parse(command_line(given(**TEXT)))
    with_defaults = parse(command_line(given(**TEXT, **defaults)))
    assert with_defaults.job == without.job
    assert with_defaults.flags.verbose == without.flags.verbose


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


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("lowercase", "yes", "true"),
        ("lowercase", "", "false"),
        ("tokenize", "14a", "13a"),
        ("smooth_value", "much", "0.1"),
        ("max_ngram_order", "0", "1"),
        ("threads", "-1", "2"),
        ("max_rejected", "-1", "0.05"),
        ("labels", "gs://corpus/a.txt", "domain,lang=gs://a/b.tsv; x=gs://corpus/x.gz"),
        ("candidates", "gs://corpus/a.txt;", "gs://corpus/a b/part-*.txt.gz"),
        ("references", "", "gs://corpus/dt=2026-11-19/a.txt ; gs://corpus/b.txt.gz"),
        ("output", "", "gs://corpus/out"),
    ],
)
def test_a_wrong_value_is_refused_by_dataflow_and_by_the_launcher(launched, name, wrong, right):
    assert allowed(name, right)
    assert not allowed(name, wrong)
    launched(*given(**TEXT | {name: wrong})).assert_failed(2, f"{name}")


def test_the_launcher_runs_the_job_that_the_command_runs(launched, tmp_path):
    parameters = {
        "candidates": ";".join(map(str, SYSTEMS.values())),
        "references": "; ".join(map(str, REFERENCES)),
        "lowercase": "true",
        "tokenize": "none",
        "metrics": "bleu; chrf",
        "chrf_beta": "1",
        "enable_hot_key_logging": "false",
        "effective_order": "false",
        "output": str(tmp_path),
    }
    run = launched("--runner=DirectRunner", *given(**parameters))
    assert (run.code, run.out, run.err) == (0, b"", "")
    flags = ["--lowercase", "--tokenize=none", "--format=json"]
    flags += ["--metrics", "bleu", "chrf", "--chrf_beta=1"]
    command = called(*streams([*SYSTEMS.values()], REFERENCES, *flags))
    assert (tmp_path / "scores.json").read_bytes() == command.out


# What is documented
