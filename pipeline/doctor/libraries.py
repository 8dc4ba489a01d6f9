"""The optional libraries: filesystems of other machines, and tokenizers of other tools."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from importlib.metadata import version

from beam_bleu.pipeline.command_line.known_filesystems import FILESYSTEMS, has_module
from beam_bleu.pipeline.doctor.installation_facts import Check, Fact
from beam_bleu.transforms.errors import installing
from beam_bleu.transforms.text.tokenizers import TOKENIZERS, Tokenizer


def _filesystems() -> Iterator[Fact]:
    for scheme, row in FILESYSTEMS.items():
        if has_module(row.library):
            yield Fact("filesystems", f"{scheme}://", "ok", f"{row.name}, by {row.library}")
        else:
            text = f"{row.name}: there is no module {row.library}"
            yield Fact("filesystems", f"{scheme}://", "no", text, row.remedy)


def _tokenizer(row: Tokenizer, extra: str) -> Iterable[Fact]:
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
    return Check("tokenizers", row.name, lambda: _tokenizer(row, extra), needed=False)


CHECKS = (
    Check("filesystems", "others", _filesystems, needed=False),
    *(_tokenizer_check(row, row.extra) for row in TOKENIZERS.values() if row.extra),
)
