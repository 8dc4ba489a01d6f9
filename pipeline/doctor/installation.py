"""The packages: whether they are as new as beam-bleu needs, and which optional ones are there.

The optional libraries are filesystems of other machines, tables, and tokenizers of other tools.
"""

from __future__ import annotations

import importlib
import platform
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, metadata, requires, version

from beam_bleu.pipeline.command_line.known_filesystems import FILESYSTEMS, has_module
from beam_bleu.pipeline.doctor.installation_facts import Check, Fact
from beam_bleu.transforms.errors import installing
from beam_bleu.transforms.pairing.files.tables import TABLE_KINDS
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, Tokenizer
from beam_bleu.transforms.version import VERSION

_SECTION = "versions"

_INSTALL = "./run.sh install, or pip install ., in the folder of beam-bleu"


def _own() -> Iterator[Fact]:
    yield Fact(_SECTION, "beam-bleu", "ok", VERSION)


def _python() -> Iterator[Fact]:
    from packaging.specifiers import SpecifierSet

    installed, needed = platform.python_version(), metadata("beam-bleu")["Requires-Python"]
    if SpecifierSet(needed).contains(installed):
        yield Fact(_SECTION, "Python", "ok", installed)
    else:
        yield Fact(
            _SECTION,
            "Python",
            "FAIL",
            f"{installed}, but beam-bleu needs {needed}",
            "use a newer one",
        )


def _requirements() -> Iterator[Fact]:
    from packaging.requirements import Requirement

    for text in requires("beam-bleu") or ():
        wanted = Requirement(text)
        # The marker of an extra's requirement is false here, because no extra is asked for.
        if wanted.marker is not None and not wanted.marker.evaluate({"extra": ""}):
            continue
        try:
            installed = version(wanted.name)
        except PackageNotFoundError:
            yield Fact(_SECTION, wanted.name, "FAIL", "is not installed", _INSTALL)
            continue
        if wanted.specifier.contains(installed, prereleases=True):
            yield Fact(_SECTION, wanted.name, "ok", installed)
        else:
            need = f"{installed}, but beam-bleu needs {wanted.specifier}"
            yield Fact(_SECTION, wanted.name, "FAIL", need, _INSTALL)


def _filesystems() -> Iterator[Fact]:
    for scheme, row in FILESYSTEMS.items():
        if has_module(row.library):
            yield Fact("filesystems", f"{scheme}://", "ok", f"{row.name}, by {row.library}")
        else:
            text = f"{row.name}: there is no module {row.library}"
            yield Fact("filesystems", f"{scheme}://", "no", text, row.remedy)


def _tables() -> Iterator[Fact]:
    for prefix, kind in TABLE_KINDS.items():
        if has_module(kind.library):
            yield Fact("tables", f"{prefix}:", "ok", f"{kind.label}, by {kind.library}")
        else:
            text = f"{kind.label}: there is no module {kind.library}"
            yield Fact("tables", f"{prefix}:", "no", text, installing(kind.extra))


def tokenizer_facts(row: Tokenizer, extra: str) -> Iterable[Fact]:
    """One fact: whether the library of a tokenizer works, and its versions."""
    from beam_bleu.transforms.errors import JobError
    from beam_bleu.transforms.text.library_tokenizers import mecab

    try:
        if row.needs_model:  # no model is needed to see whether its library is there
            importlib.import_module("sentencepiece")
        else:
            mecab(row.name)
    except (ImportError, JobError) as error:
        cause = error.cause if isinstance(error, JobError) else str(error)
        reason = cause.partition(": ")[2] or cause  # without the words about a worker
        return [Fact("tokenizers", row.name, "no", reason, installing(extra))]
    versions = ", ".join(f"{name} {version(name)}" for name in row.versions)
    return [Fact("tokenizers", row.name, "ok", versions)]


def _tokenizer_check(row: Tokenizer, extra: str) -> Check:
    return Check("tokenizers", row.name, lambda: tokenizer_facts(row, extra), needed=False)


CHECKS = (
    Check(_SECTION, "beam-bleu", _own),
    # The versions that are needed are in the metadata of an installed package. Without it,
    # beam-bleu may work all the same: what works is checked below.
    Check(_SECTION, "Python", _python, needed=False),
    Check(_SECTION, "packages", _requirements, needed=False),
)

LIBRARY_CHECKS = (
    Check("filesystems", "others", _filesystems, needed=False),
    Check("tables", "others", _tables, needed=False),
    *(_tokenizer_check(row, row.extra) for row in TOKENIZERS.values() if row.extra),
)
