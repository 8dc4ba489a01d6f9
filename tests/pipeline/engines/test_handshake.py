"""The handshake, in a pipeline of this process: its answers, and that everything waits for it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import apache_beam as beam
import pytest
from apache_beam.options.pipeline_options import PipelineOptions
from command_line import EXAMPLE, EXAMPLES, REFERENCES, SYSTEMS, Argument, called

from beam_bleu.pipeline.command_line.options import parse
from beam_bleu.pipeline.engines import installation
from beam_bleu.pipeline.engines.handshake import Handshake, host_name
from beam_bleu.pipeline.engines.runners import Runner
from beam_bleu.pipeline.errors.marked_steps import Marked
from beam_bleu.pipeline.graph import build
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.pipeline.subcommands import doctor_on_engine as on_engine

RECORDS = EXAMPLES / "records"


def job_of(output: Path, *arguments: Argument) -> Job:
    return parse([*map(str, arguments), "--output", str(output)]).job


def handshake_of(job: Job, *flags: str) -> Handshake:
    return Handshake.of(job, PipelineOptions(list(flags)))


def run(handshake: Handshake, begun: Path) -> None:
    """Runs the handshake, and a step that leaves a file if it begins."""
    with beam.Pipeline(runner="FnApiRunner", options=PipelineOptions([])) as pipeline:
        _ = pipeline | handshake.steps(Marked) | beam.Map(lambda _: begun.touch())


def test_a_join_waits_and_its_scores_are_the_same(tmp_path: Path) -> None:
    arguments: list[Argument] = [
        *("--candidates", f"atlas={RECORDS}/outputs/atlas.jsonl"),
        *("--references", RECORDS / "references.jsonl", "--join_on", "id"),
    ]
    alone = called(*arguments, "--output", tmp_path / "alone")
    assert alone.code == 0, alone.err
    job = job_of(tmp_path / "out", *arguments)
    handshake = handshake_of(job)
    with beam.Pipeline(runner="FnApiRunner", options=PipelineOptions([])) as pipeline:
        build(pipeline, job, handshake)
    expected = (tmp_path / "alone" / "scores.json").read_bytes()
    assert (tmp_path / "out" / "scores.json").read_bytes() == expected

    wrong = dataclasses.replace(handshake, software={**handshake.software, "code": "0" * 12})
    late = job_of(tmp_path / "late", *arguments)
    with (
        pytest.raises(Exception, match="the code of beam-bleu is"),
        beam.Pipeline(runner="FnApiRunner", options=PipelineOptions([])) as pipeline,
    ):
        build(pipeline, late, wrong)
    assert not (tmp_path / "late").exists()


def test_the_answers_of_a_good_worker(tmp_path: Path) -> None:
    handshake = handshake_of(job_of(tmp_path / "out", *EXAMPLE))
    assert handshake.answers() is None
    run(handshake, tmp_path / "begun")
    assert (tmp_path / "begun").exists()
    answers = handshake.answers()
    assert answers is not None
    (worker,) = answers
    assert worker.host == host_name()
    assert worker.software == handshake.software
    assert worker.errors == ()
    path = Path(handshake.path)
    assert json.loads(path.read_text()) == [worker.to_json()]
    (tmp_path / "out").joinpath(path).unlink()
    assert [each for each in (tmp_path / "out").rglob("*") if each.is_file()] == []


def test_there_is_a_probe_for_each_subtask_of_flink(tmp_path: Path) -> None:
    job = job_of(tmp_path, *EXAMPLE)
    assert handshake_of(job).probes >= 2
    assert handshake_of(job, "--parallelism=500").probes >= 500


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ("input", f"beam-bleu[3]: on {host_name()}: candidates atlas: there is no file "),
        ("output", f"beam-bleu[1]: on {host_name()}: "),
        ("kernel", f"beam-bleu[1]: on {host_name()}: the compiled kernel gives wrong numbers"),
    ],
)
def test_what_a_worker_cannot_do_ends_the_job_before_it_reads(
    changed: str, cause: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = tmp_path / "text.txt"
    text.write_bytes(SYSTEMS["atlas"].read_bytes())
    job = job_of(tmp_path / "out", "--candidates", f"atlas={text}", "--references", REFERENCES[0])
    handshake = handshake_of(job)
    if changed == "input":
        text.unlink()
    elif changed == "output":
        (tmp_path / "file").touch()
        handshake = dataclasses.replace(handshake, output=str(tmp_path / "file" / "out"))
    else:
        monkeypatch.setattr(installation, "SAMPLE", installation.SAMPLE[:2])
        installation.scored.cache_clear()
    with pytest.raises(Exception) as raised:  # noqa: PT011
        run(handshake, tmp_path / "begun")
    installation.scored.cache_clear()
    assert cause in str(raised.value)
    assert not (tmp_path / "begun").exists()
    assert handshake.answers() is not None  # for the launcher


def test_a_worker_that_cannot_write_the_answers_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    handshake = handshake_of(job_of(tmp_path, *EXAMPLE))
    handshake = dataclasses.replace(handshake, path=str(tmp_path / "file" / "workers.json"))
    with pytest.raises(Exception, match=f"on {host_name()}: .*workers.json cannot be written"):
        run(handshake, tmp_path / "begun")


def test_doctor_needs_the_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without them it would say of no worker that it can do the job."""
    monkeypatch.setattr(Runner, "prepare", lambda *_: None)
    monkeypatch.setattr(on_engine, "_run", lambda *_: None)
    words = ["doctor", *EXAMPLE, "--output", tmp_path / "out", "--runner", "FlinkRunner"]
    done = called(*words, "--log_format", "json")
    assert (done.code, done.out) == (1, b"")
    (line,) = done.err.splitlines()
    error = json.loads(line)
    assert error["message"].startswith(f"the workers' answers are not in {tmp_path / 'out'}")
    assert "--output" in error["remedy"]


def test_every_step_checks_the_launchers_versions_on_its_worker(tmp_path: Path) -> None:
    handshake = handshake_of(job_of(tmp_path, *EXAMPLE))
    more = {**handshake.software, "fugashi": "of the job, so not of every process"}
    Marked(beam.DoFn(), set_up=dataclasses.replace(handshake, software=more).set_up).setup()
    other = dataclasses.replace(handshake, software={"beam_bleu": "9.9.9"})
    with pytest.raises(Exception, match=r"but the launcher has 9\.9\.9"):
        Marked(beam.DoFn(), set_up=other.set_up).setup()
