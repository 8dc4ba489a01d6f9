"""beam-bleu doctor: what it says of a sound installation and of broken ones."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
import types
from collections.abc import Sequence

import brute_force
import pytest
from command_line import called
from sacrebleu.metrics import BLEU
from tokenizer_oracles import TOKENIZERS_BEYOND_SACREBLEU

from beam_bleu.pipeline.engines import installation
from beam_bleu.pipeline.engines.installation import CHECKS, SAMPLE, SCORES, Check, Fact
from beam_bleu.pipeline.subcommands import doctor as command
from beam_bleu.transforms.text.tokenizers import TOKENIZERS


def facts(checks: Sequence[Check]) -> dict[str, Fact]:
    """The facts of checks, by their names."""
    return {fact.name: fact for check in checks for fact in check.facts()}


def only(monkeypatch: pytest.MonkeyPatch, *checks: Check) -> None:
    """Makes the command do these checks only, which saves time."""
    monkeypatch.setattr(command, "CHECKS", checks)


GOOD = Check("section", "good", lambda: [Fact("section", "good", "ok", "fine")])
LACKING = Check("section", "lacking", lambda: [Fact("section", "lacking", "no", "no x", "get x")])
BROKEN = Check("section", "broken", lambda: [Fact("section", "broken", "FAIL", "wrong", "mend")])


def test_a_sound_installation():
    run = called("doctor")
    assert run.code == 0, run.out.decode()
    assert run.err == ""
    lines = run.out.decode().splitlines()
    assert lines[-1] == "Scoring works here."
    assert {"versions", "kernel", "engines", "filesystems", "tables", "tokenizers"} <= {*lines}
    for name in ("numba", "numbers", "in-process"):
        assert any(re.match(rf"  ok    {name} ", line) for line in lines), name
    assert not any(line.startswith("  FAIL") for line in lines)
    for line in lines:
        assert len(line) <= 80 or max(map(len, line.split())) > 40, line


def raising() -> list[Fact]:
    raise SystemError("initialization failed\nmore")


def test_facts_as_text_and_as_json(monkeypatch):
    needed, other = Check("s", "one", raising), Check("s", "two", raising, needed=False)
    only(monkeypatch, GOOD, BROKEN, LACKING, needed, other)
    run = called("doctor")
    assert (run.code, run.err) == (1, "")
    assert run.out.decode().splitlines() == [
        "section",
        "  ok    good     fine",
        "  FAIL  broken   wrong",
        "                 -> mend",
        "  no    lacking  no x",
        "                 -> get x",
        "",
        "s",
        "  FAIL  one      cannot be checked: SystemError: initialization failed",
        "  no    two      cannot be checked: SystemError: initialization failed",
        "",
        "Scoring on this machine does not work.",
    ]
    run = called("doctor", "--format=json")
    assert (run.code, json.loads(run.out)["ok"]) == (1, False)
    only(monkeypatch, LACKING)
    run = called("doctor", "--format=json")
    fact = {"section": "section", "name": "lacking", "status": "no", "text": "no x"}
    expected = {"ok": True, "facts": [{**fact, "remedy": "get x"}]}
    assert (run.code, json.loads(run.out)) == (0, expected)


def test_the_recorded_results_are_those_of_sacrebleu():
    assert [*SCORES] == [name for name, row in TOKENIZERS.items() if row.extra is None]
    for tokenize, recorded in SCORES.items():
        if name := TOKENIZERS[tokenize].sacrebleu:
            references = [[references[number] for _, references in SAMPLE] for number in range(2)]
            bleu = BLEU(tokenize=name, force=True)
            score = bleu.corpus_score([candidate for candidate, _ in SAMPLE], references).score
        else:
            tokens = TOKENIZERS_BEYOND_SACREBLEU[tokenize]
            segments = [(tokens(text), [*map(tokens, references)]) for text, references in SAMPLE]
            score = 100 * brute_force.papineni2002(brute_force.corpus_sums(segments))
        assert recorded == pytest.approx(score, rel=1e-12)


def test_a_wrong_kernel_and_a_library_that_cannot_be_imported_fail(monkeypatch):
    with monkeypatch.context() as patched:
        patched.setattr(installation, "scored", lambda tokenize: SCORES["13a"])
        fact = facts(CHECKS[1:3])["numbers"]
    assert fact.status == "FAIL"
    assert fact.text.endswith(f" with {', '.join(name for name in SCORES if name != '13a')}")
    assert "./run.sh" in fact.remedy
    # numba raises an ImportError if numpy is too new for it.
    installation.scored.cache_clear()
    monkeypatch.setitem(sys.modules, "beam_bleu.transforms.metrics.bleu.kernel", None)
    found = facts(CHECKS[1:3])
    assert found["cache"].status == "ok"
    assert {found["code"].status, found["numbers"].status} == {"FAIL"}
    assert found["numbers"].text.startswith("cannot be checked: ModuleNotFoundError: ")


def test_packages_that_are_missing_or_too_old(monkeypatch):
    versions = {"apache-beam": "2.1.0", "numpy": "99", "numba": "1.0rc1"}

    def version(name: str) -> str:
        if name not in versions:
            raise importlib.metadata.PackageNotFoundError(name)
        return versions[name]

    needs = ["apache-beam>=2.76", "numpy>=1.26", "numba>=0.61", "rich>=13", "boto3; extra == 'aws'"]
    monkeypatch.setattr(installation, "requires", lambda name: needs)
    monkeypatch.setattr(installation, "version", version)
    found = facts(CHECKS[:1])
    assert found.pop("beam-bleu").status == "ok"
    assert found.pop("Python").status == "ok"
    assert {name: (fact.status, fact.text) for name, fact in found.items()} == {
        "apache-beam": ("FAIL", "2.1.0; beam-bleu needs >=2.76"),
        "numpy": ("ok", "99"),
        "numba": ("ok", "1.0rc1"),
        "rich": ("FAIL", "is not installed; beam-bleu needs >=13"),
    }
    assert "./run.sh install" in found["rich"].remedy


def job(monkeypatch: pytest.MonkeyPatch, code: int, out: str, err: str) -> Fact:
    done = types.SimpleNamespace(returncode=code, stdout=out.encode(), stderr=err.encode())
    monkeypatch.setattr(subprocess, "run", lambda *arguments, **more: done)
    return facts(CHECKS[3:4])["in-process"]


def test_a_job_that_fails_or_gives_a_wrong_score(monkeypatch):
    fact = job(monkeypatch, 1, "", "beam-bleu: no module x\n  install it\n")
    assert (fact.status, fact.remedy) == ("FAIL", "install it")
    assert fact.text == "a job on the sample ends with exit code 1: beam-bleu: no module x"
    fact = job(monkeypatch, 0, json.dumps({"scores": [{"score": 12.5}]}), "")
    assert fact.status == "FAIL"
    assert fact.text.startswith("a job on the built-in sample gives 12.5; 75.65")


def test_engines_without_their_programs(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(installation, "has_module", lambda name: False)
    found = facts(CHECKS[4:5])
    assert {fact.status for fact in found.values()} == {"no"}
    assert found["Prism"].remedy.startswith("go install github.com/apache/beam/")
    assert "--job_endpoint" in found["Flink, Spark"].remedy
    assert found["Dataflow"].remedy.startswith("./run.sh install gcp")

    program = tmp_path / "prism"
    program.touch(mode=0o755)
    assert facts(CHECKS[4:5])["Prism"].text == f"--prism_location {program}"
