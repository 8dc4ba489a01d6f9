"""What workers say of themselves is compared with the launcher, and the error names the hosts."""

from __future__ import annotations

import json

import pytest

from beam_bleu.pipeline.engines.handshake import Worker, hosts_and_versions, require_able
from beam_bleu.pipeline.subcommands.doctor_on_engine import facts_of_workers
from beam_bleu.transforms.errors import BleuError, InputError, JobError

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


def error_of(*workers: Worker) -> BleuError:
    with pytest.raises(BleuError) as raised:
        require_able(LAUNCHER, workers)
    return raised.value


def test_equal_workers_can_do_the_job() -> None:
    require_able(LAUNCHER, [worker("a"), worker("b", python="3.11.2"), worker("c", numba="0.60")])


@pytest.mark.parametrize(
    ("different", "cause"),
    [
        ({"python": "3.12.1"}, "on b: python is 3.12.1, but the launcher has 3.11.7"),
        ({"apache_beam": "2.70.0"}, "on b: apache-beam is 2.70.0, but the launcher has 2.77.0"),
        ({"fugashi": None}, "on b: fugashi is missing, but the launcher has 1.5.1"),
    ],
)
def test_a_version_on_which_the_result_depends(different, cause) -> None:
    error = error_of(worker("a"), worker("b", **different))
    assert isinstance(error, JobError)
    assert error.cause == cause
    assert "install" in error.remedy


@pytest.mark.parametrize(
    ("workers", "kind", "cause"),
    [
        (
            [worker(host, beam_bleu="0.1.0") for host in "dcbab"],
            JobError,
            "on a, b, c and 1 more: beam-bleu is 0.1.0, but the launcher has 0.2.0",
        ),
        ([worker("a"), worker("b", UNREADABLE)], InputError, f"on b: {UNREADABLE.cause}"),
        # Without its library a worker may not even be able to read.
        ([worker("a", UNREADABLE), worker("b", NO_MECAB)], JobError, f"on b: {NO_MECAB.cause}"),
    ],
)
def test_what_workers_cannot_do(workers, kind, cause) -> None:
    error = error_of(*workers)
    assert type(error) is kind
    assert error.cause == cause


def test_a_worker_is_the_same_after_it_was_sent() -> None:
    sent = worker("a", UNREADABLE, FULL)
    received = Worker.from_json(sent.to_json())
    assert (received.host, received.software) == (sent.host, sent.software)
    assert list(map(str, received.errors)) == list(map(str, sent.errors))
    assert list(map(type, received.errors)) == [InputError, JobError]


def test_the_record_has_each_host_and_version_once() -> None:
    workers = [worker("b"), worker("a"), worker("a", FULL), worker("a", numba="0.60.0")]
    record = hosts_and_versions(workers)
    assert [(entry["host"], entry["versions"]["numba"]) for entry in record] == [
        ("a", "0.60.0"),
        ("a", "0.68.1"),
        ("b", "0.68.1"),
    ]
    assert json.loads(json.dumps(record)) == record


def test_the_facts_of_each_host() -> None:
    workers = [worker("a"), worker("a"), worker("b", FULL, beam_bleu="0.1.0", numba="0.60.0")]
    facts = facts_of_workers(LAUNCHER, workers, "/out")
    of_b = {fact.name: fact for fact in facts if fact.section == "b"}
    assert {fact.status for fact in facts if fact.section == "a"} == {"ok"}
    assert {name for name, fact in of_b.items() if fact.status == "FAIL"} == {"beam-bleu", "access"}
    assert of_b["beam-bleu"].text == "0.1.0; here it is 0.2.0"
    assert of_b["numba"].text == "0.60.0; here it is 0.68.1"
    assert (of_b["access"].text, of_b["access"].remedy) == (FULL.cause, FULL.remedy)
