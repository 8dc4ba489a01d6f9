"""Checks for `beam-bleu doctor`: what is installed here, and whether it works."""

from __future__ import annotations

import dataclasses
import functools
import json
import pathlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Literal

from beam_bleu.pipeline.folder.paths import HADOOP, INSTALL_HADOOP, has_module
from beam_bleu.transforms.errors import JobError, installing
from beam_bleu.transforms.pairing.files.tables import TABLE_KINDS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, TokenizerName
from beam_bleu.transforms.version import VERSION
from beam_bleu.transforms.wiring.filesystems import OBJECT_STORES

Status = Literal["ok", "no", "FAIL"]


@dataclasses.dataclass(frozen=True)
class Fact:
    """A line of the report. "no": something is missing. "FAIL": scoring needs it."""

    section: str
    name: str
    status: Status
    text: str
    remedy: str = ""


@dataclasses.dataclass(frozen=True)
class Check:
    """A check that finds facts. `find` does its imports itself, because they may fail."""

    section: str
    name: str
    find: Callable[[], Iterable[Fact]]
    needed: bool = True

    def facts(self) -> list[Fact]:
        facts: list[Fact] = []
        try:
            facts.extend(self.find())
        except Exception as error:  # a broken library can raise anything
            reason = (str(error).strip().splitlines() or [""])[0]
            text = f"cannot be checked: {type(error).__name__}: {reason}"
            facts.append(Fact(self.section, self.name, "FAIL" if self.needed else "no", text))
        return facts


# Segments, each a candidate and two references, that each kernel tokenizer splits differently: with
# entities, decimals, hyphens, Unicode punctuation, a no-break space and Chinese characters.
SAMPLE = (
    (
        "He said: &quot;It costs $3.50, or 4-5 euros.&quot;",
        ['He said: "It costs $3.50, or 4-5 euros!"', "She said that it costs 3.50 dollars."],
    ),
    (
        "The “naïve” café’s menu isn’t 100\u00a0% vegan, is it?",
        [
            "The “naïve” café’s menu is not 100\u00a0% vegan – is it?",
            "The café is not vegan, is it?",
        ],
    ),
    ("我们在2024年去了北京。", ["我们于2024年去了北京。", "我们在二〇二四年去过北京。"]),
)


# The BLEU of the sample by each of the kernel's tokenizers, with all other choices at the defaults.
# sacreBLEU 2.6 gives the same scores; for `ascii-space`, which it does not have, the brute force of
# the tests does.
SCORES: Mapping[TokenizerName, float] = {
    "13a": 75.65188566957578,
    "intl": 56.01082910487982,
    "zh": 63.11969078225887,
    "char": 80.47628691337553,
    "none": 37.26163349520731,
    "ascii-space": 42.50281413416977,
}


def _compiled() -> Iterator[Fact]:
    from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
    from beam_bleu.transforms.native.compiling import FUNCTIONS
    from beam_bleu.transforms.native.machine_code import cache_folder
    from beam_bleu.transforms.statistics.counting import prepare_counting

    if folder := cache_folder():
        yield Fact("kernel", "cache", "ok", str(folder))
    else:
        yield Fact("kernel", "cache", "no", "there is no folder for it, so every start compiles")
    start = time.monotonic()
    prepare_counting(BleuConfig().text, BleuConfig().metric)
    done = "compiled" if FUNCTIONS["compiled"] else "loaded from the cache"
    yield Fact("kernel", "code", "ok", f"{done} in {time.monotonic() - start:.1f} s")


def _numbers() -> Iterator[Fact]:
    if wrong := [name for name, right in SCORES.items() if scored(name) != right]:
        text = f"wrong for the built-in sample with {', '.join(wrong)}"
        remedy = "install again: rm -r .venv, then ./run.sh, in the folder of beam-bleu"
        yield Fact("kernel", "numbers", "FAIL", text, remedy)
    else:
        text = f"right for the built-in sample with {', '.join(SCORES)}"
        yield Fact("kernel", "numbers", "ok", text)


@functools.cache  # because a worker process answers many probes
def scored(tokenize: TokenizerName) -> float:
    import pyarrow as pa

    from beam_bleu.transforms.metrics.bleu.metric import BleuConfig
    from beam_bleu.transforms.pairing.batch import SegmentBatch
    from beam_bleu.transforms.statistics.counting import count_batch

    config = BleuConfig(tokenize)
    streams = zip(*((candidate, *references) for candidate, references in SAMPLE), strict=True)
    candidates, *references = (pa.array(texts, pa.large_string()) for texts in streams)
    batch = SegmentBatch(candidates=(candidates,), references=tuple(references))
    counted = count_batch(batch, config.text, config.metric)
    score: float = config.metric.parts(counted.counts[0][0].sum(axis=0).tolist())["score"]
    return score


_INSTALL = "./run.sh install, or pip install ., in the folder of beam-bleu"


def _packages() -> Iterator[Fact]:
    yield Fact("versions", "beam-bleu", "ok", VERSION)
    yield Fact("versions", "Python", "ok", platform.python_version())
    from packaging.requirements import Requirement

    for wanted in map(Requirement, requires("beam-bleu") or ()):
        # Requirements of extras are skipped: their markers are false without an extra.
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
    # In a process of its own, as a user would run it, because a broken library can end its process.
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
        tail = done.stderr.decode(errors="replace").strip().splitlines() or [""]
        text = f"a job on the sample ends with exit code {done.returncode}: {tail[0]}"
        yield Fact("engines", "in-process", "FAIL", text, tail[-1].strip() if len(tail) > 1 else "")
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
    label, library = "Whisper's normalizers", "whisper_normalizer"
    yield _optional("tokenizers", "whisper", label, library, installing("whisper"))


CHECKS = (
    # Needed versions are in the metadata of the installed package. Without metadata, beam-bleu may
    # still work; the next checks find out.
    Check("versions", "packages", _packages, needed=False),
    Check("kernel", "code", _compiled),
    Check("kernel", "numbers", _numbers),
    Check("engines", "in-process", _in_process),
    Check("engines", "others", _engines, needed=False),
    Check("filesystems", "others", _libraries, needed=False),
    Check("tokenizers", "libraries", _tokenizers, needed=False),
)
