"""On Flink all task managers work, and `doctor` asks the workers."""

from __future__ import annotations

import itertools
import json
import platform
import time

from command_line import (
    EXAMPLE,
    REFERENCES,
    SYSTEMS,
    called,
    read_lines,
    streams,
    typed,
    write_lines,
)

from deploy.local.hosts.installing import copy_sources


def test_all_task_managers_do_the_work(flink, tmp_path):
    paths = []
    for source in (SYSTEMS["atlas"], REFERENCES[0]):
        # The lines are all different, so that no line can be counted in place of another.
        copies = itertools.chain.from_iterable([read_lines(source)] * 12_000)
        lines = [f"{line} {number}" for number, line in enumerate(copies)]
        paths.append(write_lines(tmp_path / source.name, lines))
    systems = [f"{number}={paths[0]}" for number in range(12)]
    corpus = streams(systems, paths[1:], "--range_bytes=20000000", "--format=json")
    run = typed(*corpus, f"--output={tmp_path}/out", *flink.flags(), timeout=300)
    assert run.out == called(*corpus).out, run.err
    end = time.monotonic() + 60
    while (job := flink.newest_job())["state"] != "FINISHED":  # Flink tells a little later
        assert time.monotonic() < end
        time.sleep(0.2)
    (stage,) = (each for each in job["vertices"] if "Count matches" in each["name"])
    asked = f"/jobs/{job['jid']}/vertices/{stage['id']}/taskmanagers"
    did = {
        each["taskmanager-id"]: each["metrics"]["read-records"]
        for each in flink.ask(asked)["taskmanagers"]
    }
    assert set(did) == {each["id"] for each in flink.task_managers()}
    assert all(units >= 3 for units in did.values()), did


def test_doctor_asks_the_workers(pool, flink, tmp_path):
    output = tmp_path / "out"
    output.mkdir()
    (output / "scores.json").mkdir()  # a file cannot take its place, but one beside it is possible
    doctor = ["doctor", "--format=json", *EXAMPLE, "--output", output]
    run = typed(*doctor, *flink.flags(), timeout=300)
    assert run.code == 0, run.err
    facts = json.loads(run.out)["facts"]
    assert {(fact["section"], fact["status"]) for fact in facts} == {(platform.node(), "ok")}
    assert [path.name for path in output.iterdir()] == ["scores.json"]

    copy = copy_sources(tmp_path / "copy")
    changed = copy / "transforms" / "version.py"
    changed.write_text(changed.read_text() + "# changed\n")
    run = typed(*doctor, *pool(code=copy), timeout=300)
    assert run.code == 1
    facts = {fact["name"]: fact["status"] for fact in json.loads(run.out)["facts"]}
    assert (facts["beam-bleu"], facts["code"]) == ("ok", "FAIL")
