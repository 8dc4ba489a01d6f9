"""The versions of the packages, and whether they are as new as beam-bleu needs."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from beam_bleu.pipeline.doctor.installation_facts import Check, Fact
from beam_bleu.transforms.version import VERSION

_SECTION = "versions"

_INSTALL = "./run.sh install, or pip install ., in the folder of beam-bleu"


def _own() -> Iterator[Fact]:
    yield Fact(_SECTION, "beam-bleu", "ok", VERSION)


def _python() -> Iterator[Fact]:
    from packaging.specifiers import SpecifierSet

    found, wanted = platform.python_version(), metadata("beam-bleu")["Requires-Python"]
    if SpecifierSet(wanted).contains(found):
        yield Fact(_SECTION, "Python", "ok", found)
    else:
        yield Fact(
            _SECTION, "Python", "FAIL", f"{found}, but beam-bleu needs {wanted}", "use a newer one"
        )


def _requirements() -> Iterator[Fact]:
    from packaging.requirements import Requirement

    for text in requires("beam-bleu") or ():
        wanted = Requirement(text)
        # The marker of an extra's requirement is false here, because no extra is asked for.
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            found = version(wanted.name)
        except PackageNotFoundError:
            yield Fact(_SECTION, wanted.name, "FAIL", "is not installed", _INSTALL)
            continue
        if wanted.specifier.contains(found, prereleases=True):
            yield Fact(_SECTION, wanted.name, "ok", found)
        else:
            need = f"{found}, but beam-bleu needs {wanted.specifier}"
            yield Fact(_SECTION, wanted.name, "FAIL", need, _INSTALL)


CHECKS = (
    Check(_SECTION, "beam-bleu", _own),
    # The versions that are needed are in the metadata of an installed package. Without it,
    # beam-bleu may work all the same: what works is checked below.
    Check(_SECTION, "Python", _python, needed=False),
    Check(_SECTION, "packages", _requirements, needed=False),
)
