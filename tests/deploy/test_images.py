"""Checks of the two images' files that do not need to build them."""

from __future__ import annotations

import fnmatch
import importlib.metadata
import re

from command_line import PROJECT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from beam_bleu.transforms.version import VERSION
from deploy.image.chroot import instructions

STEPS = {
    name: [*instructions((PROJECT / "deploy" / name / "Dockerfile").read_text())]
    for name in ("image", "dataflow")
}


def copied(image: str) -> list[list[str]]:
    """The words of each instruction that copies files of the project."""
    return [
        words.split() for kind, words in STEPS[image] if kind == "COPY" and "--from" not in words
    ]


def test_every_requirement_of_the_project_is_pinned_with_hashes():
    text = re.sub(r"^#.*\n", "", (PROJECT / "deploy/constraints.txt").read_text(), flags=re.M)
    pinned: dict[str, list[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = line.split(" --hash=")
        assert hashes, line
        package, _, version = requirement.partition(";")[0].strip().partition("==")
        pinned.setdefault(package, []).append(version)
    bases = dict(words.split(":") for kind, words in STEPS["dataflow"] if kind == "FROM")
    pinned["apache-beam"].append(bases["apache/beam_python3.11_sdk"])
    for required in map(Requirement, importlib.metadata.requires("beam-bleu")):
        name = canonicalize_name(required.name)
        versions = ["0.1.0"] if name == "beam-bleu" else pinned[name]
        assert all(version in required.specifier for version in versions), (
            f"{required}: run the command at the head of deploy/constraints.txt"
        )


def test_the_copied_files_exist_and_are_sent_to_the_builder():
    assert ("ARG", f"VERSION={VERSION}") in STEPS["image"]
    (environment,) = (words for kind, words in STEPS["dataflow"] if kind == "ENV")
    name, _, path = environment.partition("=")
    assert name == "FLEX_TEMPLATE_PYTHON_PY_FILE"
    assert ["deploy/dataflow/launch.py", path] in copied("dataflow")
    ignored = (PROJECT / ".dockerignore").read_text().splitlines()
    sent = [line[1:] for line in ignored if line.startswith("!")]
    files = [*copied("image"), *copied("dataflow")]
    for source in (word for words in files for word in words[:-1]):
        if not source.startswith("--"):
            assert (PROJECT / source).exists(), source
            assert any(fnmatch.fnmatch(source, f"{name}*") for name in sent), source
