"""Checks of the image's files that do not need to build it."""

from __future__ import annotations

import fnmatch
import importlib.metadata
import re

from command_line import PROJECT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from beam_bleu.transforms.version import VERSION
from deploy.image.chroot import DOCKERFILE, instructions

FOLDER = PROJECT / "deploy" / "image"

STEPS = [*instructions(DOCKERFILE.read_text())]

EXTRAS = ("ja", "ko", "spm")


def of_kind(name: str) -> list[str]:
    return [arguments for kind, arguments in STEPS if kind == name]


def pinned(name: str) -> dict[str, str]:
    """The versions in a file of requirements. Each package must have hashes."""
    text = re.sub(r"^#.*\n", "", (FOLDER / name).read_text(), flags=re.M)
    found = {}
    for line in text.replace("\\\n", " ").splitlines():
        requirement, *hashes = line.split(" --hash=")
        package, _, version = requirement.strip().partition("==")
        assert hashes, package
        found[package] = version
    return found


def test_the_requirements_are_those_of_the_project():
    versions = pinned("requirements.txt")
    of_image = {"python_version": "3.11", "platform_system": "Linux", "sys_platform": "linux"}
    for text in importlib.metadata.requires("beam-bleu"):
        requirement = Requirement(text)
        marker = requirement.marker
        if marker and not any(
            marker.evaluate({**of_image, "extra": extra}) for extra in ("", *EXTRAS)
        ):
            continue
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, (
            f"{requirement}: run sh deploy/image/pin.sh"
        )
    assert set(EXTRAS) == set(re.findall(r"--extra (\w+)", (FOLDER / "pin.sh").read_text()))


def test_the_version_of_the_image_is_that_of_the_project():
    (version,) = (each for each in of_kind("ARG") if each.startswith("VERSION="))
    assert version == f"VERSION={VERSION}"
    (labels,) = of_kind("LABEL")
    assert 'org.opencontainers.image.version="${VERSION}"' in labels


def test_the_final_stage_installs_nothing_and_has_a_user_without_rights():
    last = max(number for number, (kind, _) in enumerate(STEPS) if kind == "FROM")
    final = STEPS[last:]
    assert "RUN" not in {kind for kind, _ in final}
    assert [arguments for kind, arguments in final if kind == "COPY"] == [
        "--from=builder /opt/beam-bleu /opt/beam-bleu"
    ]
    assert ("USER", "10001:10001") in final
    assert ("ENTRYPOINT", '["beam-bleu"]') in final


def test_the_copied_files_exist_and_are_sent_to_the_builder():
    ignored = (PROJECT / ".dockerignore").read_text().splitlines()
    assert ignored[1] == "*"
    sent = [line[1:] for line in ignored if line.startswith("!")]
    for dockerfile in ("image", "dataflow"):
        text = (PROJECT / "deploy" / dockerfile / "Dockerfile").read_text()
        copies = [
            words for kind, words in instructions(text) if kind == "COPY" and "--from" not in words
        ]
        for source in (word for words in copies for word in words.split()[:-1]):
            if not source.startswith("--"):
                assert (PROJECT / source).exists(), source
                assert any(fnmatch.fnmatch(source, f"{name}*") for name in sent), source
