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
from beam_bleu.pipeline.engines.handshake import (
    Handshake,
    Worker,
    host_name,
    hosts_and_versions,
    require_able,
)
from beam_bleu.pipeline.engines.runners import Runner
from beam_bleu.pipeline.errors.marked_steps import Marked
from beam_bleu.pipeline.graph import build
from beam_bleu.pipeline.scoring.job import Job
from beam_bleu.pipeline.subcommands import doctor_on_engine as on_engine
from beam_bleu.pipeline.subcommands.doctor_on_engine import facts_of_workers
from beam_bleu.transforms.errors import BleuError, InputError, JobError

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
    job = job_of(tmp_path / "out", *EXAMPLE)
    assert handshake_of(job, "--parallelism=500").probes >= 500  # one for each subtask of Flink
    handshake = handshake_of(job)
    assert handshake.probes >= 2
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


@pytest.mark.parametrize(
    ("changed", "cause"),
    [
        ("input", "beam-bleu[3]: on {}: candidates atlas: there is no file "),
        ("output", "beam-bleu[1]: on {}: "),
        ("path", "workers.json cannot be written"),
        ("kernel", "beam-bleu[1]: on {}: the compiled kernel gives wrong numbers"),
    ],
)
def test_what_a_worker_cannot_do_ends_the_job_before_it_reads(
    changed, cause, tmp_path, monkeypatch
):
    text = tmp_path / "text.txt"
    text.write_bytes(SYSTEMS["atlas"].read_bytes())
    job = job_of(tmp_path / "out", "--candidates", f"atlas={text}", "--references", REFERENCES[0])
    handshake = handshake_of(job)
    (tmp_path / "file").touch()
    if changed == "input":
        text.unlink()
    elif changed == "kernel":
        monkeypatch.setattr(installation, "SAMPLE", installation.SAMPLE[:2])
        installation.scored.cache_clear()
    else:
        place = str(tmp_path / "file" / "workers.json")
        handshake = dataclasses.replace(handshake, **{changed: place})
    with pytest.raises(Exception, match=f"on {host_name()}: ") as raised:
        run(handshake, tmp_path / "begun")
    installation.scored.cache_clear()
    assert cause.format(host_name()) in str(raised.value)
    assert not (tmp_path / "begun").exists()
    assert (handshake.answers() is None) == (changed == "path")  # they are for the launcher


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


# What workers say of themselves


LAUNCHER = {
    "beam_bleu": "0.2.0",
    "code": "0123456789ab",
    "python": "3.11.7",
    "apache_beam": "2.77.0",
    "numba": "0.68.1",
    "numpy": "2.4.6",
    "pyarrow": "25.0.1",
    "fugashi": "1.5.1",
}

UNREADABLE = InputError("candidates a: cannot be read: Permission denied: /a", "check the file")
FULL = JobError("/out/scores.json cannot be written: No space left on device", "check the folder")
NO_MECAB = JobError("the tokenizer ja-mecab does not work: No module named 'MeCab'", "install it")


def worker(host: str, *errors: BleuError, **different: str | None) -> Worker:
    software = {**LAUNCHER, **different}
    return Worker(host, {name: its for name, its in software.items() if its}, errors)


def test_workers_are_compared_with_the_launcher():
    require_able(LAUNCHER, [worker("a"), worker("b", python="3.11.2"), worker("c", numba="0.60")])
    for workers, kind, cause in [
        (
            [worker("a"), worker("b", python="3.12.1")],
            JobError,
            "on b: python is 3.12.1, but the launcher has 3.11.7",
        ),
        (
            [worker("b", fugashi=None)],
            JobError,
            "on b: fugashi is missing, but the launcher has 1.5.1",
        ),
        (
            [worker(host, beam_bleu="0.1.0") for host in "dcbab"],
            JobError,
            "on a, b, c and 1 more: beam-bleu is 0.1.0, but the launcher has 0.2.0",
        ),
        ([worker("a"), worker("b", UNREADABLE)], InputError, f"on b: {UNREADABLE.cause}"),
        # Without its library a worker may not even be able to read.
        ([worker("a", UNREADABLE), worker("b", NO_MECAB)], JobError, f"on b: {NO_MECAB.cause}"),
    ]:
        with pytest.raises(BleuError) as raised:
            require_able(LAUNCHER, workers)
        assert type(raised.value) is kind
        assert raised.value.cause.startswith(cause)
        assert kind is InputError or "install" in raised.value.remedy


def test_the_record_has_each_host_and_version_once() -> None:
    workers = [worker("b"), worker("a"), worker("a", FULL), worker("a", numba="0.60.0")]
    record = hosts_and_versions(workers)
    assert [(entry["host"], entry["versions"]["numba"]) for entry in record] == [
        ("a", "0.60.0"),
        ("a", "0.68.1"),
        ("b", "0.68.1"),
    ]


def test_the_facts_of_each_host() -> None:
    workers = [worker("a"), worker("a"), worker("b", FULL, beam_bleu="0.1.0", numba="0.60.0")]
    facts = facts_of_workers(LAUNCHER, workers, "/out")
    of_b = {fact.name: fact for fact in facts if fact.section == "b"}
    assert {fact.status for fact in facts if fact.section == "a"} == {"ok"}
    assert {name for name, fact in of_b.items() if fact.status == "FAIL"} == {"beam-bleu", "access"}
    assert of_b["beam-bleu"].text == "0.1.0; here it is 0.2.0"
    assert of_b["numba"].text == "0.60.0; here it is 0.68.1"
    assert (of_b["access"].text, of_b["access"].remedy) == (FULL.cause, FULL.remedy)
