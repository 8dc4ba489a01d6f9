"""Checks of the image that do not need to build it."""

from __future__ import annotations

import importlib.metadata
import re
from collections.abc import Iterator

from command_line import PROJECT
from packaging.requirements import Requirement

LINES = (PROJECT / "deploy" / "dataflow" / "Dockerfile").read_text().splitlines()


def instructions(name: str) -> Iterator[str]:
    """The arguments of each instruction of this name, with its variables filled in."""
    variables: dict[str, str] = {}
    for line in LINES:
        instruction, _, rest = line.partition(" ")
        if instruction == "ARG" and "=" in rest:
            variable, _, value = rest.partition("=")
            variables[variable] = value
        if instruction == name:
            yield re.sub(r"\$\{(\w+)\}", lambda found: variables[found[1]], rest)


def copies() -> Iterator[tuple[list[str], str]]:
    """(sources, target) of the files that are copied from the project."""
    for words in map(str.split, instructions("COPY")):
        if not words[0].startswith("--from="):
            yield words[:-1], words[-1]


def beam_version() -> str:
    _, base = instructions("FROM")
    return base.rpartition(":")[2]


def test_the_program_that_the_template_starts_is_the_launcher():
    (environment,) = instructions("ENV")
    name, _, path = environment.partition("=")
    assert name == "FLEX_TEMPLATE_PYTHON_PY_FILE"
    assert (["deploy/dataflow/launch.py"], path) in list(copies())


def test_the_launchers_program_comes_from_googles_image():
    launcher, _ = instructions("FROM")
    image, _, stage = launcher.partition(" AS ")
    assert re.fullmatch(r"gcr\.io/dataflow-templates-base/[\w-]+:\d{8}_RC\d\d", image)
    (program,) = (each for each in instructions("COPY") if each.startswith("--from="))
    path = "/opt/google/dataflow/python_template_launcher"
    assert program == f"--from={stage} {path} {path}"


def test_the_beam_of_the_image_is_one_that_the_project_takes():
    requirements = map(Requirement, importlib.metadata.requires("beam-bleu"))
    (beam,) = (each for each in requirements if each.name == "apache-beam" and not each.marker)
    assert beam_version() in beam.specifier


def test_the_project_is_installed_with_its_extras_and_the_images_own_beam():
    (install,) = instructions("RUN")
    folder = next(target for given, target in copies() if "pyproject.toml" in given).rstrip("/")
    assert f'"{folder}[gcp,ja,ko,spm]"' in install
    assert f'"apache-beam=={beam_version()}"' in install
