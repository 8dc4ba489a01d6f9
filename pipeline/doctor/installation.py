"""What is here: packages, the machine, the programs of engines, and optional libraries."""

from __future__ import annotations

import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version

from beam_bleu.pipeline.command_line.paths import HADOOP, INSTALL_HADOOP, has_module
from beam_bleu.pipeline.doctor.facts import Check, Fact
from beam_bleu.pipeline.doctor.sample import SAMPLE, SCORES
from beam_bleu.transforms.errors import JobError, installing
from beam_bleu.transforms.pairing.files.tables import TABLE_KINDS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS
from beam_bleu.transforms.version import VERSION
from beam_bleu.transforms.wiring.filesystems import OBJECT_STORES

_INSTALL = "./run.sh install, or pip install ., in the folder of beam-bleu"


def _packages() -> Iterator[Fact]:
    yield Fact("versions", "beam-bleu", "ok", VERSION)
    yield Fact("versions", "Python", "ok", platform.python_version())
    from packaging.requirements import Requirement

    for wanted in map(Requirement, requires("beam-bleu") or ()):
        # The marker of an extra's requirement is false here, because no extra is asked for.
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = version(wanted.name)
            is_right = wanted.specifier.contains(installed, prereleases=True)
        except PackageNotFoundError:
            installed, is_right = "is not installed", False
        if is_right:
            yield Fact("versions", wanted.name, "ok", installed)
        else:
            need = f"{installed}; beam-bleu needs {wanted.specifier}"
            yield Fact("versions", wanted.name, "FAIL", need, _INSTALL)


def _in_process() -> Iterator[Fact]:
    # In a process of its own, as a user would run it: a broken library can end a process.
    with tempfile.TemporaryDirectory(prefix="beam-bleu-doctor-") as folder:
        streams = zip(*((candidate, *references) for candidate, references in SAMPLE), strict=True)
        files = [pathlib.Path(folder, name) for name in ("sample.txt", "0.txt", "1.txt")]
        for file, lines in zip(files, streams, strict=True):
            file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        candidates, *references = files
        done = subprocess.run(
            [
                *(sys.executable, "-m", "beam_bleu.pipeline", f"--candidates={candidates}"),
                *(f"--references={file}" for file in references),
                *("--format=json", "--quiet"),
            ],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines() or [""]
        text = f"a job on the sample ends with exit code {done.returncode}: {said[0]}"
        yield Fact("engines", "in-process", "FAIL", text, said[-1].strip() if len(said) > 1 else "")
        return
    (result,) = json.loads(done.stdout)["scores"]
    text = f"a job on the built-in sample gives {result['score']}; {SCORES['13a']} is right"
    is_right = result["score"] == SCORES["13a"]
    yield Fact("engines", "in-process", "ok" if is_right else "FAIL", text)


def _engines() -> Iterator[Fact]:
    if program := shutil.which("prism"):
        yield Fact("engines", "Prism", "ok", f"--prism_location {program}")
    else:
        package = f"github.com/apache/beam/sdks/v2/go/cmd/prism@v{version('apache-beam')}"
        text = "there is no `prism` on the PATH; Beam would download it for the first job"
        yield Fact("engines", "Prism", "no", text, f"go install {package}")
    if shutil.which("java"):
        yield Fact("engines", "Flink, Spark", "ok", "Java is installed, for Beam's job server")
    else:
        text = "`java` is not installed, so Beam's job server cannot run"
        remedy = "install Java, or use a job server that runs elsewhere: --job_endpoint HOST:PORT"
        yield Fact("engines", "Flink, Spark", "no", text, remedy)
    yield _optional("engines", "Dataflow", "Dataflow", "google.cloud.dataflow", installing("gcp"))


def _libraries() -> Iterator[Fact]:
    for scheme, row in OBJECT_STORES.items():
        yield _optional("filesystems", f"{scheme}://", row.name, "obstore", _INSTALL)
    yield _optional("filesystems", f"{HADOOP}://", "Hadoop", HADOOP, INSTALL_HADOOP)
    for prefix, kind in TABLE_KINDS.items():
        yield _optional("tables", f"{prefix}:", kind.label, kind.library, installing(kind.extra))


def _optional(section: str, name: str, label: str, library: str, remedy: str) -> Fact:
    if has_module(library):
        return Fact(section, name, "ok", f"{label}, by {library}")
    return Fact(section, name, "no", f"{label}: there is no module {library}", remedy)


def _tokenizers() -> Iterator[Fact]:
    from beam_bleu.transforms.text.library_tokenizers import load_library

    for row in TOKENIZERS.values():
        if row.extra is None:
            continue
        try:
            load_library(row.name)
        except JobError as error:
            yield Fact("tokenizers", row.name, "no", error.cause, error.remedy)
        else:
            versions = ", ".join(f"{name} {version(name)}" for name in row.versions)
            yield Fact("tokenizers", row.name, "ok", versions)


# The versions that are needed are in the metadata of an installed package. Without it,
# beam-bleu may work all the same: what works is checked below.
PACKAGE_CHECK = Check("versions", "packages", _packages, needed=False)

LIBRARY_CHECKS = (
    Check("engines", "in-process", _in_process),
    Check("engines", "others", _engines, needed=False),
    Check("filesystems", "others", _libraries, needed=False),
    Check("tokenizers", "libraries", _tokenizers, needed=False),
)
