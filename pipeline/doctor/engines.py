"""The engines that jobs can be sent to from here, and what the others lack."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import version

from beam_bleu.pipeline.command_line.known_filesystems import has_module
from beam_bleu.pipeline.doctor.installation_facts import Check, Fact
from beam_bleu.pipeline.doctor.kernel_check import RESULTS, SAMPLE, Recorded
from beam_bleu.transforms.errors import installing

_SECTION = "engines"

_PATIENCE = 120
"""For how many seconds a job on the sample may run."""


def _in_process() -> Iterator[Fact]:
    # In a process of its own, as a user would run it: a broken library can end a process.
    with tempfile.TemporaryDirectory(prefix="beam-bleu-doctor-") as folder:
        done = subprocess.run(
            [sys.executable, "-m", "beam_bleu.pipeline", *_arguments(pathlib.Path(folder))],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE,
            check=False,
        )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [""]
        text = f"a job on the sample ends with exit code {done.returncode}: {said[0]}"
        yield Fact(_SECTION, "in-process", "FAIL", text, said[-1].strip() if len(said) > 1 else "")
        return
    (score,) = json.loads(done.stdout)["scores"]
    lengths = (score["sys_len"], score["ref_len"])
    result = Recorded(tuple(score["matches"]), tuple(score["totals"]), lengths, score["score"])
    if result == RESULTS["13a"]:
        yield Fact(_SECTION, "in-process", "ok", "a job on the built-in sample gives its score")
    else:
        text = f"a job on the sample gives {result.score}, not {RESULTS['13a'].score}"
        yield Fact(_SECTION, "in-process", "FAIL", text)


def _arguments(folder: pathlib.Path) -> list[str]:
    """Writes the sample to files; returns the flags of a job on them."""
    streams = {"sample": [candidate for candidate, _ in SAMPLE]}
    for number in range(2):
        streams[f"reference{number}"] = [references[number] for _, references in SAMPLE]
    for name, lines in streams.items():
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return [
        f"--candidates={folder}/sample.txt",
        f"--references={folder}/reference0.txt",
        f"--references={folder}/reference1.txt",
        "--format=json",
        "--quiet",
    ]


def _prism() -> Iterator[Fact]:
    program = shutil.which("prism")
    if program is not None:
        yield Fact(_SECTION, "Prism", "ok", f"--prism_location {program}")
    else:
        package = f"github.com/apache/beam/sdks/v2/go/cmd/prism@v{version('apache-beam')}"
        text = "there is no `prism` on the PATH; Beam would download it for the first job"
        yield Fact(_SECTION, "Prism", "no", text, f"go install {package}")


def _of_java(engine: str) -> Iterator[Fact]:
    if shutil.which("java") is None:
        yield Fact(
            _SECTION,
            engine,
            "no",
            "`java` is not installed, so Beam's job server cannot run",
            "install Java, or use a job server that runs elsewhere: --job_endpoint HOST:PORT",
        )
        return
    jars = pathlib.Path("~/.apache_beam/cache/jars").expanduser()
    kept = sorted(jars.glob(f"beam-runners-{engine.lower()}-*job-server*.jar"))
    server = kept[-1].name if kept else "Beam downloads its job server for the first job"
    yield Fact(_SECTION, engine, "ok", f"Java is installed; {server}")


def _flink() -> Iterator[Fact]:
    yield from _of_java("Flink")


def _spark() -> Iterator[Fact]:
    yield from _of_java("Spark")


def _dataflow() -> Iterator[Fact]:
    library = "google.cloud.dataflow"
    if has_module(library):
        yield Fact(_SECTION, "Dataflow", "ok", "its libraries are installed")
    else:
        text = f"there is no module {library}"
        yield Fact(_SECTION, "Dataflow", "no", text, installing("gcp"))


CHECKS = (
    Check(_SECTION, "in-process", _in_process),
    Check(_SECTION, "Prism", _prism, needed=False),
    Check(_SECTION, "Flink", _flink, needed=False),
    Check(_SECTION, "Spark", _spark, needed=False),
    Check(_SECTION, "Dataflow", _dataflow, needed=False),
)
