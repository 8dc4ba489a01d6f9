"""Intervals of differences between two results that have the same segments."""

from __future__ import annotations

from collections.abc import Mapping

from beam_bleu.pipeline.gates.judging import NOT_PAIRED
from beam_bleu.pipeline.gates.reading import ReadResult
from beam_bleu.transforms.errors import InputError


def paired_intervals(old: ReadResult, new: ReadResult) -> Mapping[str, tuple[float, float]]:
    """By system, the interval of the new score minus the old one; empty if they are not paired.

    Segments that are hard in one result are hard in the other one. So these intervals are narrower
    than those of independent results. They need the totals of both, with the same replicates.
    """
    if old.totals is None or new.totals is None:
        return NOT_PAIRED
    # This loads numpy and the kernel of replicates, so only a comparison of totals pays for it.
    from beam_bleu.pipeline.saved.comparing import compared

    try:
        found = compared(old.result.name, old.totals, new.result.name, new.totals)
    except InputError:
        return NOT_PAIRED  # such as results without a system in common: the checks say it
    if found.method != "paired":
        return NOT_PAIRED
    return {each.system: each.interval for each in found.systems if each.interval is not None}
