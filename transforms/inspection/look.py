"""Looks at a sample: finds everything that speaks against the texts."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence

from beam_bleu.transforms.definition.allowed import ALLOWED
from beam_bleu.transforms.definition.choices import require_choice
from beam_bleu.transforms.errors import InputError
from beam_bleu.transforms.inspection.order import misplaced, repeated_at_end
from beam_bleu.transforms.inspection.sample import Sample, Sampling
from beam_bleu.transforms.inspection.signs import Finding, signs_in
from beam_bleu.transforms.notices import Notice
from beam_bleu.transforms.pairing.batch import SegmentBatch

_FEWEST_TEXTS = 20
"""Fewer texts tell nothing."""


def look_at(
    sample: Sample,
    allow: Collection[str] = (),
    *,
    of_values: bool = False,
) -> tuple[Notice, ...]:
    """The notices about the texts of a corpus.

    Args:
      sample: that of the corpus.
      allow: the kinds of findings that are meant, as in `ALLOWED`.
      of_values: whether the texts are values of records or of a call, which can be meant to be in
        another format, and not lines of files.
    """
    streams = [stream for stream in sample.streams() if len(stream) >= _FEWEST_TEXTS]
    findings = list(signs_in(streams, of_values=of_values))
    for candidates in (stream for stream in streams if stream.is_of_candidates):
        for references in (stream for stream in streams if not stream.is_of_candidates):
            findings += misplaced(candidates, references)
            findings += repeated_at_end(candidates, references)
    return _judged(findings, allow)


class Inspection:
    """Looks at batches on their way, for a caller in Python. Mutable."""

    def __init__(self, allow: Collection[str]) -> None:
        self._allow = [allow] if isinstance(allow, str) else list(allow)
        for kind in self._allow:
            require_choice("allow", kind, ALLOWED)
        self._sampling = Sampling()

    def seen(self, batches: Iterable[SegmentBatch]) -> Iterator[SegmentBatch]:
        for batch in batches:
            self._sampling.add(batch)
            yield batch

    def warn(self) -> None:
        for notice in look_at(self._sampling.total, self._allow, of_values=True):
            warnings.warn(notice.sentence, stacklevel=4)


def _judged(findings: Sequence[Finding], allow: Collection[str]) -> tuple[Notice, ...]:
    refused = [found for found in findings if found.is_certain and found.kind not in allow]
    if refused:
        kinds = ",".join(dict.fromkeys(found.kind for found in refused))
        remedies = "; ".join(dict.fromkeys(found.remedy for found in refused))
        raise InputError(
            "; ".join(found.cause for found in refused),
            f"{remedies}; if it is meant, --allow {kinds}",
        )
    return tuple(
        Notice("sample", f"{found.cause}; {found.remedy}")
        for found in findings
        if found.is_certain or found.kind not in allow
    )
