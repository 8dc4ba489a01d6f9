"""What a look at a sample of the segments has found, and what follows from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import NamedTuple

from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.notices import Notice

# The most characters of a text in a message.
_SHOWN = 70


class Finding(NamedTuple):
    """Something that is wrong with the input, or may be.

    Attributes:
      kind: its kind, which `allow` takes.
      is_certain: whether the input must not be scored.
      cause: what is wrong, and where.
      remedy: what to do.
    """

    kind: str
    is_certain: bool
    cause: str
    remedy: str


def judged(findings: Iterable[Finding], allow: Collection[str]) -> tuple[Notice, ...]:
    """The notices about findings: also about certain ones if their kind is allowed.

    Raises:
      InputError: findings are certain, and their kinds are not allowed. It tells all of them.
    """
    all_findings = list(findings)
    refused = [found for found in all_findings if found.is_certain and found.kind not in allow]
    if refused:
        kinds = ",".join(dict.fromkeys(found.kind for found in refused))
        remedies = "; ".join(dict.fromkeys(found.remedy for found in refused))
        raise InputError(
            "; ".join(found.cause for found in refused),
            f"{remedies}; if it is meant, --allow {kinds}",
        )
    return tuple(
        Notice("sample", f"{found.cause}; {found.remedy}")
        for found in all_findings
        if found.is_certain or found.kind not in allow
    )


def shown(text: str) -> str:
    """A text as a part of a message: its beginning and its end."""
    half = _SHOWN // 2
    return repr(text if len(text) <= _SHOWN else f"{text[:half]} ... {text[-half:]}")
